"""C7 at its thresholds, from a planted table of the study."""

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.alignment import ALIGNMENT_RULE, verdict
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS


def rows(arm, aer=0.1, diagonal=0.01, ibm1=0.01, n=200):
    """An arm of this error rate; the baselines' are higher by so much at the interval's low end."""
    facts = {"arm": arm, "attention": arm, "bucket": "", "part": "", "n": n}
    made = [("aer", "", aer), ("aer", "diagonal", 0.6), ("aer", "ibm1", 0.2)]
    for measure, control, value in made:
        own = facts | {"measure": measure, "control": control, "value": value}
        yield own | {"low": value - 0.01, "high": value + 0.01}
        yield own | {"seed": 1, "run": arm, "value": 9.0}
    for control, low in (("diagonal", diagonal), ("ibm1", ibm1)):
        yield facts | {"measure": "aer_gap", "control": control, "value": low + 0.1, "low": low,
                       "high": low + 0.2}  # fmt: skip


def frame(*arms):
    held = [row for arm in arms for row in arm]
    return pd.DataFrame(
        [*held, *(row | {"bucket": "5-10", "value": 0.9} for row in held)],
        columns=list(PROBE_COLUMNS),
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({"ibm1": 0.0}, "partly"),
        ({"ibm1": -0.3}, "partly"),
        ({"diagonal": 0.0, "ibm1": 0.1}, "not held"),
        ({"diagonal": -0.1, "ibm1": -0.1}, "not held"),
    ],
)
def test_a_baseline_at_zero_flips_the_verdict(changes, expected):
    found = verdict(frame(rows("additive", **changes)))
    assert (found.claim, found.verdict, found.rule) == ("C7", expected, ALIGNMENT_RULE)


def test_every_arm_must_beat_both():
    assert verdict(frame(rows("additive"), rows("dot"))).verdict == "held"
    found = verdict(frame(rows("additive"), rows("dot", aer=0.7, diagonal=-0.1, ibm1=-0.5)))
    assert found.verdict == "partly"
    assert found.measure == "AER of the weights, dot"
    assert (found.value, found.low, found.high) == pytest.approx((0.7, 0.69, 0.71))


def test_the_numbers_are_told():
    because = verdict(frame(rows("additive", n=99))).because
    assert "additive: the AER of the weights is 0.100 [0.090, 0.110], that of the dia" in because
    assert "IBM model 1 0.200 [0.190, 0.210] (higher by 0.110 [0.010, 0.210])" in because
    assert "under 100 sentences (n = 99)" in because
    because = verdict(frame(rows("additive", ibm1=-0.3))).because
    assert "IBM model 1 0.200 [0.190, 0.210] (lower by 0.200 [0.100, 0.300])" in because
    assert "under 100" not in verdict(frame(rows("additive", n=100))).because


def test_equal_weights_are_not_judged():
    uniform = {"arm": "uniform", "attention": "uniform", "bucket": "", "measure": "weight"}
    found = verdict(frame([uniform | {"value": 0.1, "control": ""}]))
    assert (found.verdict, found.value) == ("not measured", None)
    both = verdict(frame(rows("additive"), [uniform | {"value": 0.1, "control": ""}]))
    assert both.verdict == "held"


def test_without_the_study_nothing_is_measured():
    found = verdict(None)
    assert found.verdict == "not measured"
    assert "`bottleneck study alignment`" in found.because
