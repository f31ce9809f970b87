"""Drawing a `Plot`: one line per arm and control, bars for intervals, small points for seeds.

An arm has the same colour and marker in every figure. Colours are those of Okabe and Ito (2008),
which colour-blind people can tell apart. Markers and line styles differ, too, so that a figure can
be read in grey. Other settings are in ``slide.mplstyle``.
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
from matplotlib.transforms import offset_copy

from ..tables.comparison import NONE
from .plot import MEAN, SEED, SLIDE, Panel, Plot

STYLE = rc_params_from_file(Path(__file__).with_name("slide.mplstyle"), use_default_template=False)
"""matplotlib's settings for every figure: a 16:9 slide."""
BASE, SMALL = STYLE["font.size"], STYLE["figure.labelsize"]
"""Font sizes in points: of most text, and of the notes below."""
GROUND = "#FFFFFF"
ATTENTION = {
    "none": "#D55E00", "additive": "#0072B2", "dot": "#009E73", "general": "#CC79A7",
    "scaled-dot": "#E69F00", "uniform": "#8A8A8A"
}  # fmt: skip
MARKERS = dict(zip(ATTENTION, "osDPdX", strict=True))
LINES = ("-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))
NUMBERS = "{x:,.10g}"


def slide(title: str, notes: Sequence[str]) -> Figure:
    """A figure of slide size with its title above and its notes below; call it inside `STYLE`."""
    figure = Figure()
    figure.suptitle(title)
    figure.supxlabel("\n".join(fill(note, 150) for note in notes))
    return figure


@rc_context(STYLE)
def draw(plot: Plot) -> Figure:
    """The whole figure; the legend has a sample of each series, the slide's last."""
    styles, filled = _styles(plot), set(plot.data["panel"])
    panels = [panel for panel in plot.panels if panel.name in filled]
    rows, small = 1 if len(panels) <= 3 else 2, len(panels) > 2
    columns = ceil(len(panels) / rows)
    with rc_context({"font.size": BASE - 2 * (columns - 1) if small else BASE}):
        figure = slide(plot.title, plot.notes)
        part = figure.subfigures()  # so that the legend is under the title
        grid = part.subplots(rows, columns, squeeze=False)
        samples: dict[str, Any] = {}
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, plot, panel, styles, small)
            if len(panels) > 1 or plot.steps or not panel.x:
                axes.set_title(panel.name)
            for sample, label in zip(*axes.get_legend_handles_labels(), strict=True):
                samples.setdefault(label, getattr(sample, "lines", (sample,))[0])
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        labels = sorted(samples, key=lambda label: label.endswith("slide"))
        ncols = max(1, 110 // (10 + max(map(len, samples))))
        handles = [samples[label] for label in labels]
        part.legend(handles, labels, loc="outside upper center", ncols=ncols)
    return figure


def _styles(plot: Plot) -> dict[tuple[str, str], dict[str, Any]]:
    """Colour, marker, marker fill and line of every arm and control, as matplotlib's keywords.

    An arm has the colour of the attention that its name begins with (``dot layers=2``), and its
    marker if that is the whole name. Trained networks have solid lines, controls broken ones.
    """
    means = plot.data[plot.data["kind"] == MEAN]
    controls = sorted(dict.fromkeys(means["control"]), key=bool)  # what was trained comes first
    shades = colormaps["viridis"](np.linspace(0, 0.85, len(plot.steps)))
    styles: dict[tuple[str, str], dict[str, Any]] = {}
    for index, arm in enumerate(dict.fromkeys(plot.data["arm"])):
        attention = next((name for name in MARKERS if re.match(rf"{name}( |-|$)", arm)), "")
        others = ("#56B4E9", "#999933", "#7A7A7A")
        colour = ATTENTION.get(attention, others[index % 3]) if arm else STYLE["text.color"]
        marker = MARKERS.get(arm, "hp*8"[index % 4])
        styles[arm, SLIDE] = {"color": colour, "marker": marker if arm else "none", "mfc": GROUND}
        for place, control in enumerate(controls):
            style = {"color": colour, "ls": LINES[place % len(LINES)]}
            style["marker"] = marker if arm else "v^<>"[place % 4]
            if plot.steps:
                step = plot.steps.index(control)
                style = {"color": to_hex(shades[step]), "marker": "os^DvPX*h"[step % 9], "ls": "-"}
            style["mfc"] = style["color"] if style["ls"] == "-" else GROUND
            styles[arm, control] = style
    return styles


def _draw_panel(
    axes: Axes, plot: Plot, panel: Panel, styles: Mapping[tuple, Any], small: bool
) -> None:
    rows = plot.data[plot.data["panel"] == panel.name]
    # Panels of steps share their x.
    means, names = rows[rows["kind"] == MEAN], (plot.data if plot.steps else rows)["x"].unique()
    names = sorted(names, key=float) if panel.log_x else list(names)
    series = dict.fromkeys(zip(means["arm"], means["control"], strict=True))
    places = {name: float(name) if panel.log_x else index for index, name in enumerate(names)}
    rows = rows.assign(at=rows["x"].map(places)).sort_values("at", kind="stable")
    # Series of one category are moved by some points, so that their bars do not overlap.
    several = not panel.log_x and means.groupby("x").size().max() > 1
    gap = min(5 if panel.joined else 12, 300 / len(names) / len(series)) * several
    for index, (arm, control) in enumerate(series):
        subset = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        style = styles[arm, control] | {"ms": 6 if small or len(names) > 12 else 9}
        style |= {} if panel.joined else {"ls": "none"}
        label = ", ".join(filter(None, ("" if plot.steps else arm, control)))
        _draw_series(axes, subset, style, gap * (index - (len(series) - 1) / 2), label)
    for arm, printed in rows[rows["kind"] == SLIDE].groupby("arm", sort=False):
        at, values = printed["at"].to_numpy(dtype=float), printed["value"].to_numpy()
        if len(printed) == 1:  # across its category
            at, values = at[0] + np.array([-0.5, 0.5]), values.repeat(2)
        # The slide does not say which attention it has.
        name = ", ".join(filter(None, (arm and (arm if arm == NONE else "attention"), "slide")))
        axes.plot(at, values, **styles[arm, SLIDE], ls=":", lw=2.2, alpha=0.65, ms=6, mew=1.2,
                  zorder=1, label=name)  # fmt: skip
    for end in ("value", "low", "high"):  # what is moved does not count for the axes' limits
        axes.update_datalim(rows[["at", end]].dropna())
    axes.autoscale_view()
    _label_axes(axes, panel, means, names)


def _draw_series(
    axes: Axes, rows: pd.DataFrame, style: Mapping[str, Any], shift: float, label: str
) -> None:
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


def _label_axes(axes: Axes, panel: Panel, means: pd.DataFrame, names: Sequence[str]) -> None:
    axes.set_ylabel(panel.y)
    if panel.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(*panel.limits)
    axes.yaxis.set_major_formatter(NUMBERS)
    if not panel.log_x:
        texts = [f"{name}\nn {_counts(means[means['x'] == name])}" for name in names]
        upright = max(map(len, names)) > 15 and len(names) > 3
        axes.set_xticks(range(len(names)), texts, rotation=90 if upright else 0)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_xlabel(f"{panel.x} (n: {panel.unit})" if panel.x else f"n: {panel.unit}")
        return
    axes.set_xlabel(f"{panel.x} (n = {_counts(means)} {panel.unit})")
    places = [float(name) for name in names]
    axes.set_xscale("log", base=2)
    axes.set_xlim(places[0] / 2**0.5, places[-1] * 2**0.5)
    if all(place.is_integer() for place in places):
        axes.set_xticks(places)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(NUMBERS)


def _counts(rows: pd.DataFrame) -> str:
    counts = sorted(set(rows["n"].dropna()))
    return "–".join(f"{n:,}" for n in dict.fromkeys((*counts[:1], *counts[-1:])))
