"""C5's and C6's rules: a planted number on either side of them."""

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.information import (
    DISCARDED_RULE,
    KEPT_RULE,
    STAND_IN,
    Kept,
    Recovered,
    discarded,
    keeps,
    verdict,
)
from seq2seq_bottleneck.claims.share import Share
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS


def _around(value, half=0.02):
    return Share(value, value - half, value + half)


def _recovered(share, shortest=0.9, **others):
    return Recovered("probe", 256, "21-30", 240, _around(share), _around(shortest), **others)


@pytest.mark.parametrize(
    ("share", "shortest", "expected"),
    [
        (0.09, 0.9, "held"),
        (0.16, 0.9, "held"),
        (0.18, 0.9, "partly"),  # the lower end of what is lost is under 81 %
        (-0.50, 0.9, "held"),  # less than nothing recovered: all is lost
        (0.60, 0.64, "partly"),  # .04 more than of the shortest, give or take .028
        (0.60, 0.62, "not held"),
        (0.90, 0.60, "not held"),
        (0.09, 0.13, "held"),
        (0.09, 0.11, "not measured"),  # nothing was learned even of the shortest
    ],
)
def test_what_is_lost_decides(share, shortest, expected):
    judged = discarded(_recovered(share, shortest))
    assert (judged.claim, judged.verdict, judged.rule) == ("C5", expected, DISCARDED_RULE)
    if expected != "not measured":
        assert judged.value == pytest.approx(100 * (1 - share))
        assert (judged.low, judged.high) == pytest.approx((98 - 100 * share, 102 - 100 * share))


def _kept(attention, gain, shortest=0.9, **others):
    none = _around(attention - gain)
    return Kept(
        "translator",
        "additive",
        _around(attention),
        none,
        _around(gain),
        _around(shortest),
        **others,
    )


@pytest.mark.parametrize(
    ("attention", "gain", "shortest", "expected"),
    [
        (0.80, 0.30, 0.9, "held"),
        (0.76, 0.30, 0.9, "partly"),
        (0.80, 0.01, 0.9, "not held"),
        (0.80, -0.3, 0.9, "not held"),
        (0.80, 0.30, 0.13, "held"),
        (0.80, 0.30, 0.11, "not measured"),
    ],
)
def test_what_attention_keeps_decides(attention, gain, shortest, expected):
    judged = keeps(_kept(attention, gain, shortest))
    assert (judged.claim, judged.verdict, judged.rule) == ("C6", expected, KEPT_RULE)


def test_the_sentences_say_what_was_read():
    because = discarded(_recovered(0.4, others=(("by the translator", _around(0.3)),))).because
    assert "60% [58, 62] of the bits of 240 sentences of 21-30 words" in because
    assert "the slide: 91%" in because
    assert "by the translator 30% [28, 32]" in because
    assert STAND_IN not in because
    assert STAND_IN in discarded(_recovered(0.4, exact=False)).because
    assert "that is 50 points [47, 53] more than of the shortest sentences" in because
    shorter = discarded(_recovered(0.6, 0.5)).because
    assert "that is 10 points [7, 13] less than of the shortest sentences" in shorter
    assert "falls" not in keeps(_kept(0.8, 0.3)).because
    told = "-20% [-22, -18] without (under 0: their total falls), 100 points [98, 102] more"
    assert told in keeps(_kept(0.8, 1.0)).because
    because = keeps(_kept(0.8, 0.3, exact=False)).because
    assert (
        "80% [78, 82] of each further word's bits arrive with additive attention and 50%" in because
    )
    assert STAND_IN in because


BUCKETS = ("5-10", "11-20", "21-30", "41+")
SHARES = {"none": {"probe": 0.9, "translator": 0.8}, "additive": {"probe": 0.95, "translator": 0.9}}


def _rows(attention, buckets=BUCKETS):
    facts = {"arm": attention, "attention": attention, "context_size": 256,
             "control": "", "note": "exact", "n": 240}  # fmt: skip
    for part, share in SHARES[attention].items():
        for place, bucket in enumerate(buckets):
            value = share - 0.1 * place * (attention == "none")
            row = facts | {"measure": "share", "part": part, "bucket": bucket, "value": value}
            row |= {"low": value - 0.01, "high": value + 0.01}
            yield row
            yield row | {"value": 0.99, "control": "untrained"}
            yield row | {"value": 0.99, "seed": 1, "run": "a"}
        kept = 0.3 if attention == "none" else share
        row = facts | {"bucket": "", "part": f"{part} longer", "value": kept}
        row |= {"low": kept - 0.01, "high": kept + 0.01}
        yield row | {"measure": "kept"}
        yield row | {"measure": "kept", "part": f"{part} shorter", "value": 0.99}
        if attention != "none":
            gain = {"value": 0.5, "low": 0.4, "high": 0.6, "note": "none"}
            yield row | gain | {"measure": "kept_gain"}


def _frame(attentions=("none", "additive"), **others):
    rows = [row for each in attentions for row in _rows(each, **others)]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def test_the_bucket_of_thirty_words_and_the_larger_measure_are_read():
    discard, keep = verdict(_frame())
    assert (discard.verdict, keep.verdict) == ("partly", "held")
    assert discard.value == pytest.approx(30)  # 1 - (.9 - 2 x .1), by the probe
    assert "by the translator 60%" in discard.because
    assert "from 256 numbers" in discard.because
    assert keep.value == pytest.approx(95)
    assert keep.measure.startswith("% of")
    assert "30% [29, 31] without, 50 points [40, 60] more with it (by the probe)" in keep.because


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (None, ["not measured", "not measured"]),
        (_frame(("none",)), ["partly", "not measured"]),
        (_frame(("additive",)), ["not measured", "held"]),
        (_frame(buckets=("5-10", "41+")), ["not measured", "held"]),
        (_frame(buckets=("21-30", "41+")), ["not measured", "held"]),
        (_frame(()), ["not measured", "not measured"]),
    ],
)
def test_what_was_not_measured_is_not_judged(frame, expected):
    if frame is not None and "none" not in set(frame["attention"]):
        frame = frame[frame["measure"] != "kept_gain"]
        expected = ["not measured", "not measured"]
    judged = verdict(frame)
    assert [one.claim for one in judged] == ["C5", "C6"]
    assert [one.verdict for one in judged] == expected
    assert all(one.because for one in judged)
