"""What a question of the lecture is, and the parts that all questions share.

A question is one file of this folder; it ends with a `Question`. Its probe measures one trained
run. This is slow, so the result is stored in the run's folder. `summarise` gets the results of all
runs, so that arms and seeds are resampled together, and returns the rows of ``probes/NAME.csv``.
The table and the figure are made from that file alone; a verdict also asks which runs there are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.table import Table

from ..claims.verdict import MARKED_BELOW, Judgement, Verdict
from ..figures.plot import Panel, Plot, data_frame, facts
from ..results.schema import GOLD, QUESTIONS
from ..settings.concerns import holds
from ..settings.errors import UsageError, did_you_mean
from ..settings.run import RunSettings
from ..tables.comparison import what_was_run
from ..tables.page import Page
from ..tables.render import cell, new_table
from .arms import Estimates, Probed, Row

if TYPE_CHECKING:
    from .subject import Subject
else:
    Subject = Any  # its module imports jax, which tables and figures do not need

Columns = Mapping[str, Any] | pd.DataFrame
"""What a probe found: columns of equal length, by name."""
Tell = Callable[[str], None]
"""Takes a few words on what a probe is doing; without `--quiet` the user sees them."""


@dataclass(frozen=True)
class StudyColumn:
    """A column of numbers: their keys, if not the row's, and how `render.cell` prints them."""

    head: str
    measure: str = ""
    bucket: str = ""
    control: str = ""
    part: str = ""
    scale: float = 1.0
    form: str = "{:.1f}"
    ends: str | None = None


PERCENT = {"scale": 100.0, "form": "{:z.0f}"}
"""For a column of shares."""


@dataclass(frozen=True)
class StudyTable:
    """A table of a question: columns of text (``heads``), n, and columns of numbers.

    ``lines`` gives each row's texts and keys, by default a row per bucket and arm; ``heads`` may
    omit the first texts. A row without its first number is left out. ``slide`` is a number of the
    slide and its sentence's words: the last column has it in that bucket, without attention.
    """

    title: str
    columns: Sequence[StudyColumn]
    heads: Sequence[str] = ("source\nwords", "arm")
    lines: Callable[[Estimates], Iterable] = lambda estimates: [
        ((bucket or "all", arm), {"arm": arm, "bucket": bucket})
        for bucket, arm in product((*estimates.buckets, ""), estimates.arms)
    ]
    slide: tuple[str, int] | None = None
    with_n: bool = True

    def table(self, estimates: Estimates) -> Table:
        """The table for a terminal."""
        heads = [*self.heads, *["n"] * self.with_n, *(column.head for column in self.columns)]
        heads += ["slide"] if self.slide else []
        table = new_table(self.title, heads, texts=len(self.heads))
        names = ("measure", "arm", "bucket", "control", "part")
        for texts, keys in self.lines(estimates):
            numbers = []
            for column in self.columns:
                of = {name: getattr(column, name, "") or keys.get(name, "") for name in names}
                numbers.append(estimates.get(**of))
            if numbers[0] is None:
                continue
            n = numbers[0].n
            mark = "*" if n < MARKED_BELOW else ""
            cells = [f"{n:,}{mark}"] if self.with_n else []
            for column, number in zip(self.columns, numbers, strict=True):
                ends = number.scaled(column.scale).row() if number else {"value": None}
                note = number.note if number else ""
                cells.append(cell(**ends, form=column.form, ends=column.ends, note=note))
            if self.slide:
                printed, words = self.slide
                without = estimates.attention[keys["arm"]] == "none"
                cells.append(printed if without and holds(keys["bucket"], words) else "")
            table.add_row(*texts[-len(self.heads) :], *cells)
        return table


@dataclass(frozen=True, kw_only=True)
class Axes(Panel):
    """A panel of a question's figure: measures times ``scale``, by length or another column.

    ``names`` are labels for the column's values. ``select`` filters or changes the measure's rows.
    ``printed`` gives the slide's numbers.
    """

    measure: str | tuple[str, ...]
    scale: float = 1.0
    by: str = "bucket"
    names: Mapping[str, str] = field(default_factory=dict)
    select: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows
    printed: Callable[[pd.DataFrame], Mapping[str, float]] = lambda _: {}


