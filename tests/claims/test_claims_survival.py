"""C3 at its thresholds, from a planted table of the study."""

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.survival import SURVIVAL_RULE, verdict
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

NAN = float("nan")
BUCKETS = ("5-10", "31-40", "41+")
HELD = {
    ("", "corrected"): (0.7, 0.6, 0.8),
    ("gist", "corrected"): (0.6, 0.55, 0.65),
    ("modifiers", "corrected"): (0.4, 0.35, 0.45),
    ("names", "corrected"): (0.3, 0.2, 0.4),
    ("modifiers", "gist_more"): (0.2, 0.1, 0.3),
    ("names", "gist_more"): (0.3, 0.15, 0.45),
}


def frame(changes=None, arms=("none", "additive"), buckets=BUCKETS, n=200):
    """A table in which C3 is held, but for ``changes`` by arm, bucket, part and measure."""
    rows = []
    for arm in arms:
        for bucket in buckets:
            for (part, measure), known in HELD.items():
                found = (changes or {}).get((arm, bucket, part, measure), known)
                row = {"arm": arm, "attention": arm, "context_size": 256}
                row |= {"bucket": bucket, "part": part, "measure": measure, "n": n}
                row |= dict(zip(("value", "low", "high"), found, strict=True))
                rows += [row, row | {"seed": 1, "run": arm, "value": 9.0}]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def none(bucket, part, measure, *numbers):
    return {("none", bucket, part, measure): numbers}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        (none("31-40", "modifiers", "gist_more", 0.1, 0.01, 0.2), "held"),
        (none("31-40", "modifiers", "gist_more", 0.1, 0.0, 0.2), "partly"),
        (none("41+", "names", "gist_more", 0.1, -0.01, 0.2), "partly"),
        (none("5-10", "names", "gist_more", -0.1, -0.2, -0.01), "held"),
        (none("41+", "gist", "corrected", 0.5, 0.4, 0.6), "held"),
        (none("41+", "gist", "corrected", 0.49, 0.4, 0.6), "partly"),
        (
            none("41+", "names", "gist_more", 0.1, -0.01, 0.2)
            | none("31-40", "modifiers", "gist_more", -0.1, -0.2, -0.05),
            "not held",
        ),
    ],
)
def test_the_verdict_flips_at_the_rules_numbers(changes, expected):
    found = verdict(frame(changes))
    assert (found.claim, found.verdict, found.rule) == ("C3", expected, SURVIVAL_RULE)


def test_the_number_is_the_smaller_of_the_two_differences_in_the_longest_bucket():
    found = verdict(frame())
    assert (found.value, found.low, found.high) == pytest.approx((20, 10, 30))
    assert found.measure == "points, gist less modifiers, recall beyond chance, none, 41+"
    because = found.because
    assert "attention, 41+: 60 % [55, 65] of the gist survives, 20 points [10, 30] more" in because


def test_the_number_and_the_sentence_are_in_points_and_nothing_is_less_than_nothing():
    found = verdict(frame(none("41+", "modifiers", "gist_more", -0.139, -0.161, -0.113)))
    assert (found.value, found.low, found.high) == pytest.approx((-13.9, -16.1, -11.3))
    assert "14 points [11, 16] less than of modifiers" in found.because
    found = verdict(frame(none("41+", "names", "gist_more", 0.004, -0.004, 0.1)))
    assert "0 points [0, 10] more than of names" in found.because
    assert "-0" not in found.because


def test_words_as_common_are_told_and_decide_nothing():
    alike = dict.fromkeys(("modifiers", "names"), (-0.2, -0.3, -0.1))
    table = frame()
    more = [row.copy() for _, row in table[table["measure"] == "gist_more"].iterrows()]
    for row in more:
        row["measure"], own = "gist_more_alike", alike[row["part"]]
        row["value"], row["low"], row["high"] = own
    held = pd.concat([table, pd.DataFrame(more)])
    found = verdict(held)
    assert (found.verdict, found.value) == (verdict(table).verdict, verdict(table).value)
    assert (
        "45] more than of names (of words as common 20 points [10, 30] less than of modifiers and "
        "20 points [10, 30] less than of names)"
    ) in found.because
    assert "as common" not in verdict(table).because
    held.loc[(held["measure"] == "gist_more_alike") & (held["part"] == "names"), "low"] = NAN
    assert "(of words as common 20 points [10, 30] less than of modifiers)" in verdict(held).because


def test_attention_is_told_beside_and_decides_nothing():
    worse = {("additive", "41+", "names", "gist_more"): (-0.1, -0.2, -0.05)}
    found = verdict(frame(worse))
    assert found.verdict == "held"
    assert "beside: additive, 41+: 60 % [55, 65] of the gist survives" in found.because
    assert "10 points [5, 20] less than of names" in found.because


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (None, "`bottleneck study survival`"),
        (frame(arms=("additive",)), "no arm without attention"),
        (frame(buckets=BUCKETS[:1]), "fewer than two buckets"),
        (frame()[lambda held: held["part"] == ""], "no word classes"),
        (frame(none("5-10", "", "corrected", 0.09, 0.0, 0.2)), "9% in 5-10"),
        (frame(none("41+", "names", "gist_more", 0.1, NAN, NAN)), "too few words"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(table, reason):
    found = verdict(table)
    assert found.verdict == "not measured"
    assert reason in found.because
    assert found.value is None


def test_an_empty_bucket_is_passed_over():
    held = frame(buckets=(*BUCKETS, "61+"))
    held.loc[held["bucket"] == "61+", "n"] = 0
    held.loc[held["bucket"] == "61+", ["value", "low", "high"]] = NAN
    assert verdict(held).verdict == "held"
    assert "without attention, 41+" in verdict(held).because


def test_small_buckets_are_named():
    assert "under 100 sentences: 31-40 (n = 99), 41+ (n = 99)" in verdict(frame(n=99)).because
    assert "under 100" not in verdict(frame(n=100)).because
