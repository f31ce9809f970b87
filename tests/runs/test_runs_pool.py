"""Worker processes: what happens when one dies, and that nothing half-written remains."""

import json
import os
import signal

import numpy as np
import pandas as pd
import pytest
from executing import Heard, interrupt, same_results, smoke

from seq2seq_bottleneck.results.folders import runs_in
from seq2seq_bottleneck.runs import pool
from seq2seq_bottleneck.runs.pool import run_cells
from seq2seq_bottleneck.runs.store import status_of
from seq2seq_bottleneck.settings.machine import NUMBERS
from seq2seq_bottleneck.settings.sweep import Cell

SAMPLED = pytest.mark.exhaustive(sample="session")


def quiet(*_):
    """A listener that ignores everything."""


def seeds_of(*seeds):
    """Cells that differ only in their seed."""
    return [Cell("", smoke(f"training.seed={seed}"), "arm") for seed in seeds]


@SAMPLED
def test_a_killed_worker_fails_alone(tmp_path):
    cells = [Cell("", smoke("training.updates=100000"), "killed"), Cell("", smoke(), "lives")]

    def kill(cell, event):
        if cell == cells[0] and event.get("update"):
            os.kill(heard.process_of(cell), signal.SIGKILL)

    heard = Heard(kill)
    first, second = run_cells(cells, tmp_path, heard)
    assert (first.phase, second.phase) == ("failed", "done")
    assert "signal 9" in first.reason
    assert (tmp_path / second.run / "scores.csv").is_file()


@SAMPLED
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupted_run_goes_on_to_the_same_weights(tmp_path, threads):
    """Stopped during training and started again, it gives the same weights bit for bit."""
    cells = [Cell("", smoke("training.updates=90", "model.dropout=0.1"))]
    stopped = Heard(interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_cells(cells, tmp_path / "stopped", stopped, threads=threads)
    (folder,) = runs_in(tmp_path / "stopped")
    assert status_of(folder) == "stopped"
    assert (folder / "checkpoint.safetensors").is_file()

    heard = Heard()
    (resumed,) = run_cells(cells, tmp_path / "stopped", heard, threads=threads)
    (whole,) = run_cells(cells, tmp_path / "whole", quiet, threads=threads)
    assert next(event["update"] for _, event in heard if "update" in event) > 20
    assert resumed.run == whole.run == folder.name
    assert same_results(folder, tmp_path / "whole" / whole.run)
    assert not (folder / "checkpoint.safetensors").exists()
    assert json.loads((folder / "environment.json").read_text())["threads"] == threads


@SAMPLED
def test_a_run_on_several_cores_ends_as_on_one(tmp_path):
    """Except for the order in which sentences' gradients are added.

    Two of four cores are enough for a batch of 32 sentences; scoring uses all four.
    """
    cell = Cell("", smoke("training.updates=40", "training.batch_size=32"))
    logs = []
    for threads in (1, 4):
        (outcome,) = run_cells([cell], tmp_path / str(threads), quiet, threads=threads)
        frame = pd.read_json(tmp_path / str(threads) / outcome.run / "log.jsonl", lines=True)
        logs.append(frame[["loss", "valid_loss"]].to_numpy(np.float64))
    np.testing.assert_allclose(logs[1], logs[0], rtol=1e-3)


def test_runs_share_the_available_cores(tmp_path, monkeypatch):
    made = []

    def run_workers(_task, orders, _listener, *sizes):
        made.append((*sizes, len(orders)))
        return {}

    monkeypatch.setattr(pool, "cores", lambda: 8)
    monkeypatch.setattr(pool, "run_workers", run_workers)
    cases = [(runs, {}) for runs in (1, 2, 3, 8, 100, 20)]
    cases[5:5] = [(1, {"threads": threads}) for threads in (1, 3, 8, 16)] + [(4, {"width": 3})]
    for runs, options in cases:
        monkeypatch.setattr(pool, "has_accelerator", lambda runs=runs: runs == 20)
        with pytest.raises(KeyError):  # no run has ended
            run_cells(seeds_of(*range(runs)), tmp_path, quiet, **options)
    assert made[:5] == [(1, 8, 1), (2, 4, 2), (4, 2, 3), (8, 1, 8), (8, 1, 100)]
    assert made[5:] == [(8, 1, 1), (2, 3, 1), (1, 8, 1), (1, 16, 1), (3, 1, 4), (1, 1, 2)]


def test_variables_that_would_make_other_numbers_do_not_reach_a_worker(monkeypatch):
    """A line in a user's profile once gave different results under the same name, unnoticed."""
    for name in NUMBERS:
        monkeypatch.setenv(name, "1")
    worker = pool.worker_environment()
    assert {name: worker[name] for name in NUMBERS} == NUMBERS


@SAMPLED
def test_two_at_once_on_one_run_do_it_once(tmp_path):
    heard = Heard()
    cells = [Cell("", smoke(), name) for name in ("one", "two")]
    outcomes = run_cells(cells, tmp_path, heard, width=2)
    assert outcomes[0].run == outcomes[1].run
    assert sorted("training" in heard.phases(cell) for cell in cells) == [False, True]


def test_stacks_hold_runs_that_differ_in_their_seed_alone(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(pool, "run_workers", lambda _, orders, *_rest: made.append(orders) or {})
    wide = Cell("", smoke("model.context_size=8", "training.seed=2"), "wide")
    cells = [*seeds_of(1, 2), wide, *seeds_of(3, 4, 5)]
    for together in (3, 1):
        with pytest.raises(KeyError):  # no run has ended
            run_cells(cells, tmp_path, quiet, together=together)
    some, one = ([stack for stack, _ in orders] for orders in made)
    assert some == [seeds_of(1, 2, 3), [wide], seeds_of(4, 5)]
    assert one == [[cell] for cell in cells]


@SAMPLED
def test_seeds_together_give_what_they_give_alone(tmp_path):
    cells, heard = seeds_of(1, 2, 3), Heard()
    together = run_cells(cells, tmp_path / "together", heard, together=3)
    alone = run_cells(cells, tmp_path / "alone", quiet)
    assert [outcome.phase for outcome in together] == ["done"] * 3
    assert [outcome.run for outcome in together] == [outcome.run for outcome in alone]
    assert len({event["process"] for _, event in heard if "process" in event}) == 1
    for outcome in together:
        losses = [
            pd.read_csv(tmp_path / kind / outcome.run / "scores.csv")["nll_per_token"]
            for kind in ("together", "alone")
        ]
        np.testing.assert_allclose(*losses, rtol=1e-4)
        assert not list((tmp_path / "together" / outcome.run).glob("checkpoint*"))
