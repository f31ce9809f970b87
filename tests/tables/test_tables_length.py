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


def test_a_long_name_is_broken_and_not_cut():
    lines = _lines(["none bidirectional=false reverse_source=false", LONG])
    assert "…" not in "".join(lines)
    assert "bidirectional" in "".join("".join(lines).split())
