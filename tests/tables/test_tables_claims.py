"""The claims as text: rows, the terminal's blocks, Markdown, CSV, JSON."""

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.claims.verdict import Verdict
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.tables.claims import number, print_claims, render, summary
from seq2seq_bottleneck.tables.decided import Decision

HERE = Path("here")
RULE = "Held if the number lies above 0; else not held."
COMMAND = "bottleneck sweep controls --out a/folder/with/a/name/so/long/that/no/terminal/has/it"


@pytest.fixture
def decisions():
    known = {claim.id: claim for claim in CLAIMS}
    held = Verdict("L-VIND-largest", "held", RULE, "the | gain is so", "gain", 45.71, 41.0, 50.13)
    alone = Verdict("C4", "not held", RULE, "one number", "dimensions", 0.5)
    lacking = Verdict("C10", "not measured", RULE, "nothing was trained")
    return [
        Decision(known["L-VIND-largest"], held, "2 runs: none, additive, seed 1", "", HERE),
        Decision(known["C4"], alone, "1 run: none, seed 1", "", HERE),
        Decision(known["C10"], lacking, "", COMMAND, HERE),
    ]


def test_rows_have_the_columns_of_the_issue_and_blanks_where_nothing_is_known(decisions):
    frame = pd.read_csv(io.StringIO(render(decisions, "csv")), keep_default_na=False)
    expected = "id claim measure value low high verdict because rule runs command"
    assert list(frame.columns) == expected.split()
    assert list(frame["id"]) == ["L-VIND-largest", "C4", "C10"]
    assert list(frame["verdict"]) == ["held", "not held", "not measured"]
    assert list(frame["value"]) == ["45.7100", "0.5000", ""]
    assert list(frame["low"]) == ["41.0000", "", ""]
    assert frame["command"].iloc[2] == COMMAND
    # What is to be measured, where there is no number yet.
    assert frame["measure"].iloc[2] == decisions[2].claim.measure


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ((45.71, 41.0, 50.13), "45.7 [41.0, 50.1]"),
        ((0.985, 0.91, 1.034), "0.98 [0.91, 1.03]"),
        ((0.012, 0.001, 0.03), "0.0120 [0.0010, 0.0300]"),
        ((-0.5, float("nan"), float("nan")), "-0.50"),
        ((float("nan"),) * 3, ""),
    ],
)
def test_a_number_has_the_digits_that_it_needs(row, shown):
    assert number(dict(zip(("value", "low", "high"), row, strict=True))) == shown


def test_the_terminal_shows_all_in_eighty_columns_and_breaks_no_command(decisions):
    console = Console(file=io.StringIO(), width=80, highlight=False)
    print_claims(decisions, console)
    lines = console.file.getvalue().splitlines()
    assert lines[0] == "The lecture's claims. 3 claims: 1 held, 1 not held, 1 not measured"
    assert all(len(line) <= 80 or COMMAND in line for line in lines)
    text = " ".join(" ".join(lines).split())
    for part in ("L-VIND-largest", "45.7 [41.0, 50.1] gain", "the | gain is so.", COMMAND):
        assert part in text
    assert f"{' ' * 16}{COMMAND}" in lines
    assert "…" not in text


def test_markdown_has_a_row_and_the_rule_of_every_claim(decisions):
    text = render(decisions, "markdown")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(decisions)
    assert {line.replace("\\|", "").count("|") for line in table} == {7}
    assert text.count("Rule: Held if the number lies above 0") == 3
    assert "- C10: not measured: nothing was trained." in text
    assert "- Command: bottleneck sweep controls --out a/folder" in text


def test_json_has_null_where_there_is_no_number_and_says_that_rules_may_have_changed(decisions):
    described = json.loads(render(decisions, "json"))
    assert [row["value"] for row in described["rows"]] == [45.71, 0.5, None]
    assert described["rows"][1]["low"] is None
    assert described["rows"][0]["rule"] == RULE
    assert "changes are dated in results/LOG.md" in " ".join(described["caption"])
    assert summary(decisions * 2) == "6 claims: 2 held, 2 not held, 2 not measured"


def test_an_unknown_format_is_refused_by_name(decisions):
    with pytest.raises(UsageError, match="unknown format 'cvs'; did you mean 'csv'"):
        render(decisions, "cvs")
