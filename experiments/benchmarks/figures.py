"""Tables of measured numbers: medians with their spread, as plain text and as CSV."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

Row = Mapping[str, Any]
"""A cell by its column's heading: text as it is, numbers as they are computed."""


class Range(NamedTuple):
    """A median with the least and the greatest value beside it."""

    median: float
    least: float
    greatest: float

    def __format__(self, form: str) -> str:
        middle, least, greatest = (format(value, form) for value in self)
        return f"{middle} [{least}, {greatest}]"


def spread(values: Sequence[float]) -> Range:
    """Of repeated measurements."""
    return Range(median(values), min(values), max(values))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Range:
    """Ratio of the medians; least and greatest of the ratios turn by turn."""
    pairs = [one / other for one, other in zip(ours, theirs, strict=True)]
    return Range(median(ours) / median(theirs), min(pairs), max(pairs))


def cells(name: str, values: Range | None) -> dict[str, float | str]:
    """Three columns of a table; empty ones for None."""
    names = (name, f"{name}_least", f"{name}_greatest")
    return dict(zip(names, values or ("", "", ""), strict=True))


def shown(row: Row, name: str, form: str) -> str:
    """What ``cells`` made, as one cell for the eye."""
    if row[name] == "":
        return ""
    return format(Range(row[name], row[f"{name}_least"], row[f"{name}_greatest"]), form)


def as_text(rows: Sequence[Row]) -> str:
    """Columns as wide as they need to be; the first column left, the others right."""
    lines = [list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cells[0].ljust(widths[0])]
    padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join(padded)


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """One line per row, under the headings of the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
