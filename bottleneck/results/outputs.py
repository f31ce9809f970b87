"""The translations of a run's test set as it wrote them down."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..settings.errors import UserError
from .export import run_rows
from .folders import HYPOTHESES, SENTENCES, damaged, read_checked, was_written

COLUMNS = ("source", "reference", "hypothesis")


@dataclass(frozen=True)
class Outputs:
    """Test sentences in their order: what was translated, how it should be, and how it was."""

    sources: list[str]
    references: list[str]
    hypotheses: list[str]


def read_outputs(run: Path) -> Outputs:
    """``read_texts``, which must be of all test sentences that were counted.

    A ``UserError`` where it is not.
    """
    held, path = read_texts(run), run / HYPOTHESES
    counted = sum(1 for _ in run_rows(run / SENTENCES))
    if len(held.sources) != counted:
        raise damaged(path, f"it has {len(held.sources):,} sentences, {SENTENCES} has {counted:,}")
    return held


def read_texts(run: Path) -> Outputs:
    """Read the hypotheses of a finished run; a fault is a `UserError` that names the file."""
    path = run / HYPOTHESES
    if not was_written(path):
        raise UserError(
            f"{str(run)!r} has no {HYPOTHESES}: the run did not end; the command that began it "
            "goes on from where it stopped"
        )
    try:
        # Not splitlines: a text may hold other signs that end a line there.
        lines = read_checked(path).decode().removesuffix("\n").split("\n")
        columns = zip(*(_texts(json.loads(line)) for line in lines), strict=True)
        return Outputs(*map(list, columns))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from None


def _texts(row: Any) -> list[str]:
    """The three texts of a line, which is to hold an object with them."""
    texts = [row[name] for name in COLUMNS]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a sentence is no text")
    return texts
