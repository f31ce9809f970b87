"""A made-up benchmark, whose exponents are known."""

from collections.abc import Sequence
from pathlib import Path

from seq2seq_bottleneck.questions.benchmark import parse_arms, point_row, write

MACHINE = {
    "machine": "Abacus 3",
    "device": "cpu: cpu",
    "threads": 1,
    "version": "9.9",
    "jax": "8.8",
}
PAIR = {"none": 0.0, "additive": 4e-5, "dot": 1e-5, "none-output": 0.0, "dot-output": 2e-5}
"""Seconds of attention for a pair of words."""


def plant_costs(
    folder: Path, lengths: Sequence[int] = (10, 20, 40, 80, 160), arms: str = "none,dot"
) -> None:
    """A step takes 1 ms per word in every arm, and attention's part the square of the length."""
    rows, chosen = [], parse_arms(arms)
    for length in lengths:
        measured = {}
        for arm in chosen:
            seconds = 1e-3 * length + PAIR[arm] * length**2
            measured[arm] = {"seconds": [0.99 * seconds, seconds, 1.02 * seconds], "steps": 1}
        result = {"machine": MACHINE, "arms": measured}
        rows += [point_row(length, arm, result) for arm in chosen]
    write(folder, rows)
