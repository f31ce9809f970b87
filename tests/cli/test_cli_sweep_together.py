"""``sweep``: how many seeds make one program, and how many cores a run has."""

import pytest

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.runs import pool

NUMBERS = {"--seeds-together": "999,999", "--threads": "1,024"}


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("option", NUMBERS)
@pytest.mark.parametrize("given", ["0", "-1", "2.5", "many", "", "1000000"])
def test_what_is_no_number_is_refused(capsys, option, given):
    assert run(["sweep", "mine.toml", option, given]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    most = NUMBERS[option]
    assert said == f"bottleneck: {option} {given!r}: give a number from 1 to {most}, or auto"


def test_more_threads_than_can_be_started_are_refused(capsys):
    for command in (["sweep", "vindication"], ["reproduce"]):
        assert run([*command, "--threads", "1025", "--preset", "smoke"]) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert "'1025': give a number from 1 to 1,024" in said


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("option", NUMBERS)
def test_a_cluster_leaves_no_choice(capsys, option):
    command = ["sweep", "mine.toml", "--scheduler", "tcp://10.0.0.1:8786", option, "2"]
    assert run(command) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"bottleneck: {option}: on a cluster ")


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], (1, 1, 2)),
        (["--seeds-together", "3"], (3, 1, 2)),
        (["--threads", "2"], (1, 2, 1)),
        (["--jobs", "1"], (1, 1, 1)),
    ],
)
def test_the_numbers_are_handed_on(monkeypatch, options, expected):
    """With ``auto`` a core trains each seed alone."""
    handed, planted = [], pool.run_jobs

    def run_jobs(*given, **choices):
        names = ("together", "threads", "width")
        handed.append(tuple(choices[name] for name in names))
        return planted(*given, **choices)

    monkeypatch.setattr(pool, "run_jobs", run_jobs)
    monkeypatch.setattr(pool, "has_accelerator", lambda: False)
    monkeypatch.setattr(pool, "cores", lambda: 2)
    assert run(["sweep", "mine.toml", "--quiet", *options]) == 0
    assert handed == [expected]
