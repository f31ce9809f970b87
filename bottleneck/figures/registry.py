"""The figures by name: those of questions, and of the runs of a bundle."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from ..results.bundle import Bundle, load_bundle
from ..results.probes import GOLD, command_of, made_of, probe_file, way_back
from ..results.schema import BENCHMARK
from ..settings.errors import UsageError, UserError, did_you_mean
from ..tables.names import FIGURES, FIGURES_OF_RUNS, GOLD_TABLE
from ..tables.selection import where as narrowed
from ..tables.studied import load_study
from . import heatmaps, runs
from .draw import draw
from .heatmaps import Chart
from .plot import Plot

PLOTS = {
    "bleu": runs.bleu,
    "arms": runs.arms,
    "compression": runs.compression,
    "learning": runs.learning,
}
HEATMAPS = {
    "context-length": heatmaps.context_length_chart,
    "attention": heatmaps.attention_chart,
}


def of_runs(name: str, bundle: Bundle) -> Chart:
    """The figure of a name in `FIGURES_OF_RUNS`."""
    if name in HEATMAPS:
        return HEATMAPS[name](bundle)
    plot = PLOTS[name](bundle)
    return draw(plot), plot.data


def make_figure(name: str, folder: Path, *, where: Sequence[str] = ()) -> Chart:
    """The figure of a name in `FIGURES` from a bundle or a store.

    ``where`` chooses among runs, for the figures of runs alone. Without the numbers a
    ``UserError`` that names the command that measures them.
    """
    check_name(name, where)
    if name in FIGURES_OF_RUNS:
        return of_runs(name, narrowed(load_bundle(folder), where))
    table = GOLD if name == GOLD_TABLE else name
    with made_of(folder, table):
        return _filled(study_plot(table, folder), probe_file(folder, table))


def _filled(plot: Plot, table: Path) -> Chart:
    """The chart of numbers of this table, of which there are some."""
    if plot.data.empty:
        raise UserError(f"nothing to draw: {str(table)!r} has no numbers; {way_back(table)}")
    return draw(plot), plot.data


def check_name(name: str, where: Sequence[str]) -> None:
    """Refuse what cannot be drawn, as a ``UsageError``."""
    if name not in FIGURES:
        raise UsageError(f"unknown figure {name!r}{did_you_mean(name, FIGURES)}")
    if where and name not in FIGURES_OF_RUNS:
        command = "bench" if name == BENCHMARK else command_of(name.replace("-", "_"))
        raise UsageError(
            f"--where chooses runs, and figure {name} is of what `bottleneck {command}` measured"
        )


def study_plot(study: str, folder: Path) -> Plot:
    """What the figure of a question of `QUESTIONS` or `GOLD` shows, from ``probes/NAME.csv``."""
    frame = load_study(folder, study)
    return import_module("...questions.question", __name__).find_question(study).plot(frame)
