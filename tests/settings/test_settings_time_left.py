"""The time left, by a clock that the test sets."""

import pytest

from seq2seq_bottleneck.settings import time_left
from seq2seq_bottleneck.settings.time_left import TimeLeft


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time_left.time, "perf_counter", lambda: now[0])
    return now


def marked(clock, *marks, done=0.0):
    """A pace after marks of seconds gone by and work done."""
    found = TimeLeft(done)
    for seconds, work in marks:
        clock[0] = 100.0 + seconds
        found.mark(work)
    return found


def test_nothing_done_tells_nothing(clock):
    assert marked(clock, (5.0, 0.0)).seconds_left(10.0) is None


def test_one_mark_counts_from_the_start(clock):
    assert marked(clock, (4.0, 2.0)).seconds_left(10.0) == 16.0


def test_a_steady_pace_is_told_at_every_mark(clock):
    for last in range(1, 9):
        found = marked(clock, *((3.0 * k, float(k)) for k in range(1, last + 1)))
        assert found.seconds_left(9.0) == pytest.approx(3.0 * (9 - last))


def test_compiling_is_forgotten_by_the_third_mark(clock):
    compiling = [(60.0 + k, float(k)) for k in range(1, 4)]
    assert marked(clock, *compiling).seconds_left(100.0) == 97.0


def test_what_was_done_before_does_not_count_as_done_now(clock):
    assert marked(clock, (5.0, 60.0), done=50.0).seconds_left(100.0) == 20.0


def test_no_progress_is_no_mark(clock):
    assert marked(clock, (1.0, 1.0), (90.0, 1.0), (2.0, 2.0)).seconds_left(3.0) == 1.0


def test_all_done_is_nothing_left(clock):
    assert marked(clock, (1.0, 1.0), (2.0, 2.0)).seconds_left(2.0) == 0.0
