"""Commands that are killed or asked to stop, at random moments and at every stage.

They end as if nobody had touched them.
"""

import random
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from disturbed import KINDS, LONGEST, Disturbed, begin, contents, disturb, ended, numbers, wait
from halting_sweep import OF_DRIVER, OF_WORKER
from lanes import sample_random
from small_sweeps import TINY

from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.runs.store import run_folders

PROGRAM = Path(__file__).with_name("halting_sweep.py")
LONGER = ("--set", "training.updates=60", "--set", "training.validations=6")
ONE_CELL = ("--set", "model.attention=dot", "--set", "training.validations=6", "--jobs", "1")
COMMANDS = {
    "study": "study length --quiet --results out",
    "all": "export --all --results out",
    "merge": "merge out other -o both",
    "report": "report -o page.html --results out",
    "plot": "plot bleu -o bleu.svg --results out",
    "bench": "bench --quick --vary length=5 --arms none --repeats 1 --quiet --out bench",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    (folder / "mine.toml").write_text(TINY)
    return folder


@pytest.mark.parametrize(
    ("moments", "seeds"),
    [
        pytest.param(len(KINDS), 1, marks=pytest.mark.slow(minutes=2)),
        pytest.param(50, 6, marks=pytest.mark.exhaustive(minutes=25)),
    ],
)
def test_a_sweep_killed_at_random_moments(place, cache, moments, seeds):
    """Each kind of fault as often as any other, at moments that are drawn anew each session."""
    sweep = Disturbed(place / "mine.toml", cache, (*LONGER, "--seeds", str(seeds)))
    whole = sweep.finish(place / f"whole{moments}")  # its programs are compiled
    seconds, draw = wait(sweep.begin(place / f"again{moments}")), sample_random("killed")
    assert numbers(place / f"again{moments}") == whole
    kinds, sweeps, hits = Counter[str](), 0, 0
    while kinds.total() < moments:
        folder, sweeps = place / f"sweep{moments}-{sweeps}", sweeps + 1
        while kinds.total() < moments:
            process = sweep.begin(folder)
            if ended(process, draw.uniform(0, seconds)):
                break
            hits += any(run.status == "running" for run in run_folders(folder / STORE))
            kind = KINDS[kinds.total() % len(KINDS)]
            disturb(process, kind, draw)
            if kind == "worker":
                assert ended(process, LONGEST)
            kinds[kind] += 1
        assert sweep.finish(folder) == whole
    assert moments < 50 or hits


@pytest.mark.exhaustive(minutes=5)
@pytest.mark.parametrize("kind", ["all", "SIGTERM", "SIGINT"])
def test_a_sweep_killed_at_every_stage(tmp_path, place, cache, kind):
    """One store, in which each stage is reached from where the stage before was killed."""
    sweep = Disturbed(place / "mine.toml", cache, ONE_CELL)
    whole = sweep.finish(tmp_path / "whole")
    for stage in [*OF_WORKER, *OF_DRIVER]:
        mark = tmp_path / f"halts at {stage}"
        process = sweep.begin(tmp_path / "out", program=[PROGRAM, stage, mark])
        end = time.monotonic() + LONGEST
        while not mark.exists():
            assert process.poll() is None, process.communicate()[1].decode()
            assert time.monotonic() < end, f"{stage} is not reached"
            time.sleep(0.01)
        disturb(process, kind, random.Random(0))
        assert process.returncode, f"{stage}: it went on"
    assert sweep.finish(tmp_path / "out") == whole
    assert not list(tmp_path.rglob("*.part"))


@pytest.fixture(scope="module")
def whole(place, cache):
    """A folder with a finished sweep, and a copy of it as another person's."""
    Disturbed(place / "mine.toml", cache, LONGER).finish(place / "whole" / "out")
    shutil.copytree(place / "whole" / "out", place / "whole" / "other")
    return place / "whole"


@pytest.mark.exhaustive(minutes=5, sample="session")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_killed_at_random_moments(tmp_path, whole, cache, name):
    command, draw, before = COMMANDS[name].split(), random.Random(name), contents(whole)
    undisturbed, place = tmp_path / "undisturbed", tmp_path / "disturbed"
    for folder in (undisturbed, place):
        shutil.copytree(whole, folder)
    seconds = wait(begin(command, cache, undisturbed))
    right = contents(undisturbed)
    for kind in ("driver", "SIGTERM", "SIGINT", "all"):
        moment, process = draw.uniform(0.1, 0.95) * seconds, begin(command, cache, place)
        while ended(process, moment):  # at an earlier moment, if it has ended by then
            moment, process = moment / 2, begin(command, cache, place)
        disturb(process, kind, draw)
        between = contents(place)
        assert not before.keys() - between.keys(), kind
        for file, content in between.items():
            assert content in (before.get(file), right.get(file)), (kind, file)
        assert numbers(place / "out") == numbers(whole / "out")
    wait(begin(command, cache, place))
    assert contents(place) == right
    assert not list(place.rglob("*.part"))
