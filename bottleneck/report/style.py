"""The page's colours: those of the figures, an arm the same everywhere, on light and on dark."""

from ..figures.style import ATTENTION, GRID, GROUND, INK

LIGHT = {"ground": GROUND, "ink": INK, "line": GRID, **ATTENTION}
DARK = {
    **LIGHT, "ground": "#14171A", "ink": "#F0F0F0", "line": "#3A3F45", "none": "#E8711A",
    "additive": "#56B4E9", "dot": "#00B98A",
}  # fmt: skip

DARK_SCREEN = "screen and (prefers-color-scheme: dark)"
"""Paper is white."""


def theme_css() -> str:
    """Custom properties of both themes, and a class an arm that sets its colour."""
    arms = "".join(f".arm-{name}{{--arm:var(--{name})}}" for name in ATTENTION)
    dark = f"@media {DARK_SCREEN}{{:root{{{_properties(DARK)}}}}}"
    return f":root{{{_properties(LIGHT)}}}{dark}{arms}"


def _properties(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())
