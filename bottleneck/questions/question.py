"""What a question of the lecture is, and the parts that all questions share.

A question is one file of this room, which ends with a `Question`. Its probe looks at one trained
run and is costly; what it finds is stored in the run's folder. `summarise` sees all runs, so that
arms and seeds are resampled together, and gives the rows of ``probes/NAME.csv``. Everything that
a reader sees is made of that file: the verdict by a rule, the table, the figure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table

from ..claims.verdict import Held, Verdict
from ..figures.plot import Panel, Plot, chosen, data_frame, drawn, facts, roof
from ..scoring.bootstrap import Score
from ..settings.run import RunSettings
from ..tables.page import Page
from ..tables.render import count, new_table
from ..tables.studied import caption, wide
from .estimates import Estimate, Estimates

if TYPE_CHECKING:
    from .subject import Subject


@dataclass(frozen=True)
class Column:
    """A column of a question's table: a measure, times ``scale``, in a form.

    ``form`` of the number, ``ends`` of the ends of its interval ("" for no interval).
    """

    head: str
    measure: str
    form: str = "{:.1f}"
    ends: str = "{:.1f}"
    scale: float = 1.0
    control: str = ""

    def text(self, estimate: Estimate | None) -> str:
        """The cell: the number, and its interval on a second line; empty without a number."""
        if estimate is None or np.isnan(estimate.value):
            return ""
        scaled = estimate.scaled(self.scale)
        value = self.form.format(scaled.value)
        if not self.ends or np.isnan(scaled.low):
            return value
        return f"{value}\n{self.ends.format(scaled.low)}..{self.ends.format(scaled.high)}"


@dataclass(frozen=True)
class Grid:
    """A table with a row for each bucket and arm, and for each of ``parts`` where it has some.

    ``parts`` are names by their key in the file. The first column's estimate says whether a row
    is there, and gives n.
    """

    title: str
    columns: Sequence[Column]
    parts: Mapping[str, str] = field(default_factory=lambda: {"": ""})
    part_head: str = ""

    def table(self, estimates: Estimates) -> Table:
        """The table for a terminal."""
        texts = ["source\nwords", "arm", *([self.part_head] if self.part_head else [])]
        heads = [*texts, "n", *(column.head for column in self.columns)]
        table = new_table(self.title, heads, texts=len(texts))
        for bucket in estimates.buckets():
            for arm in estimates.arms():
                for part, name in self.parts.items():
                    cells = [
                        estimates.get(column.measure, arm, bucket, column.control, part)
                        for column in self.columns
                    ]
                    if cells[0] is not None:
                        texts = [bucket, arm, *([name] if self.part_head else [])]
                        numbers = map(Column.text, self.columns, cells)
                        table.add_row(*texts, count(cells[0].n), *numbers)
        return table


@dataclass(frozen=True)
class Axes:
    """A panel of a question's figure: a measure by length, times ``scale``.

    ``controls`` names the lines by a column of the file, ``key``, where they are not its controls.
    ``top`` is the least upper end of the y axis, None for one that is fixed at ``limit``.
    """

    title: str
    measure: str
    y: str
    scale: float = 1.0
    key: str = "control"
    controls: Mapping[str, str] = field(default_factory=lambda: {"": ""})
    top: float | None = None
    limit: float | None = None

    def panel(self, frame: pd.DataFrame) -> tuple[Panel, list[dict[str, Any]]]:
        """The panel and the rows that are drawn in it."""
        subset = chosen(frame, self.measure, **{self.key: list(self.controls)})
        subset = subset.assign(control=subset[self.key].map(self.controls))
        rows = drawn(self.title, subset, scale=self.scale)
        limit = self.limit if self.top is None else max(self.top, roof(rows))
        return Panel(self.title, "source words", self.y, "sentences", limits=(0, limit)), rows


Columns = Mapping[str, Any]
"""Columns of one length, by name: what a probe found, as ``probes/NAME.csv`` of a run's folder."""
Row = dict[str, Any]
"""One number of ``probes/NAME.csv`` of the bundle, by ``schema.PROBE_COLUMNS``."""
Tell = Callable[[str], None]
"""Called with a few words on what a probe is doing."""


