"""The translations of a run's test set as it wrote them down."""

import json
from dataclasses import dataclass
from pathlib import Path

from ..settings.errors import UserError
from .folders import HYPOTHESES, SENTENCES, damaged, read_checked, run_rows, was_written

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
    outputs, counted = read_texts(run), len(run_rows(run / SENTENCES))
    if (count := len(outputs.sources)) != counted:
        reason = f"it has {count:,} sentences, {SENTENCES} has {counted:,}"
        raise damaged(run / HYPOTHESES, reason)
    return outputs


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
        rows = [json.loads(line) for line in lines]
        return Outputs(*([row[name] for row in rows] for name in COLUMNS))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from None
