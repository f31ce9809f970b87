"""The parts of the whole study as work in folders: what of each is done, and what is left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .console import output
from .options import corpus_settings
from .planned import Texts, statuses

if TYPE_CHECKING:
    from rich.table import Table

    from ..settings.grid import Cell
    from ..studies.whole import Part

TINY = ("smoke", "quick")
"""Presets beside which the benchmark is quick, too."""
SIDE = "Side question: "


@dataclass(frozen=True)
class Task:
    """A part in its folder: its question, and the cells of its sweep, each a run.

    The benchmark has no cells and counts as one run; ``tiny``: whether it is to be quick.
    """

    part: "Part"
    folder: Path
    question: str
    cells: "tuple[Cell, ...]"
    tiny: bool

    @property
    def benchmark(self) -> bool:
        """Whether it is the benchmark."""
        return not self.cells

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.cells) or 1

    def done(self, texts: Texts) -> int:
        """How many of them are done."""
        if self.benchmark:
            return int(_measured(self.folder))
        return statuses(self.cells, self.folder, texts).count("done")


class Standing(NamedTuple):
    """What is left of a task."""

    runs: int
    studies: int


def tasks(
    folder: Path, preset: str | None, seeds: int | None, only: Sequence[str] | None = None
) -> list[Task]:
    """The parts that can be run here, or those asked for; a name of none is a ``UsageError``."""
    from ..studies.whole import PARTS, REAL, is_here, parts_named

    chosen = parts_named(only) if only else (*PARTS, *filter(is_here, REAL))
    return [_task(part, folder, preset, seeds) for part in chosen]


def not_here() -> list[str]:
    """In words the parts that cannot be run here, and how to fetch their text."""
    from ..studies.whole import REAL, is_here

    lacking = [
        f"{part.name} (`bottleneck corpus fetch {part.corpus}`)"
        for part in REAL
        if not is_here(part)
    ]
    return [f"Left out, for their text is not here: {', '.join(lacking)}."] if lacking else []


def _task(part: "Part", folder: Path, preset: str | None, seeds: int | None) -> Task:
    from ..settings.grid import make_grid
    from ..settings.sweep import load_sweep
    from ..studies.catalogue import COST_QUESTION

    place, tiny = folder / part.name, preset in TINY
    if not part.sweep:
        return Task(part, place, _question(part, COST_QUESTION), (), tiny)
    read = load_sweep(part.sweep)
    read = replace(read, preset=preset) if preset else read
    given = corpus_settings({"name": part.corpus or None})
    grid = make_grid(read, (), seeds or part.seeds, given)
    return Task(part, place, _question(part, read.question), grid.cells, tiny)


def _question(part: "Part", text: str) -> str:
    """The first sentence of what a sweep asks, and beside what it stands."""
    asked = f"{text.partition('?')[0]}?"
    return f"{SIDE}{asked}" if part.side else asked


def _measured(folder: Path) -> bool:
    from ..results.cost import COST, COST_EXPONENTS

    return all((folder / name).is_file() for name in (COST, COST_EXPONENTS))


def standing(task: Task, texts: Texts) -> Standing:
    """What is left of a task."""
    from ..runs.store import ENDED
    from ..studies.whole import studies_left

    if task.benchmark:
        return Standing(0 if _measured(task.folder) else 1, 0)
    found = statuses(task.cells, task.folder, texts)
    studies = studies_left(task.part.studies, task.folder)
    return Standing(sum(status not in ENDED for status in found), len(studies))


def print_plan(found: Sequence[Task], lacking: Sequence[str]) -> None:
    """The parts, what of each is left, the sum, and what is ``lacking`` in words."""
    from ..tables.fitting import print_prose

    texts, console = Texts(), output()
    left = [standing(task, texts) for task in found]
    console.print(_table(found, left))
    print_prose(console, lacking)


def _table(found: Sequence[Task], left: Sequence[Standing]) -> "Table":
    table = part_table(["question", "seeds", "runs left", "studies\nleft"])
    for task, each in zip(found, left, strict=True):
        seeds = {cell.settings.training.seed for cell in task.cells}
        numbers = _numbers(each, task.runs, len(task.part.studies))
        table.add_row(task.part.name, task.question, str(len(seeds) or ""), *numbers)
    table.columns[1].justify = "left"
    table.add_section()
    whole = Standing(*map(sum, zip(*left, strict=True)))
    studies = sum(len(task.part.studies) for task in found)
    table.add_row("all", "", "", *_numbers(whole, sum(task.runs for task in found), studies))
    return table


def part_table(heads: Sequence[str]) -> "Table":
    """A table without rows, whose first column names a part."""
    from ..tables.render import new_table

    table = new_table("", ["part", *heads])
    table.columns[0].justify, table.columns[0].no_wrap = "left", True
    return table


def _numbers(left: Standing, runs: int, studies: int) -> tuple[str, str]:
    """``3 of 10``, and the same of studies; empty where there are none."""
    return f"{left.runs} of {runs}", f"{left.studies} of {studies}" if studies else ""
