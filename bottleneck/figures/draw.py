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
from .plot import Panel, Plot

STYLE = rc_params_from_file(Path(__file__).with_name("slide.mplstyle"), use_default_template=False)
"""matplotlib's settings for every figure: a 16:9 slide."""
ATTENTION = {
    "none": "#D55E00", "additive": "#0072B2", "dot": "#009E73", "general": "#CC79A7",
    "scaled-dot": "#E69F00", "uniform": "#8A8A8A"
}  # fmt: skip


@rc_context(STYLE)
def draw(plot: Plot) -> Figure:
    """The whole figure; the legend has a sample of each series, the slide's last.

    An arm has the colour of the attention that its name begins with (``dot layers=2``), and its
    marker if that is the whole name. Trained networks have solid lines, controls broken ones.
    """
    means = plot.data[plot.data["kind"] == "mean"]
    controls = sorted(dict.fromkeys(means["control"]), key=bool)  # what was trained comes first
    markers = dict(zip(ATTENTION, "osDPdX", strict=True))
    lines = ("-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))
    shades = colormaps["viridis"](np.linspace(0, 0.85, len(plot.steps)))
    styles = {}  # of every arm and control, as matplotlib's keywords
    for index, arm in enumerate(dict.fromkeys(plot.data["arm"])):
        attention = next((name for name in markers if re.match(rf"{name}( |-|$)", arm)), "")
        others = ("#56B4E9", "#999933", "#7A7A7A")
        colour = ATTENTION.get(attention, others[index % 3]) if arm else STYLE["text.color"]
        marker = markers.get(arm, "hp*8"[index % 4])
        styles[arm, "slide"] = {"color": colour, "marker": marker if arm else "none", "mfc": "w"}
        for place, control in enumerate(controls):
            style = {"color": colour, "ls": lines[place % len(lines)]}
            style["marker"] = marker if arm else "v^<>"[place % 4]
            if plot.steps:
                step = plot.steps.index(control)
                style = {"color": to_hex(shades[step]), "marker": "os^DvPX*h"[step % 9], "ls": "-"}
            style["mfc"] = style["color"] if style["ls"] == "-" else "w"
            styles[arm, control] = style

    filled = set(plot.data["panel"])
    panels = [panel for panel in plot.panels if panel.name in filled]
    rows, small = 1 if len(panels) <= 3 else 2, len(panels) > 2
    columns = ceil(len(panels) / rows)
    with rc_context({"font.size": STYLE["font.size"] - 2 * (columns - 1) * small}):
        figure = Figure()
        figure.suptitle(plot.title)
        figure.supxlabel("\n".join(fill(note, 150) for note in plot.notes))
        part = figure.subfigures()  # so that the legend is under the title
        grid = part.subplots(rows, columns, squeeze=False)
        samples = {}
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, plot, panel, styles, small)
            if len(panels) > 1 or plot.steps or not panel.x:
                axes.set_title(panel.name)
            for sample, label in zip(*axes.get_legend_handles_labels(), strict=True):
                samples.setdefault(label, getattr(sample, "lines", (sample,))[0])
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        samples = dict(sorted(samples.items(), key=lambda item: item[0].endswith("slide")))
        ncols = max(1, 110 // (10 + max(map(len, samples))))
        part.legend([*samples.values()], [*samples], loc="outside upper center", ncols=ncols)
    return figure


def _draw_panel(
    axes: Axes, plot: Plot, panel: Panel, styles: Mapping[tuple, Any], small: bool
) -> None:
    rows = plot.data[plot.data["panel"] == panel.name]
    # Panels of steps share their x.
    means, names = rows[rows["kind"] == "mean"], (plot.data if plot.steps else rows)["x"].unique()
    names = sorted(names, key=float) if panel.log_x else list(names)
    series = dict.fromkeys(zip(means["arm"], means["control"], strict=True))
    places = {name: float(name) if panel.log_x else index for index, name in enumerate(names)}
    rows = rows.assign(at=rows["x"].map(places)).sort_values("at", kind="stable")
    # Series of one category are moved by some points, so that their bars do not overlap.
    several = not panel.log_x and means.groupby("x").size().max() > 1
    gap = min(5 if panel.joined else 12, 300 / len(names) / len(series)) * several
    size = 6 if small or len(names) > 12 else 9
    for index, (arm, control) in enumerate(series):
        subset = rows[(rows["arm"] == arm) & (rows["control"] == control)]
        bars, seeds = (subset[subset["kind"] == kind] for kind in ("mean", "seed"))
        style = styles[arm, control] | {"ms": size} | ({} if panel.joined else {"ls": "none"})
        shift = gap * (index - (len(series) - 1) / 2)
        moved = [offset_copy(axes.transData, axes.figure, points, units="points")
                 for points in (shift, shift + 8)]  # fmt: skip
        axes.errorbar(
            bars["at"], bars["value"],
            np.abs([bars["low"] - bars["value"], bars["high"] - bars["value"]]),
            **style, elinewidth=2.2, capthick=2.2, zorder=3, capsize=0.5 * size, transform=moved[0],
            label=", ".join(filter(None, ("" if plot.steps else arm, control))), clip_on=False
        )  # fmt: skip
        points = {"color": style["color"], "mfc": style["mfc"], "ls": "none", "clip_on": False}
        for note, marker in {"value at least": "^", "value under": "v"}.items():
            bounds = bars[bars["note"].str.contains(note)]
            if len(bounds):
                axes.plot(bounds["at"], bounds["value"], marker=marker, ms=15, zorder=5, **points)
        if len(seeds):
            points |= {"marker": "o", "ms": 0.55 * size, "mew": 0.8, "zorder": 4}
            axes.plot(seeds["at"], seeds["value"], transform=moved[1], **points)
    for arm, printed in rows[rows["kind"] == "slide"].groupby("arm", sort=False):
        at, values = printed["at"].to_numpy(dtype=float), printed["value"].to_numpy()
        if len(printed) == 1:  # across its category
            at, values = at[0] + np.array([-0.5, 0.5]), values.repeat(2)
        # The slide does not say which attention it has.
        name = ", ".join(filter(None, (arm and (arm if arm == NONE else "attention"), "slide")))
        axes.plot(at, values, **styles[arm, "slide"], ls=":", lw=2.2, alpha=0.65, ms=6, mew=1.2,
                  zorder=1, label=name)  # fmt: skip
    for end in ("value", "low", "high"):  # what is moved does not count for the axes' limits
        axes.update_datalim(rows[["at", end]].dropna())
    axes.autoscale_view()
    _label_axes(axes, panel, means, names)


def _label_axes(axes: Axes, panel: Panel, means: pd.DataFrame, names: Sequence[str]) -> None:
    axes.set_ylabel(panel.y)
    if panel.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(*panel.limits)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    counts = []  # of all categories, or of each: "12", "12–30"
    for group in [means] if panel.log_x else [means[means["x"] == name] for name in names]:
        ends = sorted(set(group["n"].dropna()))
        counts.append("–".join(f"{n:,}" for n in dict.fromkeys((*ends[:1], *ends[-1:]))))
    if not panel.log_x:
        texts = [f"{name}\nn {count}" for name, count in zip(names, counts, strict=True)]
        upright = max(map(len, names)) > 15 and len(names) > 3
        axes.set_xticks(range(len(names)), texts, rotation=90 if upright else 0)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_xlabel(f"{panel.x} (n: {panel.unit})" if panel.x else f"n: {panel.unit}")
        return
    axes.set_xlabel(f"{panel.x} (n = {counts[0]} {panel.unit})")
    places = [float(name) for name in names]
    axes.set_xscale("log", base=2)
    axes.set_xlim(places[0] / 2**0.5, places[-1] * 2**0.5)
    if all(place.is_integer() for place in places):
        axes.set_xticks(places)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:,.10g}")
