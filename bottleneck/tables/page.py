"""One table and what belongs to it, in every form: terminal, CSV, Markdown, LaTeX, JSON, HTML."""

import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd
from rich.console import Console, RenderableType

from ..claims.verdict import MARKED_BELOW, Verdict
from ..results.schema import FORMATS
from ..settings.errors import UsageError, did_you_mean
from ..settings.files import write_listed
from .comparison import what_was_run
from .render import PlainConsole, print_prose, tables_in, texts_of

DETAILS = "Add --details for the rules, settings, losses and the rest of the caption."
MARKDOWN = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\|*_`"} | {"<": "&lt;", ">": "&gt;", "\n": " "}
)
LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "%&#$_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}"}
)


@dataclass(frozen=True, eq=False)
class Page:
    """One table and what belongs to it; ``run`` says in one line what was run."""

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
        return [
            line
            for item in self.judged
            for line in (f"{item.claim}: {item.verdict}: {item.because}.", f"Rule: {item.rule}")
        ]

    def print(self, console: Console, details: bool = False) -> None:
        """Print the table, a line for each verdict and what was run.

        With ``details`` also the rules, all reasons and the whole caption.
        """
        console.print(self.table)
        short = [line.split("; ")[0].rstrip(".") + "." for line in self.verdicts[::2]]
        if short:
            print_prose(console, self.verdicts if details else short)
            console.print()
        brief = bool(self.run) and not details
        print_prose(console, f"{self.run}. {DETAILS}" if brief else self.caption, "dim")

    def render(self, form: str) -> str:
        """The page as text in one of `FORMATS`; ``UsageError`` for a different one."""
        match form:
            case "csv":
                return csv(self.frame)
            case "json":
                return self._json()
            case "markdown":
                return self._markdown()
            case "latex":
                return self._latex()
            case "html":
                return self._html()
            case "rich":
                file = io.StringIO()
                self.print(PlainConsole(file=file, width=80), details=True)
                return file.getvalue()
        raise UsageError(f"unknown format {form!r}{did_you_mean(form, FORMATS)}")

    @property
    def grids(self) -> list[tuple[str, list[list[str]]]]:
        """Title, heads and rows of each table on the terminal, or else of the data."""
        shown = [(str(t.title or self.title), texts_of(t)) for t in tables_in(self.table)]
        if not shown:
            cells = self.frame.map(lambda value: f"{value:.4g}" if type(value) is float else value)
            rows = cells.astype("object").where(cells.notna(), "").astype(str).to_numpy().tolist()
            shown = [(self.title, [[*cells.columns], *rows])]
        return [(title, [[in_line(cell) for cell in row] for row in rows]) for title, rows in shown]

    def _markdown(self) -> str:
        blocks = [f"# {self.title.translate(MARKDOWN)}\n"]
        for title, rows in self.grids:
            blocks += [f"{title.translate(MARKDOWN)}\n"] if title != self.title else []
            head, *body = (
                f"| {' | '.join(cell.translate(MARKDOWN) for cell in r)} |" for r in rows
            )
            blocks.append("\n".join([head, "|" + "---|" * len(rows[0]), *body, ""]))
        blocks += [f"- {line.translate(MARKDOWN)}" for line in (*self.verdicts, *self.caption)]
        return "\n".join(blocks) + "\n"

    def _latex(self) -> str:
        """Tables for booktabs; the caption has what was run, or else the whole caption."""
        caption = " ".join([f"{self.title}.", *([f"{self.run}."] if self.run else self.caption)])
        lines = ["\\begin{table}", "\\centering", f"\\caption{{{caption.translate(LATEX)}}}"]
        for _, rows in self.grids:
            head, *body = (" & ".join(cell.translate(LATEX) for cell in row) for row in rows)
            lines += [f"\\begin{{tabular}}{{l{'r' * (len(rows[0]) - 1)}}}", "\\toprule"]
            lines += [f"{head} \\\\", "\\midrule", *(f"{row} \\\\" for row in body)]
            lines += ["\\bottomrule", "\\end{tabular}"]
        return "\n".join([*lines, "\\end{table}"]) + "\n"

    def _html(self) -> str:
        """HTML without a style: title, rows, a paragraph per line."""
        lines = ['<meta charset="utf-8">', f"<h2>{escape(self.title)}</h2>"]
        for title, (head, *body) in self.grids:
            lines += ["<table>", f"<caption>{escape(title)}</caption>"]
            lines.append(f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>")
            for row in body:
                lines.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>")
            lines.append("</table>")
        lines += [f"<p>{escape(line)}</p>" for line in (*self.verdicts, *self.caption)]
        return "\n".join(lines) + "\n"

    def _json(self) -> str:
        """One JSON object: rows in full precision, null where there is no number."""
        rows = self.frame.astype("object").where(self.frame.notna(), None).to_dict("records")
        described = {"name": self.name, "title": self.title, "rows": rows}
        described |= {"verdicts": [vars(item) for item in self.judged], "caption": self.caption}
        return json.dumps(described, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def in_line(cell: str, interval: str = "{} [{}, {}]") -> str:
    """A cell of a terminal's table in one line; ``interval`` is its form if it has one."""
    if parts := re.fullmatch(r"(.*)\n(.*)\.\.(.*)", cell):
        return interval.format(*parts.groups())
    return re.sub(r"(?<=\w)-\n(?=[a-z])", "", cell).replace("\n", " ")


def csv(frame: pd.DataFrame) -> str:
    """The table as CSV, four decimals (small numbers four digits), blanks where there is none."""

    def four(value: float) -> str:
        return f"{value:.4f}" if value == 0 or abs(value) >= 0.1 else f"{value:.4g}"

    return frame.to_csv(index=False, float_format=four, lineterminator="\n")


def write_pages(pages: Sequence[Page], folder: Path) -> None:
    """Write each page as ``NAME.csv`` and ``NAME.md`` into a results folder."""
    forms = {"csv": "csv", "md": "markdown"}
    files = {f"{p.name}.{end}": p.render(form) for p in pages for end, form in forms.items()}
    write_listed(folder, [(name, text.encode()) for name, text in files.items()])


# Of a study's numbers, ``probes/NAME.csv``.


def wide(frame: pd.DataFrame, measures: Sequence[str], keys: Sequence[str]) -> pd.DataFrame:
    """A row per combination of ``keys``; value, low, high and n of each measure as columns.

    They are means over seeds. ``NAME_bounds`` says which numbers lie beyond what was tested.
    """
    means = frame[frame["seed"].isna() & frame["measure"].isin(measures)]
    rows = means[[*keys]].drop_duplicates(ignore_index=True)
    for measure in filter(set(means["measure"]).__contains__, measures):
        part = means[means["measure"] == measure]
        notes = part["note"].astype("object").fillna("")
        bounds = notes.where(notes.str.contains("at least|under|censored"), "")
        names = {"value": measure, "low": f"{measure}_low", "high": f"{measure}_high"}
        columns = part[[*keys, *names, "n"]].rename(columns=names | {"n": f"{measure}_n"})
        if bounds.any():
            columns[f"{measure}_bounds"] = bounds
        rows = rows.merge(columns, on=[*keys], how="left", validate="1:1")
    return rows


def run_line(frame: pd.DataFrame) -> str:
    """What was run, in one line."""
    return f"{what_was_run(frame)}; 95 % intervals; * under {MARKED_BELOW}"


def caption(frame: pd.DataFrame, over: str) -> list[str]:
    """Of which runs a study's numbers are, and what the ranges are."""
    return [
        f"Corpus {what_was_run(frame)}. A value is the mean over its arm's seeds. An arm is named "
        f"by its attention and by settings in which the arms differ. * behind a count: under "
        f"{MARKED_BELOW}, too few to lean on.",
        f"Ranges are 95 % over {over}, drawn alike for every seed and for arms of one "
        "text; they say nothing of other seeds.",
    ]
