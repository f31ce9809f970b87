"""One table and what belongs to it, in every form: terminal, CSV, Markdown, LaTeX, JSON."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console, RenderableType

from ..claims.verdict import MARKED_BELOW, Verdict, two_digits
from ..results.schema import FORMATS
from ..settings.errors import UsageError, did_you_mean
from ..settings.files import write_listed
from .comparison import what_was_run
from .render import PlainConsole, print_prose

DETAILS = "Add --details for the rules, the schedule and the rest of the caption."
SMALL = 0.1
"""Under it decimals say too little of a number: its digits are counted."""
SIDES = {"at least": ">", "under": "<"}
"""What a column of bounds calls a number that lies beyond what was measured, and its sign."""
MARKDOWN = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\|*_`"} | {"<": "&lt;", ">": "&gt;", "\n": " "}
)
LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "%&#$_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}"}
)
HEADS = {"bucket": "source words", "source_words": "mean source words"}
"""Heads of columns whose names say too little to a reader."""


@dataclass(frozen=True, eq=False)
class Page:
    """One table: file name, title, data, its form on a terminal, verdicts, caption.

    ``run`` says in one line what was run.
    """

    name: str
    title: str
    frame: pd.DataFrame
    table: RenderableType
    judged: list[Verdict]
    caption: list[str]
    run: str = ""

    @property
    def verdicts(self) -> list[str]:
        """The verdicts with their reasons, each followed by its rule."""
        lines = []
        for verdict in self.judged:
            lines.append(f"{verdict.claim}: {verdict.verdict}: {verdict.because}.")
            lines.append(f"Rule: {verdict.rule}")
        return lines

    def print(self, console: Console, details: bool = False) -> None:
        """Print the table, a line for each verdict and what was run; ``details``: everything."""
        console.print(self.table)
        self.print_verdicts(console, details)
        brief = bool(self.run) and not details
        print_prose(console, f"{self.run}. {DETAILS}" if brief else self.caption, "dim")

    def print_verdicts(self, console: Console, details: bool = False) -> None:
        """Print a line for each verdict with its first reason; ``details``: all, and the rules."""
        short = [line.split("; ")[0].rstrip(".") + "." for line in self.verdicts[::2]]
        if short:
            print_prose(console, self.verdicts if details else short)
            console.print()

    def render(self, form: str) -> str:
        """The page as text in one of `FORMATS`; ``UsageError`` for a different one."""
        if form not in FORMATS:
            raise UsageError(f"unknown format {form!r}{did_you_mean(form, FORMATS)}")
        lines = [*self.verdicts, *self.caption]
        if form == "csv":
            return csv(self.frame)
        if form == "markdown":
            return markdown(self.frame, self.title, lines)
        if form == "latex":
            return latex(self.frame, self.title, [f"{self.run}."] if self.run else self.caption)
        if form == "html":
            return html(self.frame, self.title, lines)
        if form == "json":
            verdicts = [vars(verdict) for verdict in self.judged]
            others = {"verdicts": verdicts, "caption": self.caption}
            return json_text(self.name, self.title, self.frame, **others)
        file = io.StringIO()
        self.print(PlainConsole(file=file, width=80), details=True)
        return file.getvalue()


def write_pages(pages: Sequence[Page], folder: Path) -> None:
    """Write each page as ``NAME.csv`` and ``NAME.md`` into a results folder."""
    forms = {"csv": "csv", "md": "markdown"}
    files = [(f"{page.name}.{ending}", page.render(form).encode())
             for page in pages for ending, form in forms.items()]  # fmt: skip
    write_listed(folder, files)


def csv(frame: pd.DataFrame) -> str:
    """The table as CSV, four decimals (small numbers four digits), blanks where there is none."""

    def four(value: float) -> str:
        return f"{value:.4f}" if value == 0 or abs(value) >= SMALL else f"{value:.4g}"

    return frame.to_csv(index=False, float_format=four, lineterminator="\n")


def markdown(frame: pd.DataFrame, title: str, lines: Sequence[str]) -> str:
    """The whole table as Markdown: title, rows, caption; an interval stands in its value's cell."""
    merged = readable(frame)
    rows = [[*merged.columns], *merged.to_numpy().tolist()]
    head, *body = (f"| {' | '.join(cell.translate(MARKDOWN) for cell in row)} |" for row in rows)
    notes = [f"- {line.translate(MARKDOWN)}" for line in lines]
    rule = "|" + "---|" * len(merged.columns)
    return "\n".join([f"# {title.translate(MARKDOWN)}", "", head, rule, *body, "", *notes]) + "\n"


def latex(frame: pd.DataFrame, title: str, lines: Sequence[str]) -> str:
    """A booktabs table for LaTeX, whose caption has the title and the lines."""
    styled = readable(frame).style.hide(axis="index").format(escape="latex")
    styled = styled.format_index(escape="latex", axis="columns")
    return styled.to_latex(
        column_format="l" + "r" * (len(styled.columns) - 1),
        hrules=True,
        caption=f"{title}. {' '.join(lines)}".translate(LATEX),
        position_float="centering",
    )