def run_lines(frame: pd.DataFrame, over: str) -> tuple[str, list[str], str]:
    """What was run: in one line, as lines of a caption, and as the note below a figure."""
    runs = what_was_run(frame)
    lines = [
        f"Corpus {runs}. A value is the mean over its arm's seeds. An arm is named by its "
        "attention and by settings in which the arms differ. * after a count: under "
        f"{MARKED_BELOW}, too few to rely on.",
        f"Ranges are 95 % intervals over {over}, with the same resamples for every seed, and for "
        "every arm of one text; they do not cover seeds.",
    ]
    return f"{runs}; 95 % intervals; * under {MARKED_BELOW}", lines, facts(frame, over)


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question of the lecture: how it is measured, its rules, tables and figure.

    ``question`` ends with the ids of its claims and slides. ``version`` rises when the probe
    measures something different. ``suits`` says whether a run can be probed.

    ``rules`` has each claim's rule, in words and in code. A row of its CSV has ``keys`` and
    ``measures`` (by default all). The table's caption is ``notes``, then ``run_lines``. ``over``
    says what its intervals are over.
    """

    name: str
    question: str
    probe: Callable[[Subject], Columns] | None = None
    summarise: Callable[[Sequence[Probed]], list[Row]] | None = None
    version: int = 1
    suits: Callable[[RunSettings], bool] = lambda _: True
    title: str
    measures: Sequence[str] = ()
    keys: Sequence[str] = ("arm", "control", "bucket", "part")
    tables: Sequence[StudyTable] = ()
    axes: Sequence[Axes]
    notes: Sequence[str] = ()
    run_lines: Callable[[pd.DataFrame, str], tuple[str, list[str], str]] = run_lines
    rules: Mapping[str, tuple[str, Callable[[Estimates], Judgement | str]]] = field(
        default_factory=dict
    )
    over: str = "test sentences"

    def verdict(self, frame: pd.DataFrame | str) -> Sequence[Verdict]:
        """The verdict on each claim; a text says why nothing can be judged."""
        return [
            Verdict.of(claim, rule, frame if isinstance(frame, str) else judge(Estimates(frame)))
            for claim, (rule, judge) in self.rules.items()
        ]

    def page(self, frame: pd.DataFrame) -> Page:
        """The table with its caption; its data have a column per measure, of means over seeds.

        ``NAME_bounds`` says which numbers are only bounds: they lie beyond the tested range.
        """
        estimates, body = Estimates(frame), Table.grid()
        for item in self.tables:
            if (table := item.table(estimates)).row_count:
                body.add_row(table)
        line, lines, _ = self.run_lines(frame, self.over)
        measures, keys = self.measures or frame["measure"].unique().tolist(), [*self.keys]
        means = frame[frame["seed"].isna() & frame["measure"].isin(measures)]
        data = means[keys].drop_duplicates(ignore_index=True)
        for measure in filter(set(means["measure"]).__contains__, measures):
            part = means[means["measure"] == measure]
            notes = part["note"].astype("object").fillna("")
            bounds = notes.where(notes.str.contains("at least|under|censored"), "")
            names = {"value": measure, "low": f"{measure}_low", "high": f"{measure}_high"}
            columns = part[[*keys, *names, "n"]].rename(columns=names | {"n": f"{measure}_n"})
            if bounds.any():
                columns[f"{measure}_bounds"] = bounds
            data = data.merge(columns, on=keys, how="left", validate="1:1")
        return Page(self.name, self.title, data, body, [], [*self.notes, *lines], line)

    def plot(self, frame: pd.DataFrame) -> Plot:
        """The figure."""
        panels, lines = [], []
        for axes in self.axes:
            subset = axes.select(frame[frame["measure"].isin(np.atleast_1d(axes.measure))])
            numbers = axes.scale * subset[["value", "low", "high"]]
            rows = subset.assign(
                panel=axes.name,
                x=[axes.names.get(place, str(place)) for place in subset[axes.by]],
                kind=np.where(subset["seed"].isna(), "mean", "seed"),
                **numbers,
            ).to_dict("records")
            least = None if axes.log_y else min(0.0, numbers.min().min())
            panels += [replace(axes, limits=(least, None))] if rows else []
            printed = axes.printed(frame).items()
            slide = {"panel": axes.name, "kind": "slide"}
            lines += [*rows, *({**slide, "x": x, "value": value} for x, value in printed)]
        note = self.run_lines(frame, self.over)[2]
        return Plot(self.title, tuple(panels), data_frame(lines), (note,))


def find_question(name: str) -> Question:
    """The question of this name; a ``UsageError`` if there is none."""
    if name not in (*QUESTIONS, GOLD):
        raise UsageError(f"unknown study {name!r}{did_you_mean(name, QUESTIONS)}")
    return import_module(f".{name.replace('-', '_')}", __package__).QUESTION
