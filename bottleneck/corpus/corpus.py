"""From settings to a corpus: splits, vocabularies, a fingerprint, and a description of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from statistics import fmean

from ..settings.buckets import OUTSIDE, bucket_labels, bucket_of
from ..settings.concerns import NAMED, CorpusSettings
from ..settings.errors import UsageError, UserError, counted
from .drawing import Copying, draw_splits
from .drawn_cache import cached_splits
from .joining import chained
from .near_copies import Held, near_copies, share
from .pair import SentencePair, Splits
from .splitting import split_files
from .subwords import learn_subwords
from .tokens import WORDS, Tokenizer, tokenize
from .turned import Turned, turned_join
from .vocabulary import Vocabulary, build_vocabulary

Pairs = tuple[SentencePair, ...]
REAL = ("files", *NAMED)
"""Corpora of real text: their lengths and case are what people wrote."""


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
        source, target = self.source_vocabulary, self.target_vocabulary
        return (
            source.unknown_rate(source.pieces(pair.source) for pair in self.test),
            target.unknown_rate(target.pieces(pair.target) for pair in self.test),
        )

    @cached_property
    def near_copies(self) -> list[Held]:
        """Of each test sentence: how many of its source 5-grams training holds."""
        test, train = self.test, self.train
        return near_copies([pair.source for pair in test], (pair.source for pair in train))

    @property
    def splits(self) -> dict[str, Pairs]:
        """The three splits by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


@dataclass(frozen=True)
class SplitRow:
    """One split within one length bucket; means are None where there is no pair.

    ``target_tokens`` are without the end token; ``bits`` a sentence, None too where none are known.
    """

    split: str
    bucket: str
    pairs: int
    source_words: float | None
    target_tokens: float | None
    bits: float | None


@dataclass(frozen=True)
class Description:
    """What a corpus holds; vocabulary sizes are without the special tokens.

    ``..._unknown`` are the shares, 0 to 1, of the test set's tokens that are in no vocabulary.
    ``near_copies`` is the share of the test set's source 5-grams that training holds, None where it
    has none.
    """

    rows: tuple[SplitRow, ...]
    source_vocabulary: int
    target_vocabulary: int
    source_unknown: float
    target_unknown: float
    near_copies: float | None
    fingerprint: str
    notes: tuple[str, ...]


def load_corpus(corpus: CorpusSettings, edges: tuple[int, ...]) -> Corpus:
    """Make or read the corpus; vocabularies come from the training side alone.

    Raises UsageError for settings that do not go together, UserError for text that cannot be had,
    or that is too little for two splits or two buckets.
    """
    splits = _make_splits(corpus, edges)
    check_buckets(splits.test, edges)
    source, target = learn_vocabularies(splits.train, corpus)
    return Corpus(
        train=splits.train,
        valid=splits.valid,
        test=splits.test,
        source_vocabulary=source,
        target_vocabulary=target,
        fingerprint=fingerprint(splits, corpus.reverse_direction),
        notes=splits.notes
        + _test_notes(splits.test, corpus, edges)
        + _text_notes(splits.train, corpus, edges),
    )


def _make_splits(corpus: CorpusSettings, edges: tuple[int, ...]) -> Splits:
    """The splits of the corpus that the settings name."""
    if corpus.name in REAL:
        return split_files(corpus, edges)
    if corpus.test is not None:
        raise UsageError(f"corpus.test is for real text, not for corpus {corpus.name!r}")
    return cached_splits(corpus, edges, partial(_draw, corpus, edges))


def _draw(corpus: CorpusSettings, edges: tuple[int, ...]) -> Splits:
    """The splits of a corpus that is drawn from its language."""
    if corpus.name == "copy":  # a copy turned round is the same copy
        return draw_splits(Copying(corpus.copy_words), corpus, edges)
    # Imported here, so that other corpora do not pay for building the grammar.
    from .grammar import LECTURE_SENTENCES, english_french

    grammar = english_french(corpus.lexicon)
    join = partial(chained, grammar.parse)
    if not corpus.reverse_direction:
        return draw_splits(grammar, corpus, edges, frozenset(LECTURE_SENTENCES), join)
    if corpus.lengths == "natural":
        raise UsageError(
            "corpus.lengths=natural is not known for the grammar's French; with "
            "corpus.reverse_direction give buckets or uniform"
        )
    known = map(grammar.parse, LECTURE_SENTENCES)
    held_out = frozenset(pair.target for pair in known if pair is not None)
    return draw_splits(Turned(grammar), corpus, edges, held_out, turned_join(join))


def check_buckets(test: Pairs, edges: tuple[int, ...]) -> None:
    """Refuse a test set that fills fewer than two buckets as a UserError: nothing to compare."""
    filled = {bucket_of(pair.words, edges) for pair in test} - {OUTSIDE}
    if len(filled) < 2:
        labels = bucket_labels(edges)
        named = f"only bucket {labels[filled.pop()]}" if filled else "no bucket"
        raise UserError(
            f"the test set fills {named} of {', '.join(labels)}; two are needed: "
            "give sentences of more lengths (corpus.max_words, corpus.test_source, "
            "corpus.test_max_words) or other scoring.edges"
        )


