"""Drawing a `Plot`: a line an arm and control, bars for intervals, small points for seeds."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.ticker import LogLocator, MaxNLocator
from matplotlib.transforms import offset_copy

from ..tables.comparison import NONE
from .plot import MEAN, SEED, SLIDE, Panel, Plot, counts_in
from .style import (
    BASE,
    DASHES,
    GRID,
    GROUND,
    SHARED_MARKERS,
    SMALL,
    STEP_MARKERS,
    STYLE,
    line_of,
    marks,
    shades,
    slide,
)

Styles = Mapping[tuple[str, str], dict[str, Any]]
"""How the series of an arm and a control looks, as keywords of matplotlib."""

FEW_PANELS, FEW_PLACES = 2, 12
"""With more panels text is smaller, with more places on an axis its marks are."""
ROOM = 38
"""Letters of an x axis' name, with its n, that one of many panels has room for in a line."""
BOUNDS = {"value at least": "^", "value under": "v"}
"""Notes of numbers that are bounds, and the marker of such a point."""
NUMBERS = "{x:,.10g}"
LEGEND_ROOM = 110
"""Letters that a row of the legend has room for."""


@rc_context(STYLE)
def draw(plot: Plot) -> Figure:
    """The whole figure at slide size; a panel without data is left out."""
    panels = [panel for panel in plot.panels if (plot.data["panel"] == panel.name).any()]
    styles, crowded = _styles(plot), len(panels) > FEW_PANELS
    rows = 1 if len(panels) <= 3 else 2
    with rc_context({"font.size": BASE - 2 if crowded else BASE}):
        figure = slide(plot.title, plot.notes)
        part = figure.subfigures()  # so that the legend is under the title
        grid = part.subplots(rows, ceil(len(panels) / rows), squeeze=False, sharex=bool(plot.steps))
        for axes, panel in zip(grid.flat, panels, strict=False):
            data = plot.data[plot.data["panel"] == panel.name]
            if plot.in_rows:
                _draw_rows(axes, panel, data, styles, plot.data)
            else:
                _draw_panel(axes, panel, data, styles, crowded)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        if len(panels) == 1 and not panels[0].arm and not plot.in_rows:
            grid[0, 0].set_title("")
        _legend(part)
    return figure


