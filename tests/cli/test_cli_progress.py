"""The live display: a line for each run in windows of any width, and the time left."""

import io

import pytest
from rich.console import Console

from seq2seq_bottleneck.cli import progress
from seq2seq_bottleneck.cli.progress import Display, display
from seq2seq_bottleneck.runs.pool import Job
from seq2seq_bottleneck.settings.run import resolve

NAMES = [f"attention={arm} context_size=16 seed={seed}" for arm in ("none", "dot") for seed in "12"]
EARLY = {"phase": "training", "epoch": 0.1, "update": 5, "updates": 3000, "loss": 7.5}
EARLY |= {"valid_loss": None, "tokens_per_second": 900.0, "seconds_left": 42.0}
LATE = EARLY | {"epoch": 142.5, "update": 3000, "loss": 0.125, "valid_loss": 0.25}
LATE |= {"tokens_per_second": 1_234_567.0, "seconds_left": 7_300.0}


def lines_of(monkeypatch, names, event, width):
    """The lines of the display after an event of every run but the last."""
    terminal = Console(file=io.StringIO(), width=width, force_terminal=True)
    monkeypatch.setattr(progress, "errors", lambda: terminal)
    jobs = [Job(name, resolve("lecture")) for name in names]
    with display(jobs, quiet=False) as listener:
        for job in jobs[:-1]:
            listener(job, event)
        file = io.StringIO()
        Console(file=file, width=width).print(listener.__self__.progress.get_renderable())
    return file.getvalue().splitlines()


@pytest.mark.parametrize("event", [EARLY, LATE])
@pytest.mark.parametrize("width", [30, 80, 200])
def test_each_run_is_one_line(monkeypatch, event, width):
    lines = lines_of(monkeypatch, NAMES, event, width)
    assert len(lines) == 1 + len(NAMES[:-1])
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("all runs")
    for name, line in zip(NAMES, lines[1:], strict=False):
        assert line.startswith(name[: width // 2 - 1])


def test_a_run_has_its_numbers_and_what_has_ended_is_counted_and_no_longer_shown(monkeypatch):
    whole, line = lines_of(monkeypatch, ["[bold]mine", "other"], LATE, 140)
    assert "0 of 2 done, 1 running, 1 waiting" in whole
    assert line.startswith("[bold]mine ")
    assert line.rstrip().endswith(
        "training, 2:01:40 left, update 3,000/3,000, epoch 142.5, loss 0.125, validation 0.250, "
        "1,234,567 tokens/s"
    )
    (whole,) = lines_of(monkeypatch, NAMES, {"phase": "diverged"}, 120)
    assert "0 of 4 done, 0 running, 3 failed, 1 waiting" in whole


def test_the_time_left_is_that_of_the_runs_trained_here(monkeypatch):
    """Not of those that were finished before. Two at once; the fourth and the fifth wait."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    jobs = [Job(name, resolve("lecture")) for name in "abcdef"]
    whole, done = Display(jobs), {"phase": "done"}
    training = EARLY | {"update": 10, "updates": 40}
    whole.listen(jobs[0], done)
    for job in jobs[1:3]:
        whole.listen(job, training)
    assert "left" not in whole.text()
    now[0] = 130.0
    for job in jobs[1:3]:
        whole.listen(job, done)
    whole.listen(jobs[3], training)
    assert whole.text() == "3 of 6 done, about 0:45 left, 1 running, 2 waiting"
    for job in jobs[3:]:
        whole.listen(job, training)
        whole.listen(job, done)
    assert whole.text() == "6 of 6 done, 0 running"
