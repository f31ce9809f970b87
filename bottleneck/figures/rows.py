"""Drawing a `Plot` in rows: its categories from above, what was measured along the x axis.

For names too long to stand side by side below an axis.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy import ndarray

from .curves import BAR
from .frame import begin
from .looks import Look
from .plot import MEAN, SEED, Number, Panel, Plot, counts_told
from .style import BASE, SIZE, SMALL, Theme

DOWN = 0.62 * SIZE[1] * 72
"""Points that all rows have down."""
SHARE, LANE = 0.8, 24
"""Of a row's height what all its arms have, and the points that one of them has at most."""
BELOW = 0.45
"""How far below the mean its seeds stand, as a share of an arm's height."""
MARKER = 9.0
LINE = 1.35
"""Height of a line of text, as a share of its size."""


@dataclass(frozen=True)
class Lanes:
    """The rows from above, and the arms, each of which has the same lane in every row."""

    rows: tuple[str, ...]
    arms: tuple[str, ...]

    @property
    def height(self) -> float:
        """Of a lane, as a share of a row's."""
        return min(SHARE / len(self.arms), LANE / self.points)

    @property
    def points(self) -> float:
        """Of a row."""
        return DOWN / len(self.rows)

    def places(self, held: pd.DataFrame) -> Float[ndarray, " rows"]:
        """Where rows of the data stand on the y axis."""
        lane = [self.arms.index(arm) if self.arms[1:] else 0 for arm in held["arm"]]
        row = np.array([self.rows.index(name) for name in held["x"]], dtype=np.float64)
        return row + (np.array(lane) - (len(self.arms) - 1) / 2) * self.height

    def size(self, lines: int, most: Number) -> float:
        """That of text of which a row has room for so many lines, at most the one given."""
        return min(float(most), self.points / (LINE * lines))


def lanes_of(data: pd.DataFrame) -> Lanes:
    """Where no row has two arms, all have one lane."""
    arms = tuple(dict.fromkeys(data["arm"]))
    several = data.groupby("x")["arm"].nunique().max() > 1
    return Lanes(tuple(dict.fromkeys(data["x"])), arms if several else arms[:1])


def draw_rows(plot: Plot, theme: Theme) -> Figure:
    """The whole figure at slide size: panels beside each other, on one scale."""
    look, lanes = Look(plot, theme), lanes_of(plot.data)
    figure = begin(plot, look)
    grid = figure.subplots(1, len(plot.panels), squeeze=False, sharex=True, sharey=True).ravel()
    for axes, panel in zip(grid, plot.panels, strict=True):
        rows = plot.data[plot.data["panel"] == panel.name]
        _axes(axes, panel, lanes, look)
        for _, own in rows.groupby("arm", sort=False):
            _arm(axes, own, lanes, look)
        _counts(axes, panel, rows[rows["kind"] == MEAN], lanes, look)
    _names(grid[0], plot.data, lanes)
    return figure


def _arm(axes: Axes, own: pd.DataFrame, lanes: Lanes, look: Look) -> None:
    """An arm's means with their intervals, whose ends are seen beside a wider marker too."""
    mark = look.mark(own["arm"].iloc[0], "")
    means, seeds = (own[own["kind"] == kind] for kind in (MEAN, SEED))
    ends = [means["value"] - means["low"], means["high"] - means["value"]]
    size = min(MARKER, 0.6 * lanes.height * lanes.points)
    axes.errorbar(
        means["value"], lanes.places(means), xerr=np.abs(ends), fmt=mark.marker, color=mark.colour,
        ms=size, elinewidth=BAR, capsize=0.8 * size, capthick=BAR, zorder=3,
    )  # fmt: skip
    axes.plot(
        seeds["value"], lanes.places(seeds) + BELOW * lanes.height, ls="none", marker="o",
        ms=0.55 * size, mew=0.8, color=mark.colour, mec=look.theme.ground, zorder=4,
    )  # fmt: skip


def _axes(axes: Axes, panel: Panel, lanes: Lanes, look: Look) -> None:
    """Colours, title, lines between rows, and a scale on which no mark at 0 is cut in half."""
    look.paint(axes, grid="x")
    axes.set_title(panel.name, fontsize=look.size, color=look.theme.ink)
    low, high = panel.limits
    axes.set_xlim(low - 0.02 * (high - low), high)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.tick_params(axis="y", length=0)
    for edge in range(1, len(lanes.rows)):
        axes.axhline(edge - 0.5, color=look.theme.grid, lw=1, zorder=0)


def _counts(axes: Axes, panel: Panel, means: pd.DataFrame, lanes: Lanes, look: Look) -> None:
    """n with the axis' name where it is one number, else at the end of each row."""
    whole = counts_told(means)
    once = "–" not in whole and set(means["x"]) == set(lanes.rows)
    told = f"n = {whole} {panel.counted}" if once else f"n: {panel.counted}"
    axes.set_xlabel(f"{panel.x} ({told})", fontsize=look.size, color=look.theme.ink)
    for place, name in enumerate(() if once else lanes.rows):
        axes.text(
            1.02, place, f"n {counts_told(means[means['x'] == name]) or 0}", va="center",
            fontsize=lanes.size(1, SMALL), color=look.theme.ink,
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip


def _names(axes: Axes, data: pd.DataFrame, lanes: Lanes) -> None:
    """Each row's name, and above it what else it is called."""
    notes = data.drop_duplicates("x").set_index("x")["note"]
    texts = ["\n".join(filter(None, (notes[name], name))) for name in lanes.rows]
    size = lanes.size(1 + max(text.count("\n") for text in texts), BASE - 2)
    axes.set_yticks(range(len(texts)), texts, fontsize=size, linespacing=1.1)
    axes.set_ylim(len(texts) - 0.5, -0.5)
