"""C11 at its thresholds, from a planted table of the study."""

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.length import LENGTH_RULE, verdict
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

BUCKETS = ("5-10", "11-20", "21-30", "31-40")
FINE = {
    "length_ratio": (1.0, 0.95, 1.05),
    "empty": (0.0, 0.0, 0.0),
    "unfinished": (0.01, 0.0, 0.03),
    "repeating": (0.02, 0.0, 0.04),
    "repeating_references": (0.01, 0.0, 0.02),
}


def frame(changes=None, arms=("none", "additive"), buckets=BUCKETS, n=200):
    """A study's table in which all is well, but for ``changes`` by arm, bucket and measure."""
    rows = []
    for arm in arms:
        for bucket in buckets:
            for measure, known in FINE.items():
                value, low, high = (changes or {}).get((arm, bucket, measure), known)
                row = {"arm": arm, "attention": arm, "bucket": bucket, "measure": measure}
                row |= {"value": value, "low": low, "high": high, "n": n}
                rows += [row, row | {"seed": 1, "run": arm, "value": 9.0}]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def changed(bucket, measure, *numbers, arm="additive"):
    return {(arm, bucket, measure): numbers}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        (changed("31-40", "length_ratio", 1.05, 1.0, 1.1), "held"),
        (changed("31-40", "length_ratio", 1.05, 1.0, 1.11), "partly"),
        (changed("31-40", "length_ratio", 0.95, 0.89, 1.0), "partly"),
        (changed("31-40", "empty", 0.02, 0.0, 0.049), "held"),
        (changed("31-40", "empty", 0.02, 0.0, 0.05), "partly"),
        (changed("31-40", "unfinished", 0.03, 0.01, 0.06), "partly"),
        # Less the references' own share, which is 1 per cent.
        (changed("31-40", "repeating", 0.03, 0.0, 0.059), "held"),
        (changed("31-40", "repeating", 0.03, 0.0, 0.061), "partly"),
    ],
)
def test_one_bucket_flips_the_verdict_at_the_rules_numbers(changes, expected):
    found = verdict(frame(changes))
    assert (found.claim, found.verdict, found.rule) == ("C11", expected, LENGTH_RULE)


def test_under_half_of_the_buckets_is_not_held():
    short = dict.fromkeys([("additive", b, "length_ratio") for b in BUCKETS[2:]], (0.5, 0.4, 0.6))
    assert verdict(frame(short)).verdict == "partly"
    short[("additive", BUCKETS[1], "length_ratio")] = (0.8, 0.7, 0.85)
    found = verdict(frame(short))
    assert found.verdict == "not held"
    assert (
        "additive serves 1 of 4 length buckets, not 11-20 (ratio 0.80 [0.70, 0.85])"
        in found.because
    )


def test_the_number_is_the_ratio_furthest_from_one():
    found = verdict(frame(changed("11-20", "length_ratio", 0.93, 0.91, 0.96)))
    assert (found.value, found.low, found.high) == (0.93, 0.91, 0.96)
    assert found.measure == "length ratio furthest from 1 (additive, 11-20)"


def test_the_arm_without_attention_is_told_beside_and_decides_nothing():
    found = verdict(frame(changed("31-40", "unfinished", 0.5, 0.4, 0.6, arm="none")))
    assert found.verdict == "held"
    assert found.because.endswith("; beside: none serves 3 of 4 length buckets")
    two = verdict(frame(arms=("none", "uniform", "additive"))).because
    assert "beside: none serves 4 of 4 length buckets, uniform 4 of 4" in two


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (None, "`bottleneck study length`"),
        (frame(arms=("none", "uniform")), "no arm with attention"),
        (frame(buckets=BUCKETS[:1]), "fewer than two buckets"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(table, reason):
    found = verdict(table)
    assert found.verdict == "not measured"
    assert reason in found.because
    assert found.value is None


def test_small_buckets_are_named():
    assert "under 100 sentences: 5-10 (n = 99)" in verdict(frame(n=99)).because
    assert "under 100" not in verdict(frame(n=100)).because
