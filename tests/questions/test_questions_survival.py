"""C3: the rule at its thresholds and the tables, from planted tables of the study; bands."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from seq2seq_bottleneck.questions.survival import (
    FREQUENCIES,
    FREQUENCY_NAMES,
    LAYOUTS,
    QUESTION,
    RULE,
)
from seq2seq_bottleneck.questions.survival_sums import MEASURES, relative_bands
from seq2seq_bottleneck.questions.word_survival import CLASSES, class_of
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
"""Numbers of every arm and bucket with which C3 is held."""


def frame(changes=None, arms=("none", "additive"), buckets=BUCKETS, n=200, known=HELD):
    """A study's table of such numbers, but for ``changes`` by arm, bucket, part and measure."""
    rows = []
    for bucket in buckets:
        for arm in arms:
            for (part, measure), numbers in known.items():
                numbers = (changes or {}).get((arm, bucket, part, measure), numbers)
                row = {"arm": arm, "attention": arm.split()[0], "context_size": 256}
                row |= {"updates": 2000, "corpus": "grammar", "control": "", "n": n}
                row |= {"bucket": bucket, "part": part, "measure": measure}
                row |= dict(zip(("value", "low", "high"), numbers, strict=True))
                alone = {"seed": 1, "run": arm, "low": NAN, "high": NAN}
                rows += [row, row | alone]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def none(bucket, part, measure, *numbers):
    return {("none", bucket, part, measure): numbers}


def verdict_of(table):
    """The one verdict."""
    (found,) = QUESTION.verdict(table)
    return found


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
    found = verdict_of(frame(changes))
    assert (found.claim, found.verdict, found.rule) == ("C3", expected, RULE)


def test_the_number_is_the_smaller_of_the_two_differences_in_the_longest_bucket():
    found = verdict_of(frame())
    assert (found.value, found.low, found.high) == pytest.approx((20, 10, 30))
    assert found.measure == "points, gist less modifiers, recall beyond chance, none, 41+"
    clause = "without attention, 41+: 60 % [55, 65] of the gist survives, 20 [10, 30] points more"
    assert clause in found.because


def test_the_number_and_the_sentence_are_in_points_and_nothing_is_less_than_nothing():
    found = verdict_of(frame(none("41+", "modifiers", "gist_more", -0.139, -0.161, -0.113)))
    assert (found.value, found.low, found.high) == pytest.approx((-13.9, -16.1, -11.3))
    assert "14 [11, 16] points less than of modifiers" in found.because
    found = verdict_of(frame(none("41+", "names", "gist_more", 0.004, -0.004, 0.1)))
    assert "0 [0, 10] points more than of names" in found.because
    assert "-0" not in found.because


def test_words_as_common_are_reported_and_decide_nothing():
    alike = {(part, "gist_more_alike"): (-0.2, -0.3, -0.1) for part in ("modifiers", "names")}
    table = frame(known=HELD | alike)
    found, plain = verdict_of(table), verdict_of(frame())
    assert (found.verdict, found.value) == (plain.verdict, plain.value)
    assert (
        "45] points more than of names (among words as common 20 [10, 30] points less than of "
        "modifiers and 20 [10, 30] points less than of names)"
    ) in found.because
    assert "as common" not in plain.because
    without = {("names", "gist_more_alike"): (-0.2, NAN, NAN)}
    found = verdict_of(frame(known=HELD | alike | without))
    assert "(among words as common 20 [10, 30] points less than of modifiers)" in found.because


def test_attention_is_reported_and_decides_nothing():
    found = verdict_of(frame({("additive", "41+", "names", "gist_more"): (-0.1, -0.2, -0.05)}))
    assert found.verdict == "held"
    assert "arm additive, 41+: 60 % [55, 65] of the gist survives" in found.because
    assert "10 [5, 20] points less than of names" in found.because


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (None, "`bottleneck study survival`"),
        (frame(arms=("additive",)), "no arm without attention"),
        (frame(buckets=BUCKETS[:1]), "fewer than two buckets"),
        (frame()[lambda rows: rows["part"] == ""], "no word classes"),
        (frame(none("5-10", "", "corrected", 0.09, 0.0, 0.2)), "9% in 5-10"),
        (frame(none("41+", "names", "gist_more", 0.1, NAN, NAN)), "too few words"),
    ],
)
def test_what_cannot_be_judged_is_not_measured(table, reason):
    found = verdict_of(table)
    assert found.verdict == "not measured"
    assert reason in found.because
    assert found.value is None


def test_an_empty_bucket_is_passed_over():
    table = frame(buckets=(*BUCKETS, "61+"))
    table.loc[table["bucket"] == "61+", "n"] = 0
    table.loc[table["bucket"] == "61+", ["value", "low", "high"]] = NAN
    assert verdict_of(table).verdict == "held"
    assert "without attention, 41+" in verdict_of(table).because


