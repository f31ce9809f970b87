"""C2, C12: how many words a context of so many numbers holds, as far as its training got.

A word is kept where the reference's words that it is linked to stand in the output, by gold links
(`word_survival`); of that is taken away what the same outputs have of other sources of the same
length: (r - c) / (1 - c), which is 1 for a perfect output and 0 for any text. On the copying corpus
words at their own place are counted as well: there a word says nothing of the next, so that n words
in their order are exactly n log2 V bits.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..corpus.pair import SentencePair
from ..corpus.tokens import tokenize
from ..questions.arms import Arm, arms_of
from ..questions.question import Columns, Probed, Row, Study, Tell
from ..questions.subject import Subject, source_words
from ..questions.word_survival import (
    LinkedReference,
    chance_survivals,
    is_word,
    partners,
    survivals,
)
from ..results.outputs import read_texts
from ..settings.errors import UserError
from ..settings.sweep import Cell, toml_word, varying
from .capacity_rows import Contexts, family_rows

FEWEST = 20
"""Sentences of a point of the curve: neighbouring lengths with fewer are taken together."""
SHUFFLES = 10
"""Other sentences whose outputs tell what of a sentence is there by chance."""
MAY_DIFFER = frozenset({"model.context_size", "training.updates", "training.seed"})
"""What the runs of one table may differ in, beside corpus and attention."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """A row a test sentence: its point of the curve, and its words kept, by chance and in all."""
    tell("looking for the words")
    pairs = subject.corpus.test
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    words = source_words(pairs)
    points = points_of(words)
    others = partners(points, SHUFFLES, seed=subject.settings.scoring.seed)
    linked = [_linked(pair) for pair in pairs]
    counted = [np.array(list(map(is_word, tokenize(pair.source)))) for pair in pairs]
    found = survivals(linked, outputs)
    chance = chance_survivals(linked, outputs, others)
    own = zip(found, chance, counted, strict=True)
    sums = np.array([kept_words(*sentence) for sentence in own])
    references = [pair.reference for pair in linked]
    return {
        "source_words": words,
        "point": points,
        "bits": [pair.bits for pair in pairs],
        "kept": sums[:, 0],
        "kept_by_chance": sums[:, 1],
        "words": sums[:, 2],
        "in_place": in_place(references, outputs),
        "in_place_by_chance": np.mean(
            [in_place(references, [outputs[other] for other in row]) for row in others], axis=0
        ),
        "tokens": [len(reference) for reference in references],
    }


def _linked(pair: SentencePair) -> LinkedReference:
    return LinkedReference(len(tokenize(pair.source)), tuple(tokenize(pair.target)), pair.links)


def points_of(words: Int[ndarray, "sentences"]) -> Int[ndarray, "sentences"]:
    """The point of the curve that each sentence belongs to: lengths of `FEWEST` sentences or more.

    Lengths are taken together from the shortest up; what is left at the end goes to the last point.
    """
    place, held, of_length = 0, 0, {}
    counts = Counter(words.tolist())
    left = len(words)
    for length in sorted(counts):
        of_length[length] = place
        held += counts[length]
        left -= counts[length]
        if held >= FEWEST and left >= FEWEST:
            place, held = place + 1, 0
    return np.array([of_length[length] for length in words.tolist()], np.int64)


def kept_words(
    found: Float[ndarray, "words"], chance: Float[ndarray, "words"], counted: ndarray
) -> tuple[float, float, float]:
    """Words kept, kept by chance, and counted: those that are words and have a link."""
    counted = counted & ~np.isnan(found)
    return float(found[counted].sum()), float(chance[counted].sum()), float(counted.sum())


def in_place(
    references: Sequence[Sequence[str]], outputs: Sequence[Sequence[str]]
) -> Float[ndarray, "sentences"]:
    """How many of each reference's tokens stand at their own place in its output."""
    both = zip(references, outputs, strict=True)
    return np.array([sum(a == b for a, b in zip(*pair, strict=False)) for pair in both], np.float64)


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Lengths, growth, what twice the training adds, bits: for each corpus and attention."""
    return [row for family in families(probed) for row in family_rows(family)]


def families(probed: Sequence[Probed]) -> Iterator[Contexts]:
    """Arms of one corpus and attention, by updates and context size; they differ in nothing else.

    Raises UserError where they do, and where a test set is too small for two lengths.
    """
    held: dict[tuple[str, ...], dict[tuple[int, int], Arm]] = {}
    for arm in arms_of(probed):
        corpus, model = arm.settings.corpus.name, arm.settings.model
        family = held.setdefault((corpus, model.attention, model.placement), {})
        place = arm.settings.training.updates, model.context_size
        _require_alike([arm, *family.values()])
        _require_lengths(arm)
        family[place] = arm
    yield from (dict(sorted(family.items())) for family in held.values())


def _require_lengths(arm: Arm) -> None:
    """Refuse a test set of which no curve over lengths can be drawn."""
    points = arm.runs[0].found["point"]
    if len(np.unique(points)) < 2:
        raise UserError(
            f"the {len(points):,} test sentences of the {arm.settings.corpus.name} runs are one "
            f"point of the curve alone; two of {FEWEST} sentences each are needed: train with more "
            "corpus.test_pairs"
        )


def _require_alike(arms: Sequence[Arm]) -> None:
    """Refuse arms that differ in more than a family's may."""
    cells = [Cell("", arm.settings) for arm in arms]
    for name in [name for name in varying(cells) if name not in MAY_DIFFER]:
        values = list(dict.fromkeys(toml_word(cell.value(name)) for cell in cells))
        # What is not set is listed as what it follows: a width, a length.
        named = next((value for value in values if value != "none"), values[0])
        raise UserError(
            f"the runs differ in {name} ({' and '.join(values)}), and capacities of both cannot "
            f"stand in one table: choose with `--where {name}={named}`"
        )


STUDY = Study(
    name="capacity",
    ids=("C2", "C12"),
    question="Can 256 numbers really hold 40 words of meaning?",
    version=1,
    sweep="capacity",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.is_drawn and settings.model.source == "seen",
    own_runs=True,
)
