"""C7 on the user's own gold set: sentences outside the run's corpus, words linked by people.

The words are those between the spaces of the files. Where the run's own tokens are finer, weights
of the pieces of a source word are added and those of the pieces of a target word averaged. Where a
gold set stands in tokens (``l' homme ,``), a piece that the run does not know is tried with the
mark of a token that was glued to its neighbour, as the run's own text has it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..corpus.batches import EncodedPairs
from ..corpus.files import read_lines
from ..corpus.tokens import JOINER, tokenize
from ..corpus.vocabulary import Vocabulary
from ..probes.alignment import GoldLinks, Links, check_gold, parse_gold
from ..probes.ibm1 import IBM1
from ..runs.attention import attention_matrices
from ..settings.errors import UserError
from ..settings.run import RunSettings
from ..settings.symbols import EOS
from .alignment import (
    BATCH,
    EVERYWHERE,
    Attended,
    Matrix,
    bucket_rows,
    columns_of,
    networks,
    train_ibm1,
)
from .arms import arms_of
from .study import Columns, Probed, Row, Tell
from .subject import Subject

Pieces = list[list[str]]
"""The tokens of each word of a sentence."""


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
            f"has {len(sides[1]):,}; line by line one must translate the other"
        )
    name = f"--gold {str(gold)!r}"
    links = parse_gold(read_lines(str(gold), "--gold"), name, base=base)
    held = GoldSet(*sides, links)
    check_gold(links, held.lengths, name, base=base)
    return held


def probe_gold(subject: Subject, held: GoldSet, tell: Tell) -> Columns:
    """The study's columns for the gold set; pairs with an empty side or without links left out."""
    rows = [
        row
        for row, (lengths, links) in enumerate(zip(held.lengths, held.links, strict=True))
        if min(lengths) and links.possible
    ]
    if not rows:
        raise UserError("no sentence of --gold has links; nothing can be measured")
    source, target = (
        [pieces(side[row], vocabulary, is_lower(subject.settings)) for row in rows]
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
    aligned = _align(train_ibm1(subject.corpus.train), source, target)
    shares = {
        f"unknown_{name}": np.full(len(rows), unknown_share(side, vocabulary))
        for name, side, vocabulary in zip(
            ("source", "target"), (source, target), subject.vocabularies, strict=True
        )
    }
    return columns_of(read, aligned) | shares


def is_lower(settings: RunSettings) -> bool:
    """Whether the run's own text is in small letters."""
    return settings.corpus.lowercase or settings.corpus.name == "grammar"


def pieces(words: Sequence[str], vocabulary: Vocabulary, lower: bool) -> Pieces:
    """The run's tokens of each word, which is not cut where the run has it whole."""
    known = set(vocabulary.words)
    held = [word.lower() if lower else word for word in words]
    return [[whole] if (whole := _as_known(word, known)) in known else _cut(word, known)
            for word in held]  # fmt: skip


def _cut(word: str, known: set[str]) -> list[str]:
    return [_as_known(token, known) for token in tokenize(word)]


def _as_known(token: str, known: set[str]) -> str:
    """The token as the run writes it: as it is, or glued to the left or to the right."""
    forms = (token, JOINER + token, token + JOINER)
    return next((form for form in forms if form in known), token)


def unknown_share(sentences: Iterable[Pieces], vocabulary: Vocabulary) -> float:
    """Share of the tokens that the run does not know."""
    return vocabulary.unknown_rate(flat(sentence) for sentence in sentences)


def flat(sentence: Pieces) -> list[str]:
    """The tokens one after the other."""
    return [token for word in sentence for token in word]


def _matrices(
    subject: Subject, source: list[Pieces], target: list[Pieces]
) -> dict[str, list[Matrix]]:
    """Weights word by word, the end token's row and column last, by network."""
    reverse = subject.settings.model.reverse_source
    ours, theirs = subject.vocabularies
    encoded = EncodedPairs([], [])
    for own, other in zip(source, target, strict=True):
        ids = ours.encode(flat(own))
        encoded.source.append([*(reversed(ids) if reverse else ids), EOS])
        encoded.target.append([*theirs.encode(flat(other)), EOS])
    found: dict[str, list[Matrix]] = {}
    for name, weights in networks(subject):
        matrices = attention_matrices(subject.graph, weights, encoded, reverse, BATCH)
        found[name] = [by_word(*each) for each in zip(matrices, source, target, strict=True)]
    return found


def by_word(
    weights: Float[ndarray, "tokens others"], source: Pieces, target: Pieces
) -> Float[ndarray, "target source"]:
    """Weights of source pieces added, of target pieces averaged; end tokens are words."""
    columns = np.add.reduceat(weights, _starts(source), axis=1)
    sizes = np.array([*map(len, target), 1])
    return np.add.reduceat(columns, _starts(target), axis=0) / sizes[:, None]


def _starts(sentence: Pieces) -> list[int]:
    """Where each word begins, and the end token."""
    return np.cumsum([0, *map(len, sentence)]).tolist()


def _align(model: IBM1, source: list[Pieces], target: list[Pieces]) -> list[Links]:
    """IBM model 1's links, a word linked where any of its pieces is."""
    pairs = [(flat(own), flat(other)) for own, other in zip(source, target, strict=True)]
    return [
        frozenset((_words(own)[i], _words(other)[j]) for i, j in links)
        for links, own, other in zip(model.align(pairs), source, target, strict=True)
    ]


def _words(sentence: Pieces) -> list[int]:
    """The word that each token belongs to."""
    return [place for place, word in enumerate(sentence) for _ in word]


def summarise_gold(probed: Sequence[Probed]) -> list[Row]:
    """The rows of the study over all sentences, with what the runs did not know as a note."""
    rows: list[Row] = []
    for arm in arms_of(probed):
        found = arm.runs[0].found
        everything = np.ones(len(found["source_words"]), dtype=bool)
        note = (
            f"{arm.name}: unknown to the run are {100 * found['unknown_source'][0]:.1f} % of the "
            f"source and {100 * found['unknown_target'][0]:.1f} % of the target tokens"
        )
        rows += [row | {"note": note} for row in bucket_rows(arm, everything, 0, EVERYWHERE)]
    return rows
