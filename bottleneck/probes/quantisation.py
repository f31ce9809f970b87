"""C5: contexts in b bits a number, to see how much precision a translator stands on.

Uniform cells over each number's range on the training set; a value is replaced by the middle of
its cell, one outside the range by the middle of the outermost. BLEU that survives this shows that
a translator is *robust* to coarse contexts, not what they hold: it was not trained to use the bits.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

MOST_BITS = 16
"""Bits a number at most."""


@dataclass(frozen=True, eq=False)
class Range:
    """Each number's lowest and highest value.

    Raises ValueError where one is not finite, or a low is above its high.
    """

    low: Float[ndarray, "context"]
    high: Float[ndarray, "context"]

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise ValueError("a range must be finite")
        if (self.low > self.high).any():
            raise ValueError("a range's low is above its high")


def range_of(
    training: Float[ndarray, "sentences context"], *, tail: float = 0.0, common: bool = False
) -> Range:
    """Range of each number over training contexts, or of all numbers in ``common``.

    ``tail`` is left out at either end: 0 gives minimum and maximum, .005 the middle 99 %. Raises
    ValueError outside of 0 to .5, or for numbers that are not finite.
    """
    if not 0.0 <= tail < 0.5:
        raise ValueError(f"a tail is at least 0 and under .5, not {tail}")
    numbers = training.astype(np.float64)
    low, high = np.quantile(numbers, [tail, 1 - tail], axis=None if common else 0)
    width = training.shape[1]
    return Range(np.broadcast_to(low, width).copy(), np.broadcast_to(high, width).copy())


def quantise(
    vectors: Float[ndarray, "*rows context"], span: Range, bits: int
) -> Float[ndarray, "*rows context"]:
    """The vectors from their cells alone, in their own precision.

    Within the range no number moves by more than half a cell, (high - low) / 2^(bits + 1). Raises
    ValueError as `cells` does.
    """
    step = (span.high - span.low) / 2**bits
    return (span.low + (cells(vectors, span, bits) + 0.5) * step).astype(vectors.dtype)


def cells(
    vectors: Float[ndarray, "*rows context"], span: Range, bits: int
) -> Int[ndarray, "*rows context"]:
    """Cell of each number, 0 to 2^bits - 1.

    Raises ValueError where one is not a number, or for bits outside of 1 to `MOST_BITS`.
    """
    if not 1 <= bits <= MOST_BITS:
        raise ValueError(f"1 to {MOST_BITS} bits a number, not {bits}")
    if np.isnan(vectors).any():
        raise ValueError("a vector holds a number that is not defined")
    width = span.high - span.low
    varies = width > 0
    within = np.clip(vectors.astype(np.float64), span.low, span.high) - span.low
    parts = np.where(varies, within / np.where(varies, width, 1.0), 0.0)
    return np.minimum((parts * 2**bits).astype(np.int64), 2**bits - 1)
