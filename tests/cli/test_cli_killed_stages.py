"""A sweep that is killed, or asked to stop, at every stage of its run ends as if untouched."""

import random
import time
from pathlib import Path

import pytest
from disturbed import LONGEST, Disturbed, begin, disturb
from halting_sweep import OF_DRIVER, OF_WORKER
from test_cli_killed import SWEEP

pytestmark = pytest.mark.exhaustive(minutes=5)
PROGRAM = Path(__file__).with_name("halting_sweep.py")
STAGES = [*OF_WORKER, *OF_DRIVER]
ONE_CELL = ("--set", "model.attention=dot", "--set", "training.updates=20", "--jobs", "1")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    place = tmp_path_factory.mktemp("stages")
    (place / "mine.toml").write_text(SWEEP)
    return Disturbed(place / "mine.toml", place / "cache", ONE_CELL)


@pytest.fixture(scope="module")
def whole(sweep: Disturbed, tmp_path_factory: pytest.TempPathFactory) -> str:
    return sweep.finish(tmp_path_factory.mktemp("whole"))


def killed_at(stage: str, kind: str, sweep: Disturbed, folder: Path, mark: Path) -> None:
    """The sweep up to this stage, then disturbed there, before it goes on."""
    arguments = [stage, str(mark), "sweep", str(sweep.file), *sweep.options]
    program = [str(PROGRAM)]
    process = begin([*arguments, "--quiet", "--out", str(folder)], sweep.cache, program=program)
    end = time.monotonic() + LONGEST
    while not mark.exists():
        assert process.poll() is None, process.communicate()[1].decode()
        assert time.monotonic() < end, f"{stage} is not reached"
        time.sleep(0.01)
    disturb(process, kind, random.Random(0))
    assert process.returncode, f"{stage}: it went on"


@pytest.mark.parametrize("kind", ["all", "SIGTERM", "SIGINT"])
def test_killed_at_every_stage(tmp_path: Path, sweep: Disturbed, whole: str, kind: str) -> None:
    """One store, in which each stage is reached from where the stage before was killed."""
    for place, stage in enumerate(STAGES):
        killed_at(stage, kind, sweep, tmp_path / "out", tmp_path / f"mark{place}")
    assert sweep.finish(tmp_path / "out") == whole
    assert not list(tmp_path.rglob("*.part"))
