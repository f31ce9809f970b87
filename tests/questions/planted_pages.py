"""Tables of made-up rows, the committed ones, and a question's table as a terminal shows it."""

from pathlib import Path

import pandas as pd
from rich.console import Console

from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
"""Committed results, whose numbers never change."""


def frame(rows):
    """A question's table of these rows."""
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


def printed(page, width=80):
    """The lines of a page's table, as words; each fits, and no cell is cut."""
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(page.table)
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    return [line.split() for line in lines if line]
