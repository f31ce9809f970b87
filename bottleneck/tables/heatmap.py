"""Attention weights as text: shades that need neither colour nor a wide window."""

from collections.abc import Sequence

from jaxtyping import Float
from numpy import ndarray

from .render import can_encode

SHADES, PLAIN_SHADES = " ░▒▓█", " .:+#"
"""The second are for a terminal whose encoding lacks the first."""
LOWEST = (0.0, 0.1, 0.3, 0.5, 0.8)
"""The least weight of each shade."""
CELL = 2
"""Columns of the terminal for a source word."""


def heatmap(
    source: Sequence[str],
    output: Sequence[str],
    weights: Float[ndarray, "output source"],
    width: int,
    shades: str = SHADES,
) -> list[str]:
    """Lines of at most ``width`` columns: one row per output word, one column per source word.

    Source words are written downwards. Where they do not fit beside each other, the matrix is cut
    into pieces, one below the other.
    """
    label = max(map(len, output), default=0)
    fit = max(1, (width - label - 1) // CELL)
    lines: list[str] = []
    for start in range(0, len(source), fit):
        words = source[start : start + fit]
        height = max(map(len, words))
        rows = [
            ("", letters) for letters in zip(*(word.rjust(height) for word in words), strict=True)
        ]
        for word, row in zip(output, weights[:, start : start + fit].tolist(), strict=True):
            marks = [shades[sum(weight >= least for least in LOWEST[1:])] for weight in row]
            rows.append((word, [mark * CELL for mark in marks]))
        lines += [""] if lines else []
        lines += [
            f"{word:>{label}} {''.join(cell.ljust(CELL) for cell in cells)}".rstrip()
            for word, cells in rows
        ]
    return lines


def shades_for(encoding: str) -> str:
    """The shades that a terminal of this encoding can show."""
    return SHADES if can_encode(encoding, SHADES) else PLAIN_SHADES


def legend(shades: str = SHADES) -> str:
    """What each shade stands for."""
    steps = zip(LOWEST[1:], shades[1:], strict=True)
    texts = (f"{least:.1f} <= {shade}".removeprefix("0") for least, shade in steps)
    return f"weight: '{shades[0]}' < {' < '.join(texts)}"
