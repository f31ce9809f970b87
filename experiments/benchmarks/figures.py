"""Tables of measured numbers, medians with their spread, as plain text and as CSV."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

Row = Mapping[str, Any]
"""Cells by column heading: texts, and unrounded numbers."""


class Range(NamedTuple):
    """A median, and the least and the greatest value."""

    median: float
    least: float
    greatest: float

    def __format__(self, form: str) -> str:
        middle, least, greatest = (format(value, form) for value in self)
        return f"{middle} [{least}, {greatest}]"


def spread(values: Sequence[float]) -> Range:
    """The range of repeated measurements."""
    return Range(median(values), min(values), max(values))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Range:
    """The ratio of the medians, and the least and greatest ratio of a turn."""
    pairs = [one / other for one, other in zip(ours, theirs, strict=True)]
    return Range(median(ours) / median(theirs), min(pairs), max(pairs))


def cells(name: str, values: Range | None) -> dict[str, float | str]:
    """A range as three columns of a table, empty if it is None."""
    names = (name, f"{name}_least", f"{name}_greatest")
    return dict(zip(names, values or ("", "", ""), strict=True))


def shown(row: Row, name: str, form: str) -> str:
    """The three columns of ``cells`` as one text."""
    if row[name] == "":
        return ""
    return format(Range(row[name], row[f"{name}_least"], row[f"{name}_greatest"]), form)


def as_text(rows: Sequence[Row]) -> str:
    """Rows as a plain-text table; the first column is aligned left, the others right."""
    lines = [list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cells[0].ljust(widths[0])]
    padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return "  ".join(padded)


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows; the headings are those of the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
