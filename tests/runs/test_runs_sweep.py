"""The bundle of an output folder is what its store holds: after a stop, a removal, two sweeps."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from planted import sentences, write_run

from seq2seq_bottleneck.results.folders import STORE, arms, read_groups
from seq2seq_bottleneck.results.schema import FILES, RUNS
from seq2seq_bottleneck.runs import sweep
from seq2seq_bottleneck.runs.pool import Job, Outcome
from seq2seq_bottleneck.runs.store import RunFolder
from seq2seq_bottleneck.runs.sweep import forget, gather, run_sweep
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve


def planted(out, name, *assignments):
    """A finished run in the store of ``out``."""
    texts = sentences()
    return write_run(out, name, resolve("smoke", assignments), texts, texts)


def bundled(out):
    """Runs and groups of the bundle, in its order."""
    table = pd.read_csv(out / RUNS, keep_default_na=False)
    return dict(zip(table["run"], table["group"], strict=True))


def silent(job, event):
    """A listener that hears nothing."""


def test_an_interrupted_sweep_has_a_bundle_of_what_is_finished(tmp_path):
    job = Job("cell", resolve("smoke"), "wild")

    def execute(_jobs, _store, listener):
        planted(tmp_path, "first")
        listener(job, {"phase": "training", "run": "second", "parameters": 1})
        listener(job, {"phase": "done", "run": "first", "reason": ""})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep([job], tmp_path, silent, execute)
    assert bundled(tmp_path) == {"first": "wild"}
    assert read_groups(tmp_path) == {"first": "wild", "second": "wild"}


def test_a_sweep_that_ends_with_nothing_leaves_nothing(tmp_path):
    assert run_sweep([], tmp_path, silent, lambda *_: []) == []
    assert list(tmp_path.iterdir()) == []


def test_a_reproduction_bundles_the_whole_store_in_its_order_with_its_groups(tmp_path, monkeypatch):
    planted(tmp_path, "a", "model.attention=none", "training.updates=9")
    planted(tmp_path, "b", "model.attention=dot")
    gather(tmp_path, {"a": "earlier"})
    planted(tmp_path, "c", "model.attention=additive")
    jobs = [Job("additive", resolve("smoke"))]
    outcomes = [Outcome(jobs[0], "done", run="c")]
    monkeypatch.setattr(sweep, "run_jobs", lambda *_, **__: outcomes)
    sweep.reproduce(jobs, tmp_path, silent)
    assert list(bundled(tmp_path).items()) == [("c", ""), ("b", ""), ("a", "earlier")]
    outcomes.append(Outcome(jobs[0], "diverged", reason="the loss was not finite"))
    with pytest.raises(UserError, match="run 'additive' diverged: the loss was not finite"):
        sweep.reproduce(jobs, tmp_path, silent)


@pytest.mark.slow
def test_two_sweeps_that_end_at_once_lose_no_group(tmp_path, monkeypatch):
    planted(tmp_path, "a")

    def slowly(out):
        groups = read_groups(out)
        time.sleep(0.2)
        return groups

    monkeypatch.setattr(sweep, "read_groups", slowly)
    with ThreadPoolExecutor() as both:
        list(both.map(lambda name: gather(tmp_path, {name: "g"}), ["a", "b"]))
    assert read_groups(tmp_path) == {"a": "g", "b": "g"}


def test_a_removed_run_is_in_no_bundle(tmp_path):
    for seed, name in enumerate("ab", 1):
        planted(tmp_path, name, f"training.seed={seed}")
    forget(tmp_path / STORE, "c")  # of a store by itself there is no bundle
    assert not (tmp_path / RUNS).exists()
    gather(tmp_path, {"a": "g", "b": "g"})
    assert all((tmp_path / name).is_file() for name in FILES)
    os.utime(tmp_path / RUNS, (1000, 1000))
    RunFolder(tmp_path / STORE, "a").remove()
    forget(tmp_path / STORE, "a")
    assert bundled(tmp_path) == read_groups(tmp_path) == {"b": "g"}
    assert (tmp_path / RUNS).stat().st_mtime == 1000
    RunFolder(tmp_path / STORE, "b").remove()
    forget(tmp_path / STORE, "b")
    assert not [name for name in FILES if (tmp_path / name).exists()]


def test_translations_are_by_the_comparison_that_ended_last(tmp_path):
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
    gather(tmp_path, {})
    chosen = {attention: run.name for attention, run in arms(tmp_path).items()}
    assert chosen == {"none": "new-none", "dot": "new-dot"}
