"""Worked examples of the lecture on a terminal."""

from collections.abc import Sequence

from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..lecture.checks import Audit
from ..lecture.grid import Grid
from ..lecture.steps import Step
from ..lecture.verdicts import RULES
from .fitting import MEASURE, print_prose

ROW_WORD, CELL = 6, 7
"""Columns of the terminal for a matrix row's word, and for a cell with its marks."""


def print_walk(audit: Audit, steps: Sequence[Step], console: Console) -> None:
    """Print the steps with their numbers, then the verdict and its rule."""
    console.print(Text(f"{audit.id}  {audit.topic}", "bold"))
    for place, step in enumerate(steps, 1):
        console.print()
        _print_step(place, step, console)
    console.print()
    verdict = Text.assemble("Verdict: ", (audit.verdict, "bold"), f": {audit.why}.")
    console.print(Constrain(verdict, MEASURE))
    print_prose(console, f"{audit.verdict}: {RULES[audit.verdict]}.", "dim")


def _print_step(place: int, step: Step, console: Console) -> None:
    head = Text.assemble((f"{place}. {step.title}", "bold"))
    if step.formula:
        head.append(f"   {step.formula}", "dim")
    console.print(head)
    if step.grids:
        drawn = [Padding(grid_table(grid), (0, 0, 1, 0)) for grid in step.grids]
        console.print(_indented(Columns(drawn, padding=(0, 3))))
    for line in step.lines:
        console.print(Constrain(_indented(Text(line)), MEASURE))
    for line in step.slips:
        console.print(Constrain(_indented(Text(f"! {line}", "bold")), MEASURE))
    for line in step.findings:
        console.print(Constrain(_indented(Text(f"Ours: {line}")), MEASURE))


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 3), expand=False)


def grid_table(grid: Grid) -> Table:
    """A matrix as the slide draws it: ``[0.29]`` is the translation's cell, ``*`` the largest."""
    table = Table(title=grid.title, title_justify="left", box=None, padding=0)
    table.add_column("", no_wrap=True, min_width=ROW_WORD)
    for word in grid.columns:
        table.add_column(Text(f"{word:>5}"), min_width=CELL, no_wrap=True)
    for row, word in enumerate(grid.rows):
        cells = [
            _cell(weight, largest, column == grid.gold[row])
            for column, (weight, largest) in enumerate(
                zip(grid.weights[row].tolist(), grid.largest[row].tolist(), strict=True)
            )
        ]
        table.add_row(Text(word), *cells)
    return table


def _cell(weight: float, largest: bool, gold: bool) -> Text:
    star = "*" if largest else " "
    text = f"[{weight:.2f}]{star}" if gold else f" {weight:.2f}{star} "
    return Text(text, "bold" if gold else "")
