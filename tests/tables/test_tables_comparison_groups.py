"""How arms and runs are named: by what most arms do not share, by seed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.tables.comparison_groups import runs_text, unusual_settings

ELEVEN = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11"


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        ({}, ""),
        ({"none": [1]}, "1 run: none, seed 1"),
        ({"none": [2, 1], "dot": [1, 2]}, "4 runs: none, dot, seed 1, 2"),
        ({"none": [1], "dot": [9, 1]}, "3 runs: none, seed 1; dot, seed 1, 9"),
        ({"none": range(1, 21)}, f"20 runs: none, seed {', '.join(map(str, range(1, 21)))}"),
        ({"none": range(1, 22)}, "21 runs: none, 21 seeds from 1 to 21"),
        ({"none": [*range(1, 12), *range(1, 12)]}, f"22 runs: none, seed {ELEVEN}"),
        (
            dict.fromkeys(["none", "dot"], range(5000, 0, -2)),
            "5,000 runs: none, dot, 2,500 seeds from 2 to 5000",
        ),
    ],
)
def test_arms_of_the_same_seeds_share_them_and_many_are_counted(seeds, told):
    held = {arm: list(each) for arm, each in seeds.items()}
    assert runs_text(sum(map(len, held.values())), held) == told


LECTURE = {"updates": "2000", "context_size": "256", "joined": "1", "source": "seen"}


def _row(**changed):
    return LECTURE | changed


def test_only_what_most_do_not_have_is_told():
    rows = [_row(), _row(), _row(joined="2"), _row(updates="4000", joined="2"), _row()]
    assert unusual_settings(rows, LECTURE) == [
        [],
        [],
        ["joined=2"],
        ["updates=4000", "joined=2"],
        [],
    ]


def test_a_scale_of_context_sizes_is_told_of_every_arm():
    rows = [_row(context_size=size) for size in ("256", "64", "64")]
    assert unusual_settings(rows, LECTURE) == [[f"context_size={size}"] for size in (256, 64, 64)]
    beside = [*rows, _row(context_size="64", joined="2")]
    assert unusual_settings(beside, LECTURE) == [["context_size=256"], [], [], ["joined=2"]]


def test_of_equals_the_lectures_is_the_usual_one_else_the_smaller():
    assert unusual_settings([_row(source="hidden"), _row()], LECTURE) == [["source=hidden"], []]
    assert unusual_settings([_row(updates="80"), _row(updates="400")], LECTURE) == [
        [],
        ["updates=400"],
    ]


def test_nothing_is_told_of_one_arm_or_of_none():
    assert unusual_settings([_row()], LECTURE) == [[]]
    assert unusual_settings([], LECTURE) == []


@pytest.mark.slow
@given(st.lists(st.tuples(*[st.sampled_from("123")] * 3), unique=True, min_size=1))
def test_rows_that_differ_are_told_apart_in_whatever_order(values):
    names = ("updates", "context_size", "joined")
    rows = [dict(zip(names, value, strict=True)) for value in values]
    told = unusual_settings(rows, LECTURE)
    assert len(set(map(tuple, told))) == len(rows)
    assert unusual_settings(rows[::-1], LECTURE) == told[::-1]
