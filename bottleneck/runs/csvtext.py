"""Values as text: CSV with every digit and blanks where there is nothing, and JSON."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def csv_text(columns: Mapping[str, Iterable[Any]]) -> str:
    """A header and one line a row; Unix line ends."""
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([cell(value) for value in row])
    return held.getvalue()


def rows_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV text, blank where a row lacks a column of another."""
    names = dict.fromkeys(name for row in rows for name in row)
    return csv_text({name: [row.get(name) for row in rows] for name in names})


def json_text(values: Any) -> str:
    """JSON as a person reads it, one value a line."""
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def cell(value: Any) -> str:
    """One value: nothing for none and nan, the shortest text that reads back the same else."""
    single = getattr(value, "dtype", None) == "float32"
    text = str(value)  # a float32's own, shorter than that of the same number as a float64
    if hasattr(value, "item"):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) and not single else text
