"""C5, C6: bits of the source that reach the decoder, and how they grow with length.

What a sentence's bits are without the context, less what they are given it, is what the context
tells of it. Without: the exact bits (copying, the grammar), or the bits under a translator whose
source is hidden. Given it: the cross-entropy of a probe, or of the translator itself. On average
over sentences that is a lower bound on the information, for no probe beats the truth; but where a
hidden-source translator stands for the language and is undertrained, it has bits too many, and the
difference flatters.

Of one sentence the difference may be negative: a probe is unlucky as often as it is lucky. So the
sentences are summed as they are, and only a total is floored at zero, where it is printed, as
information is never negative: flooring each sentence would make bits out of noise. A line through
totals, again, takes them unfloored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..scoring.bootstrap import Estimate, ratio_of_sums

BITS_PER_NAT = 1 / float(np.log(2.0))


def to_bits(nats: Float[ndarray, "*rows"]) -> Float[ndarray, "*rows"]:
    """Bits of so many nats."""
    return nats * BITS_PER_NAT


def recovered_bits(
    without: Float[ndarray, "*#rows"], given: Float[ndarray, "*#rows"]
) -> Float[ndarray, "..."]:
    """Bits of each sentence that the context tells: may be negative, and must not be floored.

    Both in bits. The translator's own bits are the same difference, of the reference.
    """
    return without - given


@dataclass(frozen=True, eq=False)
class Part:
    """Some neighbouring buckets: the slope (bits a word), and its share of the exact slope.

    ``kept`` is the share of each further word's bits that arrives: 0 where the bits have levelled
    off, 1 where they rise as the source does.
    """

    slope: Estimate
    exact: Estimate
    kept: Estimate


@dataclass(frozen=True, eq=False)
class Growth:
    """Bits against length, in two parts that share the bucket in the middle."""

    lower: Part
    upper: Part


def growth(
    words: Sequence[float], recovered: Sequence[Estimate], exact: Sequence[Estimate]
) -> Growth:
    """Slopes of bits a sentence over source words, by buckets from short to long.

    ``words`` are the buckets' means. A bucket's two estimates come from the same weights. Empty
    buckets are left out; under three others raise ValueError.
    """
    filled = [place for place, bits in enumerate(recovered) if bits.filled]
    if len(filled) < 3:
        raise ValueError(f"growth with length needs three filled buckets, not {len(filled)}")
    lower, upper = (
        _part([words[i] for i in part], [recovered[i] for i in part], [exact[i] for i in part])
        for part in parts_of(filled)
    )
    return Growth(lower, upper)


def parts_of(buckets: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """The shorter and the longer of some ascending buckets; the middle one is in both."""
    middle = len(buckets) // 2
    return buckets[: middle + 1], buckets[middle:]


def slope(words: Sequence[float], bits: Sequence[Estimate]) -> Estimate:
    """Least squares of bits a sentence on words; each bucket is one point."""
    centred = np.array(words, dtype=np.float64) - np.mean(words)
    line = centred / (centred**2).sum()
    values, draws = np.array([one.value for one in bits]), np.stack([one.draws for one in bits])
    return Estimate(float(line @ values), line @ draws)


def ratio(top: Estimate, bottom: Estimate) -> Estimate:
    """First over second, draw by draw; nan where the second is 0."""
    value = ratio_of_sums(np.array([top.value, bottom.value]))
    return Estimate(float(value), ratio_of_sums(np.stack([top.draws, bottom.draws], axis=-1)))


def _part(words: Sequence[float], bits: Sequence[Estimate], exact: Sequence[Estimate]) -> Part:
    ours, whole = slope(words, bits), slope(words, exact)
    return Part(ours, whole, ratio(ours, whole))
