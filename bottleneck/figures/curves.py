"""Drawing a `Plot`: a line an arm and control, bars for intervals, small points for seeds."""

from math import ceil

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from .plot import MEAN, SEED, SLIDE, Panel, Plot
from .style import BASE, SIZE, SMALL, TITLE, Mark, Theme, dash, marks

SPREAD = {True: 0.16, False: 0.5}
"""Width over which the series of a category stand, where they are joined and where not."""
BOUNDS = {"value at least": "^", "value under": "v"}
"""Notes of numbers that are bounds, and the marker of such a point."""
BAR = 2.2
CROWDED = 4
"""So many panels or more, or text for so many, and the text is smaller."""


def draw(plot: Plot, theme: Theme) -> Figure:
    """The whole figure at slide size."""
    figure = Figure(figsize=SIZE, layout="constrained", facecolor=theme.ground)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1, wspace=0.03, hspace=0.04)
    columns = len(plot.panels) if len(plot.panels) < CROWDED else ceil(len(plot.panels) / 2)
    grid = figure.subplots(ceil(len(plot.panels) / columns), columns, squeeze=False).ravel()
    found = marks(list(plot.data["arm"]), theme)
    controls = list(dict.fromkeys(plot.data["control"]))
    for axes, panel in zip(grid, plot.panels, strict=False):
        rows = plot.data[plot.data["panel"] == panel.name]
        draw_panel(axes, panel, rows, found, controls, theme)
    for axes in grid[len(plot.panels) :]:
        axes.set_visible(False)
    _title(figure, plot, theme)
    _legend(figure, plot, found, controls, theme)
    return figure


def _title(figure: Figure, plot: Plot, theme: Theme) -> None:
    figure.suptitle(plot.title, fontsize=TITLE, color=theme.ink, fontweight="bold")
    figure.supxlabel("\n".join(plot.notes), fontsize=SMALL, color=theme.ink)


def draw_panel(
    axes: Axes, panel: Panel, rows: pd.DataFrame, found: dict[str, Mark], controls: list[str],
    theme: Theme,
) -> None:  # fmt: skip
    """Every series of a panel, then its axes."""
    names = list(dict.fromkeys(rows["x"]))
    if panel.numeric:
        names = sorted(names, key=float)
    series = [key for key, _ in rows[rows["kind"] == MEAN].groupby(["arm", "control"], sort=False)]
    _axes(axes, panel, theme)
    for place, (arm, control) in enumerate(series):
        own = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        shift = _shift(place, len(series), panel)
        _series(axes, panel, own, names, shift, found[arm], dash(controls, control), theme)
    for arm, own in rows[rows["kind"] == SLIDE].groupby("arm", sort=False):
        at = _places(own, names, panel, 0.0)
        axes.plot(
            at, own["value"], color=found[arm].colour, lw=2, ls=":", alpha=0.6,
            marker="_" if len(own) == 1 else None, ms=30, mew=3, zorder=1,
        )  # fmt: skip
    _ticks(axes, panel, rows, names)


def _shift(place: int, count: int, panel: Panel) -> float:
    """Side by side within a category, so that bars do not cover each other."""
    if panel.numeric or count < 2:
        return 0.0
    return SPREAD[panel.joined] * (place / (count - 1) - 0.5)


def _places(rows: pd.DataFrame, names: list[str], panel: Panel, shift: float) -> np.ndarray:
    """Where the rows stand on the x axis."""
    if panel.numeric:
        return rows["x"].astype(float).to_numpy()
    return np.array([names.index(x) for x in rows["x"]], dtype=np.float64) + shift


