"""C8 at its thresholds, from a planted table of the study."""

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.gradients import GRADIENTS_RULE, verdict
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

BANDS = ("1-5", "6-10", "11-20")


def rows(arm, half=(5.0, 4.0, 6.0), far=(0.1, 0.05, 0.2), note=";;", control="", bands=BANDS):
    """An arm with this half-distance, and this ratio in its farthest band."""
    facts = {"arm": arm, "attention": arm, "bucket": "", "control": control, "n": 500}
    numbers = dict(zip(("value", "low", "high"), half, strict=True))
    yield facts | {"measure": "half_distance", "part": "", "note": note} | numbers
    yield facts | {"measure": "half_distance", "part": "", "note": "", "seed": 1, "value": 99.0}
    yield facts | {"measure": "half_distance", "part": "", "bucket": "5-10", "value": 99.0}
    for band in bands:
        ratio = far if band == bands[-1] else (0.9, 0.8, 1.0)
        yield (
            facts
            | {"measure": "ratio", "part": band, "note": ""}
            | dict(zip(("value", "low", "high"), ratio, strict=True))
        )


def frame(*arms):
    return pd.DataFrame([row for arm in arms for row in arm], columns=list(PROBE_COLUMNS))


FAR = {"half": (20.0, 6.1, 30.0), "far": (0.5, 0.21, 0.7)}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({"half": (20.0, 6.0, 30.0)}, "partly"),
        ({"far": (0.5, 0.2, 0.7)}, "partly"),
        ({"half": (20.0, 5.9, 30.0), "far": (0.5, 0.1, 0.7)}, "not held"),
        ({"half": (30.0, 30.0, 30.0), "note": "at least;at least;at least"}, "held"),
        ({"half": (3.0, 3.0, 3.0), "note": "at least;at least;at least"}, "held"),
        ({"bands": BANDS[:2], "far": (0.9, 1.1, 1.2)}, "held"),
        ({"bands": BANDS[:2], "far": (0.9, 0.9, 1.2)}, "partly"),
    ],
)
def test_intervals_that_touch_flip_the_verdict(changes, expected):
    found = verdict(frame(rows("none"), rows("additive", **FAR | changes)))
    assert (found.claim, found.verdict, found.rule) == ("C8", expected, GRADIENTS_RULE)
    assert (found.value, found.low, found.high) == (5.0, 4.0, 6.0)


def test_without_an_end_none_is_not_shorter():
    none = rows("none", half=(5.0, 4.0, 30.0), note=";;at least")
    always = {"half": (30.0, 30.0, 30.0), "note": "at least;at least;at least"}
    found = verdict(frame(none, rows("additive", **FAR | always)))
    assert found.verdict == "partly"
    assert (found.low, found.high) == (4.0, None)
    assert (
        "of none it halves every 5.0 [4.0, over 30] steps, of additive it does not" in found.because
    )


def test_every_arm_with_attention_must_be_clear():
    held = [rows("none"), rows("additive", **FAR)]
    assert verdict(frame(*held, rows("dot"))).verdict == "not held"
    held = [rows("none"), rows("additive", **FAR)]
    assert verdict(frame(*held, rows("uniform"))).verdict == "held"


def test_the_start_of_training_is_told_and_decides_nothing():
    start = rows("none", half=(40.0, 39.0, 41.0), control="untrained")
    found = verdict(frame(rows("none"), rows("additive", **FAR), start))
    assert found.verdict == "held"
    assert "before training: of none it halves every 40.0 [39.0, 41.0] steps" in found.because
    assert "over 11-20 steps it is, of additive, 0.50 [0.21, 0.70] times that" in found.because


def test_what_does_not_halve_within_the_tested_steps_is_told_without_numbers_for_it():
    beyond = {"half": (66.0, 66.0, 66.0), "note": "at least;at least;at least"}
    because = verdict(frame(rows("none", **beyond), rows("additive", **FAR))).because
    assert because.startswith(
        "how fast the gradient fades: of none it does not halve within 66 steps, of additive it "
        "halves every 20.0 [6.1, 30.0] steps; "
    )
    half = {"half": (66.0, 12.0, 66.0), "note": "at least;;at least"}
    because = verdict(frame(rows("none", **half), rows("additive", **FAR))).because
    assert "within 66 steps (at the interval's lower end every 12.0)" in because


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (None, "`bottleneck study gradients`"),
        (frame(rows("additive")), "both arms are needed"),
        (frame(rows("none"), rows("uniform")), "both arms are needed"),
        (frame(rows("none", bands=BANDS[:1]), rows("dot", bands=BANDS[1:])), "share no band"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(table, reason):
    found = verdict(table)
    assert (found.verdict, found.value) == ("not measured", None)
    assert reason in found.because


def test_few_links_are_told():
    arms = [rows("none"), rows("additive", **FAR)]
    assert "under 100 links (n = 99)" in verdict(frame(*arms).assign(n=99)).because
    arms = [rows("none"), rows("additive", **FAR)]
    assert "under 100" not in verdict(frame(*arms).assign(n=100)).because
