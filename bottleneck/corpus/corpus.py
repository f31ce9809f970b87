"""From settings to a corpus: splits, vocabularies, a fingerprint, and a description of them."""

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from statistics import fmean

from ..settings.buckets import OUTSIDE, bucket_labels, bucket_of
from ..settings.concerns import CorpusSettings
from ..settings.errors import UserError
from .copying import Copying
from .drawing import draw_splits
from .joining import chained
from .pair import SentencePair
from .splits import Splits
from .splitting import split_files
from .tokens import tokenize
from .vocabulary import Vocabulary, build_vocabulary

Pairs = tuple[SentencePair, ...]


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
        """Shares of the test set's source and target tokens that are not in the vocabularies."""
        source, target = self.source_vocabulary, self.target_vocabulary
        return (
            source.unknown_rate(tokenize(pair.source) for pair in self.test),
            target.unknown_rate(tokenize(pair.target) for pair in self.test),
        )

    @property
    def splits(self) -> dict[str, Pairs]:
        """The three splits by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test}


@dataclass(frozen=True)
class SplitRow:
    """One split within one length bucket; means are None where there is no pair."""

    split: str
    bucket: str
    pairs: int
    source_words: float | None
    target_tokens: float | None
    bits: float | None


@dataclass(frozen=True)
class Description:
    """What a corpus holds; vocabulary sizes are without the special tokens."""

    rows: tuple[SplitRow, ...]
    source_vocabulary: int
    target_vocabulary: int
    source_unknown: float
    target_unknown: float
    fingerprint: str
    notes: tuple[str, ...]


def load_corpus(corpus: CorpusSettings, edges: tuple[int, ...]) -> Corpus:
    """Make or read the corpus; vocabularies come from the training side alone."""
    splits = _make_splits(corpus, edges)
    check_buckets(splits.test, edges)
    return Corpus(
        train=splits.train,
        valid=splits.valid,
        test=splits.test,
        source_vocabulary=build_vocabulary(
            (tokenize(pair.source) for pair in splits.train), corpus.source_vocabulary
        ),
        target_vocabulary=build_vocabulary(
            (tokenize(pair.target) for pair in splits.train), corpus.target_vocabulary
        ),
        fingerprint=fingerprint(splits),
        notes=splits.notes + _test_notes(splits.test, corpus, edges),
    )


def _make_splits(corpus: CorpusSettings, edges: tuple[int, ...]) -> Splits:
    """The splits of the corpus that the settings name."""
    if corpus.name == "files":
        return split_files(corpus, edges)
    if corpus.name == "copy":
        return draw_splits(Copying(corpus.copy_words), corpus, edges)
    # Imported here, so that other corpora do not pay for building the grammar.
    from .grammar import LECTURE_SENTENCES, english_french

    grammar = english_french()
    held_out = frozenset(LECTURE_SENTENCES)
    return draw_splits(grammar, corpus, edges, held_out, partial(chained, grammar.parse))


def check_buckets(test: Pairs, edges: tuple[int, ...]) -> None:
    """Refuse a test set that fills fewer than two buckets: nothing could be compared."""
    filled = {bucket_of(pair.words, edges) for pair in test} - {OUTSIDE}
    if len(filled) < 2:
        labels = bucket_labels(edges)
        named = f"only bucket {labels[filled.pop()]}" if filled else "no bucket"
        raise UserError(
            f"the test set fills {named} of {', '.join(labels)}; two are needed: "
            "give sentences of more lengths (corpus.max_words, corpus.test_source) "
            "or other scoring.edges"
        )


def fingerprint(splits: Splits) -> str:
    """Sixteen hex digits over the text and links of all pairs in order.

    Bits stay out: their last digit may differ between machines.
    """
    digest = sha256()
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
        (outside, f"test sentence(s) under {edges[0]} words are in no bucket"),
        (longer, f"test sentence(s) are longer than corpus.{setting}={corpus.longest_trained}"),
    ]
    return tuple(f"{count:,} {text}" for count, text in notes if count)


def describe(corpus: Corpus, edges: tuple[int, ...]) -> Description:
    """Counts and means per split and bucket, vocabulary sizes and unknown words of the test set."""
    rows = [row for name, pairs in corpus.splits.items() for row in split_rows(name, pairs, edges)]
    source_unknown, target_unknown = corpus.unknown_rates
    return Description(
        rows=tuple(rows),
        source_vocabulary=len(corpus.source_vocabulary.words),
        target_vocabulary=len(corpus.target_vocabulary.words),
        source_unknown=source_unknown,
        target_unknown=target_unknown,
        fingerprint=corpus.fingerprint,
        notes=corpus.notes,
    )


def split_rows(name: str, pairs: Pairs, edges: tuple[int, ...]) -> list[SplitRow]:
    """One row a bucket, the sentences below every bucket first; empty buckets have their row."""
    held: list[list[SentencePair]] = [[] for _ in range(len(edges) + 1)]
    for pair in pairs:
        held[bucket_of(pair.words, edges) - OUTSIDE].append(pair)
    labels = (f"under {edges[0]}", *bucket_labels(edges))
    return [_row(name, label, inside) for label, inside in zip(labels, held, strict=True)]


def _row(split: str, bucket: str, pairs: list[SentencePair]) -> SplitRow:
    """Means over the pairs of one split and bucket."""
    bits = [pair.bits for pair in pairs if pair.bits is not None]
    return SplitRow(
        split=split,
        bucket=bucket,
        pairs=len(pairs),
        source_words=fmean(pair.words for pair in pairs) if pairs else None,
        target_tokens=fmean(len(tokenize(pair.target)) for pair in pairs) if pairs else None,
        bits=fmean(bits) if bits else None,
    )
