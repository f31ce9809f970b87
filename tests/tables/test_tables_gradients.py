"""The table of the study ``gradients``: what lies beyond the tested steps is marked everywhere."""

import pandas as pd

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.formats import with_intervals
from seq2seq_bottleneck.tables.gradients import page

OF = {"arm": "none", "attention": "none", "context_size": 256, "corpus": "grammar"}
OPEN, HIGH = "at least;at least;at least", ";;at least"


def _page():
    """Half-distances of two buckets, one beyond its 11 steps, and a ratio as good as none."""
    held = [
        ("5-10", "", "half_distance", (11.0, 11.0, 11.0), OPEN),
        ("11-20", "", "half_distance", (14.5, 9.25, 22.0), HIGH),
        ("", "41+", "ratio", (2.5e-7, 2.1e-7, 3e-7), ""),
    ]
    rows = [
        OF | {"bucket": bucket, "part": part, "measure": measure, "n": 80, "note": note}
        | {"updates": 2000, "control": "", "seed": seed}
        | dict(zip(("value", "low", "high"), numbers, strict=True))
        for bucket, part, measure, numbers, note in held
        for seed in (None, 1)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(PROBE_COLUMNS))
    return page(frame.assign(seed=frame["seed"].astype("Int64")))


def test_a_half_distance_beyond_the_tested_steps_is_marked_in_files():
    merged = with_intervals(_page().frame)
    assert merged["half_distance"].tolist() == [
        ">11.00 [>11.00, >11.00]",
        "14.50 [9.25, >22.00]",
        "",
    ]
    assert merged["ratio"].tolist() == ["", "", "2.5e-07 [2.1e-07, 3.0e-07]"]
    bounds = _page().frame["half_distance_bounds"].tolist()
    assert bounds[:2] == ["value at least, low at least, high at least", "high at least"]
    assert "2.5e-07" in _page().render("csv")


def test_and_on_a_screen():
    shown = _page().render("rich")
    assert "over 11" in shown
    assert "9.2..over 22" in shown
    assert "2.5e-07" in shown
