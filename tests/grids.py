"""The cells that a sweep makes, as a list."""

from seq2seq_bottleneck.settings.run import parse_assignments
from seq2seq_bottleneck.settings.sweep import Cell, Sweep, make_grid


def expand(sweep: Sweep, assignments: tuple[str, ...] | list[str] = (), seeds=None) -> list[Cell]:
    """Cells with ``--set`` assignments and ``--seeds`` on top."""
    return list(make_grid(sweep, parse_assignments(assignments), seeds)[0])