def test_small_buckets_are_named():
    assert "under 100 sentences: 31-40 (n = 99), 41+ (n = 99)" in verdict_of(frame(n=99)).because
    assert "under 100" not in verdict_of(frame(n=100)).because


FIVE = ("5-10", "11-20", "21-30", "31-40", "41+")
PARTS = ("", *(f"fifth {place}" for place in range(1, 6)), *CLASSES, "frequency unseen",
         "frequency 1-9", "frequency 1000+", "gist", "modifiers", "names")  # fmt: skip
COUNTS = {"": 200, "frequency unseen": 0, "frequency 1-9": 38}
NUMBERS = {"recall": 0.62, "chance": 0.051, "less_chance": 0.572, "corrected": 0.603}
ALL = {(part, name): (x, x - 0.04, x + 0.4) for part in PARTS for name, x in NUMBERS.items()} | {
    (part, name): (x, x - 0.1, x + 0.1)
    for part in ("modifiers", "names")
    for name, x in {"gist_more": 0.2, "gist_more_alike": 0.05}.items()
}


def whole(parts=PARTS, corpus="grammar"):
    """A table with every measure of these parts."""
    known = {key: numbers for key, numbers in ALL.items() if key[0] in parts}
    table = frame(buckets=FIVE, known=known).assign(corpus=corpus)
    table["n"] = table["part"].map(COUNTS).fillna(1887).astype(int)
    table.loc[table["n"] == 0, ["value", "low", "high"]] = NAN
    return table


def printed(table):
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(QUESTION.page(table).table)
    return [line.rstrip() for line in capture.get().splitlines()]


def rows_of(lines, title):
    """The cells of the lines of the table with this title."""
    start = next(index for index, line in enumerate(lines) if line.startswith(title))
    ends = (index for index, line in enumerate(lines) if "(C3)" in line and index > start)
    return [line.split() for line in lines[start + 1 : next(ends, None)]]


GIST = "Gist less other words"


def test_five_tables_within_80_columns():
    lines = printed(whole())
    assert not any("…" in line for line in lines)
    assert [line.split(" (C3)")[0].strip() for line in lines if "(C3)" in line] == [
        "Survival beyond chance by sentence length, %",
        "All measures in the longest sentences, %",
        "Gist less other words, beyond chance, points",
        "Survival beyond chance by place in the source, %",
        "Survival of all words by sentence length, %",
    ]


@pytest.mark.slow
def test_a_row_a_class_and_arm_under_a_row_of_the_words_counted():
    lines = printed(whole())
    rows = rows_of(lines, "Survival beyond chance by sentence length")
    start = rows.index(["noun", "n", *["1,887"] * 5])
    assert rows[start + 1 : start + 5] == [
        ["noun", "none", *["60"] * 5], ["56..100"] * 5,
        ["noun", "additive", *["60"] * 5], ["56..100"] * 5,
    ]  # fmt: skip
    rows = rows_of(lines, "All measures")
    longest = rows.index(["adverb,", "numeral", "none", "1,887", "62", "5", "57", "60"])
    assert rows[longest + 1] == ["58..102", "1..45", "53..97", "56..100"]
    assert ["41+", "words"] in rows
    seen = [row[:4] for row in rows if row[:1] == ["seen"]]
    assert seen == [
        ["seen", "1-9", "none", "38*"], ["seen", "1-9", "additive", "38*"],
        ["seen", "1000+", "none", "1,887"], ["seen", "1000+", "additive", "1,887"],
    ]  # fmt: skip


@pytest.mark.slow
def test_an_arm_with_other_words_has_a_row_of_them():
    table = whole()
    other = table[table["arm"] == "additive"].assign(arm="additive joined=2")
    other.loc[other["bucket"] == "5-10", "n"] = 38
    rows = rows_of(printed(pd.concat([table, other])), "Survival beyond chance by place")
    assert [row for row in rows if row[:1] == ["5-10"]] == [
        ["5-10", "n", *["1,887"] * 5],
        ["5-10", "none", *["60"] * 5],
        ["5-10", "additive", *["60"] * 5],
        ["5-10", "n", *["38*"] * 5],
        ["5-10", "additive", "joined=2", *["60"] * 5],
    ]


def test_gist_less_each_other_kind_of_all_words_and_of_those_as_common():
    rows = rows_of(printed(whole()), GIST)
    assert [row for row in rows if "none" in row] == [
        ["modifiers", "none", *["20"] * 5], ["modifiers,", "none", *["5"] * 5],
        ["names", "none", *["20"] * 5], ["names,", "none", *["5"] * 5],
    ]  # fmt: skip
    assert ["as", "common", *["-5..15"] * 5] in rows
    assert any("Mantel-Haenszel" in line for line in QUESTION.page(whole()).caption)


