"""What a sweep will cost, before it runs: parameters, disk, and the time on this machine.

Time comes from counting floating-point operations. A target token costs, forward (r is the ratio
of source to target tokens; g gates, widths E of embeddings, H hidden, C context, A the score's
own, V the target vocabulary; a product of a vector and an m x n matrix is 2mn operations):

- encoder: r 2gH(in + H) for each layer and direction, in = E in the lowest layer; 2r d H C where
  the states (d directions) are mapped to the context size;
- decoder: 2gH(in + H) for each layer; the context 2gCH (placement input, wherever it changes from
  step to step) or 2(C + H)H (placement output);
- the score: 2rCA + 2HA (additive) or 2HC (general); output layer: 2HV, or 2(HE + EV)
  where it is tied to the embedding.

Forward and backward together are three times that. Reading S states a step is no matrix product
and is counted apart, as ``READ`` operations' worth of time for each state and unit.

``EFFICIENCY`` and ``READ`` were measured on 2026-11-20 (x86, AMD EPYC, one thread, jax 0.10.2,
``numpy_rate`` 110e9; GRU, E 100, H = C = 256, V 2,033, batch 64, source/target of 32/36 and 60/72
tokens, in target tokens a second, with others at work): none 24,500 and 27,400; additive 16,000 and
13,800; dot 21,000 and 20,900; uniform 23,400; H 512, none 9,200; LSTM 21,300; tanh RNN 37,700;
three words in four forced, none 16,800. Validation and greedy decoding add under two per
cent and are left out. On an accelerator the estimate says nothing.
"""

import heapq
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import jax
import numpy as np

from ..model.cells import GATES
from ..model.translator import count_parameters, create
from ..settings.concerns import ModelSettings
from ..settings.run import RunSettings

EFFICIENCY = 1.3
"""A run's rate over ``numpy_rate``."""

READ = {"none": 0, "uniform": 0, "dot": 10, "scaled-dot": 10, "general": 10, "additive": 120}
"""Reading one unit of one state, forward and backward, in operations of a matrix product."""

START_SECONDS = 12.0
"""Imports, the corpus, decoding's programs and the scores of a run."""

COMPILE_SECONDS = 3.0
"""Compiling update and validation for one padded shape on one thread. Every run is charged for it,
though runs of equal programs find them in the cache: an estimate of a first sweep, from above."""

SENTENCE_BYTES = 620
"""A test sentence in a run's folder: its translation and its counts."""

TEXT_BYTES = 180_000
"""The rest of a run's text: examples, log, vocabularies, settings."""

REPEATS = 100


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
    speed = EFFICIENCY * (numpy_rate() if rate is None else rate)
    costs = tuple(_cost(cell, vocabulary, mean_lengths, speed) for cell in cells)
    return Estimate(costs, jobs, wall_seconds([cost.seconds for cost in costs], jobs))


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


def run_operations(
    cell: RunSettings, target_vocabulary: int, mean_lengths: tuple[float, float]
) -> float:
    """Operations of a run's training, reads of the memory in their worth of them."""
    shortened = _shortened(cell)
    source, target = (length * shortened for length in mean_lengths)
    tokens = cell.training.batch_tokens or cell.training.batch_size * target
    products = 3 * forward_operations(cell, target_vocabulary, source / target)
    return cell.training.updates * tokens * (products + _read_operations(cell.model, source))


def _shortened(cell: RunSettings) -> float:
    """Mean length where training is shortened, as a share of that of the whole corpus.

    On the grammar's even buckets .27 .40 .57 .76 for 10, 20, 30, 40 of 60 words.
    """
    return 0.1 + 0.9 * cell.corpus.longest_trained / cell.corpus.max_words


def forward_operations(cell: RunSettings, target_vocabulary: int, ratio: float) -> float:
    """Operations of all matrix products for one target token; see the head of this file."""
    model = cell.model
    return (
        ratio * _encoder(model)
        + _stack(model, 1)
        + _context(cell)
        + _score(model, ratio)
        + _output(model, target_vocabulary)
    )


def _encoder(model: ModelSettings) -> int:
    """Layers in one or two directions, and the map to the context size where there is one."""
    directions = 2 if model.bidirectional else 1
    width = directions * model.hidden
    mapped = model.bidirectional or model.hidden_apart
    map_operations = 2 * width * model.context_size if mapped else 0
    return directions * _stack(model, directions) + map_operations


def _stack(model: ModelSettings, directions: int) -> int:
    """Recurrent layers in one direction, each above the first reading all directions."""
    widths = [model.embedding_size] + [directions * model.hidden] * (model.layers - 1)
    gates = 2 * GATES[model.cell] * model.hidden
    return sum(gates * (width + model.hidden) for width in widths)


def _context(cell: RunSettings) -> int:
    """The context's way into the decoder; a constant one enters once, if all words are forced."""
    model = cell.model
    if model.placement == "output":
        return 2 * (model.context_size + model.hidden) * model.hidden
    if model.attention in ("none", "uniform") and cell.training.teacher_forcing == 1.0:
        return 0
    return 2 * GATES[model.cell] * model.context_size * model.hidden


def _score(model: ModelSettings, ratio: float) -> float:
    """The score's own matrices."""
    if model.attention == "general":
        return 2.0 * model.hidden * model.context_size
    if model.attention == "additive":
        return 2 * model.attention_width * (ratio * model.context_size + model.hidden)
    return 0.0


def _output(model: ModelSettings, target_vocabulary: int) -> int:
    """The output layer; tied, the way to the embedding's width and the embedding."""
    if model.tied_output:
        return 2 * model.embedding_size * (model.hidden + target_vocabulary)
    return 2 * model.hidden * target_vocabulary


def _read_operations(model: ModelSettings, source: float) -> float:
    """Scores, softmax and weighted sum over a source of this length, forward and backward."""
    width = model.attention_width if model.attention == "additive" else model.context_size
    return READ[model.attention] * source * width


def numpy_rate() -> float:
    """Operations a second of float32 matrix products on one thread: the best of a few.

    Products of 64 x 64 are so small that no BLAS shares them out among threads, and as thin as
    those of a model.
    """
    left = np.ones((64, 64, 64), np.float32)
    right = np.ones((64, 64), np.float32)
    return 2 * 64**4 / min(_seconds_of_product(left, right) for _ in range(REPEATS))


def _seconds_of_product(left: np.ndarray, right: np.ndarray) -> float:
    start = time.perf_counter()
    left @ right
    return time.perf_counter() - start


def wall_seconds(seconds: Sequence[float], jobs: int) -> float:
    """When the last run ends if each goes, longest first, to the worker that is free first."""
    workers = [0.0] * max(1, jobs)
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