def _series(
    axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str], shift: float, mark: Mark,
    line: str | tuple, theme: Theme,
) -> None:  # fmt: skip
    """Means with their intervals and their line; seeds; bounds with a marker of their own."""
    means = rows[rows["kind"] == MEAN].sort_values("x", key=lambda x: x.map(names.index))
    at, values = _places(means, names, panel, shift), means["value"].to_numpy()
    ends = [np.abs(means[end].to_numpy() - values) for end in ("low", "high")]
    fill = mark.colour if line == "-" else theme.ground
    axes.errorbar(
        at, values, yerr=np.nan_to_num(ends), fmt=mark.marker, color=mark.colour, mfc=fill, mew=2,
        ms=9, lw=2.6, ls=line if panel.joined else "none", elinewidth=BAR, capsize=5, capthick=BAR,
        zorder=3,
    )  # fmt: skip
    seeds = rows[rows["kind"] == SEED]
    beside = 0.0 if panel.numeric else 0.07
    axes.plot(
        _places(seeds, names, panel, shift + beside), seeds["value"], ls="none", marker="o", ms=4,
        color=mark.colour, mec=theme.ground, mew=0.6, zorder=4,
    )  # fmt: skip
    for note, marker in BOUNDS.items():
        held = means["note"].str.contains(note).to_numpy()
        axes.plot(
            at[held], values[held], ls="none", marker=marker, ms=15, mew=2, color=mark.colour,
            mfc=theme.ground, zorder=5,
        )  # fmt: skip


def _axes(axes: Axes, panel: Panel, theme: Theme) -> None:
    """Colours, names and scales."""
    axes.set_facecolor(theme.ground)
    axes.grid(axis="y", color=theme.grid, lw=1)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.ink)
    axes.tick_params(colors=theme.ink, labelsize=BASE - 2)
    axes.set_title(panel.name, fontsize=BASE, color=theme.ink)
    axes.set_ylabel(panel.y, fontsize=BASE, color=theme.ink)
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if panel.log_y:
        axes.set_yscale("log")


def _ticks(axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str]) -> None:
    """n under each category; of a quantity, behind the axis' name."""
    counted = rows[rows["kind"] == MEAN]
    label = panel.x
    if panel.numeric:
        label = f"{panel.x}{_count(counted, '; n = ')}"
        if panel.log_x:
            shown = sorted(map(float, names))
            axes.set_xticks(shown, [f"{value:,.0f}" for value in shown])
            axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        texts = [f"{name}{_count(counted[counted['x'] == name], chr(10) + 'n ')}" for name in names]
        axes.set_xticks(range(len(names)), texts)
        axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xlabel(label, fontsize=BASE, color=axes.yaxis.label.get_color())
    if not panel.log_y:
        axes.set_ylim(*panel.limits)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _count(rows: pd.DataFrame, before: str) -> str:
    """How many were averaged over, as one number or the least and the most."""
    counts = rows["n"].dropna()
    if counts.empty:
        return ""
    least, most = int(counts.min()), int(counts.max())
    return f"{before}{least:,}" if least == most else f"{before}{least:,}–{most:,}"


def _legend(
    figure: Figure, plot: Plot, found: dict[str, Mark], controls: list[str], theme: Theme
) -> None:
    """Each series once, in the order of the data; the slide's after them."""
    handles = [
        _handle(arm, control, found[arm], dash(controls, control), plot, theme)
        for (arm, control), _ in plot.data[plot.data["kind"] == MEAN].groupby(
            ["arm", "control"], sort=False
        )
    ]
    for arm in dict.fromkeys(plot.data.loc[plot.data["kind"] == SLIDE, "arm"]):
        text = f"{arm}, slide" if arm else "slide"
        colour = found[arm].colour
        handles.append(Line2D([], [], color=colour, lw=2, ls=":", alpha=0.6, label=text))
    columns = min(len(handles), 4 if len(handles) > 6 else 6)
    size = BASE - 1 if len(handles) <= 6 else SMALL
    figure.legend(
        handles=handles, loc="outside upper center", ncols=max(1, columns), fontsize=size,
        frameon=False, labelcolor=theme.ink, handlelength=3.2,
    )  # fmt: skip


def _handle(
    arm: str, control: str, mark: Mark, line: str | tuple, plot: Plot, theme: Theme
) -> Line2D:
    """A sample of a series, hollow where it is a control."""
    joined = any(panel.joined for panel in plot.panels)
    return Line2D(
        [], [], color=mark.colour, marker=mark.marker, ls=line if joined else "none", lw=2.6, ms=9,
        mew=2, mfc=mark.colour if line == "-" else theme.ground,
        label=", ".join(filter(None, (arm, control))),
    )  # fmt: skip
