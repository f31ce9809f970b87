"""The table of the study ``embeddings`` on a planted bundle file."""

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.embeddings import page

PARTS = {"source": 914, "source noun": 343, "source adverb": 32, "target": 2097}
VALUES = {"": 0.744, "untrained": 0.281, "frequency": 0.5, "chance": 0.279}


def _rows(arm, part, n):
    facts = {
        "arm": arm, "attention": arm, "placement": "input", "context_size": 256,
        "corpus": "grammar", "updates": 2000, "part": part, "n": n, "bucket": "", "control": "",
    }  # fmt: skip
    for measure in ("same_class", "same_gender") if " " not in part else ("same_class",):
        for control, value in VALUES.items():
            own = facts | {"measure": measure, "control": control, "value": value}
            yield own | {"low": value - 0.02, "high": value + 0.02}
            yield own | {"run": "r1", "seed": 1}
        yield facts | {"measure": f"{measure}_added", "value": 0.463, "low": 0.44, "high": 0.48}


def _frame():
    rows = [row for part, n in PARTS.items() for arm in ("none", "additive")
            for row in _rows(arm, part, n)]  # fmt: skip
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def _printed(frame):
    console = Console(width=80, color_system=None)
    with console.capture() as held:
        console.print(page(frame).table)
    return held.get()


def test_a_row_a_class_and_arm_within_80_columns():
    text = _printed(_frame())
    assert "…" not in text
    lines = [line.split() for line in text.splitlines()]
    at = lines.index(["class", "none", "914", "74", "28", "50", "28", "+46"])
    assert lines[at - 1] == ["encoder"]
    assert lines[at + 1] == ["72..76", "26..30", "48..52", "44..48"]
    assert lines[at + 4][:4] == ["gender,", "nouns", "none", "914"]
    assert ["adverb", "additive", "32*"] in [line[:3] for line in lines]
    assert sum(line[:2] == ["class", "none"] for line in lines) == 2


def test_the_data_are_whole():
    made = page(_frame())
    assert any("* behind a count: under 100" in line for line in made.caption)
    held = made.frame
    row = held[(held["arm"] == "additive") & (held["part"] == "source") & (held["control"] == "")]
    assert row["same_class"].item() == 0.744
    assert row["same_gender_added_high"].item() == 0.48
