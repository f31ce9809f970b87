"""Drawing a `Plot`: a line an arm and control, bars for intervals, small points for seeds."""

from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from .frame import begin
from .looks import CROWDED, Look, faint, series_of
from .plot import MEAN, SEED, SLIDE, Panel, Plot, counts_told
from .style import BASE, Theme

SPREAD = {True: 0.16, False: 0.4}
"""Width over which the series of a category stand, where they are joined and where not."""
BOUNDS = {"value at least": "^", "value under": "v"}
"""Notes of numbers that are bounds, and the marker of such a point."""
BAR = 2.2
BESIDE = 0.07
"""How far right of the mean its seeds stand: of a category's width, of a logarithmic x's value."""
NEAR = 0.014
"""The same on a linear axis, of the whole of it."""
CROWD = {True: 12, False: 6}
"""More places than these on an axis, of a panel with room and of one of many, and its marks are
smaller."""
AROUND = 2**0.5
"""Room left and right of a logarithmic x axis' places: half a doubling."""
ROOM = 38
"""Letters of an x axis' name, with its n, that one of many panels has room for in a line."""
FEW_DECADES = 1e3
"""A logarithmic y axis of less than this from end to end has ticks within its decades too."""
WIDE, NARROW = 9, 5
"""Steps at most of a linear x axis; of one of many panels."""


def draw(plot: Plot, theme: Theme) -> Figure:
    """The whole figure at slide size; a panel of which there is nothing is left out."""
    look = Look(plot, theme)
    panels = [panel for panel in plot.panels if (plot.data["panel"] == panel.name).any()]
    figure = begin(plot, look)
    rows = 1 if len(panels) <= CROWDED else 2
    across = ceil(len(panels) / rows)
    grid = figure.subplots(rows, across, squeeze=False, sharex=bool(plot.steps)).ravel()
    for axes, panel in zip(grid, panels, strict=False):
        draw_panel(axes, panel, plot.data[plot.data["panel"] == panel.name], look)
    for axes in grid[len(panels) :]:
        axes.remove()
    if len(panels) == 1 and not panels[0].arm:
        grid[0].set_title("")
    return figure


def draw_panel(axes: Axes, panel: Panel, rows: pd.DataFrame, look: Look) -> None:
    """Every series of a panel, then its axes."""
    names = list(dict.fromkeys(rows["x"]))
    if panel.numeric:
        names = sorted(names, key=float)
    _axes(axes, panel, look)
    series = series_of(rows)
    for place, (arm, control) in enumerate(series):
        own = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        shift = _shift(place, len(series), panel)
        _means(axes, panel, own, names, shift, look)
        _seeds(axes, panel, own, names, shift, look)
    _slide(axes, panel, rows[rows["kind"] == SLIDE], names, look)
    _limits(axes, panel)
    _ticks(axes, panel, rows, names, look)


def _shift(place: int, count: int, panel: Panel) -> float:
    """Side by side within a category, so that bars do not cover each other."""
    if panel.numeric or count < 2:
        return 0.0
    return SPREAD[panel.joined] * (place / (count - 1) - 0.5)


def _crowded(names: list[str], look: Look) -> bool:
    return bool(look.close) or len(names) > CROWD[look.size == BASE]


def _places(rows: pd.DataFrame, names: list[str], panel: Panel, shift: float) -> np.ndarray:
    """Where the rows stand on the x axis."""
    if panel.numeric:
        return rows["x"].astype(float).to_numpy()
    return np.array([names.index(x) for x in rows["x"]], dtype=np.float64) + shift


def _means(
    axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str], shift: float, look: Look
) -> None:
    """A series' means with their intervals and its line; bounds with a marker of their own."""
    means = rows[rows["kind"] == MEAN].sort_values("x", key=lambda x: x.map(names.index))
    arm, control = means[["arm", "control"]].iloc[0]
    mark, line = look.mark(arm, control), look.line(arm, control)
    at, values = _places(means, names, panel, shift), means["value"].to_numpy()
    ends = [means["low"].to_numpy() - values, means["high"].to_numpy() - values]
    fill = look.fill(control, mark)
    crowded = _crowded(names, look)
    axes.errorbar(
        at, values, yerr=np.abs(ends), fmt=mark.marker, color=mark.colour,
        mfc=fill, mew=2, ms=6 if crowded else 9, lw=2.6, ls=line if panel.joined else "none",
        elinewidth=BAR, capsize=2 if crowded else 5, capthick=BAR, zorder=3,
    )  # fmt: skip
    for note, marker in BOUNDS.items():
        held = means["note"].str.contains(note).to_numpy()
        axes.plot(
            at[held], values[held], ls="none", marker=marker, ms=15, mew=2, color=mark.colour,
            mfc=fill, zorder=5,
        )  # fmt: skip


