"""A sweep whose training is in the test's hands."""

import pytest
from planted import sentences, translations, write_run
from small_sweeps import small_sweep

from seq2seq_bottleneck.runs.pool import Outcome


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A sweep's file in a folder of its own; in the place of training, runs with known scores."""

    def run_jobs(jobs, store, listener, **_):
        outcomes = []
        for job in sorted(jobs, key=lambda job: job.name):
            name = f"run{len(outcomes)}"
            texts = translations(sentences(), [0.1, 0.2, 0.3, 0.4, 0.5], [len(outcomes)])
            write_run(store.parent, name, job.settings, texts, sentences())
            end = {"phase": "done", "run": name, "reason": ""}
            listener(job, end)
            outcomes.append(Outcome(job, **end))
        return sorted(outcomes, key=lambda outcome: jobs.index(outcome.job))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2seq_bottleneck.runs.pool.run_jobs", run_jobs)
    (tmp_path / "mine.toml").write_text(
        small_sweep("Does a larger context help?", "none", "additive")
    )
    return tmp_path
