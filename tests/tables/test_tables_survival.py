"""The tables of the study ``survival`` on a planted bundle file."""

import pandas as pd
import pytest
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.survival import page

CLASSES = ("noun", "verb", "adjective", "adverb, numeral", "name", "function word")
BUCKETS = ("5-10", "11-20", "21-30", "31-40", "41+")
MEASURES = {"recall": 0.62, "chance": 0.05, "less_chance": 0.57, "corrected": 0.6}
PARTS = (
    "",
    *(f"fifth {place}" for place in range(1, 6)),
    *CLASSES,
    *("frequency unseen", "frequency 1-9", "frequency 1000+"),
    *("gist", "modifiers", "names"),
)


def _rows(attention, bucket, parts):
    facts = {
        "arm": attention, "attention": attention, "placement": "input", "context_size": 256,
        "corpus": "grammar", "updates": 2000, "bucket": bucket, "control": "",
    }  # fmt: skip
    for part in parts:
        n = {"": 200, "frequency unseen": 0, "frequency 1-9": 38}.get(part, 1887)
        for place, (measure, value) in enumerate(MEASURES.items()):
            own = facts | {"part": part, "measure": measure, "n": n}
            nothing = float("nan")
            value = value + place / 1000 if n else nothing
            yield own | {"value": value, "low": value - 0.04, "high": value + 0.4}
            yield own | {"value": value, "run": "r1", "seed": 1}
        if part in ("modifiers", "names"):
            for measure, value in {"gist_more": 0.2, "gist_more_alike": 0.05}.items():
                own = facts | {"part": part, "measure": measure, "n": n}
                yield own | {"value": value, "low": value - 0.1, "high": value + 0.1}


def _frame(corpus="grammar", parts=PARTS):
    rows = [
        row | {"corpus": corpus}
        for bucket in BUCKETS
        for attention in ("none", "additive")
        for row in _rows(attention, bucket, parts)
    ]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def _printed(frame):
    console = Console(width=80, color_system=None, quiet=False)
    with console.capture() as held:
        console.print(page(frame).table)
    return [line.rstrip() for line in held.get().splitlines()]


def test_five_tables_within_80_columns():
    lines = _printed(_frame())
    assert not any("…" in line for line in lines)
    titles = [line.split(" (C3)")[0] for line in lines if "(C3)" in line]
    assert titles == [
        "Survival beyond chance by sentence length, %",
        "The longest sentences: 41+ words, %",
        "Gist less other words, beyond chance, points",
        "Survival beyond chance by place in the source, %",
        "Survival of all words by sentence length, %",
    ]


@pytest.mark.slow
def test_a_row_a_class_and_arm():
    lines = _printed(_frame())
    row = next(place for place, line in enumerate(lines) if line.startswith(" noun       none"))
    assert lines[row].split()[2:] == ["60"] * 5
    assert lines[row + 1].split() == ["56..100"] * 5
    longest = next(line for line in lines if line.startswith(" adverb, numeral  none"))
    assert longest.split()[2:] == ["none", "1,887", "62", "5", "57", "60"]
    below = lines[lines.index(longest) + 1]
    assert below.split() == ["58..102", "1..45", "53..97", "56..100"]
    assert sum(line.startswith(" function") for line in lines) == 3 + 2


@pytest.mark.slow
def test_gist_less_each_other_kind_of_all_words_and_of_those_as_common():
    lines = _printed(_frame())
    start = lines.index("Gist less other words, beyond chance, points (C3)")
    rows = [line.split() for line in lines[start : lines.index("", start + 8)]]
    assert [row for row in rows if "none" in row] == [
        ["modifiers", "none", *["20"] * 5], ["modifiers,", "none", *["5"] * 5],
        ["names", "none", *["20"] * 5], ["names,", "none", *["5"] * 5],
    ]  # fmt: skip
    assert ["as", "common", *["-5..15"] * 5] in rows
    assert any("Mantel-Haenszel" in line for line in page(_frame()).caption)


def test_an_arm_that_was_measured_before_that_has_no_rows_of_it():
    frame = _frame()
    older = frame[(frame["arm"] == "none") | (frame["measure"] != "gist_more_alike")]
    lines = _printed(older)
    start = lines.index("Gist less other words, beyond chance, points (C3)")
    rows = [line.split() for line in lines[start : lines.index("", start + 8)]]
    own = [row for row in rows if row[:1] in (["modifiers,"], ["names,"])]
    assert [row[1] for row in own] == ["n", "none"] * 2


