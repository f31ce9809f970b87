"""The figures by name, those of questions and of the runs of a bundle; and as files.

A file has its format by the name's ending, equal bytes for equal data, and is whole or not there.
"""

import io
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..results.bundle import Bundle, load_bundle
from ..results.folders import command_of, made_of, probe_file, way_back
from ..results.schema import BENCHMARK, GOLD
from ..settings.errors import UsageError, UserError, did_you_mean, plain
from ..settings.files import write_bytes, write_text
from ..tables.names import FIGURES, FIGURES_OF_RUNS, GOLD_TABLE
from ..tables.selection import where as narrowed
from . import runs
from .draw import draw
from .heatmaps import Chart, attention_chart, context_length_chart
from .plot import Plot
from .style import STYLE

METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Per ending what is left out of a file, which would differ from day to day."""
NUMBERS = ".csv"
HEATMAPS = {"context-length": context_length_chart, "attention": attention_chart}


def make_figure(
    name: str, folder: Path, *, where: Sequence[str] = (), bundle: Bundle | None = None
) -> Chart:
    """The figure of a name in `FIGURES` from a bundle or a store.

    ``where`` chooses among runs, for the figures of runs alone; ``bundle`` is the folder's, where
    it has been read. Without the numbers a ``UserError`` that names the command that measures them.
    """
    check_name(name, where)
    if name in FIGURES_OF_RUNS:
        bundle = narrowed(load_bundle(folder) if bundle is None else bundle, where)
        if name in HEATMAPS:
            return HEATMAPS[name](bundle)
        plot = getattr(runs, name)(bundle)
        return draw(plot), plot.data
    table = GOLD if name == GOLD_TABLE else name
    with made_of(folder, table):
        plot, file = study_plot(table, folder), probe_file(folder, table)
        if plot.data.empty:
            raise UserError(f"nothing to draw: {str(file)!r} has no numbers; {way_back(file)}")
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
    questions = import_module("...questions.question", __name__)  # a room above this one
    question = questions.find_question(study)
    return question.plot(question.load(folder))


def check_figure_file(path: Path) -> None:
    """Refuse a name, before anything is drawn: a ``UsageError`` for an unknown format.

    A ``UserError`` where the numbers would take the place of a file that belongs to no figure.
    """
    if path.suffix.lower() not in METADATA:
        known = ", ".join(METADATA)
        raise UsageError(f"{str(path)!r}: the name of a figure ends in {known}")
    numbers = path.with_suffix(NUMBERS)
    if numbers.exists() and not any(path.with_suffix(ending).exists() for ending in METADATA):
        raise UserError(
            f"{str(numbers)!r} is there already, where the figure's numbers would go: name another "
            "file with -o, or delete it"
        )


def image(figure: Figure, ending: str) -> bytes:
    """The figure's file, for an ending of `METADATA`."""
    file = io.BytesIO()
    for text in figure.findobj(Text):
        text.set_text(plain(text.get_text()))
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the CSV beside has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # Words as long as the figure is wide are laid out as far as it goes.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        figure.savefig(file, format=ending[1:], metadata=METADATA[ending])
    return file.getvalue()


def write_figure(figure: Figure, data: pd.DataFrame, path: Path) -> Path:
    """Write the figure, and what was drawn as CSV beside it, whose path is returned."""
    # The figure is first: numbers without a figure may be anybody's.
    write_bytes(path, image(figure, path.suffix.lower()))
    numbers = path.with_suffix(NUMBERS)
    text = data.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    write_text(numbers, text)
    return numbers
