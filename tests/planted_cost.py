"""A made-up benchmark with known exponents."""

from collections.abc import Sequence
from pathlib import Path

from seq2seq_bottleneck.questions.benchmark import point_rows
from seq2seq_bottleneck.questions.cost import exponents
from seq2seq_bottleneck.questions.probing import write_table

MACHINE = "Abacus 3, 2 cores, cpu, 2026-11-29"
PAIR = {"none": 0.0, "additive": 4e-5, "dot": 1e-5, "none-output": 0.0, "dot-output": 2e-5}
"""Seconds of attention per pair of words."""


def plant_costs(
    folder: Path,
    lengths: Sequence[int] = (10, 20, 40, 80, 160),
    arms: Sequence[str] = ("none", "dot"),
) -> None:
    """A step takes 1 ms per word in every arm; attention's part grows with the length squared."""
    rows = []
    for length in lengths:
        measured = {}
        for arm in arms:
            seconds = 1e-3 * length + PAIR[arm] * length**2
            measured[arm] = [0.99 * seconds, seconds, 1.02 * seconds]
        rows += [row for arm in arms for row in point_rows(length, arm, measured, MACHINE)]
    write_table("cost", [*rows, *exponents(rows)], folder)
