"""The audit of the lecture as a table, its walk-throughs on a terminal, and their evidence."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
from rich.columns import Columns
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..corpus.grammar import english_french
from ..corpus.subwords import shares_of
from ..corpus.vocabulary import WORDS, tokenize
from ..lecture.slides import RULES, SLIDES, Audit, Evidence
from ..scoring.bootstrap import Number
from .page import Page
from .render import MEASURE, print_prose


def audit_page(audits: Sequence[Audit]) -> Page:
    """One row per id; the caption counts the verdicts and gives their rules."""
    title = "The lecture's printed numbers, recomputed"
    texts = [Text(title, "bold")]
    for audit in audits:
        head = (f"\n{audit.id}", "bold"), f"  {audit.topic}: ", (audit.verdict, "bold")
        texts.append(Text.assemble(*head))
        for label in ("printed", "recomputed", "why"):
            texts.append(Text.assemble((f"  {label:<10}  ", "dim"), getattr(audit, label)))
    columns = ["id", "topic", "printed", "recomputed", "verdict", "why"]
    frame = pd.DataFrame(map(vars, audits), columns=columns)
    counts = frame["verdict"].value_counts()
    verdicts = [verdict for verdict in RULES if verdict in counts]
    total = ", ".join(f"{verdict} {counts[verdict]}" for verdict in verdicts)
    first = f"Verdicts: {total}. `bottleneck lecture ID` shows one step by step."
    caption = [first, *(f"{verdict}: {RULES[verdict]}." for verdict in verdicts)]
    return Page("lecture", title, frame, Constrain(Group(*texts, ""), MEASURE), [], caption)


def print_walkthrough(audit: Audit, console: Console) -> None:
    """Print an id's steps with their checks, then the verdict and its rule.

    A matrix is drawn as on the slide: ``[0.29]`` is the translation, ``*`` the largest of a row.
    """
    indent = partial(Padding, pad=(0, 0, 0, 3), expand=False)
    console.print(Text(f"{audit.id}  {audit.topic}", "bold"))
    for number, step in enumerate(audit.steps, 1):
        head = Text.assemble((f"{number}. {step.title}", "bold"), (f"   {step.formula}", "dim"))
        head.rstrip()
        console.print("\n", head, sep="")
        tables = []
        for grid in step.grids:
            table = Table(title=grid.title, title_justify="left", box=None, padding=0)
            table.add_column("", no_wrap=True, min_width=6)
            for word in grid.columns:
                table.add_column(Text(f"{word:>5}"), min_width=7, no_wrap=True)
            for word, row, gold in zip(grid.rows, grid.weights.tolist(), grid.gold, strict=True):
                numbers = [f"{weight:.2f}" for weight in row]
                stars = ["*" if weight == max(row) else " " for weight in row]
                texts = [Text(f" {n}{star} ") for n, star in zip(numbers, stars, strict=True)]
                texts[gold] = Text(f"[{numbers[gold]}]{stars[gold]}", "bold")
                table.add_row(Text(word), *texts)
            tables.append(Padding(table, (0, 0, 1, 0)))
        if tables:
            console.print(indent(Columns(tables, padding=(0, 3))))
        widths = [max(map(len, column), default=0) for column in step.columns]
        texts = []
        for row in zip(*step.columns, strict=True):
            cells = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
            texts.append(Text("  ".join(cells).rstrip()))
        for check in step.checks:
            style = "" if check.judgement == "right" else "bold"
            texts.append(Text(f"{check.name}: {check.judgement}", style))
            texts.append(Text(f"  slide       {check.printed}\n  recomputed  {check.recomputed}"))
        for text in texts:
            console.print(Constrain(indent(text), MEASURE))
    why = f": {audit.why}." if audit.why else "."
    console.print()
    console.print(Constrain(Text.assemble("Verdict: ", (audit.verdict, "bold"), why), MEASURE))
    print_prose(console, f"{audit.verdict}: {RULES[audit.verdict]}.", "dim")


def lecture_evidence(cost: tuple[str, Number] | None) -> Evidence:
    """The slides, the grammar's alignment of L16's words, and what a benchmark measured."""
    pair = english_french().parse(SLIDES["L16"]["english"].lower())
    words = pair.source.split()
    source, target = (
        shares_of(tokenize(text), text.split(), WORDS).argmax(axis=1).tolist()
        for text in (pair.source, pair.target)
    )
    links = [
        sorted({target[there] for here, there in pair.links if source[here] == place})
        for place in range(len(words))
    ]
    return Evidence((words, pair.target.split(), links), cost)
