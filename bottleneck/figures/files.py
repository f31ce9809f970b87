"""Figures as files: the format by the name's ending, equal bytes for equal data, whole or none."""

import io
import warnings
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..settings.atomic import write_bytes, write_text
from ..settings.errors import UsageError, UserError, plain
from .style import DOTS, STYLE

METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Per ending what is left out of a file, which would differ from day to day."""
NUMBERS = ".csv"


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
        figure.savefig(file, format=ending[1:], dpi=DOTS, metadata=METADATA[ending])
    return file.getvalue()


def write_figure(figure: Figure, data: pd.DataFrame, path: Path) -> Path:
    """Write the figure, and what was drawn as CSV beside it, whose path is returned."""
    # The figure is first: numbers without a figure may be anybody's.
    write_bytes(path, image(figure, path.suffix.lower()))
    numbers = path.with_suffix(NUMBERS)
    text = data.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    write_text(numbers, text)
    return numbers
