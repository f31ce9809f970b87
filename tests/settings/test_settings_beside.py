"""Work begun beside: the order, what runs meanwhile, and a machine that has no thread to give."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.settings.beside import one_ahead, threads_told


@given(st.lists(st.integers()))
def test_what_is_made_ahead_is_what_map_makes(numbers):
    assert list(one_ahead(str, numbers)) == list(map(str, numbers))


def test_the_next_is_made_while_the_one_before_it_is_had_and_no_other():
    begun = {number: threading.Event() for number in range(4)}

    def make(number):
        begun[number].set()
        return number

    for number in one_ahead(make, range(4)):
        if number < 3:
            assert begun[number + 1].wait(10)
        assert not any(begun[later].is_set() for later in range(number + 2, 4))


@pytest.mark.parametrize(
    ("told", "threads"),
    [("3", 3), (" 2 ", 2), ("0", None), ("", None), ("abc", None), ("-1", None), ("²", None)],
)
def test_threads_are_told_by_a_number_above_0_alone(told, threads):
    assert threads_told({"NPROC": told}) == threads
    assert threads_told({}) is None


def test_what_fails_ahead_is_told_in_its_turn():
    made = one_ahead(lambda number: 1 // number, [1, 0])
    assert next(made) == 1
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_without_a_thread_it_is_made_when_it_is_asked_for(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert list(one_ahead(str, range(3))) == ["0", "1", "2"]
