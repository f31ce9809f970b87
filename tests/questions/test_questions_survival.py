"""C3: the rule at its thresholds and the tables, from planted tables of the study."""

import numpy as np
import pandas as pd
import pytest
from planted_pages import frame as table_of
from planted_pages import printed

from seq2seq_bottleneck.questions.survival import FREQUENCIES, FREQUENCY_NAMES, LAYOUTS, QUESTION
from seq2seq_bottleneck.questions.survival_sums import MEASURES
from seq2seq_bottleneck.questions.word_survival import CLASSES, class_of

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
ALIKE = {(part, "gist_more_alike"): (-0.2, -0.3, -0.1) for part in ("modifiers", "names")}


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
    return table_of(rows)


def none(bucket, part, measure, *numbers):
    return {("none", bucket, part, measure): numbers}


def verdict_of(table):
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
        # Attention is reported and decides nothing.
        ({("additive", "41+", "names", "gist_more"): (-0.1, -0.2, -0.05)}, "held"),
    ],
)
def test_the_verdict_flips_at_the_rules_numbers(changes, expected):
    found = verdict_of(frame(changes))
    assert (found.claim, found.verdict) == ("C3", expected)


def test_the_number_is_the_smaller_of_the_two_differences_in_the_longest_bucket():
    found = verdict_of(frame())
    assert (found.value, found.low, found.high) == pytest.approx((20, 10, 30))
    assert found.measure == "points, gist less modifiers, recall beyond chance, none, 41+"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            frame(none("41+", "modifiers", "gist_more", -0.139, -0.161, -0.113)),
            "14 [11, 16] points less than of modifiers",
        ),
        (
            frame(none("41+", "names", "gist_more", 0.004, -0.004, 0.1)),
            "0 [0, 10] points more than of names",
        ),
        (
            frame(known=HELD | ALIKE | {("names", "gist_more_alike"): (-0.2, NAN, NAN)}),
            "(among words as common 20 [10, 30] points less than of modifiers)",
        ),
        (frame(n=99), "under 100 sentences: 31-40 (n = 99), 41+ (n = 99)"),
    ],
)
def test_the_sentence_says_what_was_read(table, words):
    because = verdict_of(table).because
    assert words in because
    assert "-0" not in because
    assert ("under 100" in because) == ("under 100" in words)


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
    assert (found.verdict, found.value) == ("not measured", None)
    assert reason in found.because


def empty(table, bucket):
    """The table with nothing in a bucket."""
    table.loc[table["bucket"] == bucket, "n"] = 0
    table.loc[table["bucket"] == bucket, ["value", "low", "high"]] = NAN
    return table


def test_an_empty_bucket_is_passed_over():
    table = empty(frame(buckets=(*BUCKETS, "61+")), "61+")
    assert verdict_of(table).verdict == "held"
    assert "without attention, 41+" in verdict_of(table).because


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


def lines_of(table):
    return printed(QUESTION.page(table))


def rows_of(lines, title):
    """The cells of the lines of the table with this title."""
    start = next(index for index, line in enumerate(lines) if line.startswith(title))
    ends = (index for index, line in enumerate(lines) if "(C3)" in line and index > start)
    return [line.split() for line in lines[start + 1 : next(ends, None)]]


GIST = "Gist less other words"


@pytest.mark.slow
def test_four_tables_with_a_row_a_class_and_arm_under_a_row_of_the_words_counted():
    lines = lines_of(whole())
    assert [line.split(" (C3)")[0].strip() for line in lines if "(C3)" in line] == [
        "Survival beyond chance by sentence length, %",
        "Gist less other words, beyond chance, points",
        "Survival beyond chance by place in the source, %",
        "Survival of all words by sentence length, %",
    ]
    rows = rows_of(lines, "Survival beyond chance by sentence length")
    start = rows.index(["noun", "n", *["1,887"] * 5])
    assert rows[start + 1 : start + 5] == [
        ["noun", "none", *["60"] * 5], ["56..100"] * 5,
        ["noun", "additive", *["60"] * 5], ["56..100"] * 5,
    ]  # fmt: skip
    rows = rows_of(lines, GIST)
    assert [row for row in rows if "none" in row] == [
        ["modifiers", "none", *["20"] * 5], ["modifiers,", "none", *["5"] * 5],
        ["names", "none", *["20"] * 5], ["names,", "none", *["5"] * 5],
    ]  # fmt: skip
    assert ["as", "common", *["-5..15"] * 5] in rows


