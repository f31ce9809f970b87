"""How figures look: an arm has its colour and marker everywhere.

Colours are those of Okabe and Ito (2008), which colour-blind people tell apart; markers and line
styles say the same, so that a figure can be read in grey. The rest is in ``slide.mplstyle``.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

from matplotlib import rc_params_from_file
from matplotlib.figure import Figure

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
