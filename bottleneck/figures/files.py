"""Figures as files: the format by the name's ending, equal bytes for equal data, whole or none."""

import io
import warnings
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..settings.errors import UsageError, UserError, plain
from ..settings.files import write_bytes
from .style import DOTS, STYLE

METADATA = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""Per ending what is left out of a file, which would differ from day to day."""
NUMBERS = ".csv"


def check_ending(path: Path) -> None:
    """Refuse a name that no format goes by as a ``UsageError``, before anything is drawn."""
    if path.suffix.lower() not in METADATA:
        known = ", ".join(METADATA)
        raise UsageError(f"{str(path)!r}: the name of a figure ends in {known}")


def check_numbers(path: Path) -> None:
    """A ``UserError`` where a figure's numbers would take the place of a file beside no figure.

    That is somebody else's, and nobody named it.
    """
    numbers = path.with_suffix(NUMBERS)
    if numbers.exists() and not any(path.with_suffix(each).exists() for each in METADATA):
        raise UserError(
            f"{str(numbers)!r} is there already, where the figure's numbers would go: name another "
            "file with -o, or delete it"
        )


def image(figure: Figure, ending: str) -> bytes:
    """The figure's file, for an ending of `METADATA`."""
    held = io.BytesIO()
    for text in figure.findobj(Text):
        text.set_text(plain(text.get_text()))
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the CSV beside has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # Words as long as the figure is wide are laid out as far as it goes.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        figure.savefig(held, format=ending[1:], dpi=DOTS, metadata=METADATA[ending])
    return held.getvalue()


def write_figure(figure: Figure, data: pd.DataFrame, path: Path) -> Path:
    """Write the figure, and what was drawn as CSV beside it, whose path is returned."""
    check_ending(path)
    numbers = path.with_suffix(NUMBERS)
    content = image(figure, path.suffix.lower())
    write_bytes(path, content)  # first: numbers without a figure may be anybody's
    write_bytes(numbers, table(data).encode("utf8"))
    return numbers


def table(data: pd.DataFrame) -> str:
    """What was drawn as CSV, to six digits, for some quantities are tiny."""
    return data.to_csv(index=False, float_format="%.6g", lineterminator="\n")
