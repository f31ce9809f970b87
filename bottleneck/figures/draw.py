"""Drawing a `Plot`: one line per arm and control, bars for intervals, small points for seeds.

An arm has its colour and marker in every figure. Colours are those of Okabe and Ito (2008), which
colour-blind people tell apart; markers and line styles say the same, so that a figure can be read
in grey. The rest is in ``slide.mplstyle``.
"""

import re
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator
from matplotlib.transforms import offset_copy

from ..tables.comparison import NONE
from .plot import MEAN, SEED, SLIDE, Panel, Plot, counts_in

STYLE = rc_params_from_file(Path(__file__).with_name("slide.mplstyle"), use_default_template=False)
"""matplotlib's settings for every figure: a slide of 16 to 9."""
BASE, SMALL = STYLE["font.size"], STYLE["figure.labelsize"]
"""Points of most text, and of the notes below."""
GROUND, INK, GRID, WEIGHTS = "#FFFFFF", "#222222", "#DDDDDD", "#00436B"
"""Colours of the ground, of text, of the grid, and of an attention weight of 1."""
ATTENTION = {
    "none": "#D55E00", "additive": "#0072B2", "dot": "#009E73", "general": "#CC79A7",
    "scaled-dot": "#E69F00", "uniform": "#8A8A8A"
}  # fmt: skip
MARKERS = dict(zip(ATTENTION, "osDPdX", strict=True))
DASHES = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))
Style = Mapping[str, Any]
"""Keywords of matplotlib for a line."""
NUMBERS = "{x:,.10g}"


def slide(title: str, notes: Sequence[str]) -> Figure:
    """A figure of slide size with its title above and its notes below; inside `STYLE`."""
    figure = Figure()
    figure.suptitle(title)
    figure.supxlabel("\n".join(fill(note, 150) for note in notes))
    return figure


def marks(arms: Sequence[str]) -> dict[str, dict[str, str]]:
    """Colour and marker of each arm, as matplotlib's keywords.

    The arm with an attention's plain name always has that attention's marker. An arm has the colour
    of the attention that its name begins with, as ``dot-output`` and ``dot layers=2`` do. An arm
    without a name is none of the arms, and has the colour of text.
    """
    result, others = {"": {"color": INK, "marker": "v"}}, ("#56B4E9", "#999933", "#7A7A7A")
    for arm in sorted(set(arms) - {""}, key=lambda arm: (arm not in MARKERS, arms.index(arm))):
        attention = next((name for name in MARKERS if re.match(rf"{name}( |-|$)", arm)), arm)
        colour = ATTENTION.get(attention) or others[len(result) % len(others)]
        taken = {mark["marker"] for mark in result.values()}
        markers = [MARKERS.get(attention, "h"), *"hp*8H"]
        marker = next((name for name in markers if name not in taken), "h")
        result[arm] = {"color": colour, "marker": marker}
    return result


def line_of(controls: Sequence[str], control: str) -> str | tuple:
    """The line of what was trained is solid, those of controls are broken.

    Where nothing is without a control, the first of them is solid. ``untrained``, the control of
    most figures, has the same line in all of them.
    """
    plain = "" if "" in controls else controls[0]
    others = sorted(set(controls) - {plain}, key=lambda c: (c != "untrained", controls.index(c)))
    return "-" if control == plain else DASHES[others.index(control) % len(DASHES)]