@dataclass(frozen=True, eq=False)
class Probed:
    """One run and what a probe found: columns of numbers (float64) or texts (str)."""

    folder: Path
    settings: RunSettings
    found: Mapping[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Study:
    """A question of the lecture as it is measured.

    ``ids`` are its claims and slides. ``version`` rises when the probe measures something
    different, so that old findings are measured again. ``sweep`` names the runs that answer it, a
    file of experiments/; with ``own_runs`` they have a folder of their own. ``suits`` says whether
    a run can be probed at all.
    """

    name: str
    ids: tuple[str, ...]
    question: str
    probe: "Callable[[Subject, Tell], Columns]"
    summarise: Callable[[Sequence[Probed]], list[Row]]
    version: int = 1
    sweep: str = "vindication"
    suits: Callable[[RunSettings], bool] = lambda _: True
    own_runs: bool = False


@dataclass(frozen=True, kw_only=True)
class Question(Study):
    """A question with all that a reader sees of it.

    ``decide`` gives a verdict for each claim that it decides, ``notes`` the caption of the table.
    """

    title: str
    grids: Sequence[Grid]
    figure: str
    axes: Sequence[Axes]
    notes: Callable[[pd.DataFrame], list[str]]
    decide: Callable[[Estimates | None], Sequence[Verdict]] = lambda _: ()
    counted: str = "test sentences"

    def verdict(self, frame: pd.DataFrame | None) -> Sequence[Verdict]:
        """The verdicts, from the table of the probe's numbers; None where nothing was measured."""
        return self.decide(None if frame is None else Estimates(frame))

    def page(self, frame: pd.DataFrame) -> Page:
        """The table with all that belongs to it."""
        estimates, body = Estimates(frame), Table.grid()
        for grid in self.grids:
            body.add_row(grid.table(estimates))
        table = self.grids[0].table(estimates) if len(self.grids) == 1 else body
        measures = dict.fromkeys(column.measure for grid in self.grids for column in grid.columns)
        told = [*self.notes(frame), *caption(frame)]
        return Page(self.name, self.title, wide(frame, list(measures)), table, [], told)

    def plot(self, frame: pd.DataFrame) -> Plot:
        """The figure."""
        panels, rows = zip(*(axes.panel(frame) for axes in self.axes), strict=True)
        data = data_frame([row for part in rows for row in part])
        return Plot(self.figure, tuple(panels), data, facts(frame, self.counted))


FILES = {"length": "output_length", "fit": "fit"}
"""The file of each question, by its name on the command line."""


def find_question(name: str) -> Question:
    """The question of a name in `FILES`; only its own file is imported."""
    return import_module(f".{FILES[name]}", __package__).QUESTION


def rows_by_bucket(
    probed: Sequence[Probed],
    columns: Sequence[str],
    scores: Mapping[str, tuple[Score, Sequence[str]]],
    splits: Iterable[str] = ("",),
) -> list[Row]:
    """The rows of scores of per-sentence counts, for every arm and bucket.

    ``columns`` of the probe are counts of each test sentence. ``scores`` gives each measure's score
    and the columns that it is a score of. With ``splits`` the probe has a column ``split``, and
    each split is a part of its own.
    """
    from .arms import arms_of, in_buckets

    rows: list[Row] = []
    for arm, split in product(arms_of(probed), splits):
        first = arm.runs[0].found
        kept = first["split"] == split if split else np.ones(len(first["source_words"]), bool)
        counts = np.stack(
            [np.stack([run.found[name][kept] for name in columns], axis=1) for run in arm.runs]
        )
        for place, bucket, inside in in_buckets(arm.runs[0], first["source_words"][kept]):
            for measure, (score, names) in scores.items():
                subset = counts[:, inside][..., [columns.index(name) for name in names]]
                rows += arm.rows(measure, score, subset, place=place, bucket=bucket, part=split)
    return rows


def grade(held: bool, partly: bool) -> Held:
    """The verdict's word."""
    return "held" if held else "partly" if partly else "not held"
