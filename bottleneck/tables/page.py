"""A table, its verdicts and caption in every form: terminal, CSV, Markdown, LaTeX, JSON, HTML."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
from rich.console import Console, RenderableType

from ..claims.verdict import Verdict
from ..results.schema import ENDINGS
from ..settings.errors import UsageError, did_you_mean
from .render import print_prose, tables_in

ESCAPES = {
    "markdown": {sign: f"\\{sign}" for sign in "\\|*_`"} | {"<": "&lt;", ">": "&gt;", "\n": " "},
    "latex": {sign: f"\\{sign}" for sign in "%&#$_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}"},
    "html": {"&": "&amp;", "<": "&lt;", ">": "&gt;"},
}


@dataclass(frozen=True, eq=False)
class Page:
    """A table with its verdicts and caption; ``setup`` says in one line what was run."""

    name: str
    title: str
    frame: pd.DataFrame
    table: RenderableType
    judged: list[Verdict]
    caption: list[str]
    setup: str = ""

    @property
    def verdicts(self) -> list[str]:
        """The verdicts with their reasons, each followed by its rule."""
        return [
            line
            for item in self.judged
            for line in (f"{item.claim}: {item.verdict}: {item.because}.", f"Rule: {item.rule}")
        ]

    def print(self, console: Console, details: bool = False) -> None:
        """Print the table, verdicts and what was run; ``details``: rules, reasons, all captions."""
        console.print(self.table)
        short = [line.split("; ")[0].rstrip(".") + "." for line in self.verdicts[::2]]
        if short:
            print_prose(console, self.verdicts if details else short)
            console.print()
        more = "Add --details for the rules, settings, losses and the rest of the caption."
        brief = self.setup and not details
        print_prose(console, f"{self.setup}. {more}" if brief else self.caption, "dim")

    def render(self, form: str) -> str:
        """The page as text in a format of `ENDINGS`; any other is a ``UsageError``."""
        if form == "csv":  # four decimals, or four digits of a small number
            return self.frame.to_csv(
                index=False,
                float_format=lambda x: f"{x:.4f}" if x == 0 or abs(x) >= 0.1 else f"{x:.4g}",
                lineterminator="\n",
            )
        if form == "json":  # in full precision, null where there is no number
            rows = self.frame.astype("object").where(self.frame.notna(), None).to_dict("records")
            described = {"name": self.name, "title": self.title, "rows": rows}
            described |= {"verdicts": [vars(item) for item in self.judged], "caption": self.caption}
            return json.dumps(described, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        if form not in ESCAPES:
            raise UsageError(
                f"unknown format {form!r}{did_you_mean(form, ('rich', *ENDINGS.values()))}"
            )
        signs = str.maketrans(ESCAPES[form])
        title, *notes = (
            line.translate(signs) for line in (self.title, *self.verdicts, *self.caption)
        )
        tables = [
            (name.translate(signs), [[cell.translate(signs) for cell in row] for row in rows])
            for name, rows in self.grids
        ]
        if form == "markdown":
            lines = [f"# {title}", ""]
            for name, (head, *body) in tables:
                lines += [name, ""] if name != title else []
                lines += [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
                lines += [*(f"| {' | '.join(row)} |" for row in body), ""]
            lines += [f"- {note}" for note in notes]
        elif form == "latex":  # for booktabs
            caption = " ".join([f"{self.setup}."] if self.setup else self.caption)
            lines = ["\\begin{table}", "\\centering"]
            lines.append(f"\\caption{{{title}. {caption.translate(signs)}}}")
            for _, (head, *body) in tables:
                lines += [f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", "\\toprule"]
                lines += [f"{' & '.join(head)} \\\\", "\\midrule"]
                lines += [f"{' & '.join(row)} \\\\" for row in body]
                lines += ["\\bottomrule", "\\end{tabular}"]
            lines.append("\\end{table}")
        else:
            lines = ['<meta charset="utf-8">']
            for name, (head, *body) in tables:
                lines += ["<table>", f"<caption>{name}</caption>"]
                lines.append(f"<tr><th>{'</th><th>'.join(head)}</th></tr>")
                lines += [f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in body]
                lines.append("</table>")
            lines += [f"<p>{note}</p>" for note in notes]
        return "\n".join(lines) + "\n"

    @property
    def grids(self) -> list[tuple[str, list[list[str]]]]:
        """Title, heads and rows of each table on the terminal, or else of the data."""
        grids = [(str(t.title or self.title), rows) for t, rows in tables_in(self.table)]
        if not grids:
            cells = self.frame.map(lambda value: f"{value:.4g}" if type(value) is float else value)
            rows = cells.astype("object").where(cells.notna(), "").astype(str).to_numpy().tolist()
            grids = [(self.title, [[*cells.columns], *rows])]
        return [(title, [[in_line(cell) for cell in row] for row in rows]) for title, rows in grids]


def in_line(cell: str, interval: str = "{} [{}, {}]") -> str:
    """A terminal's cell in one line; ``interval`` is the format of a number with an interval."""
    if parts := re.fullmatch(r"(.*)\n(.*)\.\.(.*)", cell):
        return interval.format(*parts.groups())
    return re.sub(r"(?<=\w)-\n(?=[a-z])", "", cell).replace("\n", " ")


def page_files(pages: Iterable[Page]) -> dict[str, str]:
    """Each page as Markdown and as CSV, by the file's name."""
    forms = {"md": "markdown", "csv": "csv"}
    return {f"{p.name}.{end}": p.render(form) for p in pages for end, form in forms.items()}


# The numbers of a study, ``probes/NAME.csv``.


def wide(frame: pd.DataFrame, measures: Sequence[str], keys: Sequence[str]) -> pd.DataFrame:
    """Means over seeds: one row per combination of ``keys``, with columns for each measure.

    ``NAME_bounds`` says which numbers are only bounds, because they lie beyond the tested range.
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