def series_of(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Arm and control of each line, in the order of the data."""
    means = rows[rows["kind"] == MEAN]
    return list(dict.fromkeys(zip(means["arm"], means["control"], strict=True)))


def _styles(plot: Plot) -> Styles:
    """Colour, marker, its filling and line of every series; of the slide's by the arm alone."""
    arms, series = marks(list(plot.data["arm"])), series_of(plot.data)
    controls = list(dict.fromkeys(control for _, control in series))
    styles: dict[tuple[str, str], dict[str, Any]] = {
        (arm, SLIDE): {"color": mark.colour, "marker": mark.marker if arm else "none"}
        for arm, mark in arms.items()
    }
    for index, (arm, control) in enumerate(series):
        colour, marker = arms[arm].colour, arms[arm].marker
        line = line_of(controls, control)
        if plot.steps:
            step, line = plot.steps.index(control), "-"
            colour = shades(colour, len(plot.steps))[step]
            marker = STEP_MARKERS[step % len(STEP_MARKERS)]
        elif not arm:
            marker = SHARED_MARKERS[controls.index(control) % len(SHARED_MARKERS)]
        fill = colour if line == "-" else GROUND
        if plot.close:  # lines lie on each other: each has a style of its own
            line = ("-", *DASHES)[index % (1 + len(DASHES))]
        styles[arm, control] = {"color": colour, "marker": marker, "mfc": fill, "ls": line}
    return styles


def _legend(part: FigureBase) -> None:
    """A sample of each series, in the order of the data; the slide's after them."""
    samples = {}
    for axes in part.axes:
        for bars in axes.containers:
            samples.setdefault(bars.get_label(), bars.lines[0])
    for axes in part.axes:
        for line in axes.lines:
            if not line.get_label().startswith("_"):
                samples.setdefault(line.get_label(), line)
    widest = max(len(label) for label in samples) + 10
    columns = max(1, min(len(samples), LEGEND_ROOM // widest))
    columns = ceil(len(samples) / ceil(len(samples) / columns))
    part.legend(samples.values(), samples, loc="outside upper center", ncols=columns)


def _draw_panel(
    axes: Axes, panel: Panel, rows: pd.DataFrame, styles: Styles, crowded: bool
) -> None:
    """Every series of a panel, then its axes."""
    names = sorted(dict.fromkeys(rows["x"]), key=float) if panel.numeric else list(
        dict.fromkeys(rows["x"]))  # fmt: skip
    places = {name: float(name) if panel.numeric else index for index, name in enumerate(names)}
    rows = rows.assign(at=rows["x"].map(places)).sort_values("at", kind="stable")
    series = series_of(rows.sort_index())
    small = crowded or len(names) > FEW_PLACES
    for index, (arm, control) in enumerate(series):
        subset = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        means, seeds = (subset[subset["kind"] == kind] for kind in (MEAN, SEED))
        apart = 0 if panel.numeric else (5 if panel.joined else 12)
        right = apart * (index - (len(series) - 1) / 2)  # points, so that no bar covers another
        style = {**styles[arm, control], "ms": 6 if small else 9}
        if not panel.joined:
            style["ls"] = "none"
        ends = np.abs([means["low"] - means["value"], means["high"] - means["value"]])
        move = offset_copy(axes.transData, axes.figure, x=right, units="points")
        axes.errorbar(
            means["at"], means["value"], yerr=ends, **style, elinewidth=2.2, capthick=2.2,
            capsize=2 if small else 5, zorder=3, transform=move, label=_label(arm, control, panel),
        )  # fmt: skip
        bounds = {"color": style["color"], "mfc": style["mfc"], "ms": 15, "ls": "none"}
        for note, marker in BOUNDS.items():
            some = means[means["note"].str.contains(note)]
            axes.plot(some["at"], some["value"], marker=marker, **bounds, zorder=5)
        if len(seeds):
            beside = offset_copy(axes.transData, axes.figure, x=right + 8, units="points")
            axes.plot(
                seeds["at"], seeds["value"], ls="none", marker="o", ms=3 if small else 5, mew=0.8,
                mfc=style["mfc"], mec=style["color"], zorder=4, transform=beside,
            )  # fmt: skip
    for end in ("value", "low", "high"):  # what is moved does not count for the axes' limits
        axes.update_datalim(rows[["at", end]].dropna())
    axes.autoscale_view()
    for arm, subset in rows[rows["kind"] == SLIDE].groupby("arm", sort=False):
        _slide(axes, arm, subset, styles)
    _axes(axes, panel, rows, names, styles)


def _label(arm: str, control: str, panel: Panel) -> str:
    """A series in the legend; where a panel is one arm's, its title names the arm."""
    return ", ".join(filter(None, ("" if panel.arm else arm, control)))


def _slide(axes: Axes, arm: str, rows: pd.DataFrame, styles: Styles) -> None:
    """The printed numbers of an arm as a faint line; of a single one across its category.

    The slide does not say which attention its own is.
    """
    at, values = rows["at"].to_numpy(dtype=float), rows["value"].to_numpy()
    if len(rows) == 1:
        at, values = np.array([at[0] - 0.5, at[0] + 0.5]), values.repeat(2)
    name = ", ".join(filter(None, (arm and (arm if arm == NONE else "attention"), "slide")))
    axes.plot(
        at, values, **styles[arm, SLIDE], ls=":", lw=2.2, alpha=0.65, ms=6, mfc=GROUND, mew=1.2,
        zorder=1, label=name,
    )  # fmt: skip


def _axes(axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str], styles: Styles) -> None:
    """Title, names, limits and ticks; n with the x axis' name, or below each category."""
    colour = {"color": styles[panel.arm, SLIDE]["color"], "fontweight": "bold"}
    axes.set_title(panel.name, **(colour if panel.arm else {}))
    axes.set_ylabel(panel.y)
    if panel.log_y:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        if high / low < 1e3:
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.tick_params(axis="y", which="minor", left=False, labelleft=False)
    else:
        axes.set_ylim(*panel.limits)
        low, high = axes.get_ylim()
        spare = 0.02 * (high - low)  # no mark is cut in half
        axes.set_ylim(low - spare, high if panel.limits[1] else high + 2 * spare)
    axes.yaxis.set_major_formatter(NUMBERS)

    means = rows[rows["kind"] == MEAN]
    counts = counts_in(means)
    once = panel.numeric or "–" not in counts
    counted = f"n = {counts} {panel.counted}" if once else f"n: {panel.counted}"
    label = f"{panel.x} ({counted})" if panel.x else counted
    if len(axes.figure.axes) > FEW_PANELS and len(label) > ROOM:
        label = f"{panel.x}\n({counted})"
    axes.set_xlabel(label if counts else panel.x)
    if not panel.numeric:
        lines = 1 + max(name.count("\n") for name in names)
        texts = [
            name if once else name + "\n" * (lines - name.count("\n"))
            + f"n {counts_in(means[means['x'] == name])}"
            for name in names
        ]  # fmt: skip
        axes.set_xticks(range(len(names)), texts)
        axes.set_xlim(-0.5, len(names) - 0.5)
        return
    places = [float(name) for name in names]
    if panel.log_x:
        axes.set_xscale("log", base=2)
        axes.set_xlim(places[0] / 2**0.5, places[-1] * 2**0.5)
        if all(place.is_integer() for place in places):  # else powers of two
            axes.set_xticks(places)
        axes.minorticks_off()
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(NUMBERS)


def _draw_rows(
    axes: Axes, panel: Panel, rows: pd.DataFrame, styles: Styles, data: pd.DataFrame
) -> None:
    """Categories from above, their arms below each other, what was measured along the x axis.

    ``data`` are the rows of all panels, in which a category and an arm stand at one height.
    """
    series, notes = series_of(data), data.drop_duplicates("x").set_index("x")["note"].to_dict()
    names, means = list(notes), rows[rows["kind"] == MEAN]
    several = data.groupby("x")["arm"].nunique().max() > 1
    height = 330 / len(names)  # points of a row
    lane = min(0.8 * height / (len(series) if several else 1), 24)
    size = min(9, 0.6 * lane)
    for index, (arm, control) in enumerate(series):
        style = {**styles[arm, control], "ls": "none", "ms": size}
        down = (index - (len(series) - 1) / 2) * lane if several else 0.0
        subset = means[means["arm"] == arm]
        if subset.empty:
            continue
        ends = np.abs([subset["low"] - subset["value"], subset["high"] - subset["value"]])
        move = offset_copy(axes.transData, axes.figure, y=-down, units="points")
        axes.errorbar(
            subset["value"], [names.index(x) for x in subset["x"]], xerr=ends, **style,
            elinewidth=2.2, capthick=2.2, capsize=0.8 * size, transform=move, label=arm,
        )  # fmt: skip
        seeds = rows[(rows["kind"] == SEED) & (rows["arm"] == arm)]
        below = offset_copy(axes.transData, axes.figure, y=-down - 0.45 * lane, units="points")
        axes.plot(
            seeds["value"], [names.index(x) for x in seeds["x"]], ls="none", marker="o",
            ms=0.5 * size, mew=0.8, color=style["color"], mec=GROUND, transform=below,
        )  # fmt: skip
    counts = counts_in(means)
    once = "–" not in counts and set(means["x"]) == set(names)
    axes.set_xlabel(f"{panel.x} (n{f' = {counts}' if once else ':'} {panel.counted})")
    for index, name in enumerate(() if once else names):
        n = counts_in(means[means["x"] == name]) or 0
        axes.text(1.02, index, f"n {n}", va="center", transform=axes.get_yaxis_transform(),
                  fontsize=min(SMALL, height / 1.35))  # fmt: skip
    axes.set_title(panel.name)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    low, high = panel.limits
    axes.set_xlim(low - 0.02 * (high - low), high)
    texts = ["\n".join(filter(None, (notes[name], name))) for name in names]
    lines = 1 + max(text.count("\n") for text in texts)
    axes.set_yticks(range(len(names)), texts, fontsize=min(BASE - 2, height / 1.35 / lines))
    axes.tick_params(axis="y", length=0, labelleft=axes.get_subplotspec().is_first_col())
    axes.set_ylim(len(names) - 0.5, -0.5)
    for edge in range(1, len(names)):
        axes.axhline(edge - 0.5, color=GRID, lw=1, zorder=0)
