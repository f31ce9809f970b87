"""``bottleneck table runs`` on a planted store, also after the user deletes a run."""

import json
import shutil

import pytest
from listed import write_relisted
from planted import sentences, write_run

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.runs.store import write_status
from seq2seq_bottleneck.settings.run import resolve

RUN_SETTINGS = {
    "aaaa": ["model.attention=none", "training.seed=1"],
    "bbbb": ["model.attention=additive", "training.learning_rate=0.004", "training.seed=2"],
    "cccc": ["model.attention=dot", "model.bidirectional=true", "training.batch_tokens=90"],
}


@pytest.fixture
def out(tmp_path, monkeypatch):
    """Three runs in a store with their bundle, and one that was stopped before its first report."""
    texts = sentences()
    for name, assignments in RUN_SETTINGS.items():
        write_run(tmp_path / "out", name, resolve("smoke", assignments), texts, texts)
    write_status(tmp_path / "out" / STORE / "dddd", "running")
    experiments = {"steady": {"aaaa": ["none", ""]}}
    write_relisted(tmp_path / "out" / "experiments.json", json.dumps(experiments))
    write_bundle(Results.open(tmp_path / "out"), tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "out"


def test_a_line_has_experiment_and_arm_or_attention_and_context_also_of_damaged_runs(out, ok):
    assert ok("table runs --results", out).out.splitlines() == [
        "run   status   arm",
        "aaaa  done     steady: none seed 1",
        "bbbb  done     additive context_size=32 seed 2",
        "cccc  done     dot context_size=32 seed 1",
        "dddd  stopped  (settings not known)",
        f"Their files: {out / STORE}",
    ]
    (out / "runs" / "bbbb" / "status.json").write_text("{")
    (out / "runs" / "cccc" / "settings.json").write_text("")
    lines = ok("table runs --results", out).out.splitlines()
    assert lines[2].startswith("bbbb  damaged  additive")
    assert lines[3].split(maxsplit=1) == ["cccc", "done     (settings not known)"]


def test_a_failed_run_has_its_reason_and_a_deleted_one_is_gone(out, ok):
    write_status(out / STORE / "dddd", "failed", "Traceback\nno memory")
    assert ok("table runs --results", out).out.splitlines()[4].endswith(": no memory")
    shutil.rmtree(out / STORE / "bbbb")
    assert "bbbb" not in ok("table runs --results", out).out
    assert sorted(set(Results.open(out).runs["run"])) == ["aaaa", "cccc"]
