"""A sweep that is killed or asked to stop, then continued, gives the undisturbed results."""

from collections import Counter

import pytest
from disturbed import KINDS, LONGEST, Disturbed, disturb, ended, numbers, wait
from lanes import sample_random
from small_sweeps import TINY

from seq2seq_bottleneck.results.folders import STORE, runs_in
from seq2seq_bottleneck.runs.store import status_of

LONGER = ("--set", "training.updates=60", "--set", "training.validations=6")


@pytest.mark.parametrize(
    ("moments", "seeds"),
    [
        pytest.param(len(KINDS), 1, marks=pytest.mark.slow(minutes=2)),
        pytest.param(50, 6, marks=pytest.mark.exhaustive(minutes=25)),
    ],
)
def test_a_sweep_killed_at_random_moments(tmp_path, cache, moments, seeds):
    """All kinds of faults are equally frequent, at moments that each session draws anew."""
    (tmp_path / "mine.toml").write_text(TINY)
    sweep = Disturbed(tmp_path / "mine.toml", cache, (*LONGER, "--seeds", str(seeds)))
    whole = sweep.finish(tmp_path / "whole")  # this compiles its programs
    seconds, draw = wait(sweep.begin(tmp_path / "again")), sample_random("killed")
    assert numbers(tmp_path / "again") == whole
    kinds, sweeps, hits = Counter[str](), 0, 0
    while kinds.total() < moments:
        folder, sweeps = tmp_path / f"sweep{sweeps}", sweeps + 1
        while kinds.total() < moments:
            process = sweep.begin(folder)
            if ended(process, draw.uniform(0, seconds)):
                break
            hits += "running" in map(status_of, runs_in(folder / STORE))
            kind = KINDS[kinds.total() % len(KINDS)]
            disturb(process, kind, draw)
            if kind == "worker":
                assert ended(process, LONGEST)
            kinds[kind] += 1
        assert sweep.finish(folder) == whole
    assert moments < 50 or hits