@pytest.mark.slow
def test_an_arm_with_other_words_has_a_row_of_them():
    table = whole()
    other = table[table["arm"] == "additive"].assign(arm="additive joined=2")
    other.loc[other["bucket"] == "5-10", "n"] = 38
    rows = rows_of(lines_of(pd.concat([table, other])), "Survival beyond chance by place")
    assert [row for row in rows if row[:1] == ["5-10"]] == [
        ["5-10", "n", *["1,887"] * 5],
        ["5-10", "none", *["60"] * 5],
        ["5-10", "additive", *["60"] * 5],
        ["5-10", "n", *["38*"] * 5],
        ["5-10", "additive", "joined=2", *["60"] * 5],
    ]


def test_older_tables_lack_words_as_common_of_an_arm_or_of_all():
    table = whole()
    lacking = table["measure"] == "gist_more_alike"
    rows = rows_of(lines_of(table[~lacking | (table["arm"] == "none")]), GIST)
    assert [row[1] for row in rows if row[:1] in (["modifiers,"], ["names,"])] == ["n", "none"] * 2
    older = QUESTION.page(table[~lacking])
    assert not any("as common" in line for line in printed(older))
    both = QUESTION.page(table)
    for page, explained in ((both, True), (older, False)):
        assert ("Mantel-Haenszel" in " ".join(page.caption)) == explained
    assert list(older.frame) == [name for name in both.frame if "alike" not in name]
    row = both.frame.query("arm == 'none' and bucket == '41+' and part == 'names'")
    for name in (*MEASURES, "gist_more", "gist_more_alike"):
        assert row[f"{name}_low"].iloc[0] < row[name].iloc[0] < row[f"{name}_high"].iloc[0]


@pytest.mark.slow
def test_a_value_that_some_resample_lacks_has_no_range():
    table = whole()
    table.loc[(table["part"] == "noun") & table["seed"].isna(), ["low", "high"]] = NAN
    rows = rows_of(lines_of(table), "Survival beyond chance by sentence length")
    place = rows.index(["noun", "none", *["60"] * 5])
    assert rows[place + 1][:2] == ["noun", "additive"]


def test_no_zero_has_a_sign():
    table = whole()
    table[["value", "low", "high"]] = [-0.001, -0.004, 0.004]
    assert not any("-0" in line for line in lines_of(table))


def test_on_files_frequencies_take_the_place_of_classes():
    parts = [part for part in PARTS if not part or part.startswith(("fifth", "frequency"))]
    page = QUESTION.page(whole(parts, "files"))
    ibm1 = "Links are those of IBM model 1"
    assert ibm1 in " ".join(page.caption)
    caption = " ".join(QUESTION.page(whole()).caption)
    assert ibm1 not in caption
    assert "premier venues" in caption  # the slide's words
    lines = printed(page)
    assert any(line.split()[:2] == ["seen", "none"] for line in lines)
    assert not any(line.startswith((" noun", GIST)) for line in lines)


def test_an_empty_bucket_is_a_row_without_numbers():
    lines = [line.split() for line in lines_of(empty(whole(), "41+"))]
    assert lines.count(["41+", "none", "0*"]) == 1
    assert lines.count(["41+", "none"]) == 1


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
    assert not kind or kind in LAYOUTS["class"][0]