@rc_context(STYLE)
def draw(plot: Plot) -> Figure:
    """The whole figure at slide size; a panel without data is left out.

    The legend has a sample of each series, in the order of the data; the slide's after them.
    """
    panels = [panel for panel in plot.panels if (plot.data["panel"] == panel.name).any()]
    styles, rows, small = _styles(plot), 1 if len(panels) <= 3 else 2, len(panels) > 2
    with rc_context({"font.size": BASE - 2 if small else BASE}):
        figure = slide(plot.title, plot.notes)
        part = figure.subfigures()  # so that the legend is under the title
        grid = part.subplots(rows, ceil(len(panels) / rows), squeeze=False, sharex=bool(plot.steps))
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, plot, panel, styles, small)
            if len(panels) > 1 or panel.arm or plot.in_rows:
                colour = {"color": styles[panel.arm, SLIDE]["color"], "fontweight": "bold"}
                axes.set_title(panel.name, **(colour if panel.arm else {}))
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        samples: dict[str, Any] = {}
        for axes in part.axes:
            for sample, label in zip(*axes.get_legend_handles_labels(), strict=True):
                samples.setdefault(label, getattr(sample, "lines", (sample,))[0])
        labels = sorted(samples, key=lambda label: label.endswith("slide"))
        columns = min(len(samples), max(1, 110 // (10 + max(map(len, samples)))))
        columns = ceil(len(samples) / ceil(len(samples) / columns))  # rows of about equal length
        handles = [samples[label] for label in labels]
        part.legend(handles, labels, loc="outside upper center", ncols=columns)
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
            step, line, count = plot.steps.index(control), "-", len(plot.steps)
            style["marker"] = "os^DvPX*h"[step % 9]
            if count > 1:
                shades = LinearSegmentedColormap.from_list("", [GROUND, style["color"], INK])
                style["color"] = to_hex(shades(np.linspace(0.3, 0.85, count)[step]))
        elif not arm:
            style["marker"] = "v^<>"[controls.index(control) % 4]
        style["mfc"] = style["color"] if line == "-" else GROUND
        style["ls"] = ("-", *DASHES)[index % (1 + len(DASHES))] if plot.close else line
        styles[arm, control] = style
    return styles


def _draw_panel(axes: Axes, plot: Plot, panel: Panel, styles: Mapping, small: bool) -> None:
    """Every series of a panel, the slide's numbers, then its axes.

    In rows, categories stand below each other, at one height in all panels, and their arms next to
    each other within it.
    """
    rows = plot.data[plot.data["panel"] == panel.name]
    everywhere = plot.data if plot.in_rows else rows
    names, series = list(dict.fromkeys(everywhere["x"])), _series(everywhere)
    names = sorted(names, key=float) if panel.numeric else names
    places = {name: float(name) if panel.numeric else index for index, name in enumerate(names)}
    rows = rows.assign(at=rows["x"].map(places)).sort_values("at", kind="stable")
    size, gap = 6 if small or len(names) > 12 else 9, 5 if panel.joined else 12
    if plot.in_rows:
        several = everywhere.groupby("x")["arm"].nunique().max() > 1
        lane = min(264 / len(names) / (len(series) if several else 1), 24)
        size, gap = min(9, 0.6 * lane), lane * several
    for index, (arm, control) in enumerate(series):
        subset = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        if subset.empty:
            continue
        style = {**styles[arm, control], "ms": size}
        if not panel.joined:
            style["ls"] = "none"
        # Where a panel is one arm's, its title names the arm.
        label = ", ".join(filter(None, ("" if panel.arm else arm, control)))
        # So that bars do not overlap.
        shift = 0.0 if panel.numeric else gap * (index - (len(series) - 1) / 2)
        shifts = ((shift, 0.0), (8.0, 0.0))
        if plot.in_rows:
            shifts = ((0.0, -shift), (0.0, -0.45 * lane))
        _draw_series(axes, subset, style, shifts, label, plot.in_rows)
    for arm, printed in rows[rows["kind"] == SLIDE].groupby("arm", sort=False):
        at, values = printed["at"].to_numpy(dtype=float), printed["value"].to_numpy()
        if len(printed) == 1:  # across its category
            at, values = at[0] + np.array([-0.5, 0.5]), values.repeat(2)
        # The slide does not say which attention its is.
        name = ", ".join(filter(None, (arm and (arm if arm == NONE else "attention"), "slide")))
        axes.plot(at, values, **styles[arm, SLIDE], ls=":", lw=2.2, alpha=0.65, ms=6, mfc=GROUND,
                  mew=1.2, zorder=1, label=name)  # fmt: skip
    if plot.in_rows:
        _row_axes(axes, panel, rows, names, everywhere.set_index("x")["note"].to_dict())
        return
    for end in ("value", "low", "high"):  # what is moved does not count for the axes' limits
        axes.update_datalim(rows[["at", end]].dropna())
    axes.autoscale_view()
    _axes(axes, panel, rows[rows["kind"] == MEAN], names, small)


def _draw_series(
    axes: Axes,
    rows: pd.DataFrame,
    style: Style,
    shifts: Sequence[Sequence[float]],
    label: str,
    across: bool,
) -> None:
    """Means with their bars, those that are bounds, and seeds.

    ``shifts`` are in points: what moves all, and what moves seeds from their means. ``across``: the
    numbers are along the x axis.
    """
    x, y = ("value", "at") if across else ("at", "value")
    means, seeds = (rows[rows["kind"] == kind] for kind in (MEAN, SEED))
    ends = np.abs([means["low"] - means["value"], means["high"] - means["value"]])
    moved = [offset_copy(axes.transData, axes.figure, *points, units="points")
             for points in (shifts[0], np.add(*shifts))]  # fmt: skip
    axes.errorbar(
        means[x], means[y], **{"xerr" if across else "yerr": ends}, **style, elinewidth=2.2,
        capthick=2.2, capsize=0.5 * style["ms"], zorder=3, label=label, transform=moved[0]
    )  # fmt: skip
    points = {"color": style["color"], "mfc": style["mfc"], "ls": "none"}
    for note, marker in {"value at least": "^", "value under": "v"}.items():
        bounds = means[means["note"].str.contains(note)]
        if len(bounds):
            axes.plot(bounds[x], bounds[y], marker=marker, ms=15, zorder=5, **points)
    if len(seeds):
        points |= {"marker": "o", "ms": 0.55 * style["ms"], "mew": 0.8, "zorder": 4}
        axes.plot(seeds[x], seeds[y], transform=moved[1], **points)


def _axes(axes: Axes, panel: Panel, means: pd.DataFrame, names: list[str], small: bool) -> None:
    """Labels, limits and ticks: no mark at the y axis' ends is cut in half.

    n is in the label of the x axis, or below each category if they differ.
    """
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
    counts = counts_in(means)
    once = panel.numeric or "–" not in counts
    counted = f"n = {counts} {panel.counted}" if once else f"n: {panel.counted}"
    label = f"{panel.x} ({counted})" if panel.x else counted
    if small and len(label) > 38:
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


def _row_axes(
    axes: Axes, panel: Panel, rows: pd.DataFrame, names: list[str], notes: Mapping[str, str]
) -> None:
    """Names of the rows with what is noted of them, from above; the numbers' axis with n."""
    counts = counts_in(rows[rows["kind"] == MEAN])
    axes.set_xlabel(f"{panel.x} (n = {counts} {panel.counted})")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    low, high = panel.limits
    axes.set_xlim(low - 0.02 * (high - low), high)
    texts = ["\n".join(filter(None, (notes[name], name))) for name in names]
    lines = 1 + max(text.count("\n") for text in texts)
    size = min(BASE - 2, 244 / len(names) / lines)
    axes.set_yticks(range(len(names)), texts, fontsize=size)
    axes.tick_params(axis="y", length=0, labelleft=axes.get_subplotspec().is_first_col())
    axes.set_ylim(len(names) - 0.5, -0.5)
    for edge in range(1, len(names)):
        axes.axhline(edge - 0.5, color=GRID, lw=1, zorder=0)
