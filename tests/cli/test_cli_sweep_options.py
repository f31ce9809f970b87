"""Options of a sweep: its help, and the address of a cluster's scheduler."""

import pytest

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.runs.pool import Outcome


def test_help_names_the_defaults(capsys):
    assert run(["sweep", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "results/runs/NAME" in printed
    assert "Runs of each cell [default: the file's, else 1]" in printed


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    "address", ["", "127.0.0.1", "http://here:8786", "tcp://here", "tcp://a:99999"]
)
def test_an_address_of_no_scheduler_is_refused_before_connecting(capsys, monkeypatch, address):
    monkeypatch.setattr("seq2seq_bottleneck.runs.cluster.run_jobs_on_cluster", None)
    assert run(["sweep", "mine.toml", "--scheduler", address]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"bottleneck: --scheduler {address!r}: ")
    assert said.endswith("tcp://HOST:PORT")


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "tls://head.node:8786", "tcp://[::1]:1"]
)
@pytest.mark.parametrize("quiet", [True, False])
def test_a_scheduler_is_handed_on_and_what_it_tells(capsys, monkeypatch, address, quiet):
    def on_cluster(jobs, _store, _listener, scheduler, force, tell):
        tell(f"waiting for workers at {scheduler}")
        assert not force
        return [Outcome(job, "failed", reason="no worker") for job in jobs]

    monkeypatch.setattr("seq2seq_bottleneck.runs.cluster.run_jobs_on_cluster", on_cluster)
    command = ["sweep", "mine.toml", "--scheduler", address]
    assert run([*command, *(["--quiet"] if quiet else [])]) == 3
    assert (f"waiting for workers at {address}\n" in capsys.readouterr().err) != quiet