def html(frame: pd.DataFrame, title: str, lines: Sequence[str]) -> str:
    """The table as HTML without a style: title, rows, a paragraph per line."""
    with pd.option_context("display.max_colwidth", None):  # else pandas cuts long texts
        table = readable(frame).to_html(index=False, border=0)
    notes = [f"<p>{escape(line)}</p>" for line in lines]
    head = ['<meta charset="utf-8">', f"<h2>{escape(title)}</h2>"]
    return "\n".join([*head, table, *notes]) + "\n"


def json_text(name: str, title: str, frame: pd.DataFrame, **others: Any) -> str:
    """The table as one JSON object: rows in full precision, null where there is no number."""
    blanked = frame.astype("object").where(frame.notna(), None)
    described = {"name": name, "title": title, "rows": blanked.to_dict("records"), **others}
    return json.dumps(described, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as text with its intervals, and with heads in words: ``BLEU none``."""

    def head(name: str) -> str:
        words = HEADS.get(name, name).replace("_", " ")
        return words.replace("bleu", "BLEU").replace("chrf", "chrF")

    return with_intervals(frame).rename(columns=head)


def with_intervals(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as text, each interval put into the cell of its value: ``35.2 [33.1, 37.0]``.

    An end that is open is called so; where a column of bounds says that a number lies beyond what
    was measured, it has the sign of its side (``>60.00``), and what else is said there follows.
    """
    ranged = [n for n in frame.columns if {f"{n}_low", f"{n}_high"} <= {*frame.columns}]
    put = {f"{name}_{part}" for name in ranged for part in ("low", "high", "bounds")}
    merged = {}
    for name in frame.columns.drop(list(put), errors="ignore"):
        parts = [name, f"{name}_low", f"{name}_high"] if name in ranged else [name]
        notes = frame.get(f"{name}_bounds", pd.Series("", frame.index)).astype("object").fillna("")
        rows = zip(*(frame[part].astype("object") for part in parts), strict=True)
        merged[name] = [_cell(row, note) for row, note in zip(rows, notes, strict=True)]
    return pd.DataFrame(merged)


def beyond(note: str, end: str) -> str:
    """The sign of a number (``value``, ``low`` or ``high``) that a note says is a bound."""
    return next((sign for side, sign in SIDES.items() if f"{end} {side}" in note), "")


def _cell(row: Sequence[Any], note: str) -> str:
    """A value, its interval if it has one, and the note that is not of its bounds.

    Numbers have two decimals, small ones two digits: ``4.79``, ``0.00``, ``0.064``, ``2.5e-07``.
    """
    signs = [beyond(note, end) for end in ("value", "low", "high")]
    texts = []
    for sign, value in zip(signs, row, strict=False):
        text = "" if pd.isna(value) else str(value)
        if text and isinstance(value, float):
            text = f"{value:.2f}" if value == 0 or abs(value) >= SMALL else two_digits(value)
        texts.append(f"{sign}{text}" if text else "")
    value, *ends = texts
    interval = f"[{', '.join(end or 'open' for end in ends)}]" if any(ends) else ""
    rest = f"({note})" if note and not any(signs) else ""
    return " ".join(filter(None, (value, interval, rest)))


# Of a study's numbers, ``probes/NAME.csv``.


def wide(frame: pd.DataFrame, measures: Sequence[str], keys: Sequence[str]) -> pd.DataFrame:
    """A row per combination of ``keys``; value, low, high and n of each measure as columns.

    They are means over seeds. A measure that the frame lacks has no columns. Where numbers lie
    beyond what was tested, a column ``NAME_bounds`` says so.
    """
    subset = frame[frame["seed"].isna() & frame["measure"].isin(measures)]
    rows = subset.drop_duplicates(keys)[[*keys]].reset_index(drop=True)
    for measure in filter(set(subset["measure"]).__contains__, measures):
        names = {"value": measure, "low": f"{measure}_low", "high": f"{measure}_high",
                 "n": f"{measure}_n", "note": f"{measure}_bounds"}  # fmt: skip
        columns = subset[subset["measure"] == measure][[*keys, *names]]
        notes = columns["note"].astype("object").fillna("")
        columns = columns.assign(
            note=notes.where(notes.str.contains("at least|under|censored"), "")
        )
        if not columns["note"].any():
            columns = columns.drop(columns="note")
        columns = columns.rename(columns=names)
        rows = rows.merge(columns, on=keys, how="left", validate="1:1")
    return rows


def run_line(frame: pd.DataFrame) -> str:
    """What was run, in one line."""
    return f"{what_was_run(frame)}; 95 % intervals; * under {MARKED_BELOW}"


def caption(frame: pd.DataFrame) -> list[str]:
    """Of which runs the numbers are, and what the ranges are.

    The first line also explains the mark of `render.count`, which any study's table may have.
    """
    return [
        f"Corpus {what_was_run(frame)}. A value is the mean over its arm's seeds. An arm is named "
        f"by its attention and by settings in which the arms differ. * behind a count: under "
        f"{MARKED_BELOW}, too few to lean on.",
        "Ranges are 95 % over test sentences (bootstrap), the same resamples for every seed, and "
        "for arms of one text; they say nothing of other seeds.",
    ]
