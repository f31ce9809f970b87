"""One small comparison, trained once: two arms with few updates."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from filelock import FileLock

from seq2seq_bottleneck.results.folders import find_runs
from seq2seq_bottleneck.runs.pool import run_cells
from seq2seq_bottleneck.runs.sweep import plan_comparison, run_sweep
from seq2seq_bottleneck.settings.run import resolve

TINY = ["training.updates=20", "corpus.test_pairs=40", "training.validations=1"]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with a run without attention and one with it, two seeds each.

    The first worker that asks trains them.
    """
    common = tmp_path_factory.getbasetemp()
    common = common.parent if "PYTEST_XDIST_WORKER" in os.environ else common
    with FileLock(common / "finished.lock"):
        if not (common / "finished").is_dir():
            _train(common / "training")
            (common / "training").rename(common / "finished")
    # Studies write into it.
    return Path(shutil.copytree(common / "finished", tmp_path_factory.mktemp("own") / "finished"))


def _train(out: Path) -> None:
    cells = plan_comparison(resolve("smoke", TINY), 2, False)
    execute = partial(run_cells, together=2)
    outcomes = run_sweep("vindication", cells, out, lambda *_: None, execute)
    assert [outcome.phase for outcome in outcomes] == ["done"] * 4


@pytest.fixture
def runs(finished: Path) -> list[Path]:
    """The folders of the four runs, attention additive first."""
    return list(find_runs(finished).done)


@pytest.fixture(scope="session")
def subject(finished: Path):
    """The first seed of the arm with attention, opened once: its corpus takes a second."""
    # Imported here because pytest must first know which warnings are not errors.
    from seq2seq_bottleneck.questions.subject import Subject

    subjects = map(Subject, find_runs(finished).done)
    return next(run for run in subjects if run.settings.model.attention == "additive")
