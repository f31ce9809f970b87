"""The table of the study ``gradients`` on a planted bundle file."""

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables import gradients


def _facts(arm):
    return {
        "arm": arm, "attention": arm, "placement": "input", "context_size": 256,
        "corpus": "grammar", "updates": 2000, "part": "", "bucket": "", "control": "", "note": "",
    }  # fmt: skip


def _frame(rows):
    return pd.DataFrame([*rows], columns=list(PROBE_COLUMNS))


def _printed(page):
    console = Console(width=80, color_system=None)
    with console.capture() as held:
        console.print(page.table)
    return held.get()


def _fading(arm, control, note=";;"):
    facts = _facts(arm) | {"control": control, "n": 2345}
    for part, value in (("1-5", 0.9), ("6-10", 0.05), ("41+", 0.00012)):
        own = {"measure": "ratio", "part": part, "n": 99 if part == "41+" else 2345}
        yield facts | own | {"value": value, "low": value / 2, "high": value * 2}
    for measure in ("half_distance", "half_distance_chain"):
        for bucket in ("5-10", ""):
            own = {"measure": measure, "bucket": bucket, "note": note}
            yield facts | own | {"value": 8.0, "low": 7.0, "high": 40.0}
    yield facts | {"measure": "vanished", "value": 0.25 if control else 0.0}
    yield facts | {"measure": "left_out", "value": 0.0}


def _gradients():
    open_above = ";;at least"
    return _frame(
        row
        for arm, note in (("none", ";;"), ("additive", open_above))
        for control in ("", "untrained")
        for row in _fading(arm, control, note)
    )


def test_gradients_have_ratios_by_band_and_half_distances_within_80_columns():
    text = _printed(gradients.page(_gradients()))
    assert "…" not in text
    lines = [line.split() for line in text.splitlines()]
    at = lines.index(["41+", "none", "99*", "0.00012", "0.00012"])
    assert lines[at + 1] == ["6.0e-05..0.00024", "6.0e-05..0.00024"]
    at = lines.index(["1-5", "none", "2,345", "0.90", "0.90"])
    assert lines[at + 1] == ["0.45..1.8", "0.45..1.8"]
    at = lines.index(["5-10", "words", "additive", "2,345", "8.0", "8.0"])
    assert lines[at + 1] == ["7.0..over", "40", "7.0..over", "40"]
    first = [line[0] for line in lines if len(line) > 1 and line[1] == "none"]
    assert first[:3] == ["1-5", "6-10", "41+"]
    assert text.count("all ") == 4


def test_gradients_tell_what_vanished():
    made = gradients.page(_gradients())
    assert any("* behind a count: under 100" in line for line in made.caption)
    told = " ".join(made.caption)
    assert "none, untrained: 25.0 % of the ratios are under 1e-12" in told
    assert "without any gradient" not in told
    row = made.frame[(made.frame["arm"] == "none") & (made.frame["part"] == "6-10")]
    assert row["ratio"].tolist() == [0.05, 0.05]
