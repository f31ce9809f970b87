"""The live table: what it shows of a run in windows of different widths, and that nothing jumps."""

import io
import re

import pytest
from rich.console import Console
from rich.live import Live

from seq2seq_bottleneck.cli import progress
from seq2seq_bottleneck.cli.progress import Tally, _Rows, fitting
from seq2seq_bottleneck.runs.pool import Job
from seq2seq_bottleneck.settings.run import resolve

NAMES = [f"attention={arm} context_size=16 seed={seed}" for arm in ("none", "dot") for seed in "12"]
EARLY = {"phase": "training", "epoch": 0.1, "update": 5, "updates": 3000, "loss": 7.5}
EARLY |= {"valid_loss": None, "tokens_per_second": 900.0, "seconds_left": 42.0}
LATE = EARLY | {"epoch": 142.5, "update": 3000, "loss": 0.125, "valid_loss": 0.25}
LATE |= {"tokens_per_second": 1_234_567.0, "seconds_left": 7_300.0}


def shown(names, event, width):
    """The lines of the table after an event of the first run."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    jobs = [Job(name, resolve("lecture")) for name in names]
    rows = _Rows(jobs, Live(console=console, auto_refresh=False))
    rows.listen(jobs[0], event)
    with console.capture() as capture:
        console.print(rows._shown())
    lines = capture.get().splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("run"))
    return lines[head:]


@pytest.mark.parametrize("event", [EARLY, LATE])
@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_each_run_is_one_line_and_keeps_half_of_the_width_for_its_name(event, width):
    lines = shown(NAMES, event, width)
    assert len(lines) == 1 + len(NAMES)
    assert all(len(line) <= width for line in lines)
    for name, line in zip(NAMES, lines[1:], strict=True):
        cut = line.partition("…")[0].partition(" training")[0].partition(" waiting")[0].rstrip()
        assert name.startswith(cut)
        assert cut == name or len(cut) >= width // 2 - 1


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (30, ["run"]),
        (40, ["run", "left"]),
        (80, ["run", "update", "loss", "left"]),
        (120, ["run", "epoch", "update", "loss", "valid", "tokens/s", "left"]),
    ],
)
def test_columns_go_as_the_window_narrows(width, heads):
    assert shown(NAMES, EARLY, width)[0].split() == heads


def test_short_names_leave_room_for_all_columns_at_80():
    lines = shown(["additive seed 1"], LATE, 80)
    assert len(lines[0].split()) == 7
    assert re.search(r"3,000/3,000 +0\.125 +0\.250 +1,234,567 +2:01:40", lines[1])


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_columns_stay_where_they_are_as_numbers_grow(width):
    early, late = shown(NAMES, EARLY, width), shown(NAMES, LATE, width)
    assert early[0] == late[0]
    assert early[2:] == late[2:]


def test_a_window_too_narrow_for_anything_still_has_a_name_column():
    assert fitting({"": 9, "left": 8}, 30, 8)[0] == 1


def test_a_name_in_brackets_is_shown_as_it_is():
    assert shown(["[bold]mine"], EARLY, 80)[1].startswith("[bold]mine")


def test_the_time_left_is_that_of_the_runs_trained_here(monkeypatch):
    """Not of those that were found finished. Two at once; the fourth and the fifth wait."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    jobs = [Job(name, resolve("lecture")) for name in "abcdef"]
    tally = Tally(jobs)
    under_way, done = {"phase": "training", "update": 10, "updates": 40}, {"phase": "done"}
    tally.count(jobs[0], done)
    for job in jobs[1:3]:
        tally.count(job, under_way)
    assert tally.seconds_left() is None
    now[0] = 130.0
    tally.count(jobs[1], done)
    tally.count(jobs[3], under_way)
    assert tally.text() == "2 of 6 done, 2 running, 2 left, about 0:45 to go"
    now[0] = 140.0
    assert tally.seconds_left() == (0 + 20 + 30 + 30) / 2
    for job in jobs[2:]:
        tally.count(job, under_way)
        tally.count(job, done)
    assert tally.seconds_left() is None


def test_where_all_were_found_finished_nothing_is_left():
    tally = Tally([Job("a", resolve("lecture"))])
    tally.count(Job("a", resolve("lecture")), {"phase": "done"})
    assert tally.text() == "1 of 1 done, 0 running"
