"""Attention weights as text: shades that need neither colour nor a wide window."""

from collections.abc import Iterator, Sequence

from jaxtyping import Float
from numpy import ndarray

from .render import can_encode

SHADES = " ░▒▓█"
PLAIN_SHADES = " .:+#"
"""In place of these where the terminal's encoding has none."""
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
    into pieces, one below the other. Raises ValueError where words and weights do not agree.
    """
    if weights.shape != (len(output), len(source)):
        raise ValueError(f"{len(output)} x {len(source)} words for weights {weights.shape}")
    label = max(map(len, output), default=0)
    fit = max(1, (width - label - 1) // CELL)
    lines: list[str] = []
    for start in range(0, len(source), fit):
        part = slice(start, start + fit)
        piece = _piece(source[part], output, weights[:, part], label, shades)
        lines += [*([""] if lines else []), *piece]
    return lines


def _piece(
    source: Sequence[str],
    output: Sequence[str],
    weights: Float[ndarray, "output part"],
    label: int,
    shades: str,
) -> Iterator[str]:
    """The source words downwards, all ending in one line, then one line per output word."""
    height = max(map(len, source))
    for letters in zip(*(word.rjust(height) for word in source), strict=True):
        yield f"{'':<{label}} {''.join(letter.ljust(CELL) for letter in letters)}".rstrip()
    for word, row in zip(output, weights.tolist(), strict=True):
        places = (sum(weight >= least for least in LOWEST[1:]) for weight in row)
        yield f"{word:>{label}} {''.join(shades[place] * CELL for place in places)}".rstrip()


def shades_for(encoding: str) -> str:
    """The shades that a terminal of this encoding can show."""
    return SHADES if can_encode(encoding, SHADES) else PLAIN_SHADES


def legend(shades: str = SHADES) -> str:
    """What each shade stands for."""
    steps = zip(LOWEST[1:], shades[1:], strict=True)
    texts = (f"{least:.1f} <= {shade}".removeprefix("0") for least, shade in steps)
    return f"weight: '{shades[0]}' < {' < '.join(texts)}"
