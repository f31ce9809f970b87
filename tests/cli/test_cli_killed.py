"""Commands that are killed or asked to stop, at random moments and at every stage.

They end as if nobody had touched them.
"""

import random
import shutil
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import psutil
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
    "bench": "bench --quick --lengths 5 --arms none --quiet --out bench",
}
SETTINGS = ("corpus.copy_words=20", "corpus.max_words=14", "corpus.train_pairs=100",
         "corpus.valid_pairs=10", "corpus.test_pairs=20", "training.updates=6",
         "training.validations=2", "scoring.resamples=10")  # fmt: skip
SHORT = tuple(word for setting in SETTINGS for word in ("--set", setting))
CELLS, SEEDS = 200, 20
KILLS = 20
"""How often something is killed or stopped, at random moments of the first half."""
FEWEST = 80
"""Runs that the last command does undisturbed, over which memory is looked at."""
GROWTH = 2**25
"""Bytes that the driver may grow by from the first quarter of these to the last: 32 MiB."""


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


@pytest.mark.parametrize("function", [*OF_WORKER.values(), *OF_DRIVER.values()])
def test_every_stage_begins_with_a_function_that_exists(function):
    assert callable(resolve_name(f"seq2seq_bottleneck.{function}"))


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


def under_way(command, cache, folder, moment):
    """The command at this moment, or at an earlier one if it has ended by then."""
    process = begin(command, cache, folder)
    while ended(process, moment):
        moment, process = moment / 2, begin(command, cache, folder)
    return process


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
        process = under_way(command, cache, place, draw.uniform(0.1, 0.95) * seconds)
        disturb(process, kind, draw)
        between = contents(place)
        assert not before.keys() - between.keys(), kind
        for file, content in between.items():
            assert content in (before.get(file), right.get(file)), (kind, file)
        assert numbers(place / "out") == numbers(whole / "out")
    wait(begin(command, cache, place))
    assert contents(place) == right
    assert not list(place.rglob("*.part"))


def done(folder):
    return sum(run.status == "done" for run in run_folders(folder / "runs"))


def watched(process):
    """The driver's memory in bytes, time after time until it ends."""
    driver, sizes = psutil.Process(process.pid), []
    end = time.monotonic() + LONGEST
    while not ended(process, 2.0):
        assert time.monotonic() < end, "it does not end"
        try:
            sizes.append(driver.memory_info().rss)
        except psutil.NoSuchProcess:
            break
    return sizes


def killed_on_the_way(sweep, folder, kills):
    """The command, disturbed so often, at moments when less than half of the cells are done."""
    draw, moments = random.Random(2), np.linspace(0.02, 0.5, kills) * CELLS
    process = sweep.begin(folder)
    for number, moment in enumerate(moments):
        while done(folder) < moment and not ended(process, draw.uniform(0.0, 0.5)):
            pass
        if process.poll() is not None:  # a killed worker may have been all that was left to do
            process = sweep.begin(folder)
        kind = KINDS[number % len(KINDS)]
        disturb(process, kind, draw)
        if kind != "worker":
            process = sweep.begin(folder)
    process.kill()
    process.communicate()


@pytest.mark.exhaustive(minutes=30)
def test_two_hundred_cells_with_random_kills(place, tmp_path):
    """All are done, nothing is left over, and the memory stays flat."""
    many = ("--set", "model.context_size=4,6,8,10,12", "--seeds", str(SEEDS))
    sweep = Disturbed(place / "mine.toml", tmp_path / "cache", (*SHORT, *many))
    folder = tmp_path / "out"
    killed_on_the_way(sweep, folder, KILLS)
    assert CELLS - done(folder) >= FEWEST
    process = sweep.begin(folder)
    memory = watched(process)
    assert process.returncode == 0
    assert done(folder) == CELLS
    assert not list(tmp_path.rglob("*.part"))
    first, last = np.array_split(memory, 4)[::3]
    assert np.median(last) - np.median(first) < GROWTH

    few = ("--set", "model.context_size=8", "--set", "training.seed=3,17")
    undisturbed = replace(sweep, options=(*SHORT, *few)).finish(tmp_path / "few")
    assert set(undisturbed.splitlines()) <= set(numbers(folder).splitlines())
