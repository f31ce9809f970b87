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
from matplotlib import colormaps, rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import offset_copy

from ..tables.comparison import NONE
from .plot import MEAN, SEED, SLIDE, Panel, Plot, counts_in

STYLE = rc_params_from_file(Path(__file__).with_name("slide.mplstyle"), use_default_template=False)
"""matplotlib's settings for every figure: a slide of 16 to 9."""
BASE, SMALL = STYLE["font.size"], STYLE["figure.labelsize"]
"""Points of most text, and of the notes below."""
GROUND, INK, WEIGHTS = "#FFFFFF", "#222222", "#00436B"
"""Colours of the ground, of text, and of an attention weight of 1."""
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

    An arm has the colour of the attention that its name begins with, as ``dot-output`` and
    ``dot layers=2`` do, and its marker if that is the whole name. An arm without a name is none of
    the arms, and has the colour of text.
    """
    result = {"": {"color": INK, "marker": "v"}}
    for index, arm in enumerate(dict.fromkeys(filter(None, arms))):
        attention = next((name for name in MARKERS if re.match(rf"{name}( |-|$)", arm)), "")
        colour = ATTENTION.get(attention, ("#56B4E9", "#999933", "#7A7A7A")[index % 3])
        result[arm] = {"color": colour, "marker": MARKERS.get(arm, "hp*8"[index % 4])}
    return result


def line_of(controls: Sequence[str], control: str) -> str | tuple:
    """The line of what was trained is solid, those of controls are broken.

    Where nothing is without a control, the first of them is solid.
    """
    plain = "" if "" in controls else controls[0]
    others = [name for name in controls if name != plain]
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
            if len(panels) > 1 or panel.arm or not panel.x:
                axes.set_title(panel.name)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        samples: dict[str, Any] = {}
        for axes in part.axes:
            for sample, label in zip(*axes.get_legend_handles_labels(), strict=True):
                samples.setdefault(label, getattr(sample, "lines", (sample,))[0])
        labels = sorted(samples, key=lambda label: label.endswith("slide"))
        columns = max(1, 110 // (10 + max(map(len, samples))))
        handles = [samples[label] for label in labels]
        part.legend(handles, labels, loc="outside upper center", ncols=columns)
    return figure


def _styles(plot: Plot) -> dict[tuple[str, str], Style]:
    """Colour, marker, its filling and line of every series; of the slide's by the arm alone."""
    arms, means = marks(list(plot.data["arm"])), plot.data[plot.data["kind"] == MEAN]
    series = dict.fromkeys(zip(means["arm"], means["control"], strict=True))
    controls = list(dict.fromkeys(control for _, control in series))
    shades = colormaps["viridis"](np.linspace(0, 0.85, len(plot.steps)))
    styles: dict[tuple[str, str], Style] = {
        (arm, SLIDE): mark if arm else mark | {"marker": "none"} for arm, mark in arms.items()
    }
    for index, (arm, control) in enumerate(series):
        style, line = dict(arms[arm]), line_of(controls, control)
        if plot.steps:
            step, line = plot.steps.index(control), "-"
            style = {"color": to_hex(shades[step]), "marker": "os^DvPX*h"[step % 9]}
        elif not arm:
            style["marker"] = "v^<>"[controls.index(control) % 4]
        style["mfc"] = style["color"] if line == "-" else GROUND
        style["ls"] = ("-", *DASHES)[index % (1 + len(DASHES))] if plot.close else line
        styles[arm, control] = style
    return styles


