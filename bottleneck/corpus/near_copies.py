"""How near test sentences are to training ones, though none is the same.

Counted are the 5-grams of word tokens of each test source, and those of them that some training
source holds as well: text of laws or of a grammar repeats its phrases, and what was seen in
training is translated better than what was not.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .tokens import tokenize

ORDER = 5
"""Word tokens of a gram."""
Gram = tuple[str, ...]


class Held(NamedTuple):
    """Of one sentence: how many of its 5-grams training holds, and how many it has."""

    found: int
    total: int


def near_copies(test: Sequence[str], train: Iterable[str]) -> list[Held]:
    """The counts of every test sentence; a sentence under five tokens has none.

    Memory goes with the test set alone; training text is read through once.
    """
    sentences = [list(_grams(text)) for text in test]
    wanted = {gram for grams in sentences for gram in grams}
    met: set[Gram] = set()
    for text in train:
        met.update(wanted.intersection(_grams(text)))
    return [Held(sum(gram in met for gram in grams), len(grams)) for grams in sentences]


def share(counts: Iterable[Held]) -> float | None:
    """The share (0 to 1) of all these sentences' 5-grams that was found; None without any."""
    held = list(counts)
    total = sum(each.total for each in held)
    return sum(each.found for each in held) / total if total else None


def _grams(text: str) -> Iterator[Gram]:
    """The 5-grams of a sentence's word tokens."""
    tokens = tokenize(text)
    return zip(*(tokens[start:] for start in range(ORDER)), strict=False)
