"""A table, its verdicts and caption in every form: terminal, CSV, Markdown, LaTeX, JSON, HTML."""

import json
import re
from collections.abc import Iterable
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

    def print(self, console: Console, details: bool = False) -> None:
        """Print the table, verdicts and what was run; ``details``: rules, reasons, all captions."""
        console.print(self.table)
        for item in self.judged:
            because = item.because if details else item.because.split("; ")[0].rstrip(".")
            rule = f"\nRule: {item.rule}" if details else ""
            print_prose(console, f"{item.claim}: {item.verdict}: {because}.{rule}")
        if self.judged:
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
        title, notes = self.title.translate(signs), []
        for item in self.judged:
            notes += [f"{item.claim}: {item.verdict}: {item.because}.", f"Rule: {item.rule}"]
        notes = [line.translate(signs) for line in (*notes, *self.caption)]
        grids = [(str(t.title or self.title), rows) for t, rows in tables_in(self.table)]
        if not grids:  # the data
            cells = self.frame.map(lambda value: f"{value:.4g}" if type(value) is float else value)
            rows = cells.astype("object").where(cells.notna(), "").astype(str).to_numpy().tolist()
            grids = [(self.title, [[*cells.columns], *rows])]
        tables = []
        for name, rows in grids:
            escaped = [[in_line(cell).translate(signs) for cell in row] for row in rows]
            tables.append((name.translate(signs), escaped))
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


def in_line(cell: str, interval: str = "{} [{}, {}]") -> str:
    """A terminal's cell in one line; ``interval`` is the format of a number with an interval."""
    if parts := re.fullmatch(r"(.*)\n(.*)\.\.(.*)", cell):
        return interval.format(*parts.groups())
    return re.sub(r"(?<=\w)-\n(?=[a-z])", "", cell).replace("\n", " ")


def page_files(pages: Iterable[Page]) -> dict[str, str]:
    """Each page as Markdown and as CSV, by the file's name."""
    forms = {"md": "markdown", "csv": "csv"}
    return {f"{p.name}.{end}": p.render(form) for p in pages for end, form in forms.items()}
