"""From settings to a corpus: splits, vocabularies, a fingerprint, and a description of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from itertools import chain
from statistics import fmean
from typing import NamedTuple

from ..settings.concerns import CorpusSettings
from ..settings.errors import UserError, counted
from .drawing import (
    Copying,
    Reversed,
    SentenceSource,
    cached_splits,
    chained,
    draw_splits,
    note,
    side_by_side,
)
from .files import split_files
from .grammar import LECTURE_SENTENCES, english_french
from .pair import Pairs, SentencePair, Splits, by_bucket, reverse_pair, sources
from .subwords import learn_subwords
from .vocabulary import IN_CHARACTERS, UNK, Vocabulary, build_vocabulary, spaceless, tokenize


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs of three splits that share no source sentence, and their vocabularies.

    ``fingerprint`` stands for all the text and links, ``notes`` say what was dropped.
    """

    train: Pairs
    valid: Pairs
    test: Pairs
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    fingerprint: str
    notes: tuple[str, ...]

    @property
    def unknown_rates(self) -> tuple[float, float]:
        """Shares (0 to 1) of the test set's source and target tokens not in the vocabularies."""
        rates = []
        for side in ("source", "target"):
            vocabulary = getattr(self, f"{side}_vocabulary")
            ids = [vocabulary.numbers(getattr(pair, side)) for pair in self.test]
            rates.append(sum(row.count(UNK) for row in ids) / max(1, sum(map(len, ids))))
        return rates[0], rates[1]

    @cached_property
    def near_copies(self) -> list[tuple[int, int]]:
        """Of each test source its 5-grams of word tokens that some training source has, and all.

        Text of laws or of a grammar repeats its phrases, and what was seen in training is
        translated better than what was not. A sentence under five tokens has none.
        """

        def grams(pair: SentencePair) -> Iterable[tuple[str, ...]]:
            tokens = tokenize(pair.source)
            return zip(*(tokens[start:] for start in range(5)), strict=False)

        sentences = [list(grams(pair)) for pair in self.test]
        wanted = set(chain.from_iterable(sentences))
        known: set[tuple[str, ...]] = set()
        for pair in self.train:
            known.update(wanted.intersection(grams(pair)))
        return [(sum(gram in known for gram in sentence), len(sentence)) for sentence in sentences]

    @property
    def splits(self) -> dict[str, Pairs]:
        """The three splits by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


class SplitRow(NamedTuple):
    """One split within one length bucket; means are None where there is no pair.

    ``target_tokens`` are without the end token; ``bits`` a sentence, None too where none are known.
    """

    split: str
    bucket: str
    pairs: int
    source_words: float | None
    target_tokens: float | None
    bits: float | None


def load_corpus(corpus: CorpusSettings, edges: tuple[int, ...]) -> Corpus:
    """Make or read the corpus; vocabularies come from the training side alone.

    Raises UsageError for settings that do not go together, UserError for text that cannot be had,
    or that is too little for two splits or two buckets: there is nothing to compare then.
    """
    if corpus.is_drawn:
        splits = cached_splits(corpus, edges, partial(_draw, corpus, edges))
    else:
        splits = split_files(corpus, edges)
    below, *buckets = by_bucket(splits.test, edges).items()
    filled = [name for name, pairs in buckets if pairs]
    if len(filled) < 2:
        raise UserError(
            f"the test set fills {counted(len(filled), 'bucket')} of "
            f"{', '.join(name for name, _ in buckets)}; two are needed: give sentences of more "
            "lengths (corpus.max_words, corpus.test_source, corpus.test_max_words) or other "
            "scoring.edges"
        )
    longest, notes = corpus.longest_trained, [*splits.notes]
    longer = sum(pair.words > longest for pair in splits.test)
    setting = "max_words" if corpus.train_max_words is None else "train_max_words"
    note(notes, len(below[1]), "test sentence", f"{below[0]} words, in no bucket")
    note(notes, longer, "test sentence", f"longer than corpus.{setting}={longest}")
    if corpus.lowercase:
        notes.append("BLEU is of lower-case references (corpus.lowercase)")
    if spaceless([pair.source for pair in splits.test]):
        notes.append(IN_CHARACTERS)
    vocabularies = []
    for side in ("source", "target"):
        texts = (getattr(pair, side) for pair in splits.train)
        size = getattr(corpus, f"{side}_vocabulary")
        if corpus.tokens == "words":
            vocabularies.append(build_vocabulary(map(tokenize, texts), size))
        else:
            subwords = learn_subwords(texts, size, f"corpus.{side}_vocabulary")
            vocabularies.append(Vocabulary(subwords.tokens, subwords))
    digits = fingerprint(splits, corpus.reverse_direction)
    return Corpus(*splits[:3], *vocabularies, digits, tuple(notes))


def _draw(corpus: CorpusSettings, edges: tuple[int, ...]) -> Splits:
    join = side_by_side
    if corpus.name == "grammar":
        join = partial(chained, english_french(corpus.lexicon).parse, corpus.reverse_direction)
    held_out = sources(lecture_pairs(corpus))
    return draw_splits(language_of(corpus), corpus, edges, held_out, join)


def lecture_pairs(corpus: CorpusSettings) -> Pairs:
    """The lecture's own sentences with their translations; none if the corpus has other text."""
    if corpus.name != "grammar":
        return ()
    pairs = filter(None, map(english_french(corpus.lexicon).parse, LECTURE_SENTENCES))
    return tuple(map(reverse_pair, pairs) if corpus.reverse_direction else pairs)


def language_of(corpus: CorpusSettings) -> SentenceSource:
    """The language that a corpus is drawn from."""
    if corpus.name == "copy":
        return Copying(corpus.copy_words)
    grammar = english_french(corpus.lexicon)
    return Reversed(grammar) if corpus.reverse_direction else grammar


def fingerprint(splits: Splits, reverse: bool = False) -> str:
    """Sixteen hex digits over the text and links of all pairs in order, and the direction.

    Bits stay out: their last digit may differ between machines.
    """
    digest = sha256(b"reversed\n" if reverse else b"")
    for name, pairs in zip(("train", "valid", "test"), splits[:3], strict=True):
        digest.update(f"{name}\t{len(pairs)}\n".encode())
        for pair in pairs:
            digest.update(f"{pair.source}\t{pair.target}\t{pair.links}\n".encode())
    return digest.hexdigest()[:16]


def describe(corpus: Corpus, edges: tuple[int, ...]) -> list[SplitRow]:
    """Counts and means per split and bucket, the sentences below every bucket first."""
    target, rows = corpus.target_vocabulary, []
    for split, pairs in corpus.splits.items():
        for bucket, group in by_bucket(pairs, edges).items():
            bits = [pair.bits for pair in group if pair.bits is not None]
            words = [pair.words for pair in group]
            tokens = [len(target.pieces(pair.target)) for pair in group]
            means = (fmean(numbers) if numbers else None for numbers in (words, tokens, bits))
            rows.append(SplitRow(split, bucket, len(group), *means))
    return rows


def share(counts: Iterable[tuple[int, int]]) -> float | None:
    """The share (0 to 1) of all these sentences' 5-grams that was found; None without any."""
    known, total = map(sum, zip((0, 0), *counts, strict=True))
    return known / total if total else None
