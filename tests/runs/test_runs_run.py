"""What a run writes, and stacks of runs: other groupings, a kill at any place."""

import json
import shutil
from pathlib import Path

import jax
import pandas as pd
import pytest
from executing import Killed, executed, killed_at, same_results, smoke

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.runs import checkpoint
from seq2seq_bottleneck.runs.checkpoint import Checkpoints
from seq2seq_bottleneck.runs.run import execute
from seq2seq_bottleneck.runs.store import run_folders

SMALL = [
    "corpus.max_words=20", "training.updates=50", "training.average_last=0.4",
    "training.validations=1", "training.shapes=1", "scoring.resamples=9",
]  # fmt: skip
SEEDS = (1, 2, 3)
pytestmark = pytest.mark.exhaustive(sample="session")


def test_the_log_has_every_validation_sentence_once_and_the_environment_versions(tmp_path):
    settings = smoke("scoring.edges=5,11,21")
    run = tmp_path / executed(tmp_path, settings)[-1]["run"]
    versions = json.loads((run / "environment.json").read_text())["versions"]
    assert versions["jax"] == jax.__version__
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    words = pd.Series([pair.words for pair in corpus.valid])
    targets = pd.Series([len(pair.target.split()) + 1 for pair in corpus.valid])
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    logged = {line["update"]: line["valid_buckets"] for line in lines if line["valid_buckets"]}
    assert list(logged) == [20, 40]
    for line in lines:
        assert (line["valid_buckets"] is None) == (line["valid_loss"] is None)
    for buckets in logged.values():
        assert list(buckets) == ["5-10", "11-20", "21+"]
        for name, (low, high) in zip(buckets, [(5, 10), (11, 20), (21, 999)], strict=True):
            inside = words.between(low, high)
            assert buckets[name]["sentences"] == inside.sum() > 2
            assert buckets[name]["tokens"] == targets[inside].sum()
    whole = logged[40].values()
    mean = sum(item["nats"] for item in whole) / sum(item["tokens"] for item in whole)
    if words.min() >= 5:
        assert mean == pytest.approx(lines[-1]["valid_loss"], rel=1e-12)


class Heard(dict[int, list[dict]]):
    """What the runs of a stack reported, by seed, and where their folders are."""

    def __init__(self, store: Path, seeds: tuple[int, ...]) -> None:
        super().__init__({seed: [] for seed in seeds})
        self.store = store

    def folder(self, seed: int) -> Path:
        return self.store / self[seed][-1]["run"]

    def firsts(self) -> list[int | None]:
        """Of each seed the first update that was reported."""
        updates = (
            [event["update"] for event in events if event.get("update")] for events in self.values()
        )
        return [numbers[0] if numbers else None for numbers in updates]

    def check_done(self) -> None:
        """All are, and no checkpoint is left."""
        assert {events[-1]["phase"] for events in self.values()} == {"done"}
        assert [path for path in self.store.rglob("*") if "checkpoint" in path.name] == []


def go(store: Path, *seeds: int, kill_at: int | None = None) -> Heard:
    """Execute runs of these seeds as one stack."""
    heard = Heard(store, seeds)

    def report(place, event):
        heard[seeds[place]].append(event)
        if kill_at and event.get("update") == kill_at:
            raise Killed

    stack = [smoke(*SMALL, f"training.seed={seed}") for seed in seeds]
    execute(stack, store, report, Checkpoints())
    return heard


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three seeds together, undisturbed: folder by seed. They are not all alike."""
    heard = go(tmp_path_factory.mktemp("whole"), *SEEDS)
    folders = {seed: heard.folder(seed) for seed in SEEDS}
    assert not same_results(folders[1], folders[2])
    assert len({folder.name for folder in folders.values()}) == 3
    return folders


@pytest.fixture(scope="module")
def killed_once(tmp_path_factory):
    """A store in which three seeds were killed together as they reported their 40th update."""
    store = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "EVERY", 0)
        with pytest.raises(Killed):
            go(store, *SEEDS, kill_at=40)
    return store


@pytest.fixture
def killed(killed_once, tmp_path):
    return Path(shutil.copytree(killed_once, tmp_path / "store"))


def test_with_more_seeds_the_old_ones_go_on_as_they_were(killed, whole):
    heard = go(killed, 1, 2, 3, 4, 5)
    assert heard.firsts() == [40, 40, 40, 20, 20]
    heard.check_done()
    assert all(same_results(heard.folder(seed), whole[seed]) for seed in SEEDS)


def test_one_of_a_stack_goes_on_alone_and_the_others_after_it(killed):
    alone = go(killed, 1)
    assert (alone.firsts(), alone[1][-1]["phase"]) == ([40], "done")
    rest = go(killed, 3, 2, 1)
    assert rest.firsts() == [40, 40, None]
    rest.check_done()


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_killed_between_two_checkpoints_a_stack_goes_on_as_two(tmp_path, whole, kept):
    """Here of the last update: those that have theirs are not trained again."""
    with killed_at(kept, (checkpoint, "to_bytes")) as killed:
        go(tmp_path, *SEEDS)
    assert killed
    heard = go(tmp_path, *SEEDS)
    assert heard.firsts() == [None] * kept + [20] * (3 - kept)
    heard.check_done()
    equal = [same_results(heard.folder(seed), whole[seed]) for seed in SEEDS]
    assert all(equal[:kept] if kept else equal)


def test_a_removed_member_begins_anew_and_the_others_go_on(killed):
    (first, *_) = run_folders(killed)
    first.remove()
    heard = go(killed, *SEEDS)
    names = [heard.folder(seed).name for seed in SEEDS]
    firsts = dict(zip(names, heard.firsts(), strict=True))
    assert firsts.pop(first.run) == 20
    assert set(firsts.values()) == {40}
