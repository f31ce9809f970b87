"""The figures by name: those of questions, and of the runs of a bundle."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from ..results.bundle import Bundle, load_bundle
from ..results.probes import made_of, probe_file
from ..results.schema import BENCHMARK
from ..results.study_files import GOLD, way_back
from ..settings.errors import UsageError, UserError, did_you_mean
from ..tables.alignment import load_gold
from ..tables.names import GOLD_STUDY, GOLD_TABLE
from ..tables.selection import where as narrowed
from ..tables.studied import load_study
from . import alignment, arms, attention, bleu, compression, context_length, learning
from .draw import draw
from .names import FIGURES, OF_RUNS
from .plot import Plot

Chart = tuple[Figure, pd.DataFrame]
"""A figure, and a data frame of all that is drawn in it."""
PLOTS = {
    "bleu": bleu.plot,
    "arms": arms.plot,
    "compression": compression.plot,
    "learning": learning.plot,
}
"""The plots of runs by figure."""


def of_runs(name: str, bundle: Bundle) -> Chart:
    """The figure of a name in `OF_RUNS`."""
    if name == "attention":
        return attention.chart(bundle)
    if name == "context-length":
        return context_length.chart(bundle)
    plot = PLOTS[name](bundle)
    return draw(plot), plot.data


def make_figure(name: str, folder: Path, *, where: Sequence[str] = ()) -> Chart:
    """The figure of a name in `FIGURES` from a bundle or a store.

    ``where`` chooses among runs, for the figures of runs alone. Without the numbers a
    ``UserError`` that names the command that measures them.
    """
    check_name(name, where)
    if name in OF_RUNS:
        return of_runs(name, narrowed(load_bundle(folder), where))
    table = GOLD if name == GOLD_TABLE else name
    with made_of(folder, table):
        plot = study_plot(name, folder) if table == name else alignment.gold_plot(load_gold(folder))
        return _filled(plot, probe_file(folder, table))


def _filled(plot: Plot, table: Path) -> Chart:
    """The chart of numbers of this table, of which there are some."""
    if plot.data.empty:
        raise UserError(f"nothing to draw: {str(table)!r} has no numbers; {way_back(table)}")
    return draw(plot), plot.data


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
    """What the figure of a question of `QUESTIONS` shows, from ``probes/NAME.csv``."""
    frame = load_study(folder, study)
    questions = import_module("...questions.question", __name__)
    if study in questions.FILES:
        return questions.find_question(study).plot(frame)
    return import_module(f".{study}", __package__).plot(frame)
