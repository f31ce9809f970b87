"""Finding finished runs on disk."""

import csv
from pathlib import Path

from ..results.folders import STORE, read_json
from ..results.schema import RUNS
from ..settings.errors import UserError


def latest_output(results: Path) -> Path:
    """The output folder under ``results`` that was written last."""
    found = sorted(results.glob(f"*/{RUNS}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UserError(
            f"no finished run in {str(results)!r}; run `bottleneck reproduce` first, "
            "or name one with --run DIR"
        )
    return found[-1].parent


def arms(folder: Path) -> dict[str, Path]:
    """Run folders by attention: of an output folder the first seed of each arm, or the one run."""
    if (folder / "settings.json").is_file():
        return {read_json(folder / "settings.json")["model"]["attention"]: folder}
    if not (folder / RUNS).is_file():
        raise UserError(
            f"{str(folder)!r} holds no run; name a folder that `bottleneck reproduce` wrote"
        )
    chosen: dict[str, Path] = {}
    with (folder / RUNS).open(encoding="utf8", newline="") as file:
        for row in csv.DictReader(file):
            chosen.setdefault(row["attention"], folder / STORE / row["run"])
    return chosen
