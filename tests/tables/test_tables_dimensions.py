"""The tables of the study ``dimensions`` on a planted bundle file."""

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.probes.dimensions import WANTED
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.dimensions import page

MEASURES = ("components", "participation_ratio", "effective_rank")
BUCKETS = ("5-10", "21-30", "41+")


def _rows(attention, place, bucket):
    facts = {
        "arm": attention, "attention": attention, "placement": "input", "context_size": 256,
        "corpus": "grammar", "updates": 2000, "bucket": bucket, "control": "", "part": "",
        "n": 2500 if place else 90,
    }  # fmt: skip
    for measure in MEASURES:
        base = 180.4 + 10 * place
        for control, part, value in (
            ("", "", base),
            ("untrained", "", 101.6),
            ("", "half", base - 7),
            ("untrained", "half", 97.0),
        ):
            own = facts | {"control": control, "part": part, "measure": measure, "value": value}
            yield own | {"low": value - 3.2, "high": value + 3.2}
            yield own | {"run": "r1", "seed": 1}
        added = facts | {"measure": f"{measure}_added", "value": base - 101.6}
        lost = {"value": -19.2, "low": -19.9, "high": -18.6}
        yield added | ({"low": base - 106, "high": base - 97} if attention == "none" else lost)


def _frame():
    rows = [
        row
        for attention in ("none", "additive")
        for place, bucket in enumerate(BUCKETS)
        for row in _rows(attention, place, bucket)
    ]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def _printed(frame, width=80):
    console = Console(width=width, record=True, file=None, quiet=False, color_system=None)
    with console.capture() as held:
        console.print(page(frame).table)
    return held.get()


def test_a_row_a_bucket_and_arm_in_each_table_within_80_columns():
    text = _printed(_frame())
    assert "…" not in text
    lines = [line.strip() for line in text.splitlines()]
    assert max(map(len, text.splitlines())) <= 80
    assert sum(line.startswith("21-30") for line in lines) == 6
    first = next(line for line in lines if line.startswith("21-30"))
    assert first.split()[:8] == ["21-30", "none", "2,500", "190", "102", "+89", "183", "97"]
    ends = lines[lines.index(first) + 1]
    assert ends.split()[:3] == ["187..194", "98..105", "84..93"]
    assert text.count("-20..-19") == 9


def test_the_slides_number_stands_beside_its_sentences_bucket_alone():
    assert _printed(_frame()).count("200 of") == 1


def test_a_small_bucket_is_marked():
    made = page(_frame())
    assert any("* behind a count: under 100" in line for line in made.caption)
    assert "90*" in _printed(_frame())


def test_a_bucket_of_fewer_sentences_than_are_wanted_is_named():
    told = " ".join(page(_frame()).caption)
    assert "Fewer than the 2,500 sentences that these measures should have: 5-10 (n = 90)." in told
    frame = _frame()
    frame["n"] = WANTED
    assert not any("Fewer" in line for line in page(frame).caption)
    frame.loc[(frame["bucket"] == "41+") & (frame["part"] == "half"), "n"] = 1250
    assert not any("Fewer" in line for line in page(frame).caption)


def test_the_data_have_trained_and_untrained_rows_with_intervals():
    held = page(_frame()).frame
    assert len(held) == 2 * 3 * 4
    row = held[(held["arm"] == "none") & (held["bucket"] == "41+") & (held["control"] == "")
               & (held["part"] == "")].iloc[0]  # fmt: skip
    assert row["components"] == 200.4
    assert round(row["components_added"], 1) == 98.8
    assert row["effective_rank_high"] == 203.6


def test_an_empty_bucket_is_a_row_without_numbers():
    frame = _frame()
    frame.loc[frame["bucket"] == "5-10", ["value", "low", "high"]] = float("nan")
    frame.loc[frame["bucket"] == "5-10", "n"] = 0
    line = next(line for line in _printed(frame).splitlines() if "5-10" in line)
    assert line.split() == ["5-10", "none", "0*"]
