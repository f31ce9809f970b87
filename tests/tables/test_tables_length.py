"""The table of the study ``length`` on a planted bundle file."""

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.tables.length import MEASURES, page

LONG = "additive bidirectional=false reverse_source=true"


def _frame(arms):
    """Two filled buckets and one without sentences."""
    rows = [
        {"arm": arm, "attention": arm.split()[0], "placement": "input", "context_size": 256,
         "corpus": "grammar", "updates": 2000, "bucket": bucket, "n": n, "control": "", "part": "",
         "measure": measure, "note": ""}
        | ({"value": 0.5, "low": 0.25, "high": 0.75} if n else {})
        for arm in arms
        for bucket, n in (("5-10", 200), ("11-20", 200), ("21-30", 0))
        for measure in MEASURES
    ]  # fmt: skip
    rows += [row | {"run": "r1", "seed": 1} for row in rows]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS)).astype({"seed": "Int64"})


def _lines(arms, width=80):
    console = Console(width=width, color_system=None)
    with console.capture() as held:
        console.print(page(_frame(arms)).table)
    return held.get().splitlines()


def test_an_empty_bucket_is_a_row_of_blanks():
    lines = _lines(["none", "additive"])
    empty = [place for place, line in enumerate(lines) if line.strip().startswith("21-30")]
    assert [lines[place].split()[1:] for place in empty] == [["none", "0*"], ["additive", "0*"]]
    assert "50" in "".join(lines[: empty[0]])
    assert ".." not in "".join(lines[empty[0] :])


def test_a_small_count_is_starred_and_the_star_explained():
    made = page(_frame(["none"]))
    assert any("* behind a count: under 100" in line for line in made.caption)


def test_shares_have_a_decimal():
    frame = _frame(["none"])
    one = (frame["measure"] == "empty") & (frame["bucket"] == "5-10")
    frame.loc[one, ["value", "low", "high"]] = [0.005, 0.0, 0.015]
    console = Console(width=80, color_system=None)
    with console.capture() as held:
        console.print(page(frame).table)
    lines = [line.split() for line in held.get().splitlines()]
    at = next(place for place, line in enumerate(lines) if line[:1] == ["5-10"])
    assert (lines[at][4], lines[at + 1][1]) == ("0.5", "0.0..1.5")


def test_a_range_of_all_outputs_is_broken_in_no_narrow_table():
    """`100.0..100.` with its last 0 on the next line was what a name beside it left room for."""
    frame = _frame(["none", "none reverse_source=true", "additive bidirectional=true"])
    all_of_them = frame["measure"].isin(["unfinished", "repeating"])
    frame.loc[all_of_them & (frame["n"] > 0), ["value", "low", "high"]] = 1.0
    console = Console(width=80, color_system=None)
    with console.capture() as held:
        console.print(page(frame).table)
    lines = [line.split() for line in held.get().splitlines()]
    ranges = ["0.25..0.75", "25..75", "100..100", "100..100", "25..75"]
    assert sum(line[-5:] == ranges for line in lines) == 3 * 2
    assert any("reverse_source=true" in line for line in lines)
    assert ["bidirectional=true", *ranges] in lines


def test_nothing_seen_is_not_told_as_certain():
    frame = _frame(["none", "additive"])
    assert not any("rule of three" in line for line in page(frame).caption)
    none = (frame["measure"] == "empty") & (frame["bucket"] == "11-20")
    frame.loc[none, ["value", "low", "high"]] = 0.0
    (told,) = [line for line in page(frame).caption if "rule of three" in line]
    assert "up to 3 in n (1.5 % where n is 200)" in told
    none = (frame["measure"] == "length_ratio") & (frame["bucket"] == "5-10")
    frame.loc[none, ["low", "high"]] = 0.0  # no share
    frame.loc[frame["measure"] == "empty", "high"] = 0.75
    assert not any("rule of three" in line for line in page(frame).caption)


def test_a_long_name_is_broken_and_not_cut():
    lines = _lines(["none bidirectional=false reverse_source=false", LONG])
    assert "…" not in "".join(lines)
    assert "bidirectional" in "".join("".join(lines).split())
