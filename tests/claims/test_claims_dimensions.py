"""C4's rule: a planted number on either side of it."""

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.dimensions import (
    DIMENSIONS_RULE,
    InUse,
    Measured,
    capacity_used,
    holds,
    read_in_use,
    verdict,
)
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS


def _around(value, half=5.0):
    return Measured(value, value - half, value + half)


def _in_use(used, *, size=256, added=40.0, shortest=80.0, longest=120.0):
    found = _around(used)
    return InUse(
        size, "21-30", 2500, found, _around(added), used - 3, _around(shortest), _around(longest)
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (_in_use(200.0), "held"),
        (_in_use(155.5), "held"),
        (_in_use(154.5), "partly"),  # the interval's lower end is under 150
        (_in_use(246.0), "partly"),
        (_in_use(100.0, size=128), "held"),
        (_in_use(200.0, size=512), "partly"),
        (_in_use(200.0, added=5.1), "held"),
        (_in_use(200.0, added=4.9), "not held"),  # no more than without training
        (_in_use(100.0, shortest=80.0, longest=88.0), "partly"),  # 8 is more than 7.07
        (_in_use(100.0, shortest=80.0, longest=87.0), "not held"),
        (_in_use(100.0, shortest=120.0, longest=80.0), "not held"),
    ],
)
def test_the_number_decides(found, expected):
    judged = capacity_used(found)
    assert (judged.claim, judged.verdict) == ("C4", expected)
    assert judged.rule == DIMENSIONS_RULE
    assert judged.value == found.used.value
    assert (judged.low, judged.high) == (found.used.low, found.used.high)


def test_growth_of_independent_buckets_adds_their_errors_squares():
    growth = _in_use(100.0, shortest=80.0, longest=120.0).growth
    assert growth.value == 40
    assert growth.half == pytest.approx(50**0.5)


def test_the_sentence_says_what_was_read():
    because = capacity_used(_in_use(154.5)).because
    assert "of 256 components (60%)" in because
    assert "2,500 contexts of 21-30 words" in because
    assert "200 of 256, 78%" in because
    assert "training adds 40 [35, 45] to an untrained encoder's" in because
    assert "from the shortest bucket to the longest the number grows by 40 [33, 47]" in because
    because = capacity_used(_in_use(154.5, added=-12.0, shortest=120.0, longest=80.0)).because
    assert "training takes 12 [7, 17] away from an untrained encoder's" in because
    assert "the number shrinks by 40 [33, 47]" in because


@pytest.mark.parametrize(
    ("bucket", "words", "expected"),
    [("21-30", 30, True), ("21-30", 31, False), ("31-40", 30, False), ("30", 30, True),
     ("41+", 41, True), ("41+", 40, False)],
)  # fmt: skip
def test_which_bucket_holds_the_sentence(bucket, words, expected):
    assert holds(bucket, words) is expected


def _frame(attention="none", buckets=("5-10", "21-30", "41+"), value=190.0):
    rows = []
    for place, bucket in enumerate(buckets):
        for measure, number in (
            ("components", value + place),
            ("components_added", 50.0),
            ("participation_ratio", 20.0),
            ("effective_rank", 60.0),
        ):
            numbers = {"value": number, "low": number - 1, "high": number + 1, "n": 2500}
            keys = {"arm": attention, "attention": attention, "measure": measure}
            row = keys | {"context_size": 256, "bucket": bucket, "control": "", "part": ""}
            rows += [row | numbers, row | numbers | {"part": "half", "value": number - 9}]
            rows.append(row | numbers | {"control": "untrained", "value": 1.0})
            rows.append(row | numbers | {"seed": 1, "run": "a", "value": 2.0})
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def test_the_sentences_own_bucket_of_the_arm_without_attention_is_read():
    found = read_in_use(_frame())
    assert (found.context_size, found.bucket, found.n) == (256, "21-30", 2500)
    assert found.used == Measured(191.0, 190.0, 192.0)
    assert found.at_half == 182.0
    assert (found.shortest.value, found.longest.value) == (190.0, 192.0)
    assert found.others[1] == ("effective rank", Measured(60.0, 59.0, 61.0))
    assert verdict(_frame()).verdict == "held"
    assert verdict(_frame(value=100.0)).verdict == "partly"


@pytest.mark.parametrize(
    "frame", [None, _frame(attention="additive"), _frame(buckets=("5-10", "41+"))]
)
def test_what_was_not_measured_is_not_judged(frame):
    judged = verdict(frame)
    assert judged.verdict == "not measured"
    assert judged.value is None
    assert judged.because
