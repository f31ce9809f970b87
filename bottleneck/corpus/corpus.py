"""Make a corpus from settings: splits, vocabularies, a fingerprint and a description."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain, product
from typing import TYPE_CHECKING

from ..settings.concerns import CorpusSettings, bucket_labels, bucket_members, bucket_of
from ..settings.errors import UserError, counted
from .drawing import cached_splits, note
from .files import split_files
from .pair import Edges, Pairs, Splits
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
        texts = (tokenize(pair.source) for pair in chain(self.test, self.train))
        grams = (zip(*(text[start:] for start in range(5)), strict=False) for text in texts)
        sentences = [list(next(grams)) for _ in self.test]  # those of training are left
        wanted = set(chain.from_iterable(sentences))
        known = wanted.intersection(chain.from_iterable(grams))
        return [(sum(gram in known for gram in sentence), len(sentence)) for sentence in sentences]


def load_corpus(corpus: CorpusSettings, edges: Edges) -> Corpus:
    """Draw or read the corpus; vocabularies come only from the training split.

    A UserError if the test set fills fewer than two buckets.
    """
    splits = cached_splits(corpus, edges) if corpus.is_drawn else split_files(corpus, edges)
    lengths, longest = [pair.words for pair in splits.test], corpus.longest_trained
    buckets = bucket_members(lengths, edges)
    filled = sum(len(rows) > 0 for rows in buckets.values())
    if filled < 2:
        raise UserError(
            f"the test set fills {counted(filled, 'bucket')} of {', '.join(buckets)}; two are "
            "needed: give sentences of more lengths (corpus.max_words, corpus.test_source, "
            "corpus.test_max_words) or other scoring.edges"
        )
    notes = list(splits.notes)
    shorter = sum(words < edges[0] for words in lengths)
    note(notes, shorter, "test sentence", f"under {edges[0]} words, in no bucket")
    longer = sum(words > longest for words in lengths)
    note(notes, longer, "test sentence", f"longer than any trained on ({longest} words)")
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
            vocabularies.append(learn_subwords(texts, size, f"corpus.{side}_vocabulary"))
    digits = fingerprint(splits, corpus.reverse_direction)
    return Corpus(*splits[:3], *vocabularies, digits, tuple(notes))


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

    splits, pieces = ("train", "valid", "test"), corpus.target_vocabulary.tokenizer.pieces
    rows = [
        (split, pair.words, len(pieces(pair.target)), pair.bits)
        for split in splits
        for pair in getattr(corpus, split)
    ]
    frame = pd.DataFrame(rows, columns=["split", "words", "tokens", "bits"])
    labels = (f"under {edges[0]}", *bucket_labels(edges))
    frame["bucket"] = [labels[place + 1] for place in bucket_of(frame["words"].to_numpy(), edges)]
    table = frame.astype({"bits": float}).groupby(["split", "bucket"], sort=False).agg(
        pairs=("words", "size"),
        mean_words=("words", "mean"),
        mean_target_tokens=("tokens", "mean"),
        mean_bits=("bits", "mean"),
    )  # fmt: skip
    table = table.reindex(list(product(splits, labels))).fillna({"pairs": 0}).astype({"pairs": int})
    return table.dropna(axis="columns", how="all")


def share(counts: Iterable[tuple[int, int]]) -> float | None:
    """The share (0 to 1) of 5-grams that training has, from `near_copies`; None without any."""
    known, total = map(sum, zip((0, 0), *counts, strict=True))
    return known / total if total else None
