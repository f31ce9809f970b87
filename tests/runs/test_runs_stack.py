"""The checkpoints of a stack survive whatever comes next: other groupings, a kill at any place."""

import json
import shutil
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from executing import same_results, smoke

from seq2seq_bottleneck.runs import checkpoint
from seq2seq_bottleneck.runs.checkpoint import StopRequest
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.files import write_bytes
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION

SMALL = [
    "corpus.max_words=20", "training.updates=50", "training.average_last=0.4",
    "training.validations=1", "training.shapes=1", "scoring.resamples=9",
]  # fmt: skip
LAST_KEPT = 39
"""The last update of a stack that was killed as it reported its 40th."""


class Killed(BaseException):
    """The end of the process, in a test."""


def go(store: Path, *seeds: int, kill_at: int | None = None) -> dict[int, list[dict]]:
    """Execute runs of these seeds as one stack; what each reported."""
    heard = {seed: [] for seed in seeds}

    def report(place, event):
        heard[seeds[place]].append(event)
        if kill_at and event.get("update") == kill_at:
            raise Killed

    stack = [smoke(*SMALL, f"training.seed={seed}") for seed in seeds]
    execute(stack, store, report, StopRequest())
    return heard


def first_update(events):
    return next((event["update"] for event in events if event.get("update")), None)


def folder_of(heard, store, seed):
    return store / heard[seed][-1]["run"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three seeds together, undisturbed: folder by seed."""
    store = tmp_path_factory.mktemp("whole")
    heard = go(store, 1, 2, 3)
    return {seed: folder_of(heard, store, seed) for seed in (1, 2, 3)}


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory):
    """A store in which three seeds were killed together in mid-training."""
    store = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "EVERY", 0)
        with pytest.raises(Killed):
            go(store, 1, 2, 3, kill_at=40)
    return store


@pytest.fixture
def killed(killed_once, tmp_path):
    return Path(shutil.copytree(killed_once, tmp_path / "store"))


def left(store):
    return [path for path in store.rglob("*") if "checkpoint" in path.name]


def seeds_together(folder):
    """What the environment says, after a look at the schema that it names."""
    held = json.loads((folder / "environment.json").read_text())
    assert held["schema"] == SCHEMA_VERSION
    return held["seeds_together"]


@pytest.mark.exhaustive(sample="session")
def test_with_more_seeds_the_old_ones_go_on_as_they_were(killed, whole):
    heard = go(killed, 1, 2, 3, 4, 5)
    assert [first_update(heard[seed]) for seed in (1, 2, 3, 4, 5)] == [40, 40, 40, 20, 20]
    assert {events[-1]["phase"] for events in heard.values()} == {"done"}
    assert all(same_results(folder_of(heard, killed, seed), whole[seed]) for seed in (1, 2, 3))
    together = [seeds_together(folder_of(heard, killed, seed)) for seed in (1, 2, 3, 4, 5)]
    assert together == [3, 3, 3, 2, 2]
    assert left(killed) == []


@pytest.mark.exhaustive(sample="session")
def test_one_of_a_stack_goes_on_alone_and_the_others_after_it(killed):
    alone = go(killed, 1)
    assert (first_update(alone[1]), alone[1][-1]["phase"]) == (40, "done")
    assert seeds_together(folder_of(alone, killed, 1)) == 3  # its first updates were
    rest = go(killed, 3, 2, 1)
    assert [first_update(rest[seed]) for seed in (3, 2, 1)] == [40, 40, None]
    assert {events[-1]["phase"] for events in rest.values()} == {"done"}
    assert left(killed) == []


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("kept", [0, 1, 2])
def test_killed_between_two_checkpoints_a_stack_goes_on_as_two(tmp_path, monkeypatch, whole, kept):
    """Here of the last update: those that have theirs are not trained again."""
    written = count()

    def write(path, content):
        if next(written) == kept:
            raise Killed
        write_bytes(path, content)

    monkeypatch.setattr(checkpoint, "write_bytes", write)
    with pytest.raises(Killed):
        go(tmp_path, 1, 2, 3)
    monkeypatch.undo()
    heard = go(tmp_path, 1, 2, 3)
    assert [first_update(heard[seed]) for seed in (1, 2, 3)] == [None] * kept + [20] * (3 - kept)
    assert {events[-1]["phase"] for events in heard.values()} == {"done"}
    as_whole = [same_results(folder_of(heard, tmp_path, n), whole[n]) for n in (1, 2, 3)]
    assert all(as_whole[:kept] if kept else as_whole)
    assert left(tmp_path) == []


@pytest.mark.exhaustive(sample="session")
def test_a_removed_member_begins_anew_and_the_others_go_on(killed):
    (first, *_) = run_folders(killed)
    first.remove()
    heard = go(killed, 1, 2, 3)
    begun = {folder_of(heard, killed, seed).name: first_update(heard[seed]) for seed in (1, 2, 3)}
    assert begun.pop(first.run) == 20
    assert set(begun.values()) == {LAST_KEPT + 1}


@pytest.mark.exhaustive(sample="session")
def test_weights_of_the_whole_are_not_all_alike(whole):
    """What the comparisons above rest on."""
    assert not same_results(whole[1], whole[2])
    assert np.unique([folder.name for folder in whole.values()]).size == 3
