"""Colours by their contrast, as WCAG 2.1 defines it: shades that can be told apart, legible text.

What is seen in grey is luminance alone, so that shades of equal steps in contrast are steps there
too.
"""

from matplotlib.colors import to_hex, to_rgb

LEAST, MOST = 3.0, 12.0
"""Contrast of the faintest and of the strongest shade with the ground; WCAG asks for 3 of lines."""
TEXTS = ("#000000", "#FFFFFF")
HALVINGS = 30
"""Of the way between two colours, to find the one of a wanted contrast."""


def luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour, from 0 (black) to 1 (white)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    ]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 (equal) to 21 (black and white)."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def text_on(colour: str) -> str:
    """Black or white, whichever is the more legible on this colour; never below 4.5."""
    return max(TEXTS, key=lambda text: contrast(text, colour))


def shades(colour: str, count: int, ground: str, ink: str) -> list[str]:
    """So many shades of a colour, the faintest first, in equal ratios of contrast with the ground.

    Faint ones are mixed with the ground, strong ones with the ink; one alone is the colour itself.
    """
    if count == 1:
        return [to_hex(colour)]
    ratio = (MOST / LEAST) ** (1 / (count - 1))
    return [_shade(colour, LEAST * ratio**step, ground, ink) for step in range(count)]


def _shade(colour: str, wanted: float, ground: str, ink: str) -> str:
    """On the way from the ground over the colour to the ink, what has this contrast."""
    start, end = (ground, colour) if contrast(colour, ground) >= wanted else (colour, ink)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if contrast(mixed(start, end, middle), ground) < wanted:
            low = middle
        else:
            high = middle
    return mixed(start, end, high)


def mixed(one: str, other: str, share: float) -> str:
    """The first colour with a share (0 to 1) of the second, in sRGB's own numbers."""
    pairs = zip(to_rgb(one), to_rgb(other), strict=True)
    return to_hex([(1 - share) * first + share * second for first, second in pairs])
