"""A made-up benchmark, whose exponents are known."""

from collections.abc import Sequence
from pathlib import Path

from seq2seq_bottleneck.questions.benchmark import point_row, write

MACHINE = {"machine": "Abacus 3", "device": "cpu: cpu"}
PAIR = {"none": 0.0, "additive": 4e-5, "dot": 1e-5, "none-output": 0.0, "dot-output": 2e-5}
"""Seconds of attention for a pair of words."""


def plant_costs(
    folder: Path,
    lengths: Sequence[int] = (10, 20, 40, 80, 160),
    arms: Sequence[str] = ("none", "dot"),
) -> None:
    """A step takes 1 ms per word in every arm, and attention's part the square of the length."""
    rows = []
    for length in lengths:
        measured = {}
        for arm in arms:
            seconds = 1e-3 * length + PAIR[arm] * length**2
            measured[arm] = [0.99 * seconds, seconds, 1.02 * seconds]
        rows += [point_row(length, arm, measured, MACHINE) for arm in arms]
    write(folder, rows)
