"""The same figure in fewer bytes: an SVG says each style once, a PNG has a palette."""

import io
import re

import numpy as np
from jaxtyping import Integer
from numpy import ndarray
from PIL import Image

STYLE = re.compile(r'\bstyle="([^"]*)"')
NOTHING = re.compile(r' transform="rotate\(-?0 [^"]*\)"| id="[a-zA-Z0-9.]+_\d+"')
"""Turns by nothing, and names of groups, which nobody calls (what is referred to has no ``_``)."""
PLACES = re.compile(r' (?:d|x|y|width|height|transform)="[^"]*"')
DECIMALS = re.compile(r"(?<![\w.])-?\d+\.\d{3,}")
"""Of a place or a length in points: its hundredth is a fiftieth of a dot on a screen."""
PALETTE = 256
"""Colours that a byte a dot can name."""
BLOCK = 2**12
"""Colours of a picture whose distances from the palette are in memory at once."""


def smaller_svg(drawing: str) -> str:
    """The same drawing in less than half the bytes.

    Each style once, as a class; places to two decimals; no metadata, indents or names of groups.
    """
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return f'class="{names.setdefault(found[1], f"s{len(names)}")}"'

    bare = re.sub(r">\s+<", "><", re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL))
    body = re.sub(r"<[^<>]+>", lambda found: STYLE.sub(named, _shorter(found[0])), bare)
    sheet = "".join(f".{name}{{{style}}}" for style, name in names.items())
    return body.replace("</style>", f"{sheet}</style>", 1)


def _shorter(markup: str) -> str:
    """One tag, its numbers rounded and its lines joined."""
    short = re.sub(r"\s*\n\s*", " ", NOTHING.sub("", markup))
    return PLACES.sub(lambda found: _rounded(found[0]), short)


def _rounded(places: str) -> str:
    """An attribute with places to two decimals, unless they are to be multiplied."""
    if "scale" in places or "matrix" in places:
        return places
    return DECIMALS.sub(lambda found: f"{round(float(found[0]), 2):.12g}", places)


def smaller_png(picture: bytes) -> bytes:
    """The same picture in 256 colours: its commonest are kept, others are the nearest of these.

    What is left to others are the edges of letters and lines, and most steps of a colour scale.
    """
    with Image.open(io.BytesIO(picture)) as opened:
        dots = opened.info.get("dpi")
        rows = np.asarray(opened.convert("RGB"), dtype=np.int64)
    packed = rows @ np.array([2**16, 2**8, 1])
    found, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1)
    palette = colours[np.argsort(-counts, kind="stable")[:PALETTE]]
    named = _nearest(colours, palette)[places.reshape(packed.shape)].astype(np.uint8)
    image = Image.fromarray(named)
    image.putpalette(palette.astype(np.uint8).tobytes())
    held = io.BytesIO()
    image.save(held, "png", optimize=True, dpi=dots)
    return held.getvalue()


def _nearest(
    colours: Integer[ndarray, "colours 3"], palette: Integer[ndarray, "named 3"]
) -> Integer[ndarray, " colours"]:
    """The place in the palette that is nearest to each colour."""
    blocks = [colours[first : first + BLOCK, None] for first in range(0, len(colours), BLOCK)]
    return np.concatenate([((block - palette) ** 2).sum(axis=2).argmin(axis=1) for block in blocks])
