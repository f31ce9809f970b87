"""How long a benchmark will take, before it runs."""

from collections.abc import Sequence
from math import ceil

from ..runs.estimate import run_rate
from ..runs.operations import run_operations
from ..settings.machine import cores
from ..settings.run import RunSettings
from .grid import Arm, Point, Sizes
from .worker import FEWEST, GROUP_SECONDS, PATIENCE

START_SECONDS = 4.0
"""A process with its imports."""
COMPILE_SECONDS = 3.0
"""An arm at one set of sizes on one core, if no earlier measurement has left it in the cache."""


def point_seconds(
    points: Sequence[Point], arms: Sequence[Arm], repeats: int, rate: float | None = None
) -> list[float]:
    """Seconds that each point takes, as an estimate from above on one thread of this machine.

    ``rate`` is the machine's; measured, which takes seconds and a process, where none is given.
    """
    speed = run_rate(rate)
    return [_point(point.sizes, arms, repeats, speed) for point in points]


def _point(sizes: Sizes, arms: Sequence[Arm], repeats: int, speed: float) -> float:
    """Start and compiling; then a first step, one to count by, a forgotten round, the rounds."""
    steps = [_operations(sizes, arm) / speed for arm in arms]
    round_seconds = sum(max(GROUP_SECONDS, step) for step in steps)
    rounds = (repeats + 1) * round_seconds
    if rounds > PATIENCE:
        rounds = max(PATIENCE, (FEWEST + 1) * round_seconds)
    compiling = COMPILE_SECONDS * ceil(len(arms) / cores())
    return START_SECONDS + compiling + 2 * sum(steps) + rounds


def _operations(sizes: Sizes, arm: Arm) -> float:
    """Floating-point operations of one step, as a sweep's estimate counts them."""
    settings = RunSettings().changed(
        model=sizes.model(arm).model_dump(),
        training={"updates": 1, "batch_size": sizes.batch_size},
    )
    length = float(sizes.length)
    return run_operations(settings, sizes.vocabulary, (length, length))
