"""Made-up tables, the committed ones, and a question's table as a terminal shows it."""

from pathlib import Path

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.questions.probing import probe_runs
from seq2seq_bottleneck.results.bundle import tidy_csv
from seq2seq_bottleneck.results.folders import json_text
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.files import write_listed

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
"""Committed results, whose numbers never change."""


def row_of(arm, measure, value, half=0.0, **keys):
    """A mean row of an arm; its interval is the value plus and minus ``half``."""
    facts = {"arm": arm, "attention": arm, "placement": "input", "context_size": 256,
             "corpus": "grammar", "updates": 2000, "bucket": "", "control": "", "part": "",
             "note": "", "n": 240}  # fmt: skip
    ends = {"measure": measure, "value": value, "low": value - half, "high": value + half}
    return facts | ends | keys


def frame(rows):
    """A question's table of these rows, with a seed's row for each, which no rule reads."""
    alone = [row | {"seed": 1, "run": "r1", "value": 99.0} for row in rows]
    return pd.DataFrame([*rows, *alone], columns=list(PROBE_COLUMNS))


def read_back(question, folder, settings, columns):
    """What a probe found, after a round trip through the file in a run's folder."""
    table, known = tidy_csv(pd.DataFrame(columns)), json_text(settings.model_dump())
    files = {f"probes/{question.name}-{question.version}.csv": table, "settings.json": known}
    write_listed(folder, [(name, text.encode()) for name, text in files.items()])
    return probe_runs(question, [folder], print)[0]


def kept_rows(question, folder, settings, columns):
    """The rows of a question's table, after a round trip through the file in a run's folder."""
    return question.summarise([read_back(question, folder, settings, columns)])


def one_row(rows, measure, seed=None, **keys):
    """The only row of a measure with these keys, others blank; without a seed, of the means."""
    keys = {"control": "", "bucket": "", "part": ""} | keys
    (row,) = [row for row in rows if (row["measure"], row.get("seed")) == (measure, seed)
              and all((row.get(key) or "") == value for key, value in keys.items())]  # fmt: skip
    return row


def printed(page, width=80):
    """The lines of a page's table; each fits, and no cell is cut."""
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(page.table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    return lines


def printed_words(page, width=80):
    """The words of each line that is not empty."""
    return [line.split() for line in printed(page, width) if line]
