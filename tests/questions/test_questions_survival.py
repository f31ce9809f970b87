"""C3: the rule at its thresholds and the tables, from planted tables of the study."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from planted_pages import REFERENCE, printed_words, row_of
from planted_pages import frame as table_of

from seq2seq_bottleneck.questions.survival import FREQUENCIES, FREQUENCY_NAMES, LAYOUTS, QUESTION
from seq2seq_bottleneck.questions.word_survival import class_of

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
    for bucket, arm, (part, measure) in product(buckets, arms, known):
        numbers = (changes or {}).get((arm, bucket, part, measure), known[part, measure])
        ends = dict(zip(("value", "low", "high"), numbers, strict=True))
        rows.append(row_of(arm, measure, **ends, bucket=bucket, part=part, n=n))
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


@pytest.fixture(scope="module")
def committed():
    """Three seeds of both arms; in `vindication`, which is older, no words as common."""
    return QUESTION.load(REFERENCE / "vindication_again")


@pytest.mark.slow
def test_four_tables_with_a_row_a_class_and_arm_under_a_row_of_the_words_counted(committed):
    lines = printed_words(QUESTION.page(committed))
    titles = [" ".join(line[:-1]) for line in lines if line[-1] == "(C3)"]
    assert titles == [
        "Survival beyond chance by sentence length, %",
        "Gist less other words, beyond chance, points",
        "Survival beyond chance by place in the source, %",
        "Survival of all words by sentence length, %",
    ]
    start = lines.index(["noun", "n", "300", "568", "961", "1,317", "1,887"])
    assert lines[start + 1 : start + 5] == [
        ["noun", "none", "71", "38", "24", "17", "13"],
        ["67..75", "35..41", "22..26", "16..19", "12..15"],
        ["noun", "additive", "99", "99", "98", "98", "97"],
        ["99..100", "98..99", "98..99", "98..99", "97..98"],
    ]
    for row in (
        ["numeral", "75..89", "56..66", "46..55", "40..48", "33..39"],
        ["name", "n", "46*", "72*", "118", "154", "232"],
        ["modifiers", "none", "-14", "-15", "-14", "-14", "-13"],
        ["modifiers,", "n", "149", "258", "446", "594", "909"],
        ["as", "common", "-4..9", "0..10", "1..9", "-1..5", "1..5"],
        ["41+", "none", "39", "21", "19", "20", "19"],
        ["41+", "none", "200", "37", "17", "20", "24"],
    ):
        assert row in lines


def test_older_tables_lack_words_as_common(committed):
    older, both = (
        QUESTION.page(table) for table in (QUESTION.load(REFERENCE / "vindication"), committed)
    )
    for page, known in ((both, True), (older, False)):
        assert any("common" in line for line in printed_words(page)) == known
        assert ("Mantel-Haenszel" in " ".join(page.caption)) == known
    assert list(older.frame) == [name for name in both.frame if "alike" not in name]


@pytest.mark.slow
def test_an_arm_with_other_words_has_a_row_of_them(committed):
    other = committed[committed["arm"] == "additive"].assign(arm="additive joined=2")
    other.loc[other["bucket"] == "5-10", "n"] = 38
    lines = printed_words(QUESTION.page(pd.concat([committed, other])))
    at = next(place for place, line in enumerate(lines) if line[:1] == ["5-10"])
    names = [line[:3] for line in lines[at : at + 9] if line[0] == "5-10"]
    assert [name[1] for name in names] == ["n", "none", "additive", "n", "additive"]
    assert ["5-10", "n", *["38*"] * 5] in lines


def test_on_files_frequencies_take_the_place_of_classes(committed):
    parts = committed["part"].fillna("")
    plain = committed[(parts == "") | parts.str.startswith(("fifth", "frequency"))]
    page = QUESTION.page(plain.assign(corpus="files"))
    ibm1 = "Links are those of IBM model 1"
    caption = " ".join(QUESTION.page(committed).caption)
    assert ibm1 in " ".join(page.caption)
    assert ibm1 not in caption
    assert "premier venues" in caption  # the slide's words
    lines = printed_words(page)
    assert any(line[:2] == ["seen", "none"] for line in lines)
    assert not any(line[:1] in (["noun"], ["modifiers"]) for line in lines)


def test_an_empty_bucket_is_a_row_without_numbers_and_no_zero_has_a_sign(committed):
    table = committed.copy()
    table[["value", "low", "high"]] = [-0.001, -0.004, 0.004]
    lines = printed_words(QUESTION.page(empty(table, "41+")))
    assert not any(word.startswith("-0") for line in lines for word in line)
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
