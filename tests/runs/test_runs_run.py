"""What a run writes; stacks of runs: regrouped, killed anywhere, on a full disk."""

import errno
import json
import os
from itertools import count
from pathlib import Path

import jax
import pytest
from executing import Killed, executed, killed_at, same_results, smoke

from seq2seq_bottleneck.results.bundle import read_table
from seq2seq_bottleneck.results.folders import runs_in
from seq2seq_bottleneck.runs import checkpoint
from seq2seq_bottleneck.runs import run as running
from seq2seq_bottleneck.runs.checkpoint import Checkpoints
from seq2seq_bottleneck.runs.run import execute

SMALL = [
    "corpus.max_words=20", "training.updates=50", "training.average_last=0.4",
    "training.validations=1", "training.shapes=1", "scoring.resamples=9",
]  # fmt: skip
SEEDS = (1, 2, 3)
pytestmark = pytest.mark.exhaustive(sample="session")


def test_the_log_has_the_validations_and_the_environment_versions(tmp_path):
    run = tmp_path / executed(tmp_path, smoke("scoring.edges=5,11,21"))[-1]["run"]
    versions = json.loads((run / "environment.json").read_text())["versions"]
    assert versions["jax"] == jax.__version__
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines if line["valid_loss"]] == [20, 40]


def go(store: Path, *seeds: int, kill_at: int | None = None) -> dict[int, list[dict]]:
    """Execute runs of these seeds as one stack; return each run's reports."""
    heard = {seed: [] for seed in seeds}

    def report(place, event):
        heard[seeds[place]].append(event)
        if kill_at and event.get("update") == kill_at:
            raise Killed

    stack = [smoke(*SMALL, f"training.seed={seed}") for seed in seeds]
    execute(stack, store, report, Checkpoints())
    assert {events[-1]["phase"] for events in heard.values()} <= {"done"}
    assert [path for path in store.rglob("*") if "checkpoint" in path.name] == []
    return heard


def first_update(events: list[dict]) -> int | None:
    """The first reported update."""
    return next((event["update"] for event in events if event.get("update")), None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Folders by seed of three undisturbed seeds trained together; their results differ."""
    store = tmp_path_factory.mktemp("whole")
    folders = {seed: store / events[-1]["run"] for seed, events in go(store, *SEEDS).items()}
    assert not same_results(folders[1], folders[2])
    return folders


def test_adding_seeds_does_not_change_the_old_ones(tmp_path, whole, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "seconds", 0)
        with pytest.raises(Killed):
            go(tmp_path, *SEEDS, kill_at=40)
    heard = go(tmp_path, 1, 2, 3, 4, 5)
    assert list(map(first_update, heard.values())) == [40, 40, 40, 20, 20]
    assert all(same_results(tmp_path / heard[seed][-1]["run"], whole[seed]) for seed in SEEDS)


def test_killed_between_two_checkpoints_a_stack_goes_on_as_two(tmp_path, whole):
    """Here one run has the last update's checkpoint: it is not trained again."""
    with killed_at(1, (checkpoint, "save")) as killed:
        go(tmp_path, *SEEDS)
    assert killed
    heard = go(tmp_path, *SEEDS)
    assert list(map(first_update, heard.values())) == [None, 20, 20]
    assert same_results(tmp_path / heard[1][-1]["run"], whole[1])


@pytest.mark.exhaustive(minutes=3)
def test_a_disk_that_is_full_from_any_write_on_is_one_line_and_then_mended(tmp_path):
    settings, scores = smoke("training.updates=10", "scoring.resamples=20"), []
    real = os.fsync
    for step in count():
        writes, store = count(), tmp_path / str(step)

        def fsync(file, step=step, writes=writes):
            if next(writes) >= step:
                raise OSError(errno.ENOSPC, "No space left on device")
            real(file)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            first = executed(store, settings)[-1]
        assert executed(store, settings)[-1]["phase"] == "done"
        (run,) = runs_in(store)
        scores.append(read_table(run / "scores.csv", {"bleu": "f8"})["bleu"].to_list())
        assert scores[-1] == scores[0]
        assert list(store.rglob("*.part")) == []
        if first["phase"] == "done":
            break
        assert first["phase"] == "failed"
        assert "cannot write '" in first["reason"]
        assert "\n" not in first["reason"]
    assert len(scores) > 14  # the files of a run's folder, and its statuses


@pytest.mark.parametrize("place", [0, -1])
def test_a_run_with_a_damaged_checkpoint_begins_anew(tmp_path, place):
    """One bit is flipped."""
    settings = smoke("training.updates=40")
    with pytest.MonkeyPatch.context() as patch, killed_at(1, (running, "write_status")) as killed:
        patch.setattr(Checkpoints, "seconds", 0)
        executed(tmp_path, settings)
    assert killed
    (path,) = tmp_path.glob("*/checkpoint.safetensors")
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    events = executed(tmp_path, settings)
    assert (first_update(events), events[-1]["phase"]) == (20, "done")
