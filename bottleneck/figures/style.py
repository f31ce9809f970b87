"""How figures look: an arm has its colour and marker everywhere.

Colours are those of Okabe and Ito (2008), which colour-blind people tell apart; markers and line
styles say the same, so that a figure can be read in grey.
"""

import re
from collections.abc import Sequence
from textwrap import fill

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure

SIZE = (13.333, 7.5)
"""Inches: a slide of 16 to 9."""
DOTS = 144
"""A PNG's dots an inch: 1920 x 1080."""
BASE, TITLE, SMALL = 16, 23, 12
"""Points of most text, of the title, and of the notes below."""
GROUND, INK, GRID, WEIGHTS = "#FFFFFF", "#222222", "#DDDDDD", "#00436B"
"""Colours of the ground, of text, of the grid, and of an attention weight of 1."""
ATTENTION = {
    "none": "#D55E00", "additive": "#0072B2", "dot": "#009E73", "general": "#CC79A7",
    "scaled-dot": "#E69F00", "uniform": "#8A8A8A"
}  # fmt: skip
MARKERS = {
    "none": "o", "additive": "s", "dot": "D", "general": "P", "scaled-dot": "d", "uniform": "X"
}  # fmt: skip
OTHER_COLOURS, OTHER_MARKERS = ("#56B4E9", "#999933", "#7A7A7A"), "hp*8H"
STEP_MARKERS = "os^DvPX*h"
"""Of the steps of a quantity, the least first."""
UNTRAINED = "untrained"
"""The control of most figures has the same line in all of them."""
DASHES = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.labelsize": SMALL,
    "figure.titlesize": TITLE,
    "figure.titleweight": "bold",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": BASE,
    "grid.color": GRID,
    "legend.fontsize": BASE - 1,
    "legend.frameon": False,
    "legend.handlelength": 3.5,
    "lines.linewidth": 2.6,
    "lines.markeredgewidth": 2,
    "svg.fonttype": "none",  # text stays text, which can be searched, read aloud and edited
    "svg.hashsalt": "bottleneck",  # equal names inside equal figures
    "text.color": INK,
    "text.parse_math": False,  # a lone "$" in a name is no formula
    "xtick.color": INK,
    "xtick.labelsize": "small",
    "ytick.color": INK,
    "ytick.labelsize": "small",
}
"""matplotlib's settings for every figure, both as it is drawn and as it is written."""


def slide(title: str, notes: Sequence[str]) -> Figure:
    """A figure of slide size with its title above and its notes below; inside `STYLE`."""
    figure = Figure(figsize=SIZE, layout="constrained")
    figure.suptitle(title)
    figure.supxlabel("\n".join(fill(note, 150) for note in notes))
    return figure


def marks(arms: Sequence[str]) -> dict[str, dict[str, str]]:
    """Colour and marker of each arm, as matplotlib's keywords.

    The arm with an attention's plain name always has that attention's marker. An arm has the colour
    of the attention that its name begins with, as ``dot-output`` and ``dot layers=2`` do. An arm
    without a name is none of the arms, and has the colour of text.
    """
    result = {"": {"color": INK, "marker": "v"}}
    for arm in sorted(set(arms) - {""}, key=lambda arm: (arm not in MARKERS, arms.index(arm))):
        attention = next((name for name in MARKERS if re.match(rf"{name}( |-|$)", arm)), arm)
        colour = ATTENTION.get(attention) or OTHER_COLOURS[len(result) % len(OTHER_COLOURS)]
        taken = {mark["marker"] for mark in result.values()}
        markers = [MARKERS.get(attention, "h"), *OTHER_MARKERS]
        marker = next((name for name in markers if name not in taken), "h")
        result[arm] = {"color": colour, "marker": marker}
    return result


def line_of(controls: Sequence[str], control: str) -> str | tuple:
    """The line of what was trained is solid, those of controls are broken.

    Where nothing is without a control, the first of them is solid.
    """
    plain = "" if "" in controls else controls[0]
    if control == plain:
        return "-"
    others = sorted(set(controls) - {plain}, key=lambda name: (name != UNTRAINED,
                                                               controls.index(name)))  # fmt: skip
    return DASHES[others.index(control) % len(DASHES)]


def shades(colour: str, count: int) -> list[str]:
    """So many shades of a colour, the lightest first; a single one is the colour itself."""
    if count == 1:
        return [to_hex(colour)]
    scale = LinearSegmentedColormap.from_list("shades", [GROUND, colour, INK])
    return [to_hex(scale(place)) for place in np.linspace(0.3, 0.85, count)]
