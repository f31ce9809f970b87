"""C14: planted probes that know so many words, the rule, and the tables."""

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from seq2seq_bottleneck.questions.state_reading import (
    QUESTION,
    RULE,
    answer_sums,
    reading_curve,
)
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.scoring.bootstrap import draw

SENTENCES, LENGTH = 200, 8
WEIGHTS = draw(SENTENCES, 300, seed=1, bucket=0)


def planted(chance_at, *, seed, frequent=0.2):
    """Every word so far after every step, right with a probability by distance."""
    rng = np.random.default_rng(seed)
    found = {"sentence": [], "step": [], "trained": [], "baseline": []}
    for sentence in range(SENTENCES):
        for step in range(1, LENGTH + 1):
            right = rng.random(step) < chance_at(np.arange(step))
            frequently = rng.random(step) < frequent
            columns = (sentence, step, *map(letters, (right, frequently)))
            for name, value in zip(found, columns, strict=True):
                found[name].append(value)
    return {name: np.array(column) for name, column in found.items()}


def letters(right):
    return "".join(np.where(right, "y", "n"))


def curve_of(*seeds, steps=(1, LENGTH + 1), distances=LENGTH):
    sums = [answer_sums(found, "trained", steps, SENTENCES)[:, :distances] for found in seeds]
    return reading_curve(np.stack(sums), WEIGHTS)


def test_a_probe_that_knows_four_words_reads_them_beyond_the_baseline():
    curve = curve_of(planted(lambda d: d < 4, seed=1, frequent=0.0))
    assert [item.value for item in curve.accuracy] == [1.0] * 4 + [0.0] * 4
    assert [item.value for item in curve.baseline] == [0.0] * 8
    assert curve.words_read.value == 4.0
    assert curve.answers == SENTENCES * LENGTH


def test_accuracy_and_baseline_by_distance_are_plain_means():
    seeds = [planted(lambda d: 0.9 ** (d + 1), seed=seed) for seed in (2, 3)]
    curve = curve_of(*seeds, distances=6)
    beyond = []
    for distance in range(6):
        means = [
            [np.mean([row[distance] == "y" for row in found[name] if len(row) > distance])
             for found in seeds]
            for name in ("trained", "baseline")
        ]  # fmt: skip
        right, base = np.mean(means, axis=1)
        assert curve.accuracy[distance].value == pytest.approx(right)
        assert curve.baseline[distance].value == pytest.approx(base)
        interval = curve.accuracy[distance].interval
        assert interval.low < 0.9 ** (distance + 1) < interval.high
        beyond.append(right - base)
    assert curve.words_read.value == pytest.approx(sum(beyond))
    draws = [a.draws - b.draws for a, b in zip(curve.accuracy, curve.baseline, strict=True)]
    assert curve.words_read.draws == pytest.approx(sum(draws))


def test_a_probe_as_good_as_the_baseline_reads_no_word():
    curve = curve_of(planted(lambda d: 0.2 + 0 * d, seed=4))
    assert curve.words_read.interval.low < 0 < curve.words_read.interval.high
    pairs = zip(curve.accuracy, curve.baseline, strict=True)
    assert sum(max(a.value - b.value, 0.0) for a, b in pairs) > curve.words_read.value


def test_steps_can_be_looked_at_alone():
    known = planted(lambda d: d < 4, seed=5, frequent=0.0)
    assert curve_of(known, steps=(2, 3), distances=2).words_read.value == 2.0
    assert curve_of(known, steps=(6, 8), distances=7).answers == 2 * SENTENCES


def test_refuses_a_distance_that_nothing_was_asked_at():
    with pytest.raises(ValueError, match="distance 8"):
        curve_of(planted(lambda d: d < 4, seed=6), distances=10)


GOOD = {"5-10": (5, 4.0, 3.5, 1.5, 1.0, 2.0), "21-30": (20, 18.0, 12.0, 1.5, 1.0, 2.0)}