def _seeds(
    axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str], shift: float, look: Look
) -> None:
    """Each seed of a series as a small point, right of the mean where there is room.

    Hollow where the mean is, for the series of one arm share its colour.
    """
    seeds = rows[rows["kind"] == SEED]
    if seeds.empty:
        return
    arm, control = seeds[["arm", "control"]].iloc[0]
    mark = look.mark(arm, control)
    fill = look.fill(control, mark)
    whole = fill == mark.colour
    edge = look.theme.ground if whole else mark.colour
    small = {"ms": 5, "mew": 0.8}
    if _crowded(names, look):
        small = {"ms": 3, "mew": 0.0 if whole else 0.8}
    axes.plot(
        _beside(_places(seeds, names, panel, shift), names, panel), seeds["value"], ls="none",
        marker="o", mfc=fill, mec=edge, zorder=4, **small,
    )  # fmt: skip


def _beside(at: np.ndarray, names: list[str], panel: Panel) -> np.ndarray:
    """A little to the right."""
    if not panel.numeric:
        return at + BESIDE
    if panel.log_x:
        return at * (1 + BESIDE)
    return at + NEAR * np.ptp(np.array(names, dtype=np.float64))


def _slide(axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str], look: Look) -> None:
    """The printed numbers of an arm as a faint line; of a single one across its category."""
    for arm, own in rows.groupby("arm", sort=False):
        at, values = _places(own, names, panel, 0.0), own["value"].to_numpy()
        if len(own) == 1:
            at, values = np.array([at[0] - 0.5, at[0] + 0.5]), values.repeat(2)
        axes.plot(at, values, **faint(arm, look), zorder=1)


def _axes(axes: Axes, panel: Panel, look: Look) -> None:
    """Colours, names and scales."""
    ink = look.theme.ink
    look.paint(axes, grid="y")
    own = look.arms[panel.arm].colour if panel.arm else ink
    axes.set_title(
        panel.name, fontsize=look.size, color=own, fontweight="bold" if panel.arm else None
    )
    axes.set_ylabel(panel.y, fontsize=look.size, color=ink)
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if panel.log_y:
        axes.set_yscale("log")


def _limits(axes: Axes, panel: Panel) -> None:
    """Of a linear y axis, where no mark is cut in half; the ticks of a short logarithmic one."""
    if panel.log_y:
        low, high = axes.get_ylim()
        if high / low < FEW_DECADES:
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        return
    axes.set_ylim(*panel.limits)
    low, high = axes.get_ylim()
    above = 0.04 if panel.limits[1] is None else 0.0
    axes.set_ylim(low - 0.02 * (high - low), high + above * (high - low))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _ticks(axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str], look: Look) -> None:
    """n with the axis' name where it is one number, else below each category."""
    means = rows[rows["kind"] == MEAN]
    whole = counts_told(means)
    once = panel.numeric or "–" not in whole
    told = f"n = {whole} {panel.counted}" if once else f"n: {panel.counted}"
    label = f"{panel.x} ({told})" if panel.x else told
    if look.size != BASE and len(label) > ROOM:
        label = f"{panel.x}\n({told})"
    axes.set_xlabel(label if whole else panel.x, fontsize=look.size, color=look.theme.ink)
    if panel.log_x:
        shown = sorted(map(float, names))
        axes.set_xlim(shown[0] / AROUND, shown[-1] * AROUND)  # of one place matplotlib has no room
        if all(place.is_integer() for place in shown):  # else powers of two
            axes.set_xticks(shown)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    elif panel.numeric:
        steps = WIDE if look.size == BASE else NARROW
        axes.xaxis.set_major_locator(MaxNLocator(steps, integer=True))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    else:
        counts = ["" if once else counts_told(means[means["x"] == name]) for name in names]
        lines = 1 + max(name.count("\n") for name in names)
        texts = [_tick(name, n, lines) for name, n in zip(names, counts, strict=True)]
        axes.set_xticks(range(len(names)), texts)
        axes.set_xlim(-0.5, len(names) - 0.5)


def _tick(name: str, n: str, lines: int) -> str:
    """A category's name over so many lines, then its n."""
    rest = "\n" * (lines - name.count("\n"))
    return f"{name}{rest}n {n}" if n else name
