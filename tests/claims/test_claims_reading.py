"""C14's rule: planted numbers of words on either side of it."""

from dataclasses import replace

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.reading import (
    READING_RULE,
    StateRead,
    Words,
    read_states,
    understanding_so_far,
    verdict,
)
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS


def _around(value, half=0.5):
    return Words(value, value - half, value + half)


GOOD = StateRead(
    "none", "5-10", 1000, 5, 4.0, _around(3.5), _around(1.5), _around(1.0), _around(2.0)
)
LONG = replace(GOOD, bucket="21-30", asked=20, readable=18.0, read=_around(12.0))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({"read": _around(9.5)}, "held"),
        ({"read": _around(9.49)}, "partly"),  # the lower end is under 9 of 18
        ({"added": _around(0.51)}, "held"),
        ({"added": _around(0.49)}, "not held"),  # an untrained encoder's states do as well
        ({"added": _around(-5.0)}, "not held"),
        ({"last_word": _around(10.99)}, "held"),
        ({"last_word": _around(11.01)}, "not held"),
    ],
)
def test_the_numbers_decide(changes, expected):
    judged = understanding_so_far([GOOD, replace(LONG, **changes)])
    assert (judged.claim, judged.verdict, judged.rule) == ("C14", expected, READING_RULE)


def test_the_bucket_with_the_least_of_its_words_is_the_verdicts_number():
    other = replace(LONG, arm="additive", read=_around(15.0))
    judged = understanding_so_far([GOOD, LONG], [replace(GOOD, arm="additive"), other])
    assert (judged.value, judged.low, judged.high) == (12.0, 11.5, 12.5)
    assert judged.measure == "words read of the last 20, after 21-30 words"
    assert judged.because.count("beside") == 1
    assert "beside, additive after 21-30 words: 15.0 [14.5, 15.5]" in judged.because


def test_where_the_most_frequent_word_answers_all_nothing_is_lost():
    nothing = replace(GOOD, readable=0.0, read=Words(0.0, 0.0, 0.0))
    judged = understanding_so_far([nothing, LONG])
    assert judged.value == LONG.read.value


def _frame(attention="none"):
    rows = []
    for bucket, asked in (("5-10", 5), ("21-30", 20)):
        for measure, control, value in (
            ("words_asked", "", float(asked)),
            ("words_readable", "", 0.9 * asked),
            ("words_read", "", 0.8 * asked),
            ("words_read", "untrained", 0.2 * asked),
            ("words_read", "last_word", 0.1 * asked),
            ("words_read_added", "", 0.6 * asked),
        ):
            keys = {"arm": attention, "attention": attention, "bucket": bucket, "part": ""}
            own = keys | {"measure": measure, "control": control, "value": value, "n": 700}
            own |= {"low": value - 0.1, "high": value + 0.1}
            rows += [own, own | {"seed": 1, "value": 0.0}]
        rows.append(keys | {"part": "0", "measure": "accuracy", "control": "", "value": 1.0})
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def test_the_buckets_of_each_arm_are_read():
    cells = read_states(_frame())
    assert [(cell.bucket, cell.asked, cell.states) for cell in cells] == [
        ("5-10", 5, 700),
        ("21-30", 20, 700),
    ]
    assert cells[1].read == Words(16.0, 16.0 - 0.1, 16.0 + 0.1)
    assert (cells[1].readable, cells[1].added.value) == (18.0, 12.0)
    assert verdict(pd.concat([_frame(), _frame("additive")])).verdict == "held"


@pytest.mark.parametrize("frame", [None, _frame("additive")])
def test_what_was_not_measured_is_not_judged(frame):
    judged = verdict(frame)
    assert judged.verdict == "not measured"
    assert judged.because
    assert judged.value is None


def test_nothing_is_not_written_as_less_than_nothing():
    assert str(Words(-0.01, -0.14, 0.04)) == "0.0 [-0.1, 0.0]"
