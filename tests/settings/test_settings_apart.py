"""What is left out of an arm's name, and what never is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.settings.apart import telling

LECTURE = {"updates": "2000", "context_size": "256", "joined": "1", "source": "seen"}


def _row(**changed):
    return LECTURE | changed


def test_only_what_most_do_not_have_is_told():
    rows = [_row(), _row(), _row(joined="2"), _row(updates="4000", joined="2"), _row()]
    assert telling(rows, LECTURE) == [[], [], ["joined=2"], ["updates=4000", "joined=2"], []]


def test_a_scale_of_context_sizes_is_told_of_every_arm():
    rows = [_row(context_size=size) for size in ("256", "64", "64")]
    assert telling(rows, LECTURE) == [[f"context_size={size}"] for size in (256, 64, 64)]
    beside = [*rows, _row(context_size="64", joined="2")]
    assert telling(beside, LECTURE) == [["context_size=256"], [], [], ["joined=2"]]


def test_of_equals_the_lectures_is_the_usual_one_else_the_smaller():
    assert telling([_row(source="hidden"), _row()], LECTURE) == [["source=hidden"], []]
    assert telling([_row(updates="80"), _row(updates="400")], LECTURE) == [[], ["updates=400"]]


def test_nothing_is_told_of_one_arm_or_of_none():
    assert telling([_row()], LECTURE) == [[]]
    assert telling([], LECTURE) == []


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.sampled_from("123")] * 3), unique=True, min_size=1))
def test_rows_that_differ_are_told_apart_in_whatever_order(values):
    names = ("updates", "context_size", "joined")
    rows = [dict(zip(names, value, strict=True)) for value in values]
    told = telling(rows, LECTURE)
    assert len(set(map(tuple, told))) == len(rows)
    assert telling(rows[::-1], LECTURE) == told[::-1]