def fingerprint(splits: Splits, reverse: bool = False) -> str:
    """Sixteen hex digits over the text and links of all pairs in order, and the direction.

    Bits stay out: their last digit may differ between machines.
    """
    digest = sha256(b"reversed\n" if reverse else b"")
    for name, pairs in zip(Splits._fields, splits[:3], strict=False):
        digest.update(f"{name}\t{len(pairs)}\n".encode())
        for pair in pairs:
            digest.update(f"{pair.source}\t{pair.target}\t{pair.links}\n".encode())
    return digest.hexdigest()[:16]


def _test_notes(test: Pairs, corpus: CorpusSettings, edges: tuple[int, ...]) -> tuple[str, ...]:
    """Notes on test sentences that are in no bucket or longer than any trained on."""
    outside = sum(bucket_of(pair.words, edges) == OUTSIDE for pair in test)
    longer = sum(pair.words > corpus.longest_trained for pair in test)
    setting = "max_words" if corpus.train_max_words is None else "train_max_words"
    notes = [
        (outside, f"under {edges[0]} words, in no bucket"),
        (longer, f"longer than corpus.{setting}={corpus.longest_trained}"),
    ]
    return tuple(f"{counted(count, 'test sentence')} {text}" for count, text in notes if count)


def _text_notes(train: Pairs, corpus: CorpusSettings, edges: tuple[int, ...]) -> tuple[str, ...]:
    """Notes on real text: how long the training sentences are, by the test's buckets; the case."""
    if corpus.name not in REAL:
        return ()
    counts = Counter(bucket_of(pair.words, edges) for pair in train)
    names = (f"under {edges[0]}", *bucket_labels(edges))
    held = "; ".join(f"{name} {counts[place]:,}" for place, name in enumerate(names, OUTSIDE))
    lower = "all text is lower-case, so BLEU is of lower-case references (corpus.lowercase)"
    return (f"training pairs by source words: {held}", *([lower] if corpus.lowercase else []))


def describe(corpus: Corpus, edges: tuple[int, ...]) -> Description:
    """Counts and means per split and bucket, vocabulary sizes and unknown words of the test set."""
    rows = [
        row
        for name, pairs in corpus.splits.items()
        for row in split_rows(name, pairs, edges, corpus.target_vocabulary.tokenizer)
    ]
    source_unknown, target_unknown = corpus.unknown_rates
    return Description(
        rows=tuple(rows),
        source_vocabulary=len(corpus.source_vocabulary.words),
        target_vocabulary=len(corpus.target_vocabulary.words),
        source_unknown=source_unknown,
        target_unknown=target_unknown,
        near_copies=share(corpus.near_copies),
        fingerprint=corpus.fingerprint,
        notes=corpus.notes,
    )


def split_rows(
    name: str, pairs: Pairs, edges: tuple[int, ...], target: Tokenizer = WORDS
) -> list[SplitRow]:
    """One row per bucket, the sentences below every bucket first; empty buckets have their row.

    ``target`` counts the target's tokens.
    """
    held: list[list[SentencePair]] = [[] for _ in range(len(edges) + 1)]
    for pair in pairs:
        held[bucket_of(pair.words, edges) - OUTSIDE].append(pair)
    labels = (f"under {edges[0]}", *bucket_labels(edges))
    return [_row(name, label, inside, target) for label, inside in zip(labels, held, strict=True)]


def _row(split: str, bucket: str, pairs: list[SentencePair], target: Tokenizer) -> SplitRow:
    """Means over the pairs of one split and bucket."""
    bits = [pair.bits for pair in pairs if pair.bits is not None]
    return SplitRow(
        split=split,
        bucket=bucket,
        pairs=len(pairs),
        source_words=fmean(pair.words for pair in pairs) if pairs else None,
        target_tokens=fmean(len(target.pieces(pair.target)) for pair in pairs) if pairs else None,
        bits=fmean(bits) if bits else None,
    )


def learn_vocabularies(
    train: Sequence[SentencePair], corpus: CorpusSettings
) -> tuple[Vocabulary, Vocabulary]:
    """Source and target vocabulary of what ``corpus.tokens`` names, of at most the set sizes.

    Raises UserError as `learn_subwords`.
    """
    return (
        _learn((pair.source for pair in train), "source", corpus),
        _learn((pair.target for pair in train), "target", corpus),
    )


def _learn(texts: Iterable[str], side: str, corpus: CorpusSettings) -> Vocabulary:
    name = f"{side}_vocabulary"
    size = int(getattr(corpus, name))
    if corpus.tokens == "words":
        return build_vocabulary(map(tokenize, texts), size)
    subwords = learn_subwords(texts, size, f"corpus.{name}")
    return Vocabulary(subwords.tokens, subwords)
