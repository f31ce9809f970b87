"""How figures look: an arm has its colour and marker everywhere, on light and on dark ground.

Colours are those of Okabe and Ito (2008), which colour-blind people tell apart; markers and line
styles tell the same, so that a figure can be read in grey.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .colours import shades

SIZE = (13.333, 7.5)
"""Inches: a slide of 16 to 9."""
DOTS = 144
"""A PNG's dots an inch: 1920 x 1080."""
BASE, TITLE, SMALL = 16, 23, 12
"""Points of most text, of the title, and of what stands below."""


@dataclass(frozen=True)
class Theme:
    """Colours of ground, text and grid, and those of arms: by attention, then of any others.

    ``weights`` is that of an attention weight of 1, ``plain`` of what is of no arm in a legend.
    """

    ground: str
    ink: str
    grid: str
    attention: dict[str, str]
    others: tuple[str, ...]
    weights: str
    plain: str


OTHERS = {"scaled-dot": "#E69F00", "uniform": "#8A8A8A"}
LIGHT = Theme(
    ground="#FFFFFF",
    ink="#222222",
    grid="#DDDDDD",
    attention={
        "none": "#D55E00",
        "additive": "#0072B2",
        "dot": "#009E73",
        "general": "#CC79A7",
        **OTHERS,
    },
    others=("#56B4E9", "#999933", "#7A7A7A"),
    weights="#00436B",
    plain="#6E6E6E",
)
DARK = Theme(
    ground="#14171A",
    ink="#F0F0F0",
    grid="#3A3F45",
    attention={
        "none": "#E8711A",
        "additive": "#56B4E9",
        "dot": "#00B98A",
        "general": "#CC79A7",
        **OTHERS,
    },
    others=("#F0E442", "#999933", "#A0A0A0"),
    weights="#BFE3FA",
    plain="#9A9A9A",
)

MARKERS = {
    "none": "o", "additive": "s", "dot": "D", "general": "P", "scaled-dot": "d", "uniform": "X",
}  # fmt: skip
OTHER_MARKERS = ("h", "p", "*", "8", "H")
UNTRAINED = "untrained"
"""The control of most figures has the same line in all of them."""
SHARED_MARKERS = ("v", "^", "<", ">")
STEP_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "h")
"""Of the steps of a quantity, the least first."""
DASHES = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))


@dataclass(frozen=True)
class Mark:
    """How an arm is drawn."""

    colour: str
    marker: str


def attention_of(arm: str) -> str:
    """The attention that an arm's name begins with: ``dot-output`` and ``dot layers=2`` have dot.

    For other names the name.
    """
    held = [one for one in MARKERS if re.match(rf"{one}( |-|$)", arm)]
    return held[0] if held else arm


def marks(arms: Sequence[str], theme: Theme) -> dict[str, Mark]:
    """A mark an arm; the arm with an attention's plain name always has that attention's own.

    An arm without a name is none of the arms, and has the colour of text.
    """
    found = {"": Mark(theme.ink, "v")}
    for arm in sorted(set(arms) - {""}, key=lambda arm: (arm not in MARKERS, arms.index(arm))):
        attention, place = attention_of(arm), len(found)
        colour = theme.attention.get(attention) or theme.others[place % len(theme.others)]
        taken = {mark.marker for mark in found.values()}
        own = MARKERS.get(attention)
        free = [one for one in OTHER_MARKERS if one not in taken] or list(OTHER_MARKERS)
        found[arm] = Mark(colour, own if own and own not in taken else free[0])
    return found


def line_of(controls: Sequence[str], control: str) -> str | tuple:
    """The line of what was trained is drawn through, those of controls are broken.

    Where nothing is without a control, the first of them is drawn through.
    """
    plain = "" if "" in controls else controls[0]
    others = sorted({*controls} - {plain}, key=lambda one: (one != UNTRAINED, controls.index(one)))
    return "-" if control == plain else DASHES[others.index(control) % len(DASHES)]


def step_marks(colour: str, count: int, theme: Theme) -> list[Mark]:
    """Marks of the steps of a quantity in an arm's colour: each has its shade and its marker."""
    colours = shades(colour, count, theme.ground, theme.ink)
    return [
        Mark(shade, STEP_MARKERS[step % len(STEP_MARKERS)]) for step, shade in enumerate(colours)
    ]


def mark_of(arm: str, control: str, found: dict[str, Mark], controls: Sequence[str]) -> Mark:
    """The arm's; what is no arm's has a marker for each control."""
    mark = found[arm]
    if arm:
        return mark
    return Mark(mark.colour, SHARED_MARKERS[controls.index(control) % len(SHARED_MARKERS)])
