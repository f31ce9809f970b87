"""An output folder's bundle matches its store: after a stop, a removal, two sweeps."""

import os

import pandas as pd
import pytest
from planted import sentences, write_run

from seq2seq_bottleneck.results.folders import STORE, arms, read_experiments
from seq2seq_bottleneck.runs.sweep import declare_runs, gather, run_sweep
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import Cell


def planted(out, name, *assignments, **facts):
    """A finished run in the store of ``out``."""
    texts = sentences()
    settings = resolve("smoke", assignments)
    return write_run(out, name, settings, texts, texts, group=None, **facts)


def bundled(out):
    """The bundle's experiments, and their runs in its order."""
    table = pd.read_csv(out / "runs.csv", keep_default_na=False)
    rows = table.groupby("experiment", sort=False)["run"]
    return {name: list(dict.fromkeys(runs)) for name, runs in rows}


def declared(experiment, *runs):
    """An experiment in which each run is an arm of the same name."""
    return experiment, {run: [run, ""] for run in runs}


def conclude(out, experiment, runs):
    """What a sweep does at its end."""
    cells = {Cell("", resolve("smoke"), *names): run for run, names in runs.items()}
    declare_runs(out, experiment, [*cells], cells)
    gather(out)


def silent(cell, event):
    """A listener that ignores everything."""


def test_an_interrupted_sweep_has_a_bundle_of_what_is_finished(tmp_path):
    cells = [Cell("", resolve("smoke"), name) for name in ("first", "second")]

    def execute(_cells, _store, listener):
        planted(tmp_path, "first")
        listener(cells[1], {"phase": "training", "run": "second", "parameters": 1})
        assert read_experiments(tmp_path) == dict([declared("wild", "second")])
        listener(cells[0], {"phase": "done", "run": "first", "reason": ""})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep("wild", cells, tmp_path, silent, execute)
    assert bundled(tmp_path) == {"wild": ["first"]}
    assert read_experiments(tmp_path) == dict([declared("wild", "first", "second")])


def test_experiments_share_runs_and_the_last_whole_sweeps_arms_come_first(tmp_path):
    for name, attention in {"a": "none", "b": "dot", "c": "additive"}.items():
        planted(tmp_path, name, f"model.attention={attention}")
    conclude(tmp_path, *declared("earlier", "b", "a"))
    conclude(tmp_path, *declared("later", "c"))
    assert bundled(tmp_path) == {"earlier": ["b", "a"], "later": ["c"]}
    conclude(tmp_path, *declared("later", "a", "c"))
    conclude(tmp_path, *declared("later", "c"))  # a part of it leaves the order
    assert bundled(tmp_path) == {"earlier": ["b", "a"], "later": ["a", "c"]}


ARMS = {"none": ["none", ""], "dot": ["dot", "none"]}
"""The arm and baseline that an experiment names for each attention."""


def commanded(out, runs, *assignments, **facts):
    """Run a command with both arms, in runs of these names; missing runs are made."""
    for attention, name in zip(ARMS, runs, strict=True):
        if not (out / STORE / name).exists():
            planted(out, name, f"model.attention={attention}", *assignments, **facts)
    conclude(out, "pair", dict(zip(runs, ARMS.values(), strict=True)))


def test_an_experiment_has_the_newest_run_of_an_arm_and_seed(tmp_path):
    commanded(tmp_path, "ab")
    commanded(tmp_path, "cd", "training.seed=2")
    assert bundled(tmp_path) == {"pair": ["c", "d", "a", "b"]}
    commanded(tmp_path, "ef", fingerprint="mended")
    assert bundled(tmp_path) == {"pair": ["e", "f"]}
    assert {folder.name for folder in arms(tmp_path).values()} == {"e", "f"}
    commanded(tmp_path, "ab")  # the first command again, on the first text
    assert bundled(tmp_path) == {"pair": ["a", "b"]}


def test_translate_uses_the_comparison_that_ended_last(tmp_path):
    for age, (name, *assignments) in enumerate(
        [
            ("new-none", "model.attention=none", "training.updates=7"),
            ("new-dot", "model.attention=dot", "training.updates=7"),
            ("new-dot-2", "model.attention=dot", "training.updates=7", "training.seed=2"),
            ("old-none", "model.attention=none"),
            ("old-additive", "model.attention=additive"),
        ]
    ):
        run = planted(tmp_path, name, *assignments)
        os.utime(run / "status.json", (9000 - age, 9000 - age))
    gather(tmp_path)
    chosen = {attention: run.name for attention, run in arms(tmp_path).items()}
    assert chosen == {"none": "new-none", "dot": "new-dot"}
