"""The same figure in fewer bytes: an SVG says each style once, a PNG has a palette."""

import io
import re

import numpy as np
from jaxtyping import Integer
from numpy import ndarray
from PIL import Image

STYLE = re.compile(r'\bstyle="([^"]*)"')
PALETTE = 256
"""Colours that a byte a dot can name."""
BLOCK = 2**12
"""Colours of a picture whose distances from the palette are in memory at once."""


def smaller_svg(drawing: str) -> str:
    """The same drawing in half the bytes: each style once, as a class; no metadata or indents."""
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        return f'class="{names.setdefault(found[1], f"s{len(names)}")}"'

    bare = re.sub(r">\s+<", "><", re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL))
    body = re.sub(r"<[^<>]+>", lambda found: STYLE.sub(named, found[0]), bare)
    sheet = "".join(f".{name}{{{style}}}" for style, name in names.items())
    return body.replace("</style>", f"{sheet}</style>", 1)


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
