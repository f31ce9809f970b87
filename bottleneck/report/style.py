"""The page's colours: those of the figures, an arm the same everywhere, on light and on dark."""

from ..figures.style import DARK, LIGHT, Theme

DARK_SCREEN = "screen and (prefers-color-scheme: dark)"
"""Paper is white."""


def theme_css() -> str:
    """Custom properties of both themes, and a class an arm that sets its colour."""
    arms = "".join(f".arm-{name}{{--arm:var(--{name})}}" for name in LIGHT.attention)
    dark = f"@media {DARK_SCREEN}{{:root{{{_properties(DARK)}}}}}"
    return f":root{{{_properties(LIGHT)}}}{dark}{arms}"


def _properties(theme: Theme) -> str:
    colours = {"ground": theme.ground, "ink": theme.ink, "line": theme.grid, **theme.attention}
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())
