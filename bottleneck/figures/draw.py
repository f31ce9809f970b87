"""Drawing a `Plot`: one line per arm and control, bars for intervals, small points for seeds."""

from collections.abc import Mapping, Sequence
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
    SMALL,
    STEP_MARKERS,
    STYLE,
    line_of,
    marks,
    shades,
    slide,
)

Style = Mapping[str, Any]
"""Keywords of matplotlib for a line."""
FEW_PANELS = 2
"""With more panels text is smaller."""
LEGEND = 110
"""Letters of a row of the legend."""
BOUNDS = {"value at least": "^", "value under": "v"}
"""Notes of numbers that are bounds, and the marker of such a point."""
NUMBERS = "{x:,.10g}"


@rc_context(STYLE)
def draw(plot: Plot) -> Figure:
    """The whole figure at slide size; a panel without data is left out."""
    panels = [panel for panel in plot.panels if (plot.data["panel"] == panel.name).any()]
    styles, rows = _styles(plot), 1 if len(panels) <= 3 else 2
    with rc_context({"font.size": BASE - 2 if len(panels) > FEW_PANELS else BASE}):
        figure = slide(plot.title, plot.notes)
        part = figure.subfigures()  # so that the legend is under the title
        grid = part.subplots(rows, ceil(len(panels) / rows), squeeze=False, sharex=bool(plot.steps))
        for axes, panel in zip(grid.flat, panels, strict=False):
            data = plot.data[plot.data["panel"] == panel.name]
            if plot.in_rows:
                _draw_rows(axes, panel, data, styles, plot.data)
            else:
                _draw_panel(axes, panel, data, styles, len(panels) > FEW_PANELS)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        if len(panels) == 1 and not panels[0].arm and not plot.in_rows:
            grid[0, 0].set_title("")
        _legend(part)
    return figure


