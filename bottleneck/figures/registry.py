"""The figures by name: those of studies, of the benchmark, and of the runs of a bundle."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from ..results.bundle import Bundle, load_bundle
from ..results.cost import COST
from ..results.probes import load_probe, made_of, probe_file
from ..results.schema import BENCHMARK
from ..results.study_files import GOLD, way_back
from ..settings.errors import UsageError, UserError, did_you_mean
from ..tables.alignment import load_gold
from ..tables.cost import load_cost
from ..tables.names import GOLD_STUDY, GOLD_TABLE
from ..tables.selection import where as narrowed
from . import alignment, arms, attention, bleu, compression, context_length, cost, learning
from .curves import draw
from .names import FIGURES, OF_RUNS
from .plot import Plot
from .style import DARK, LIGHT, Theme

Chart = tuple[Figure, pd.DataFrame]
"""A figure, and a data frame of all that is drawn in it."""


def _of(plot: Callable[[Bundle], Plot]) -> Callable[[Bundle, Theme], Chart]:
    """The chart of a plot of runs."""
    return lambda bundle, theme: _drawn(plot(bundle), theme)


def _drawn(plot: Plot, theme: Theme) -> Chart:
    return draw(plot, theme), plot.data


CHARTS: Mapping[str, Callable[[Bundle, Theme], Chart]] = dict(
    zip(
        OF_RUNS,
        (
            _of(bleu.plot),
            arms.chart,
            _of(compression.plot),
            context_length.chart,
            _of(learning.plot),
            attention.chart,
        ),
        strict=True,
    )
)
"""What draws each figure of `OF_RUNS`."""


def make_figure(name: str, folder: Path, *, dark: bool = False, where: Sequence[str] = ()) -> Chart:
    """The figure of a name in `FIGURES` from a bundle or a store.

    ``where`` chooses among runs, for the figures of runs alone. Without the numbers a
    ``UserError`` that names the command that measures them.
    """
    check_name(name, where)
    theme = DARK if dark else LIGHT
    if name in OF_RUNS:
        return CHARTS[name](narrowed(load_bundle(folder), where), theme)
    if name == BENCHMARK:
        return _filled(cost.plot(load_cost(folder)[0]), folder / COST, theme)
    table = GOLD if name == GOLD_TABLE else name
    with made_of(folder, table):
        plot = study_plot(name, folder) if table == name else alignment.gold_plot(load_gold(folder))
        return _filled(plot, probe_file(folder, table), theme)


def _filled(plot: Plot, table: Path, theme: Theme) -> Chart:
    """The chart of numbers of this table, of which there are some."""
    if plot.data.empty:
        raise UserError(f"nothing to draw: {str(table)!r} has no numbers; {way_back(table)}")
    return _drawn(plot, theme)


def check_name(name: str, where: Sequence[str]) -> None:
    """Refuse what cannot be drawn, as a ``UsageError``."""
    if name not in FIGURES:
        raise UsageError(f"unknown figure {name!r}{did_you_mean(name, FIGURES)}")
    if where and name not in OF_RUNS:
        command = {BENCHMARK: "bench", GOLD_TABLE: GOLD_STUDY}.get(name, f"study {name}")
        raise UsageError(
            f"--where chooses runs, and figure {name} is of what `bottleneck {command}` measured"
        )


def study_plot(study: str, folder: Path) -> Plot:
    """What the figure of a study of `STUDIES` shows, from ``probes/NAME.csv``."""
    frame = load_probe(folder, study)
    questions = import_module("...questions.question", __name__)
    if study in questions.FILES:
        return questions.find_question(study).plot(frame)
    return import_module(f".{study}", __package__).plot(frame)
