"""What stands around every figure: the title above, room for a legend, and the notes below."""

from collections.abc import Sequence
from math import ceil
from textwrap import wrap

from matplotlib.figure import Figure

from .looks import Look, legend_handles
from .plot import Plot
from .style import BASE, SIZE, SMALL, TITLE, Theme

TOP = 0.915
"""Height of the legend's upper end, as a share of the figure."""
LINE = 1.45 / (72 * SIZE[1])
"""Height of a line of text of one point."""
LETTERS = 150
"""Letters of a line of notes."""
LEGEND_ROOM = 118
"""Letters that one row of the legend has room for, a sample of a line taken for some."""
SAMPLE = 9


def begin(plot: Plot, look: Look) -> Figure:
    """A plot's figure with all that stands around its panels, the legend too."""
    handles = legend_handles(plot, look)
    longest = max((len(handle.get_label()) for handle in handles), default=1)
    columns = max(1, min(len(handles), LEGEND_ROOM // (longest + SAMPLE)))
    lines = max(1, ceil(len(handles) / columns))
    figure = write_around(plot.title, plot.notes, look.theme, rows=lines)
    figure.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, TOP),
        ncols=max(1, ceil(len(handles) / lines)), fontsize=BASE - 1, frameon=False,
        labelcolor=look.theme.ink, handlelength=4.8 if look.close else 3.2, borderpad=0,
    )  # fmt: skip
    return figure


def write_around(title: str, notes: Sequence[str], theme: Theme, rows: int = 0) -> Figure:
    """A figure of slide size with its title and notes, and room for a legend of so many rows."""
    figure = Figure(figsize=SIZE, layout="constrained", facecolor=theme.ground)
    lines = [line for note in notes for line in balanced(note)]
    below = 0.02 + len(lines) * SMALL * LINE
    above = TOP - rows * BASE * LINE
    engine = figure.get_layout_engine()
    engine.set(rect=(0, below, 1, above - below), w_pad=0.12, h_pad=0.1, hspace=0.03, wspace=0.02)
    figure.text(
        0.5, 0.985, title, ha="center", va="top", fontsize=TITLE, color=theme.ink,
        fontweight="bold",
    )  # fmt: skip
    figure.text(
        0.5, 0.015, "\n".join(lines), ha="center", va="bottom", fontsize=SMALL, color=theme.ink
    )
    return figure


def balanced(note: str) -> list[str]:
    """A note on as few lines as its letters need, none much shorter than the others."""
    lines = wrap(note, LETTERS)
    for width in range(LETTERS - 1, 0, -1):
        closer = wrap(note, width)
        if len(closer) != len(lines):
            break
        lines = closer
    return lines
