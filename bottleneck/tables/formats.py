"""A table as text for other programs: CSV, Markdown, LaTeX, JSON."""

import json as json_text
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..claims.verdict import two_digits
from ..settings.errors import UsageError, did_you_mean

LATEX_NAMES = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum",
               "<": "less", ">": "greater", "|": "bar"}  # fmt: skip
LATEX_ESCAPES = str.maketrans(
    {sign: rf"\text{name}{{}}" for sign, name in LATEX_NAMES.items()}
    | {sign: f"\\{sign}" for sign in "&%$#_{}"}
)
SIDES = {"at least": ">", "under": "<"}
"""What a column of bounds calls a number that lies beyond what was measured, and its sign."""
SMALL = 0.1
"""Under it decimals do not tell a number: its digits are counted."""
MARKDOWN_ESCAPES = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\|*_`"} | {"<": "&lt;", ">": "&gt;", "\n": " "}
)


def check_known(form: str, known: Sequence[str]) -> None:
    """Refuse a form of output that is none of these as a ``UsageError``, with the nearest."""
    if form not in known:
        raise UsageError(f"unknown format {form!r}{did_you_mean(form, known)}")


def csv(frame: pd.DataFrame) -> str:
    """The table as CSV, four decimals (small numbers four digits), blanks where there is none."""

    def four(value: float) -> str:
        return f"{value:.4f}" if value == 0 or abs(value) >= SMALL else f"{value:.4g}"

    return frame.to_csv(index=False, float_format=four, lineterminator="\n")


def markdown(frame: pd.DataFrame, title: str, lines: Sequence[str]) -> str:
    """The whole table as Markdown: title, rows, caption; an interval stands in its value's cell."""

    def escaped(text: object) -> str:
        return str(text).translate(MARKDOWN_ESCAPES)

    def row(cells: Iterable[object]) -> str:
        return f"| {' | '.join(map(escaped, cells))} |"

    merged = with_intervals(frame)
    table = [row(merged.columns), "|" + "---|" * len(merged.columns), *map(row, _rows(merged))]
    caption = [f"- {escaped(line)}" for line in lines]
    return "\n".join([f"# {escaped(title)}", "", *table, "", *caption]) + "\n"


def latex(frame: pd.DataFrame, title: str, lines: Sequence[str]) -> str:
    """A booktabs table for LaTeX; an interval stands in its value's cell, the lines as notes."""

    def escaped(text: object) -> str:
        return " ".join(str(text).split()).translate(LATEX_ESCAPES)

    def row(cells: Iterable[object]) -> str:
        return " & ".join(map(escaped, cells)) + r" \\"

    merged = with_intervals(frame)
    columns = "".join("r" if is_numeric_dtype(frame[name]) else "l" for name in merged.columns)
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escaped(title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            row(merged.columns),
            r"\midrule",
            *map(row, _rows(merged)),
            r"\bottomrule",
            r"\end{tabular}",
            r"\par\raggedright\footnotesize",
            *(rf"{escaped(line)}\par" for line in lines),
            r"\end{table}",
            "",
        ]
    )


def json(name: str, title: str, frame: pd.DataFrame, **others: Any) -> str:
    """The table as one JSON object: rows in full precision, null where there is no number."""
    blanked = frame.astype("object").where(frame.notna(), None)
    described = {"name": name, "title": title, "rows": blanked.to_dict("records"), **others}
    return json_text.dumps(described, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as text, each interval put into the cell of its value: ``35.2 [33.1, 37.0]``.

    An end that is open is called so; where a column of bounds says that a number lies beyond what
    was measured, it has the sign of its side (``>60.00``), and what else is said there follows.
    """
    ends_of = {name: [f"{name}_low", f"{name}_high"] for name in frame.columns}
    ranged = {name: ends for name, ends in ends_of.items() if set(ends) <= set(frame.columns)}
    put = {end for ends in ranged.values() for end in ends} | {f"{name}_bounds" for name in ranged}
    made = {}
    for name in frame.columns:
        if name in ranged:
            notes = frame.get(f"{name}_bounds", pd.Series("", frame.index)).astype("object")
            rows = frame[[name, *ranged[name]]].itertuples(index=False)
            made[name] = [
                _with_interval(row, "" if pd.isna(note) else note)
                for row, note in zip(rows, notes, strict=True)
            ]
        elif name not in put:
            made[name] = [_cell_text(value) for value in frame[name].astype("object")]
    return pd.DataFrame(made)


def beyond(note: str, end: str) -> str:
    """The sign of a number (``value``, ``low`` or ``high``) that a note says is a bound."""
    return next((sign for side, sign in SIDES.items() if f"{end} {side}" in note), "")


def _with_interval(row: Sequence[float], note: str) -> str:
    """A value, its interval and the note that is not of its bounds; empty where there is none."""
    signs = [beyond(note, end) for end in ("value", "low", "high")]
    value, low, high = (
        "" if pd.isna(number) else f"{sign}{_two(number)}"
        for sign, number in zip(signs, row, strict=True)
    )
    interval = f"[{low or 'open'}, {high or 'open'}]" if low or high else ""
    rest = f"({note})" if note and not any(signs) else ""
    return " ".join(filter(None, (value, interval, rest)))


def _rows(frame: pd.DataFrame) -> list[list[object]]:
    """The rows, each value of its own type."""
    return frame.astype("object").to_numpy().tolist()


def _cell_text(value: object) -> str:
    """A cell's text: a number's as `_two` has it, empty where there is none."""
    if pd.isna(value):
        return ""
    return _two(value) if isinstance(value, float) else str(value)


def _two(value: float) -> str:
    """Two decimals, of a small number two digits: ``4.79``, ``0.00``, ``0.064``, ``2.5e-07``."""
    return f"{value:.2f}" if value == 0 or abs(value) >= SMALL else two_digits(value)
