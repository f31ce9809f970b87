"""C7 on the user's own gold set: sentences outside the run's corpus, words linked by people.

The words are those between the spaces of the files. Where the run's own tokens are finer, their
weights are put together word by word (`corpus.pieces`). Where a gold set stands in tokens
(``l' homme ,``), a piece that is not known is tried with the mark of a token that was glued to its
neighbour, as the run's own text has it; for a run of subwords such words are glued again. IBM model
1 knows the word tokens of the run's training text, whatever the run reads.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..corpus.batches import EncodedPairs
from ..corpus.files import read_lines
from ..corpus.pieces import Shares, by_word, overlaps, whole
from ..corpus.subwords import START
from ..corpus.tokens import JOINER, WORDS, Words, detokenize, tokenize
from ..corpus.vocabulary import EOS, Vocabulary
from ..probes.alignment import GoldLinks, Links, check_gold, parse_gold
from ..probes.ibm1 import IBM1
from ..questions.arms import arms_of
from ..questions.question import Columns, Probed, Row, Tell
from ..questions.subject import Subject
from ..runs.attention import attention_matrices
from ..settings.errors import UserError
from ..settings.run import RunSettings
from .alignment import (
    BATCH,
    Attended,
    Matrix,
    arm_rows,
    columns_of,
    networks,
    train_ibm1,
)

Pieces = list[list[str]]
"""The word tokens of each word of a sentence."""
OPENING, APOSTROPHES = ("(", "[", "{"), ("'", "’")


class Read(NamedTuple):
    """A sentence as a run's model reads it: its tokens, and whose words they are."""

    tokens: list[str]
    shares: Shares


@dataclass(frozen=True, eq=False)
class GoldSet:
    """Sentence pairs, word by word, and their gold links."""

    source: list[list[str]]
    target: list[list[str]]
    links: list[GoldLinks]

    @property
    def lengths(self) -> list[tuple[int, int]]:
        """Source and target words of each pair."""
        return [(len(s), len(t)) for s, t in zip(self.source, self.target, strict=True)]


def read_gold(gold: Path, source: Path, target: Path, base: int) -> GoldSet:
    """Read the three files, line by line; what does not fit together is a UserError.

    ``base`` is the number of the first word, 0 or 1.
    """
    sides = [
        [line.split() for line in read_lines(str(path), option)]
        for option, path in (("--source", source), ("--target", target))
    ]
    if len(sides[0]) != len(sides[1]):
        raise UserError(
            f"--source {str(source)!r} has {len(sides[0]):,} lines and --target {str(target)!r} "
            f"has {len(sides[1]):,}; line by line one must translate the other: give two files of "
            "as many lines"
        )
    name = f"--gold {str(gold)!r}"
    links = parse_gold(read_lines(str(gold), "--gold"), name, base=base)
    held = GoldSet(*sides, links)
    check_gold(links, held.lengths, name, base=base)
    return held


def probe_gold(subject: Subject, held: GoldSet, tell: Tell) -> Columns:
    """The study's columns for the gold set; pairs with an empty side or without links left out.

    Raises UserError where no other is there.
    """
    rows = [
        row
        for row, (lengths, links) in enumerate(zip(held.lengths, held.links, strict=True))
        if min(lengths) and links.possible
    ]
    if not rows:
        raise UserError("no sentence of --gold has links; write i-j (sure) or i?j (possible)")
    lower = is_lower(subject.settings)
    source, target = (
        [read_as(side[row], vocabulary, lower) for row in rows]
        for side, vocabulary in zip((held.source, held.target), subject.vocabularies, strict=True)
    )
    tell("reading weights")
    read = Attended(
        np.array([held.lengths[row][0] for row in rows], np.int64),
        [held.lengths[row] for row in rows],
        _matrices(subject, source, target),
        [held.links[row] for row in rows],
    )
    tell("training IBM model 1")
    aligned = _align(train_ibm1(subject.corpus.train), held, rows, lower)
    shares = {
        f"unknown_{name}": np.full(len(rows), vocabulary.unknown_rate(read.tokens for read in side))
        for name, side, vocabulary in zip(
            ("source", "target"), (source, target), subject.vocabularies, strict=True
        )
    }
    return columns_of(read, aligned) | shares


def is_lower(settings: RunSettings) -> bool:
    """Whether the run's own text is in small letters."""
    return settings.corpus.lowercase or settings.corpus.name == "grammar"