def _draw_panel(axes: Axes, plot: Plot, panel: Panel, styles: Mapping, small: bool) -> None:
    """Every series of a panel, the slide's numbers, then its axes."""
    rows = plot.data[plot.data["panel"] == panel.name]
    means, names = rows[rows["kind"] == MEAN], list(dict.fromkeys(rows["x"]))
    names = sorted(names, key=float) if panel.numeric else names
    series = dict.fromkeys(zip(means["arm"], means["control"], strict=True))
    places = {name: float(name) if panel.numeric else index for index, name in enumerate(names)}
    rows = rows.assign(at=rows["x"].map(places)).sort_values("at", kind="stable")
    size = 6 if small or len(names) > 12 else 9
    several = means.groupby("x").size().max() > 1
    gap = min(5 if panel.joined else 12, 300 / len(names) / len(series)) * several
    for index, (arm, control) in enumerate(series):
        subset = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        style = {**styles[arm, control], "ms": size}
        if not panel.joined:
            style["ls"] = "none"
        # Where a panel is one arm's, its title names the arm.
        label = ", ".join(filter(None, ("" if panel.arm else arm, control)))
        # So that bars do not overlap.
        shift = 0.0 if panel.numeric else gap * (index - (len(series) - 1) / 2)
        _draw_series(axes, subset, style, shift, label)
    for arm, printed in rows[rows["kind"] == SLIDE].groupby("arm", sort=False):
        at, values = printed["at"].to_numpy(dtype=float), printed["value"].to_numpy()
        if len(printed) == 1:  # across its category
            at, values = at[0] + np.array([-0.5, 0.5]), values.repeat(2)
        # The slide does not say which attention its is.
        name = ", ".join(filter(None, (arm and (arm if arm == NONE else "attention"), "slide")))
        axes.plot(at, values, **styles[arm, SLIDE], ls=":", lw=2.2, alpha=0.65, ms=6, mfc=GROUND,
                  mew=1.2, zorder=1, label=name)  # fmt: skip
    for end in ("value", "low", "high"):  # what is moved does not count for the axes' limits
        axes.update_datalim(rows[["at", end]].dropna())
    axes.autoscale_view()
    _axes(axes, panel, means, names, small)


def _draw_series(axes: Axes, rows: pd.DataFrame, style: Style, shift: float, label: str) -> None:
    """Means with their bars, moved by ``shift`` points; those that are bounds; seeds."""
    means, seeds = (rows[rows["kind"] == kind] for kind in (MEAN, SEED))
    ends = np.abs([means["low"] - means["value"], means["high"] - means["value"]])
    moved = [offset_copy(axes.transData, axes.figure, points, units="points")
             for points in (shift, shift + 8)]  # fmt: skip
    axes.errorbar(
        means["at"], means["value"], ends, **style, elinewidth=2.2, capthick=2.2, zorder=3,
        capsize=0.5 * style["ms"], label=label, transform=moved[0], clip_on=False
    )  # fmt: skip
    points = {"color": style["color"], "mfc": style["mfc"], "ls": "none", "clip_on": False}
    for note, marker in {"value at least": "^", "value under": "v"}.items():
        bounds = means[means["note"].str.contains(note)]
        if len(bounds):
            axes.plot(bounds["at"], bounds["value"], marker=marker, ms=15, zorder=5, **points)
    if len(seeds):
        points |= {"marker": "o", "ms": 0.55 * style["ms"], "mew": 0.8, "zorder": 4}
        axes.plot(seeds["at"], seeds["value"], transform=moved[1], **points)


def _axes(axes: Axes, panel: Panel, means: pd.DataFrame, names: list[str], small: bool) -> None:
    """Labels, limits and ticks; n is in the label of the x axis, or below each category."""
    axes.set_ylabel(panel.y)
    if panel.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(*panel.limits)
    axes.yaxis.set_major_formatter(NUMBERS)
    counts = counts_in(means)
    once = panel.numeric or "–" not in counts
    counted = f"n = {counts} {panel.counted}" if once else f"n: {panel.counted}"
    label = f"{panel.x}{chr(10) if small else ' '}({counted})" if panel.x else counted
    axes.set_xlabel(label if counts else panel.x)
    if not panel.numeric:
        by_name = {name: counts_in(means[means["x"] == name]) for name in names}
        texts = [name if once else f"{name}\nn {n}" for name, n in by_name.items()]
        upright = max(map(len, names)) > 15 and len(names) > 3
        axes.set_xticks(range(len(names)), texts, rotation=90 if upright else 0)
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
