"""The audit of the tables of quality: L11, L12, L13, L-FAIL and L-VIND."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .checks import Audit, Check, claimed, listed, rounded
from .evidence import Evidence
from .printed import L4_CONTEXT_SIZE, FailureRow
from .verdicts import of_parts, rounds_to

NUMBERS_A_WORD = 100
"""What the lecture gives a word wherever it divides by the context (L3, L4, L9)."""


def text(value: float | int, form: str = "{:g}") -> str:
    """A number of the tables as its slide prints it."""
    return form.format(value)


def fall(values: Sequence[float]) -> list[float]:
    """Change of each value but the first, in per cent of the first."""
    return [100 * (value / values[0] - 1) for value in values[1:]]


def quality_drop(evidence: Evidence) -> Audit:
    """L11: BLEU's fall from the first row."""
    rows = list(evidence.slides.fail.values())
    printed = [text(row.drop_percent or 0) for row in rows[1:]]
    drops = fall([row.bleu for row in rows])
    checks = (rounded("drop", printed, drops, "{:.1f}", " %"),)
    why = f"from the printed BLEU: {rows[-1].bleu:g} / {rows[0].bleu:g} - 1 = {drops[-1]:.1f} %"
    return Audit("L11", "Failure pattern: quality drop", checks, why)


def edges(row: FailureRow) -> tuple[float, float]:
    """First and last length (words) of a row's bucket on the slide: inf of ``"40+ words"``."""
    span = row.slide_bucket.split()[0]
    low, _, high = span.rstrip("+").partition("-")
    return float(low), float(high) if high else float("inf")


def middle(row: FailureRow) -> float:
    """The middle of a row's bucket; of the open one, 5 words above its edge, as in the others."""
    low, high = edges(row)
    return low + 5 if high == float("inf") else (low + high) / 2


def bucket_ratio(evidence: Evidence) -> Audit:
    """L12: L4's rule at the middle of each bucket, else at some length within it."""
    rows = list(evidence.slides.fail.values())
    scale = NUMBERS_A_WORD / L4_CONTEXT_SIZE
    ratios = [middle(row) * scale for row in rows]
    lengths = [row.compression_ratio / scale for row in rows]
    inside = [
        edges(row)[0] <= length <= edges(row)[1] for row, length in zip(rows, lengths, strict=True)
    ]
    printed = [text(row.compression_ratio) for row in rows]
    good = [rounds_to(*pair) for pair in zip(printed, ratios, strict=True)]
    free = all(inside) and not all(good)
    check = Check(
        "ratio",
        " ".join(printed) + " : 1",
        listed(ratios, "{:.1f}") + " : 1",
        "rounded freely" if free else of_parts([a or b for a, b in zip(good, inside, strict=True)]),
    )
    why = (
        f"L4's rule at each bucket's middle (the last at {middle(rows[-1]):g} words); the printed "
        f"ratios are those of {listed(lengths, '{:.0f}')} words, "
        f"{'each' if all(inside) else 'not all'} inside its bucket"
    )
    return Audit("L12", "Failure pattern: compression ratio", (check,), why)


def improvement(evidence: Evidence) -> Audit:
    """L13: gain in per cent of no attention; and whether attention's own column still falls."""
    rows = list(evidence.slides.vind.values())
    none, attention = ([getattr(row, arm) for row in rows] for arm in ("none", "attention"))
    falls = fall(attention)
    stays = (attention[0] - attention[-1]) / (none[0] - none[-1])
    improved = [100 * (row.attention / row.none - 1) for row in rows]
    printed = [text(row.improvement_percent, "{:+g}") for row in rows]
    checks = (
        rounded("improvement", printed, improved, "{:+.1f}", " %"),
        claimed(
            "the problem:",
            "solved exactly",
            f"with attention {listed(falls, '{:.1f}')} %",
            [min(falls) >= 0],
        ),
    )
    gains = [row.attention - row.none for row in rows]
    why = (
        f"gains in BLEU {listed(gains, '{:.1f}')}; but attention's own column falls, so that "
        f"{100 * stays:.0f} % of the loss of {none[0] - none[-1]:.1f} BLEU stays"
        if min(falls) < 0
        else f"gains in BLEU {listed(gains, '{:.1f}')}; attention's own column does not fall"
    )
    return Audit("L13", "Vindication: improvement", checks, why)


def log_fit(rows: Sequence[FailureRow]) -> tuple[float, float, float]:
    """Scale, rate and correlation of log BLEU over the printed ratio: scale exp(-rate ratio)."""
    ratio = np.array([row.compression_ratio for row in rows], float)
    logs = np.log([row.bleu for row in rows])
    slope, constant = np.polyfit(ratio, logs, 1)
    return float(np.exp(constant)), float(-slope), float(np.corrcoef(ratio, logs)[0, 1])


def failure_pattern(evidence: Evidence) -> Audit:
    """L-FAIL: its claim within its own numbers, BLEU falling as the ratio rises."""
    rows = list(evidence.slides.fail.values())
    steps = list(pairwise(rows))
    falls = all(b.bleu < a.bleu and b.compression_ratio > a.compression_ratio for a, b in steps)
    scale, rate, correlation = log_fit(rows)
    curve = f"{scale:.1f} exp(-{rate:.3f} ratio), correlation {correlation:.4f}"
    bleu = listed([row.bleu for row in rows], "{:g}")
    check = Check("BLEU", bleu, f"nearly {curve}", "illustration" if falls else "wrong")
    why = (
        f"no formula gives the BLEU; it {'falls' if falls else 'does not always fall'} as the "
        "ratio rises, along one exponential; its drops are L11, its ratios L12"
    )
    return Audit("L-FAIL", "The failure pattern", (check,), why)


def vindication(evidence: Evidence) -> Audit:
    """L-VIND: its claim within its own numbers, the gain largest where BLEU was lowest."""
    rows = list(evidence.slides.vind.values())
    gains = [row.attention - row.none for row in rows]
    most = int(np.argmax(gains))
    holds = most == int(np.argmin([row.none for row in rows]))
    check = Check(
        "BLEU with attention:",
        listed([row.attention for row in rows], "{:g}"),
        f"gains {listed(gains, '{:.1f}')}",
        "illustration" if holds else "wrong",
    )
    place = "where" if holds else "not where"
    why = (
        f"no formula gives the BLEU; the gain is largest at {rows[most].slide_bucket}, {place} "
        "BLEU without attention is lowest; its improvements are L13"
    )
    return Audit("L-VIND", "The vindication", (check,), why)