def test_older_tables_lack_words_as_common_of_an_arm_or_of_all():
    table = whole()
    lacking = table["measure"] == "gist_more_alike"
    rows = rows_of(printed(table[~lacking | (table["arm"] == "none")]), GIST)
    assert [row[1] for row in rows if row[:1] in (["modifiers,"], ["names,"])] == ["n", "none"] * 2
    older = QUESTION.page(table[~lacking])
    assert not any("as common" in line for line in printed(table[~lacking]))
    assert not any("Mantel-Haenszel" in line for line in older.caption)
    both = QUESTION.page(table).frame
    assert list(older.frame) == [name for name in both if "alike" not in name]
    row = both[(both["arm"] == "none") & (both["bucket"] == "41+") & (both["part"] == "names")]
    for name in (*MEASURES, "gist_more", "gist_more_alike"):
        assert row[f"{name}_low"].iloc[0] < row[name].iloc[0] < row[f"{name}_high"].iloc[0]


@pytest.mark.slow
def test_a_value_that_some_resample_lacks_has_no_range_and_the_caption_says_why():
    table = whole()
    assert not any("without a range" in line for line in QUESTION.page(table).caption)
    table.loc[(table["part"] == "noun") & table["seed"].isna(), ["low", "high"]] = NAN
    assert any("A value without a range" in line for line in QUESTION.page(table).caption)
    rows = rows_of(printed(table), "Survival beyond chance by sentence length")
    place = rows.index(["noun", "none", *["60"] * 5])
    assert rows[place + 1][:2] == ["noun", "additive"]


def test_no_zero_has_a_sign():
    table = whole()
    table[["value", "low", "high"]] = [-0.001, -0.004, 0.004]
    assert not any("-0" in line for line in printed(table))


def test_the_slides_words_stand_in_the_caption():
    caption = " ".join(QUESTION.page(whole()).caption)
    assert "* behind a count: under 100" in caption
    assert "premier venues" in caption
    assert "IBM" not in caption


def test_on_files_frequencies_take_the_place_of_classes():
    parts = [part for part in PARTS if not part or part.startswith(("fifth", "frequency"))]
    table = whole(parts, "files")
    caption = " ".join(QUESTION.page(table).caption)
    assert "IBM model 1, trained on the run's own training pairs" in caption
    lines = printed(table)
    assert any(line.split()[:2] == ["seen", "none"] for line in lines)
    assert not any(line.startswith((" noun", GIST)) for line in lines)


def test_an_empty_bucket_is_a_row_without_numbers():
    table = whole()
    table.loc[table["bucket"] == "41+", ["value", "low", "high"]] = NAN
    table.loc[table["bucket"] == "41+", "n"] = 0
    lines = [line.split() for line in printed(table)]
    assert ["31-40", "words"] in lines
    assert lines.count(["41+", "none", "0*"]) == 1
    assert lines.count(["41+", "none"]) == 1


def test_fifths_by_hand():
    assert relative_bands(10, 5).tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert relative_bands(5, 5).tolist() == [0, 1, 2, 3, 4]
    assert relative_bands(1, 5).tolist() == [2]
    assert relative_bands(0, 5).shape == (0,)


@given(words=st.integers(1, 80), bands=st.integers(1, 10))
def test_bands_mirror_each_other_ascend_and_are_filled(words, bands):
    ours = relative_bands(words, bands)
    middles = (np.arange(words) + 0.5) / words * bands
    inside = ~np.isclose(middles, np.round(middles))  # not on an edge between two bands
    assert np.array_equal(ours[inside], np.floor(middles[inside]))
    assert np.array_equal(ours[inside], (bands - 1 - ours[::-1])[inside])
    assert (np.diff(ours) >= 0).all()
    if words >= bands:
        assert set(ours) == set(range(bands))


def test_frequency_bands_and_their_names():
    assert FREQUENCY_NAMES == ("unseen", "1-9", "10-99", "100-999", "1000+")
    counts = np.array([0, 1, 9, 10, 999, 1000])
    assert FREQUENCIES.assign(counts).tolist() == [0, 1, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("cat", "noun"), ("sat", "verb"), ("two", "adverb, numeral"), ("often", "adverb, numeral"),
        ("paris", "name"), ("the", "function word"), ("￭'s", "function word"), ("￭,", ""),
        ("bottleneck", ""),
    ],
)  # fmt: skip
def test_classes_of_words(token, kind):
    assert class_of(token) == kind
    assert not kind or kind in LAYOUTS["class"].groups
