"""The slides' tables, as printed: failure pattern (L-FAIL), vindication (L-VIND), ratios (L4).

Keys of the first two are our buckets. The slide's overlap at their edges ("10-20 words"), ours do
not ("11-20"); each row keeps the slide's own name. The numbers are the slide's illustration, not a
measurement: a reproduction compares their shape (order, drop, gain, where the gain is largest),
never the level.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FailureRow:
    """A row of L-FAIL: compression ratio (L12), BLEU, drop in per cent of the first row (L11)."""

    slide_bucket: str
    compression_ratio: int
    bleu: float
    drop_percent: int | None


@dataclass(frozen=True)
class VindicationRow:
    """A row of L-VIND: BLEU of both arms, improvement in per cent of no attention (L13)."""

    slide_bucket: str
    none: float
    attention: float
    improvement_percent: float


L_FAIL: Mapping[str, FailureRow] = {
    "5-10": FailureRow("5-10 words", 2, 35.2, None),
    "11-20": FailureRow("10-20 words", 5, 28.5, -19),
    "21-30": FailureRow("20-30 words", 10, 18.7, -47),
    "31-40": FailureRow("30-40 words", 15, 12.4, -65),
    "41+": FailureRow("40+ words", 20, 8.1, -77),
}

L_VIND: Mapping[str, VindicationRow] = {
    "5-10": VindicationRow("5-10 words", 35.2, 36.1, 2.6),
    "11-20": VindicationRow("10-20 words", 28.5, 32.7, 14.7),
    "21-30": VindicationRow("20-30 words", 18.7, 28.9, 54.5),
    "31-40": VindicationRow("30-40 words", 12.4, 24.8, 100.0),
    "41+": VindicationRow("40+ words", 8.1, 24.3, 200.0),
}


@dataclass(frozen=True)
class CompressionRow:
    """A row of L4: words of 100 numbers each, into 256; the ratio as printed; the slide's word."""

    words: int
    numbers: int
    printed_ratio: int
    word: str

    @property
    def ratio(self) -> float:
        """The ratio before the slide rounds it: 1.95, 7.81, 19.5, 39.06."""
        return self.numbers / L4_CONTEXT_SIZE


L4_CONTEXT_SIZE = 256
L4: tuple[CompressionRow, ...] = (
    CompressionRow(5, 500, 2, "Good"),
    CompressionRow(20, 2_000, 8, "Mediocre"),
    CompressionRow(50, 5_000, 20, "Poor"),
    CompressionRow(100, 10_000, 40, "Very Poor"),
)


@dataclass(frozen=True)
class PrintedFit:
    """BLEU = scale exp(-rate ratio), and the correlation of log BLEU with the ratio."""

    scale: float
    rate: float
    correlation: float


L_FAIL_FIT = PrintedFit(42.3, 0.082, -0.9997)
"""The line through log BLEU of L-FAIL over its printed ratios: a shape to hold ours against."""
