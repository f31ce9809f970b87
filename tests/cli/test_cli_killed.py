"""A sweep that is killed again and again, at random moments, ends as if nobody had touched it."""

import time
from collections import Counter
from pathlib import Path

import pytest
from disturbed import KINDS, LONGEST, Disturbed, disturb, ended
from lanes import sample_random

from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.runs.store import run_folders

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
STAGES = {
    "hypotheses.jsonl": "writing",
    "weights.safetensors": "decoding or scoring",
    "checkpoint.safetensors": "going on from a checkpoint",
    "status.json": "training",
}
"""The stage of a run that has not ended, by the last of these files that it has."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def stages(folder: Path) -> set[str]:
    """What the runs of a sweep are at; workers start and prepare the corpus before they have one.

    `test_cli_killed_stages.py` kills at each stage, and knows more of them.
    """
    running = [run.path for run in run_folders(folder / STORE) if run.status == "running"]
    at = {stage for run in running if (stage := stage_of(run))}
    return at or {"between runs"}


def stage_of(run: Path) -> str:
    """Of a run; empty if it ended just now."""
    return next((stage for file, stage in STAGES.items() if (run / file).exists()), "")


@pytest.mark.parametrize(
    ("moments", "seeds"),
    [
        pytest.param(len(KINDS), 1, marks=pytest.mark.slow(minutes=2)),
        pytest.param(50, 6, marks=pytest.mark.exhaustive(minutes=25)),
    ],
)
def test_killed_at_random_moments(place: Path, cache: Path, moments: int, seeds: int) -> None:
    """Each kind of fault as often as any other, at moments that are drawn anew each session."""
    (place / "mine.toml").write_text(SWEEP)
    sweep = Disturbed(place / "mine.toml", cache, ("--seeds", str(seeds)))
    whole = sweep.finish(place / f"whole{moments}")  # its programs are compiled
    start = time.monotonic()
    assert sweep.finish(place / f"again{moments}") == whole
    seconds, draw = time.monotonic() - start, sample_random("killed")
    kinds, hit = Counter[str](), Counter[str]()
    sweeps = 0
    while kinds.total() < moments:
        folder, sweeps = place / f"sweep{moments}-{sweeps}", sweeps + 1
        while kinds.total() < moments:
            process = sweep.begin(folder)
            if ended(process, draw.uniform(0, seconds)):
                break
            hit.update(stages(folder))
            kind = KINDS[kinds.total() % len(KINDS)]
            disturb(process, kind, draw)
            if kind == "worker":
                assert ended(process, LONGEST)
            kinds[kind] += 1
        assert sweep.finish(folder) == whole
    print(f"stages that moments hit in {sweeps} sweeps (shown with -s): {dict(hit)}")
    assert moments < 50 or "training" in hit, hit
