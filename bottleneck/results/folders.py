"""Finding finished runs: a store offers what a bundle offers."""

import csv
import json
from pathlib import Path
from typing import Any

from ..settings.errors import UserError

STORE = "runs"
"""Folder of the run folders, inside an output folder."""
STATUS = "status.json"
GROUPS = "groups.json"
"""Which group of its sweep each run belongs to, beside the store."""


def read_json(path: Path) -> Any:
    """Read one JSON file of a bundle or a run."""
    try:
        return json.loads(path.read_text(encoding="utf8"))
    except FileNotFoundError:
        raise UserError(
            f"no {path.name} in {str(path.parent)!r}: name a folder that `bottleneck reproduce` "
            "or `bottleneck sweep` wrote"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{str(path)!r} cannot be read ({error}); make it again") from None


def finished_runs(folder: Path) -> list[Path]:
    """Folders of the runs that are done, of an output folder or of a store, in a fixed order."""
    store = folder / STORE if (folder / STORE).is_dir() else folder
    runs = [path.parent for path in store.glob(f"*/{STATUS}")]
    return sorted((run for run in runs if _is_done(run)), key=_order)


def _is_done(run: Path) -> bool:
    return read_json(run / STATUS).get("status") == "done"


def _order(run: Path) -> tuple[str, int, int, str]:
    """By attention, context size and seed, then by name."""
    with (run / "scores.csv").open(encoding="utf8", newline="") as file:
        row = next(csv.DictReader(file))
    return row["attention"], int(row["context_size"]), int(row["seed"]), run.name


def read_groups(folder: Path) -> dict[str, str]:
    """Group by run; empty where nothing was grouped."""
    path = folder / GROUPS
    return read_json(path) if path.is_file() else {}
