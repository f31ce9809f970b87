"""``bottleneck runs`` on a planted store: filters that read values as tables do, and removal."""

import json
from types import SimpleNamespace

import pytest
import typer
from listed import write_relisted
from planted import sentences, write_run

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import STORE, finished_runs
from seq2seq_bottleneck.results.schema import RUNS
from seq2seq_bottleneck.runs.store import RunFolder
from seq2seq_bottleneck.settings.run import resolve

RUN_SETTINGS = {
    "aaaa": ["model.attention=none", "training.seed=1"],
    "bbbb": ["model.attention=additive", "training.learning_rate=0.004", "training.seed=2"],
    "cccc": ["model.attention=dot", "model.bidirectional=true", "training.batch_tokens=90"],
}


@pytest.fixture
def out(tmp_path, monkeypatch):
    """Three runs in a store, with their bundle, and one that was stopped before it said a word."""
    texts = sentences()
    for name, assignments in RUN_SETTINGS.items():
        write_run(tmp_path / "out", name, resolve("smoke", assignments), texts, texts)
    RunFolder(tmp_path / "out" / STORE, "dddd").write_status("running")
    experiments = {"steady": {"aaaa": ["none", ""]}}
    write_relisted(tmp_path / "out" / "experiments.json", json.dumps(experiments))
    write_bundle(finished_runs(tmp_path / "out"), tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "out"


def test_a_line_has_experiment_and_arm_or_the_settings_that_differ_also_of_damaged_runs(out, ok):
    differ = "bidirectional={} batch_tokens={} learning_rate={} seed {}"
    assert ok("runs --results", out).out.splitlines() == [
        "run   status   settings",
        "aaaa  done     steady: none seed 1",
        f"bbbb  done     additive {differ.format('false', 'none', 0.004, 2)}",
        f"cccc  done     dot {differ.format('true', 90, 0.002, 1)}",
        "dddd  stopped  (settings not known)",
    ]
    (out / "runs" / "bbbb" / "status.json").write_text("{")
    (out / "runs" / "cccc" / "settings.json").write_text("")
    lines = ok("runs --results", out).out.splitlines()
    assert lines[2].startswith("bbbb  damaged  additive")
    assert lines[3].split(maxsplit=1) == ["cccc", "done     (settings not known)"]


def test_a_run_is_shown_with_its_folder_and_why_it_failed(out, ok):
    lines = ok("runs bb --results", out).out.splitlines()
    assert lines[0] == "bbbb  done  additive seed 2"
    assert lines[-1].endswith("out/runs/bbbb")
    RunFolder(out / STORE, "dddd").write_status("failed", "no memory")
    assert ok("runs dd --results", out).out.splitlines()[1] == "no memory"


def test_a_removed_run_is_gone_from_the_bundle_too(out, ok):
    assert "deleted bbbb" in ok("runs bb --remove --yes --results", out).err
    assert sorted(set(Results.open(out).runs["run"])) == ["aaaa", "cccc"]
    assert "bbbb" not in (out / RUNS).read_text()
    assert "bbbb" not in ok("runs --results", out).out


@pytest.mark.parametrize("begins", ["never", "before the question"])
def test_a_run_that_is_kept_or_under_way_is_not_removed(out, ok, fails, monkeypatch, begins):
    folder = RunFolder(out / STORE, "bbbb")
    monkeypatch.setattr(typer, "confirm", lambda _: begins != "never")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    command = "runs bb --remove --results out"
    if begins == "never":
        assert ok(command).err == ""
        assert not folder.in_use
    else:
        claim = folder.claim()
        assert "bbbb is under way" in fails(command)
        claim.release()
    assert "bbbb" in (out / RUNS).read_text()
    assert (folder.path / "scores.csv").is_file()