def _series(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Arm and control of each line, in the order of the data."""
    means = rows[rows["kind"] == MEAN]
    return list(dict.fromkeys(zip(means["arm"], means["control"], strict=True)))


def _styles(plot: Plot) -> dict[tuple[str, str], Style]:
    """Colour, marker, its filling and line of every series; of the slide's by the arm alone."""
    arms, series = marks(list(plot.data["arm"])), _series(plot.data)
    controls = list(dict.fromkeys(control for _, control in series))
    styles: dict[tuple[str, str], Style] = {
        (arm, SLIDE): mark if arm else mark | {"marker": "none"} for arm, mark in arms.items()
    }
    for index, (arm, control) in enumerate(series):
        style, line = dict(arms[arm]), line_of(controls, control)
        if plot.steps:
            step, line = plot.steps.index(control), "-"
            style["color"] = shades(style["color"], len(plot.steps))[step]
            style["marker"] = STEP_MARKERS[step % len(STEP_MARKERS)]
        elif not arm:
            style["marker"] = "v^<>"[controls.index(control) % 4]
        style["mfc"] = style["color"] if line == "-" else GROUND
        style["ls"] = ("-", *DASHES)[index % (1 + len(DASHES))] if plot.close else line
        styles[arm, control] = style
    return styles


def _legend(part: FigureBase) -> None:
    """A sample of each series, in the order of the data; the slide's after them."""
    bars = [(bars.get_label(), bars.lines[0]) for axes in part.axes for bars in axes.containers]
    lines = [(line.get_label(), line) for axes in part.axes for line in axes.lines]
    samples: dict[str, Any] = {}
    for label, sample in bars + lines:
        if not label.startswith("_"):
            samples.setdefault(label, sample)
    columns = min(len(samples), max(1, LEGEND // (10 + max(map(len, samples)))))
    columns = ceil(len(samples) / ceil(len(samples) / columns))
    part.legend(samples.values(), samples, loc="outside upper center", ncols=columns)


def _draw_series(
    axes: Axes, rows: pd.DataFrame, style: Style, shift: tuple[float, float],
    seed_shift: tuple[float, float], label: str, across: bool = False
) -> None:  # fmt: skip
    """Means with their bars, bounds, seeds ``seed_shift`` from them; moved by ``shift`` points.

    ``across``: the numbers are along the x axis.
    """
    x, y = ("value", "at") if across else ("at", "value")
    means, seeds = (rows[rows["kind"] == kind] for kind in (MEAN, SEED))
    ends = np.abs([means["low"] - means["value"], means["high"] - means["value"]])
    axes.errorbar(
        means[x], means[y], **{"xerr" if across else "yerr": ends}, **style, elinewidth=2.2,
        capthick=2.2, capsize=0.5 * style["ms"], zorder=3, label=label,
        transform=offset_copy(axes.transData, axes.figure, *shift, units="points")
    )  # fmt: skip
    colours = {"color": style["color"], "mfc": style["mfc"], "ls": "none"}
    for note, marker in BOUNDS.items():
        bounds = means[means["note"].str.contains(note)]
        if len(bounds) and not across:
            axes.plot(bounds[x], bounds[y], marker=marker, ms=15, zorder=5, **colours)
    if len(seeds):
        moved = shift[0] + seed_shift[0], shift[1] + seed_shift[1]
        axes.plot(
            seeds[x], seeds[y], marker="o", ms=0.55 * style["ms"], mew=0.8, zorder=4, **colours,
            transform=offset_copy(axes.transData, axes.figure, *moved, units="points")
        )  # fmt: skip


def _draw_panel(
    axes: Axes, panel: Panel, rows: pd.DataFrame, styles: Mapping, crowded: bool
) -> None:
    """Every series of a panel, the slide's numbers, then its axes."""
    names = list(dict.fromkeys(rows["x"]))
    names = sorted(names, key=float) if panel.numeric else names
    places = {name: float(name) if panel.numeric else index for index, name in enumerate(names)}
    series = _series(rows)
    rows = rows.assign(at=rows["x"].map(places)).sort_values("at", kind="stable")
    size = 6 if crowded or len(names) > 12 else 9
    for index, (arm, control) in enumerate(series):
        style = {**styles[arm, control], "ms": size}
        if not panel.joined:
            style["ls"] = "none"
        gap = 0 if panel.numeric else (5 if panel.joined else 12)  # so that no bar covers another
        shift = gap * (index - (len(series) - 1) / 2), 0.0
        # Where a panel is one arm's, its title names the arm.
        label = ", ".join(filter(None, ("" if panel.arm else arm, control)))
        subset = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        _draw_series(axes, subset, style, shift, (8.0, 0.0), label)
    for end in ("value", "low", "high"):  # what is moved does not count for the axes' limits
        axes.update_datalim(rows[["at", end]].dropna())
    axes.autoscale_view()
    for arm, printed in rows[rows["kind"] == SLIDE].groupby("arm", sort=False):
        at, values = printed["at"].to_numpy(dtype=float), printed["value"].to_numpy()
        if len(printed) == 1:  # across its category
            at, values = at[0] + np.array([-0.5, 0.5]), values.repeat(2)
        # The slide does not say which attention its is.
        name = ", ".join(filter(None, (arm and (arm if arm == NONE else "attention"), "slide")))
        axes.plot(at, values, **styles[arm, SLIDE], ls=":", lw=2.2, alpha=0.65, ms=6, mfc=GROUND,
                  mew=1.2, zorder=1, label=name)  # fmt: skip
    colour = {"color": styles[panel.arm, SLIDE]["color"], "fontweight": "bold"}
    axes.set_title(panel.name, **(colour if panel.arm else {}))
    _value_axis(axes, panel)
    _place_axis(axes, panel, rows[rows["kind"] == MEAN], names, crowded)


def _value_axis(axes: Axes, panel: Panel) -> None:
    """Label, limits and ticks of the y axis; no mark is cut in half."""
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
        spare = 0.02 * (high - low)
        axes.set_ylim(low - spare, high if panel.limits[1] else high + 2 * spare)
    axes.yaxis.set_major_formatter(NUMBERS)


def _place_axis(
    axes: Axes, panel: Panel, means: pd.DataFrame, names: Sequence[str], crowded: bool
) -> None:
    """Label and ticks of the x axis; n is in the label, or below each category if they differ."""
    counts = counts_in(means)
    once = panel.numeric or "–" not in counts
    counted = f"n = {counts} {panel.counted}" if once else f"n: {panel.counted}"
    label = f"{panel.x} ({counted})" if panel.x else counted
    if crowded and len(label) > 38:
        label = f"{panel.x}\n({counted})"
    axes.set_xlabel(label if counts else panel.x)
    if not panel.numeric:
        lines = 1 + max(name.count("\n") for name in names)
        below = {name: "\n" * (lines - name.count("\n"))
                 + f"n {counts_in(means[means['x'] == name])}" for name in names}  # fmt: skip
        texts = [name if once else name + below[name] for name in names]
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
    axes: Axes, panel: Panel, rows: pd.DataFrame, styles: Mapping, data: pd.DataFrame
) -> None:
    """Categories from above, their arms below each other, what was measured along the x axis.

    ``data`` are the rows of all panels, in which a category and an arm stand at one height.
    """
    series, notes = _series(data), data.drop_duplicates("x").set_index("x")["note"].to_dict()
    names, means = list(notes), rows[rows["kind"] == MEAN]
    rows = rows.assign(at=rows["x"].map(names.index))
    lanes = len(series) if data.groupby("x")["arm"].nunique().max() > 1 else 1
    height = 330 / len(names)  # points of a row
    lane = min(0.8 * height / lanes, 24)
    for index, (arm, control) in enumerate(series):
        style = {**styles[arm, control], "ls": "none", "ms": min(9, 0.6 * lane)}
        down = (index - (lanes - 1) / 2) * lane if lanes > 1 else 0.0
        if (rows["arm"] == arm).any():
            subset = rows[rows["arm"] == arm]
            _draw_series(axes, subset, style, (0.0, -down), (0.0, -0.45 * lane), arm, across=True)
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
