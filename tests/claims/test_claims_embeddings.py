"""C13's rule: planted shares on either side of it."""

from dataclasses import replace

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.embeddings import (
    EMBEDDINGS_RULE,
    Placed,
    read_placed,
    similar_words_near,
    verdict,
)
from seq2seq_bottleneck.claims.share import Share
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS


def _around(value, half=0.05):
    return Share(value, value - half, value + half)


GOOD = Placed(
    "none", 900, _around(0.8), _around(0.4), _around(0.5), _around(0.7), _around(0.2)
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({"added": _around(0.2501)}, "held"),
        ({"added": _around(0.2499)}, "not held"),  # the lower end is under 20 %
        ({"frequency": _around(0.699)}, "held"),
        ({"frequency": _around(0.701)}, "not held"),  # the words next in frequency do as well
        ({"gender_added": _around(0.051)}, "held"),
        ({"gender_added": _around(0.049)}, "partly"),
    ],
)
def test_the_numbers_decide(changes, expected):
    changed = replace(GOOD, arm="additive", **changes)
    judged = similar_words_near([GOOD, changed])
    assert (judged.claim, judged.verdict, judged.rule) == ("C13", expected, EMBEDDINGS_RULE)
    assert judged.because.startswith("none: 80 % [75, 85] of the neighbours of 900 words")


def test_the_arm_with_the_least_added_is_the_verdicts_number():
    weaker = replace(GOOD, arm="additive", added=_around(0.3))
    judged = similar_words_near([GOOD, weaker])
    assert (judged.value, judged.low, judged.high) == pytest.approx((30.0, 25.0, 35.0))
    assert judged.measure.endswith("additive")


def _frame(sides=("source", "target")):
    rows = []
    for side in sides:
        for measure, control, value in (
            ("same_class", "", 0.8),
            ("same_class", "frequency", 0.4),
            ("same_class_added", "", 0.5),
            ("same_gender", "", 0.9),
            ("same_gender_added", "", 0.3),
        ):
            keys = {"arm": "none", "part": side, "measure": measure, "control": control, "n": 900}
            own = keys | {"value": value, "low": value - 0.1, "high": value + 0.1}
            rows += [own, own | {"seed": 1, "value": 0.0}, own | {"part": f"{side} noun"}]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def test_each_arms_numbers_are_read_of_a_side():
    (found,) = read_placed(_frame(), "source")
    assert (found.arm, found.words) == ("none", 900)
    assert found.trained == Share(0.8, 0.8 - 0.1, 0.8 + 0.1)
    assert (found.added.value, found.frequency.value, found.gender_added.value) == (0.5, 0.4, 0.3)
    judged = verdict(_frame())
    assert judged.verdict == "held"
    assert "of the decoder's embeddings: none own class 80" in judged.because


@pytest.mark.parametrize("frame", [None, _frame(sides=("target",))])
def test_what_was_not_measured_is_not_judged(frame):
    judged = verdict(frame)
    assert judged.verdict == "not measured"
    assert judged.because
    assert judged.value is None


def test_nothing_is_not_written_as_less_than_nothing():
    assert str(Share(-0.001, -0.011, 0.001)) == "0 % [-1, 0]"
