"""A made-up benchmark, whose exponents are known."""

from collections.abc import Mapping
from pathlib import Path

from seq2seq_bottleneck.questions.benchmark import (
    parse_arms,
    parse_variation,
    point_row,
    points,
    write,
)

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
    folder: Path,
    vary: str = "length=10,20,40,80,160",
    arms: str = "none,dot",
    lost: Mapping[str, str] | None = None,
) -> None:
    """A step takes 1 ms per word in every arm, and attention's part grows as the length's square.

    ``lost`` names the arm that failed at a point.
    """
    rows, lost, chosen = [], lost or {}, parse_arms(arms)
    for sizes, varied in points(parse_variation(vary, {})).items():
        length, measured = sizes.length, {}
        for arm in chosen:
            seconds = 1e-3 * length + PAIR[arm] * length**2
            measured[arm] = {
                "peak_bytes": 9e6 * length,
                "seconds": [0.99 * seconds, seconds, 1.02 * seconds],
                "steps": 1,
            }
        if failed := lost.get(sizes.name):
            measured[failed] = {"peak_bytes": 9e6, "reason": "a step needs 99 GB"}
        result = {"machine": MACHINE, "arms": measured}
        of_arms = [point_row(sizes, arm, result) for arm in chosen]
        rows += [row | {"varied": name} for name in varied for row in of_arms]
    write(folder, rows)
