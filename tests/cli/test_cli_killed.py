"""Commands that are killed or asked to stop,: they end as if nobody had touched them."""

import random
import shutil
from collections import Counter

import pytest
from disturbed import KINDS, LONGEST, Disturbed, begin, contents, disturb, ended, numbers, wait
from lanes import sample_random
from small_sweeps import TINY

from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.runs.store import run_folders

LONGER = ("--set", "training.updates=60", "--set", "training.validations=6")
COMMANDS = {
    "study": "study length --quiet --results out",
    "all": "export --all --results out",
    "plot": "plot bleu -o bleu.svg --results out",
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


@pytest.fixture(scope="module")
def whole(place, cache):
    Disturbed(place / "mine.toml", cache, LONGER).finish(place / "whole" / "out")
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
        process = begin(command, cache, place)
        if ended(process, draw.uniform(0.1, 0.6) * seconds):
            continue
        disturb(process, kind, draw)
        between = contents(place)
        assert not before.keys() - between.keys(), kind
        for file, content in between.items():
            assert content in (before.get(file), right.get(file)), (kind, file)
        assert numbers(place / "out") == numbers(whole / "out")
    wait(begin(command, cache, place))
    assert contents(place) == right
    assert not list(place.rglob("*.part"))
