"""What a sweep will cost, before it runs: parameters, disk, and the time on this machine.

Time is a run's operations (`operations`) over the rate at which this machine does those of a small
update (`pace`). Validation and greedy decoding add under two per cent and are left out. On an
accelerator the estimate says nothing.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import jax

from ..model.translator import count_parameters, create
from ..settings.concerns import ModelSettings
from ..settings.run import RunSettings
from .operations import run_operations
from .pace import update_rate

EFFICIENCY = 0.76
"""A run's rate over `update_rate`, whose sentences are all of one length. 2026-11-23, an EPYC, two
runs side by side: 60e9 without attention and additive, and the small update's 79e9 to 85e9."""

START_SECONDS = 12.0
"""Imports, the corpus, decoding's programs and the scores of a run."""

COMPILE_SECONDS = 3.0
"""Compiling update and validation for one padded shape on one thread. Every run is charged for it,
though runs of equal programs find them in the cache: an estimate of a first sweep, from above."""

SENTENCE_BYTES = 620
"""A test sentence in a run's folder: its translation and its counts."""

TEXT_BYTES = 180_000
"""The rest of a run's text: examples, log, vocabularies, settings."""


class Cost(NamedTuple):
    """What one run costs; ``seconds`` on one thread."""

    parameters: int
    disk_bytes: int
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """What all runs cost, one entry a cell in the order given; ``seconds`` by the clock."""

    costs: tuple[Cost, ...]
    jobs: int
    seconds: float

    @property
    def disk_bytes(self) -> int:
        """Disk that all finished runs take."""
        return sum(cost.disk_bytes for cost in self.costs)

    @property
    def text(self) -> str:
        """For people: ``about 1 h 20 min on 2 cores``."""
        cores = "1 core" if self.jobs == 1 else f"{self.jobs} cores"
        return f"about {duration(self.seconds)} on {cores}"


def estimate(
    cells: Sequence[RunSettings],
    vocabulary: tuple[int, int],
    mean_lengths: tuple[float, float],
    jobs: int,
    rate: float | None = None,
) -> Estimate:
    """Cost of runs by ``jobs`` single-threaded workers, longest first.

    ``vocabulary`` and ``mean_lengths`` (tokens of a training sentence, EOS included) are those of
    source and target; ``rate`` is the machine's, measured where it is not given.
    """
    speed = run_rate(rate)
    costs = tuple(_cost(cell, vocabulary, mean_lengths, speed) for cell in cells)
    return Estimate(costs, jobs, wall_seconds([cost.seconds for cost in costs], jobs))


def run_rate(rate: float | None = None) -> float:
    """Operations a second of a run on one thread; ``rate`` is as `estimate` has it."""
    return EFFICIENCY * (update_rate() if rate is None else rate)


def _cost(
    cell: RunSettings,
    vocabulary: tuple[int, int],
    mean_lengths: tuple[float, float],
    speed: float,
) -> Cost:
    parameters = parameters_of(cell.model, vocabulary)
    disk = 4 * parameters + TEXT_BYTES + SENTENCE_BYTES * cell.corpus.test_pairs
    training = run_operations(cell, vocabulary[1], mean_lengths) / speed
    return Cost(parameters, disk, START_SECONDS + _compiling(cell) + training)


def _compiling(cell: RunSettings) -> float:
    return COMPILE_SECONDS * min(cell.training.shapes, cell.training.updates)


@lru_cache(maxsize=256)
def parameters_of(model: ModelSettings, vocabulary: tuple[int, int]) -> int:
    """How many numbers a run trains, from the shapes alone: nothing is allocated."""
    return count_parameters(jax.eval_shape(lambda: create(model, *vocabulary, seed=0)[1]))


def wall_seconds(seconds: Sequence[float], jobs: int) -> float:
    """When the last run ends if each goes, longest first, to the worker that is free first."""
    workers = [0.0] * max(1, min(jobs, len(seconds)))
    for run in sorted(seconds, reverse=True):
        heapq.heapreplace(workers, workers[0] + run)
    return max(workers)


def duration(seconds: float) -> str:
    """A rough time for people, in two units at most: ``40 s``, ``12 min``, ``1 h 20 min``."""
    if seconds < 90:
        return f"{max(10, 10 * round(seconds / 10))} s"
    minutes = math.ceil(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(10 * math.ceil(minutes / 10), 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"
