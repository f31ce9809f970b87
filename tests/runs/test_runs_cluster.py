"""Runs on a real scheduler with two real workers, on loopback: what goes out comes back, once."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from executing import Heard, interrupt, same_results, smoke

from seq2seq_bottleneck.runs.cluster import run_jobs_on_cluster
from seq2seq_bottleneck.runs.pool import ENDS, Job, run_jobs
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.run import resolve

pytestmark = pytest.mark.exhaustive(sample="file")

QUICK = [
    "training.updates=60", "training.validations=1", "training.shapes=1", "scoring.resamples=9"
]  # fmt: skip
COPY = ["corpus.max_words=20", *QUICK]


class Cluster:
    """A scheduler and its workers, in a folder that no test works in."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.workers = folder, []
        file = folder / "scheduler.json"
        arguments = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
        self.scheduler = self.start("dask_scheduler", *arguments)
        wait_for(file.is_file)
        self.address = json.loads(file.read_text())["address"]

    def start(self, program: str, *arguments: str) -> subprocess.Popen:
        with (self.folder / "log").open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", "--no-dashboard", *arguments],
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def fill_up(self) -> None:
        """Bring the number of living workers to two."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        arguments = ["--nthreads", "1", "--no-nanny", "--host", "127.0.0.1"]
        arguments += ["--local-directory", str(self.folder)]
        while len(self.workers) < 2:
            self.workers.append(self.start("dask_worker", self.address, *arguments))

    def stop(self) -> None:
        """The workers first: one that finds no scheduler looks for it for a while."""
        for process in (*self.workers, self.scheduler):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(condition, seconds=30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def gone(process: int) -> bool:
    """Whether a process has ended, or is but a name in the table of one that will not wait."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture(scope="module")
def cluster_of_module(tmp_path_factory):
    dask_cluster = Cluster(tmp_path_factory.mktemp("elsewhere"))
    yield dask_cluster
    dask_cluster.stop()


@pytest.fixture
def two_workers(cluster_of_module):
    cluster_of_module.fill_up()
    return cluster_of_module


def copy_job(name: str, *assignments: str) -> Job:
    return Job(name, smoke(*COPY, *assignments))


def test_a_worker_killed_in_mid_run_costs_no_result_and_none_is_there_twice(two_workers, tmp_path):
    long = copy_job("killed", "training.updates=80")
    lost = Job("lost", resolve("smoke", ["corpus.name=files", "corpus.source=none.tsv"]))
    jobs = [long, copy_job("other"), lost, copy_job("again", "training.updates=80")]
    killed = []

    def kill(job, event):
        if job.name == "killed" and event.get("update") and not killed:
            killed.append(heard.process_of("killed"))
            os.kill(psutil.Process(killed[0]).ppid(), signal.SIGKILL)

    heard = Heard(kill)
    outcomes = run_jobs_on_cluster(jobs, tmp_path / "store", heard, two_workers.address)
    assert [outcome.phase for outcome in outcomes] == ["done", "done", "failed", "done"]
    assert [outcome.job.name for outcome in outcomes] == [job.name for job in jobs]
    assert "none.tsv" in outcomes[2].reason
    assert outcomes[2].exit_code
    assert outcomes[0].run == outcomes[3].run
    assert heard.process_of("killed") != killed[0]
    ends = sorted(job for job, event in heard if event["phase"] in ENDS)
    assert ends == ["again", "killed", "lost", "other"]
    folders = run_folders(tmp_path / "store")
    assert [folder.status for folder in folders] == ["done", "done"]
    wait_for(lambda: gone(killed[0]))

    (local,) = run_jobs([long], tmp_path / "local", lambda *_: None)
    assert local.run == outcomes[0].run
    here, there = (tmp_path / place / local.run for place in ("local", "store"))
    assert same_results(here, there)
    assert {path.name for path in here.iterdir()} == {path.name for path in there.iterdir()}


def test_the_users_files_travel_though_the_workers_cannot_see_them(
    two_workers, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    words = [f"word{number}" for number in range(20)]
    sentences = [" ".join(words[(i + k) % 20] for k in range(5 + i % 10)) for i in range(400)]
    lines = [f"{text} {i}\t{text}\n" for i, text in enumerate(sentences)]
    Path("mine.TSV").write_text("".join(lines))
    settings = resolve("smoke", ["corpus.name=files", "corpus.source=mine.TSV", *QUICK])
    jobs, heard = [Job("mine", settings)], Heard()
    (outcome,) = run_jobs_on_cluster(jobs, Path("store"), heard, two_workers.address)
    assert outcome.phase == "done", outcome.reason
    written = json.loads((tmp_path / "store" / outcome.run / "settings.json").read_text())
    assert written == settings.model_dump()
    (local,) = run_jobs(jobs, Path("store"), heard)
    assert heard[-1][1]["phase"] == "done"
    assert local.run == outcome.run
    assert len(run_folders(Path("store"))) == 1


def test_an_interrupted_sweep_ends_its_runs(two_workers, tmp_path):
    heard, job = Heard(interrupt), copy_job("endless", "training.updates=100000")
    with pytest.raises(KeyboardInterrupt):
        run_jobs_on_cluster([job], tmp_path, heard, two_workers.address)
    wait_for(lambda: gone(heard.process_of("endless")))
    assert run_folders(tmp_path) == []
