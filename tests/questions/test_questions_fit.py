"""The table of the study ``fit`` on a planted bundle file."""

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.questions.fit import QUESTION
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

VALUES = {"accuracy": 0.754, "bleu": 41.26, "loss": 1.234}


def _frame():
    facts = {"placement": "input", "context_size": 256, "corpus": "grammar", "updates": 2000}
    rows = [
        facts
        | {"arm": arm, "attention": arm, "bucket": bucket, "part": split, "control": "", "n": n}
        | {"measure": measure, "value": value + shift, "low": value - 0.1, "high": value + 0.1}
        | own
        for arm in ("none", "additive")
        for bucket, n in (("5-10", 240), ("41+", 60))
        for shift, split in ((0.0, "train"), (-0.05, "test"))
        for measure, value in VALUES.items()
        for own in ({}, {"run": "r1", "seed": 1})
    ]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def test_a_row_a_bucket_arm_and_split_within_80_columns():
    console = Console(width=80, color_system=None)
    with console.capture() as held:
        console.print(QUESTION.page(_frame()).table)
    lines = [line.split() for line in held.get().splitlines()]
    assert max(map(len, held.get().splitlines())) <= 80
    assert "…" not in held.get()
    rows = [line for line in lines if line and line[0] in ("5-10", "41+")]
    assert len(rows) == 8
    assert rows[0] == ["5-10", "none", "trained", "on", "240", "75", "41.3", "1.23"]
    assert rows[1] == ["5-10", "none", "test", "240", "70", "41.2", "1.18"]
    assert rows[-1][:4] == ["41+", "additive", "test", "60*"]


def test_its_data_have_a_column_a_measure_and_no_claim_is_decided_by_it():
    found = QUESTION.page(_frame())
    assert any("* behind a count: under 100" in line for line in found.caption)
    assert len(found.frame) == 8
    assert set(VALUES) <= set(found.frame.columns)
    assert found.verdicts == []
