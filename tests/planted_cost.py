"""A made-up benchmark, whose exponents are known."""

from pathlib import Path

from seq2seq_bottleneck.bench.grid import Point, Sizes, parse_arms
from seq2seq_bottleneck.bench.measure import point_rows, write

READY = {"phase": "ready", "machine": "Abacus 3", "device": "cpu: cpu", "threads": 1,
         "version": "9.9", "jax": "8.8"}  # fmt: skip


def plant_costs(folder: Path) -> None:
    """A benchmark of two arms: milliseconds as the length, attention's as its square."""
    arms, rows = parse_arms("none,dot"), []
    for length in (10, 20, 40, 80, 160):
        seconds = {"none": 1e-3 * length, "dot": 1e-3 * length + 1e-5 * length**2}
        peaks = [{"phase": "compiled", "arm": name, "peak_bytes": 9e6} for name in seconds]
        done = {"phase": "done", "steps": {"none": 1, "dot": 1},
                "seconds": {name: [each] * 3 for name, each in seconds.items()}}  # fmt: skip
        point = Point(Sizes(length=length), ("length",))
        rows += point_rows(point, arms, [READY, *peaks, done])
    write(folder, rows)
