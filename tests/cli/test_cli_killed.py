"""A sweep that is killed again and again, at random moments, ends as if nobody had touched it."""

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from disturbed import KINDS, LONGEST, Disturbed, disturb, ended

pytestmark = pytest.mark.slow(minutes=12)
SWEEP = """# Does anything get lost?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
test_pairs = 60
[model]
attention = ["none", "dot"]
context_size = 8
[training]
updates = 60
validations = 6
[scoring]
resamples = 20
"""
MOMENTS = 50
"""How often something is killed, or asked to stop."""
SEEDS = 6
"""So many runs an arm that the sweep is long enough to be killed often."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed")


@pytest.fixture(scope="module")
def sweep(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    (place / "mine.toml").write_text(SWEEP)
    cache = tmp_path_factory.mktemp("cache")
    return Disturbed(place / "mine.toml", cache, ("--seeds", str(SEEDS)))


def test_killed_at_fifty_random_moments(place: Path, sweep: Disturbed) -> None:
    start = time.monotonic()
    whole = sweep.finish(place / "whole")
    seconds, draw = time.monotonic() - start, random.Random(1)
    kinds: Counter[str] = Counter()
    sweeps = 0
    while kinds.total() < MOMENTS:
        folder, sweeps = place / f"sweep{sweeps}", sweeps + 1
        while kinds.total() < MOMENTS:
            process = sweep.begin(folder)
            if ended(process, draw.uniform(0.1, seconds / 4)):
                break
            kind = draw.choice(KINDS)
            disturb(process, kind, draw)
            if kind == "worker":
                assert ended(process, LONGEST)
            kinds[kind] += 1
        assert sweep.finish(folder) == whole
    assert len(kinds) == len(KINDS), kinds
