"""What commands show of a store that holds more than they were asked for."""

import pandas as pd
import pytest
from planted import sentences, translations, write_run

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.runs.pool import Outcome
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION

SMOKE = ["reproduce", "--preset", "smoke", "--quiet"]


@pytest.fixture
def planted_runs(monkeypatch):
    """In the place of training: runs named by arm, seed and learning rate."""

    def run_jobs(jobs, store, listener):
        outcomes = []
        for job in jobs:
            training, arm = job.settings.training, job.settings.model.attention
            name = f"{arm}{training.seed}at{training.learning_rate:g}"
            shares = [0.1] * 5 if arm == "additive" else [0.2, 0.4, 0.6, 0.7, 0.8]
            texts = translations(sentences(), shares, [training.seed])
            write_run(store.parent, name, job.settings, texts, sentences())
            end = {"phase": "done", "run": name, "reason": ""}
            listener(job, end)
            outcomes.append(Outcome(job, **end))
        return outcomes

    monkeypatch.setattr("seq2seq_bottleneck.runs.reproduce.run_jobs", run_jobs)


@pytest.mark.usefixtures("planted_runs")
def test_reproduce_shows_the_runs_just_asked_for_whatever_else_is_in_the_store(tmp_path, capsys):
    out = tmp_path / "out"
    assert run([*SMOKE, "--out", str(out), "--seeds", "2"]) == 0
    first = capsys.readouterr().out
    assert "none, seed 2" in " ".join(first.split())
    again = [*SMOKE, "--out", str(out), "--set", "training.learning_rate=1e-3"]
    assert run(again) == 0
    second = capsys.readouterr().out
    assert "seed 2" not in second
    assert len(set(load_bundle(out).runs["run"])) == 6
    shown = pd.read_csv(out / "vindication.csv")
    assert shown["gain"].notna().all()
    for path in (out / "runs").glob("*/environment.json"):
        if not path.parent.name.endswith("at0.001"):
            version = f'"schema": {SCHEMA_VERSION}'
            path.write_text(path.read_text().replace(version, '"schema": 0'))
    assert run(["table", "vindication", "--results", str(out), "--format", "csv"]) == 0
    capsys.readouterr()
    assert run(["export", "--results", str(out)]) == 0
    assert "4 runs are left out: made by another version" in capsys.readouterr().err
