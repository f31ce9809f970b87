"""The tables of the study ``reading`` on a planted bundle file."""

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.reading import page

REACH = {"5-10": 5, "11-20": 11, "21-30": 20, "31-40": 20}
WORDS = {"": 0.75, "untrained": 0.5, "last_word": 0.25}


def _rows(arm, bucket, reach):
    facts = {
        "arm": arm, "attention": arm, "placement": "input", "context_size": 256,
        "corpus": "grammar", "updates": 2000, "bucket": bucket, "n": 7123, "control": "",
        "part": "",
    }  # fmt: skip
    yield facts | {"measure": "words_asked", "value": float(reach)}
    yield facts | {"measure": "words_readable", "value": 0.9 * reach}
    for control, share in WORDS.items():
        own = facts | {"measure": "words_read", "control": control, "value": share * reach}
        yield own | {"low": share * reach - 0.1, "high": share * reach + 0.1}
        if control != "last_word":
            yield own | {"run": "r1", "seed": 1}
    yield facts | {"measure": "words_read_added", "value": 0.25 * reach, "low": 0.1, "high": 0.9}
    for control, share in (WORDS | {"most_frequent": 0.08}).items():
        for distance in range(reach):
            value = share - 0.004 * distance
            own = facts | {"control": control, "part": str(distance), "measure": "accuracy"}
            yield own | {"value": value, "low": value - 0.01, "high": value + 0.01}


def _frame():
    rows = [row for bucket, reach in REACH.items() for arm in ("none", "additive")
            for row in _rows(arm, bucket, reach)]  # fmt: skip
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def _printed(frame):
    console = Console(width=80, color_system=None)
    with console.capture() as held:
        console.print(page(frame).table)
    return held.get()


def test_words_read_by_bucket_and_arm_within_80_columns():
    text = _printed(_frame())
    assert "…" not in text
    lines = [line.split() for line in text.splitlines()]
    at = lines.index(["21-30", "none", "7,123", "20", "15.00", "10.00", "5.00", "+5.00"])
    assert lines[at + 1] == ["14.90..15.10", "9.90..10.10", "4.90..5.10", "0.10..0.90"]
    assert ["5-10", "additive", "7,123", "5", "3.75", "2.50", "1.25", "+1.25"] in lines


def test_accuracy_by_distance_of_the_first_bucket_that_has_them_all():
    text = _printed(_frame())
    assert "after 21-30 words" in text
    lines = [line.split() for line in text.splitlines()]
    at = lines.index(["10", "71.0", "46.0", "71.0", "46.0", "21.0", "4.0"])
    assert lines[at + 1][:2] == ["70.0..72.0", "45.0..47.0"]


def test_the_data_are_whole():
    made = page(_frame())
    assert any("* behind a count: under 100" in line for line in made.caption)
    held = made.frame
    row = held[(held["arm"] == "none") & (held["bucket"] == "31-40") & (held["part"] == "19")
               & (held["control"] == "untrained")]  # fmt: skip
    assert round(row["accuracy"].item(), 2) == 0.42
