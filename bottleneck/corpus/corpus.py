"""Make a corpus from settings: splits, vocabularies, a fingerprint and a description."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING

from ..settings.concerns import CorpusSettings
from ..settings.errors import UserError, counted
from .drawing import Copying, Language, cached_splits, draw_splits, note
from .files import split_files
from .grammar import LECTURE_SENTENCES, english_french
from .pair import Edges, Pairs, SentencePair, Splits, by_bucket, sources
from .subwords import learn_subwords
from .vocabulary import IN_CHARACTERS, UNK, Vocabulary, build_vocabulary, spaceless, tokenize

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Corpus:
    """Three splits that share no source sentence, and their vocabularies."""

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
        source = [self.source_vocabulary.numbers(pair.source) for pair in self.test]
        target = [self.target_vocabulary.numbers(pair.target) for pair in self.test]
        ours, theirs = (list(chain.from_iterable(ids)) for ids in (source, target))
        return ours.count(UNK) / max(1, len(ours)), theirs.count(UNK) / max(1, len(theirs))

    @cached_property
    def near_copies(self) -> list[tuple[int, int]]:
        """For each test source, how many of its word 5-grams training has, and their total."""

        def grams(pair: SentencePair) -> Iterable[tuple[str, ...]]:
            tokens = tokenize(pair.source)
            return zip(*(tokens[start:] for start in range(5)), strict=False)

        sentences = [list(grams(pair)) for pair in self.test]
        wanted = set(chain.from_iterable(sentences))
        known = wanted.intersection(chain.from_iterable(map(grams, self.train)))
        return [(sum(gram in known for gram in sentence), len(sentence)) for sentence in sentences]

    @property
    def splits(self) -> dict[str, Pairs]:
        """The three splits by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


def load_corpus(corpus: CorpusSettings, edges: Edges) -> Corpus:
    """Draw or read the corpus; vocabularies come only from the training split."""
    if corpus.is_drawn:
        splits = cached_splits(
            corpus,
            edges,
            lambda: draw_splits(language_of(corpus), corpus, edges, sources(lecture_pairs(corpus))),
        )
    else:
        splits = split_files(corpus, edges)
    notes = [*splits.notes, *notes_on_test(splits.test, corpus, edges)]
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


def notes_on_test(test: Pairs, corpus: CorpusSettings, edges: Edges) -> list[str]:
    """Notes on a test set; a UserError if it fills fewer than two buckets."""
    below, *buckets = by_bucket(test, edges).items()
    filled = [name for name, pairs in buckets if pairs]
    if len(filled) < 2:
        raise UserError(
            f"the test set fills {counted(len(filled), 'bucket')} of "
            f"{', '.join(name for name, _ in buckets)}; two are needed: give sentences of more "
            "lengths (corpus.max_words, corpus.test_source, corpus.test_max_words) or other "
            "scoring.edges"
        )
    longest, notes = corpus.longest_trained, []
    longer = sum(pair.words > longest for pair in test)
    note(notes, len(below[1]), "test sentence", f"{below[0]} words, in no bucket")
    note(notes, longer, "test sentence", f"longer than any trained on ({longest} words)")
    if corpus.lowercase:
        notes.append("BLEU is of lower-case references (corpus.lowercase)")
    if spaceless([pair.source for pair in test]):
        notes.append(IN_CHARACTERS)
    return notes


def lecture_pairs(corpus: CorpusSettings) -> Pairs:
    """The lecture's sentences with translations; none unless the corpus is the grammar."""
    if corpus.name != "grammar":
        return ()
    return tuple(map(english_french(corpus.lexicon).parse, LECTURE_SENTENCES))


def language_of(corpus: CorpusSettings) -> Language:
    """The language that a corpus is drawn from."""
    return Copying(corpus.copy_words) if corpus.name == "copy" else english_french(corpus.lexicon)


def fingerprint(splits: Splits, reverse: bool = False) -> str:
    """Sixteen hex digits over the text and links of all pairs in order, and the direction."""
    digest = sha256(b"reversed\n" if reverse else b"")
    for name, pairs in zip(("train", "valid", "test"), splits[:3], strict=True):
        digest.update(f"{name}\t{len(pairs)}\n".encode())
        for pair in pairs:
            digest.update(f"{pair.source}\t{pair.target}\t{pair.links}\n".encode())
    return digest.hexdigest()[:16]


def describe(corpus: Corpus, edges: Edges) -> "pd.DataFrame":
    """Pairs and means by split and bucket; without a column of bits if none are known."""
    import pandas as pd

    target, rows, keys = corpus.target_vocabulary, [], []
    for split, pairs in corpus.splits.items():
        for bucket, group in by_bucket(pairs, edges).items():
            keys.append((split, bucket))
            for pair in group:
                rows.append((split, bucket, pair.words, len(target.pieces(pair.target)), pair.bits))
    frame = pd.DataFrame(rows, columns=["split", "bucket", "words", "tokens", "bits"])
    table = frame.astype({"bits": float}).groupby(["split", "bucket"], sort=False).agg(
        pairs=("words", "size"),
        mean_words=("words", "mean"),
        mean_target_tokens=("tokens", "mean"),
        mean_bits=("bits", "mean"),
    )  # fmt: skip
    table = table.reindex(keys).fillna({"pairs": 0}).astype({"pairs": int})
    return table.dropna(axis="columns", how="all")


def share(counts: Iterable[tuple[int, int]]) -> float | None:
    """The share (0 to 1) of 5-grams that training has, from `near_copies`; None without any."""
    known, total = map(sum, zip((0, 0), *counts, strict=True))
    return known / total if total else None
