"""The tables of C10 and C12, whose numbers are of runs and have no table of their own elsewhere."""

from collections.abc import Sequence

from ..claims.controls import Controlled
from ..claims.training import Trained
from ..claims.verdict import MARKED_BELOW, marked
from ..scoring.bootstrap import Estimate
from ..tables.render import count
from .tables import Grid

RANGES = "95 % over test sentences below each number"


def controls_grid(measured: Controlled) -> Grid:
    """A row a control, the best first, then a row a change of both arms."""
    where = f"{measured.bucket} source words, n = {count(measured.sentences)} sentences"
    ordered = sorted(measured.controls, key=lambda control: -control.bleu.value)
    rows = [(each.name, _level(each.bleu), _gain(each.gain)) for each in ordered]
    rows += [(f"both arms: {each.name}", "", _gain(each.gain)) for each in measured.variations]
    return Grid(
        caption=f"Attention ({measured.attention.value:.1f} BLEU) beside what does not select: "
        f"{where}, {RANGES} (C10).{_starred([measured.sentences])}",
        heads=("control", "BLEU", "attention minus it, BLEU"),
        rows=tuple(rows),
        headed=1,
    )


def training_grid(buckets: Sequence[Trained]) -> Grid:
    """A row a bucket: what twice the updates add without attention, and what attention adds."""
    filled = [row for row in buckets if row.once.filled]
    rows = [
        (row.bucket, count(row.sentences), _level(row.once), _level(row.twice), _gain(row.move),
         _gain(row.gap))
        for row in filled
    ]  # fmt: skip
    return Grid(
        caption="No attention, trained once and twice as long, and what attention adds, in BLEU: "
        f"n sentences, {RANGES} (C12).{_starred([row.sentences for row in filled])}",
        heads=("source words", "n", "trained once", "twice", "twice adds", "attention adds"),
        rows=tuple(rows),
        headed=1,
    )


def _starred(counts: Sequence[int]) -> str:
    """What the star of `count` means, where one stands."""
    return f" *: under {MARKED_BELOW}." if any(map(marked, counts)) else ""


def _level(estimate: Estimate) -> str:
    ends = estimate.interval
    return f"{estimate.value:.1f}\n{ends.low:.1f}..{ends.high:.1f}"


def _gain(estimate: Estimate) -> str:
    ends = estimate.interval
    return f"{estimate.value:+.1f}\n{ends.low:+.1f}..{ends.high:+.1f}"