@pytest.mark.slow
def test_a_table_made_before_words_as_common_were_compared_is_read():
    frame = _frame()
    older = frame[frame["measure"] != "gist_more_alike"]
    made = page(older)
    assert not any("as common" in line for line in _printed(older))
    assert not any("Mantel-Haenszel" in line for line in made.caption)
    assert list(made.frame) == [name for name in page(frame).frame if "alike" not in name]


@pytest.mark.slow
def test_the_words_counted_stand_above_the_arms_that_share_them():
    frame = _frame()
    other = frame[frame["arm"] == "additive"].assign(arm="additive joined=2")
    other.loc[other["bucket"] == "5-10", "n"] = 38
    lines = _printed(pd.concat([frame, other]))
    start = lines.index("Survival beyond chance by place in the source, % (C3)")
    rows = [line.split() for line in lines[start:] if line.startswith(" 5-10")]
    assert rows[:5] == [
        ["5-10", "n", *["1,887"] * 5],
        ["5-10", "none", *["60"] * 5],
        ["5-10", "additive", *["60"] * 5],
        ["5-10", "n", *["38*"] * 5],
        ["5-10", "additive", "joined=2", *["60"] * 5],
    ]
    assert [line.split()[1:] for line in lines if line.startswith(" noun")][:2] == [
        ["n", "1,887", "1,887", "1,887", "1,887", "1,887"], ["none", *["60"] * 5],
    ]  # fmt: skip


@pytest.mark.slow
def test_a_value_that_some_resample_lacks_has_no_range_and_the_caption_says_why():
    frame = _frame()
    assert not any("without a range" in line for line in page(frame).caption)
    frame.loc[(frame["part"] == "noun") & frame["seed"].isna(), ["low", "high"]] = float("nan")
    assert any("A value without a range: in some resample" in line for line in page(frame).caption)
    lines = _printed(frame)
    row = next(place for place, line in enumerate(lines) if line.startswith(" noun       none"))
    assert lines[row].split() == ["noun", "none", *["60"] * 5]
    assert lines[row + 1].split()[:2] == ["noun", "additive"]


def test_no_zero_has_a_sign():
    frame = _frame()
    frame[["value", "low", "high"]] = [-0.001, -0.004, 0.004]
    assert not any("-0" in line for line in _printed(frame))


def test_frequencies_have_rows_where_there_are_words():
    lines = _printed(_frame())
    seen = [" ".join(line.split()[:4]) for line in lines if line.startswith(" seen")]
    assert seen == [
        "seen 1-9 none 38*", "seen 1-9 additive 38*", "seen 1000+ none 1,887",
        "seen 1000+ additive 1,887",
    ]  # fmt: skip


def test_the_slides_words_stand_in_the_caption():
    made = page(_frame())
    assert any("* behind a count: under 100" in line for line in made.caption)
    told = " ".join(made.caption)
    assert "premier venues" in told
    assert "IBM" not in told


def test_on_files_frequencies_take_the_place_of_classes():
    parts = tuple(part for part in PARTS if not part or part.startswith(("fifth", "frequency")))
    made = page(_frame("files", parts))
    assert "IBM model 1, trained on the run's own training pairs" in " ".join(made.caption)
    lines = _printed(_frame("files", parts))
    assert any(line.split()[:2] == ["seen", "none"] for line in lines)
    assert not any(line.startswith(" noun") for line in lines)


def test_an_empty_bucket_is_a_row_without_numbers():
    frame = _frame()
    frame.loc[frame["bucket"] == "41+", ["value", "low", "high"]] = float("nan")
    frame.loc[frame["bucket"] == "41+", "n"] = 0
    lines = _printed(frame)
    assert "The longest sentences: 31-40 words, % (C3)" in lines
    assert sum(line.split() == ["41+", "none", "0*"] for line in lines) == 1
    assert sum(line.split() == ["41+", "none"] for line in lines) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MEASURES, "gist_more", "gist_more_alike"])
def test_the_data_have_every_measure_with_its_interval(name):
    held = page(_frame()).frame
    row = held[(held["arm"] == "none") & (held["bucket"] == "41+") & (held["part"] == "names")]
    assert row[f"{name}_low"].iloc[0] < row[name].iloc[0] < row[f"{name}_high"].iloc[0]