def frame(changes=None, arms=("none",)):
    """Words asked, readable, read, of untrained states, of the last word, added; .5 either way."""
    rows = []
    for arm in arms:
        for bucket, numbers in (GOOD | (changes or {})).items():
            keys = {"arm": arm, "attention": arm, "bucket": bucket, "part": "", "n": 700}
            keys |= {"corpus": "grammar", "context_size": 256, "updates": 2000}
            names = [("words_asked", ""), ("words_readable", ""), ("words_read", ""),
                     ("words_read", "untrained"), ("words_read", "last_word"),
                     ("words_read_added", "")]  # fmt: skip
            for (measure, control), value in zip(names, map(float, numbers), strict=True):
                row = keys | {"measure": measure, "control": control, "value": value}
                row |= {"low": value - 0.5, "high": value + 0.5}
                rows += [row, row | {"seed": 1, "value": 0.0}]
            for distance in range(int(numbers[0])):
                for control in ("", "untrained", "last_word", "most_frequent"):
                    row = keys | {"part": str(distance), "measure": "accuracy", "control": control}
                    rows.append(row | {"value": 0.71, "low": 0.7, "high": 0.72})
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


@pytest.mark.parametrize(
    ("long", "expected"),
    [
        (GOOD["21-30"], "held"),
        ((20, 18.0, 9.5, 1.5, 1.0, 2.0), "held"),
        ((20, 18.0, 9.49, 1.5, 1.0, 2.0), "partly"),  # the lower end is under 9 of 18
        ((20, 18.0, 12.0, 1.5, 1.0, 0.51), "held"),
        ((20, 18.0, 12.0, 1.5, 1.0, 0.49), "not held"),  # untrained states do as well
        ((20, 18.0, 12.0, 1.5, 10.99, 2.0), "held"),
        ((20, 18.0, 12.0, 1.5, 11.01, 2.0), "not held"),
    ],
)
def test_the_numbers_decide(long, expected):
    (judged,) = QUESTION.verdict(frame({"21-30": long}))
    assert (judged.claim, judged.verdict, judged.rule) == ("C14", expected, RULE)


def test_the_bucket_with_the_least_of_its_words_is_the_verdicts_number():
    (judged,) = QUESTION.verdict(frame(arms=("none", "additive")))
    assert (judged.value, judged.low, judged.high) == (12.0, 11.5, 12.5)
    assert judged.measure == "words read of the last 20, after 21-30 words"
    assert judged.because.count("with attention") == 1
    assert "with attention (additive), after 21-30 words 12.0 [11.5, 12.5]" in judged.because


def test_where_the_most_frequent_word_answers_all_nothing_is_lost():
    (judged,) = QUESTION.verdict(frame({"5-10": (5, 0.0, 0.0, 0.0, 0.0, 0.0)}))
    assert judged.value == 12.0


@pytest.mark.parametrize("table", [None, frame(arms=("additive",))])
def test_what_was_not_measured_is_not_judged(table):
    (judged,) = QUESTION.verdict(table)
    assert (judged.verdict, judged.value) == ("not measured", None)
    assert judged.because


def test_words_read_by_bucket_and_accuracy_of_the_first_bucket_that_has_all_distances():
    page = QUESTION.page(frame(arms=("none", "additive")))
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(page.table)
    lines = [line.split() for line in capture.get().splitlines()]
    assert max(map(len, capture.get().splitlines())) <= 80
    at = lines.index(["21-30", "none", "700", "20", "12.00", "1.50", "1.00", "+2.00"])
    assert lines[at + 1] == ["11.50..12.50", "1.00..2.00", "0.50..1.50", "1.50..2.50"]
    at = lines.index(["21-30", "10", *["71.0"] * 6])
    assert lines[at + 1] == ["70..72"] * 6
    assert {"words_read", "words_read_added_low", "accuracy"} <= set(page.frame.columns)
