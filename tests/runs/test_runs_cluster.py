"""Runs on a real scheduler with two real workers on this machine: each result comes back once."""

import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest
from executing import Heard, interrupt, same_results, smoke

from seq2seq_bottleneck.results.folders import runs_in
from seq2seq_bottleneck.runs.cluster import run_cells_on_cluster
from seq2seq_bottleneck.runs.pool import run_cells
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import Cell

pytestmark = pytest.mark.exhaustive(sample="file")

QUICK = ["training.validations=1", "training.shapes=1", "scoring.resamples=9"]


@pytest.fixture(scope="module")
def scheduler():
    """The address of a scheduler with two workers."""
    from distributed import LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(host="127.0.0.1", **options) as cluster:
        yield cluster.scheduler_address


def wait_until_gone(process: int) -> None:
    end = time.monotonic() + 30
    while psutil.pid_exists(process) and psutil.Process(process).status() != "zombie":
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def copying(name: str, updates: int) -> Cell:
    settings = smoke("corpus.max_words=20", *QUICK, f"training.updates={updates}")
    return Cell("", settings, name)


def test_a_worker_killed_in_mid_run_costs_no_result(scheduler, tmp_path):
    cells, killed = [copying("killed", 80), copying("other", 60)], []

    def kill(cell, event):
        if cell == cells[0] and event.get("update") and not killed:
            killed.append(heard.process_of(cell))
            os.kill(psutil.Process(killed[0]).ppid(), signal.SIGKILL)

    heard = Heard(kill)
    outcomes = run_cells_on_cluster(cells, tmp_path / "store", heard, scheduler)
    assert [outcome.phase for outcome in outcomes] == ["done", "done"]
    assert heard.process_of(cells[0]) != killed[0]
    wait_until_gone(killed[0])
    (local,) = run_cells(cells[:1], tmp_path / "local", lambda *_: None, threads=1)
    assert local.run == outcomes[0].run
    here, there = (tmp_path / place / local.run for place in ("local", "store"))
    assert same_results(here, there)
    assert {path.name for path in here.iterdir()} == {path.name for path in there.iterdir()}


def test_the_users_files_travel_though_the_workers_cannot_see_them(
    scheduler, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = [f"word{number}" for number in range(20)]
    sentences = [" ".join(words[(i + k) % 20] for k in range(5 + i % 10)) for i in range(400)]
    Path("mine.TSV").write_text(
        "".join(f"{text} {i}\t{text}\n" for i, text in enumerate(sentences))
    )
    settings = resolve("smoke", ["corpus.name=files", "corpus.source=mine.TSV", *QUICK])
    cells, heard = [Cell("", settings)], Heard()
    (outcome,) = run_cells_on_cluster(cells, Path("store"), heard, scheduler)
    assert outcome.phase == "done", outcome.reason
    written = json.loads((tmp_path / "store" / outcome.run / "settings.json").read_text())
    assert written == settings.model_dump()
    assert run_cells_on_cluster(cells, Path("store"), heard, scheduler) == [outcome]
    assert len(runs_in(Path("store"))) == 1


def test_an_interrupted_sweep_ends_its_runs(scheduler, tmp_path):
    heard, endless = Heard(interrupt), copying("endless", 100000)
    with pytest.raises(KeyboardInterrupt):
        run_cells_on_cluster([endless], tmp_path, heard, scheduler)
    wait_until_gone(heard.process_of(endless))
    assert runs_in(tmp_path) == []


def test_a_scheduler_that_cannot_be_reached_is_an_error(tmp_path):
    with pytest.raises(UserError, match="cannot reach scheduler"):
        run_cells_on_cluster([], tmp_path, lambda *_: None, "tcp://127.0.0.1:1")