def read_as(words: Sequence[str], vocabulary: Vocabulary, lower: bool) -> Read:
    """The tokens that the run's model has for these words."""
    held = _plain(words, lower)
    known = set(vocabulary.words)
    tokenizer = vocabulary.tokenizer
    if isinstance(tokenizer, Words):
        cut = pieces(held, known)
        return Read(flat(cut), whole([*map(len, cut)]))
    tokens = tokenizer.pieces(detokenize(as_written(held, known)))
    sizes = [tokenizer.size(token) for token in tokens]
    return Read(tokens, overlaps(sizes, [*map(WORDS.size, held)]))


def _plain(words: Sequence[str], lower: bool) -> list[str]:
    """Words in the run's case, and without what word tokens keep for themselves."""
    return [detokenize(tokenize(word.lower() if lower else word)) for word in words]


def pieces(words: Sequence[str], known: Container[str]) -> Pieces:
    """The word tokens of each word, which is not cut where they are known whole."""
    return [[token] if (token := _as_known(word, known)) in known else _cut(word, known)
            for word in words]  # fmt: skip


def _cut(word: str, known: Container[str]) -> list[str]:
    return [_as_known(token, known) for token in tokenize(word)]


def _as_known(token: str, known: Container[str]) -> str:
    """The token as the run writes it: as it is, or glued to the left or to the right."""
    forms = (token, JOINER + token, token + JOINER)
    return next((form for form in forms if form in known), token)


def as_written(words: Sequence[str], known: Container[str]) -> list[str]:
    """The words as tokens of running text, for a run whose subwords these are.

    A sign is glued to its left unless the run knows it behind a space, "(" and "l'" to their right,
    "'s" to its left.
    """
    return [_glued(word, known) for word in words]


def _glued(word: str, known: Container[str]) -> str:
    if word in OPENING or (len(word) > 1 and word.endswith(APOSTROPHES)):
        return word + JOINER
    sign = not any(map(str.isalnum, word)) and START + word not in known
    return JOINER + word if sign or word.startswith(APOSTROPHES) else word


def flat(sentence: Pieces) -> list[str]:
    """The tokens one after the other."""
    return [token for word in sentence for token in word]


def _matrices(subject: Subject, source: list[Read], target: list[Read]) -> dict[str, list[Matrix]]:
    """Weights word by word, the end token's row and column last, by network."""
    reverse = subject.settings.model.reverse_source
    ours, theirs = subject.vocabularies
    encoded = EncodedPairs([], [])
    for own, other in zip(source, target, strict=True):
        ids = ours.encode(own.tokens)
        encoded.source.append([*(reversed(ids) if reverse else ids), EOS])
        encoded.target.append([*theirs.encode(other.tokens), EOS])
    found: dict[str, list[Matrix]] = {}
    for name, weights in networks(subject):
        matrices = attention_matrices(subject.graph, weights, encoded, reverse, BATCH)
        found[name] = [
            by_word(matrix, own.shares, other.shares)
            for matrix, own, other in zip(matrices, source, target, strict=True)
        ]
    return found


def _align(model: IBM1, held: GoldSet, rows: Sequence[int], lower: bool) -> list[Links]:
    """IBM model 1's links, a word linked where any of its word tokens is."""
    cut = [
        [pieces(_plain(side[row], lower), ids) for row in rows]
        for side, ids in ((held.source, model.source_ids), (held.target, model.target_ids))
    ]
    pairs = [(flat(own), flat(other)) for own, other in zip(*cut, strict=True)]
    return [
        frozenset((_words(own)[i], _words(other)[j]) for i, j in links)
        for links, own, other in zip(model.align(pairs), *cut, strict=True)
    ]


def _words(sentence: Pieces) -> list[int]:
    """The word that each token belongs to."""
    return [place for place, word in enumerate(sentence) for _ in word]


def summarise_gold(probed: Sequence[Probed]) -> list[Row]:
    """The rows of the study, with what the runs did not know as a note."""
    rows: list[Row] = []
    for arm in arms_of(probed):
        found = arm.runs[0].found
        note = (
            f"{arm.name}: unknown to the run are {100 * found['unknown_source'][0]:.1f} % of the "
            f"source and {100 * found['unknown_target'][0]:.1f} % of the target tokens"
        )
        rows += [row | {"note": note} for row in arm_rows(arm, outside=True)]
    return rows
