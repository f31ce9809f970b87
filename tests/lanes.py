"""The three lanes of the tests, by marker: quick (no marker), slow, exhaustive.

CI runs a sample of the exhaustive tests, drawn anew each time; `SAMPLE` repeats a sample.
"""

import os
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pytest

SAMPLE = "SEQ2SEQ_BOTTLENECK_SAMPLE"
"""The environment variable with the sample's seed; if not set, a session draws one."""
os.environ.setdefault(SAMPLE, str(random.SystemRandom().randrange(10**6)))


def sample_random(name: str) -> random.Random:
    """Random numbers for the sample of one test: the same in every worker of a session."""
    return random.Random(f"{os.environ[SAMPLE]} {name}")


def few(cases: Iterable[Any], every: int) -> list[Any]:
    """Every ``every``-th case, from the first on, is quick; CI draws one of the others."""
    return [case if index % every == 0 else _rare(case) for index, case in enumerate(cases)]


def _rare(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.exhaustive(sample="test"))


class Draws(NamedTuple):
    """How many cases hypothesis draws, and whether they are fresh in each session."""

    count: int
    fresh: bool


def draws(quick: int, exhaustive: int) -> list[Any]:
    """``quick`` fixed cases, twice as many fresh ones in the slow lane, and all in the last."""
    slow = pytest.param(Draws(2 * quick, True), marks=pytest.mark.slow, id="fresh")
    whole = pytest.param(Draws(exhaustive, True), marks=pytest.mark.exhaustive, id="all")
    return [pytest.param(Draws(quick, False), id="fixed"), slow, whole]


SAMPLES = {"test": 1, "file": 1, "session": 5}
"""How many cases are drawn from each test, from each file, or from all tests of a session."""


def draw_sample(items: Sequence[pytest.Item]) -> None:
    """Mark a sample of exhaustive cases as slow, by their marks ``exhaustive(sample="test")``."""
    families = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("exhaustive")
        if mark is not None and "sample" in mark.kwargs:
            sample = mark.kwargs["sample"]
            parts = {"test": item.nodeid.partition("[")[0], "file": str(item.path), "session": ""}
            families[sample, parts[sample]].append(item)
    for (sample, name), cases in families.items():
        for item in sample_random(name).sample(cases, min(SAMPLES[sample], len(cases))):
            item.add_marker("slow")
