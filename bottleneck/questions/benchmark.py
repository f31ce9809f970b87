"""What `bottleneck study cost` measures: a training step of each arm, by length (C9).

Each length has its own process, so that lengths do not affect each other. All arms are compiled
first. Then they take turns, A B A B, with a group of steps each.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import jax
import numpy as np

from ..corpus.batches import Batch
from ..corpus.vocabulary import EOS, UNK
from ..model.parts import Stack
from ..model.translator import create
from ..results.schema import BENCHMARK
from ..runs.pool import run_workers
from ..runs.run import describe_environment
from ..runs.translate import cache_programs
from ..settings.concerns import ModelSettings, TrainingSettings
from ..settings.errors import UserError
from ..settings.machine import cores
from ..training.step import initial_state, make_update
from .arms import Row
from .cost import exponents
from .probing import write_table
from .question import Tell

ARMS = ("none", "additive", "dot", "none-output", "dot-output")
"""Each arm's attention, and its placement if that is not ``input``."""
CONTEXT = 256
QUICK_LENGTHS = (10, 30, 90)


def measure(folder: Path, quick: bool, tell: Tell) -> None:
    """Time a step of each arm by length, with ``quick`` at a few lengths; write the table."""
    lengths, rows = QUICK_LENGTHS if quick else (10, 20, 30, 50, 70, 100, 140, 200), []
    for number, length in enumerate(lengths, 1):
        orders = [([length], {"length": length})]
        result = run_workers("questions.benchmark:measure_length", orders)[length]
        if result["phase"] == "failed":
            raise UserError(f"length {length} could not be measured: {result['reason']}")
        seconds = result["seconds"]
        machine = f"{result['machine']}, {datetime.now(UTC).date()}"
        rows += [row for arm in ARMS for row in point_rows(length, arm, seconds, machine)]
        steps = ", ".join(f"{arm} {1e3 * np.median(seconds[arm]):,.1f} ms" for arm in ARMS)
        tell(f"length {length} ({number} of {len(lengths)}): {steps}")
    write_table(BENCHMARK, [*rows, *exponents(rows)], folder)


def point_rows(
    length: int, arm: str, seconds: Mapping[str, Sequence[float]], machine: str
) -> list[Row]:
    """The rows of an arm at a length; attention's part is computed round by round."""
    attention, _, placement = arm.partition("-")
    step = np.array(seconds[arm])
    timed = {"seconds": step}
    if attention != "none":
        without = np.array(seconds["none-output" if placement else "none"])
        timed |= {"attention_seconds": step - without, "attention_share": 1 - without / step}
    keys = {
        "arm": arm,
        "attention": attention,
        "placement": placement or "input",
        "context_size": CONTEXT,
        "corpus": "random words",
        "bucket": str(length),
        "n": len(step),
        "note": machine,
    }
    return [
        keys | {"measure": name, "value": np.median(times), "low": min(times), "high": max(times)}
        for name, times in timed.items()
    ]


def measure_length(emit: Callable[[int, dict], None], length: int) -> None:
    """The task of a worker process: seconds of each arm's groups of steps."""
    cache_programs()
    steps = {arm: Step(arm, length) for arm in ARMS}
    # A group takes 0.3 seconds, or one step if that is longer.
    counts = {arm: max(1, round(0.3 / step.seconds(1))) for arm, step in steps.items()}
    rounds = [{arm: step.seconds(counts[arm]) for arm, step in steps.items()} for _ in range(6)]
    # The first round is left out.
    seconds = {arm: [one_round[arm] for one_round in rounds[1:]] for arm in ARMS}
    facts = describe_environment()
    machine = f"{facts['processor']}, {cores()} cores, {facts['device'].removeprefix('cpu: ')}"
    emit(0, {"phase": "done", "machine": machine, "seconds": seconds})


class Step:
    """A training step of one arm at one length; its first step compiles it."""

    def __init__(self, arm: str, length: int, context: int = CONTEXT):
        attention, _, placement = arm.partition("-")
        model = ModelSettings(
            attention=attention,
            placement=placement or "input",
            embedding_size=100,
            context_size=context,
        )
        training, words = TrainingSettings(), 2_000
        graph, weights = create(model, words, words, training.seed)
        self.state = initial_state(weights, training)
        self.update = make_update(graph, training, Stack(1))
        size = (2, 64, length)
        source, target = np.random.default_rng(1).integers(UNK + 1, words, size, np.int32)
        source[:, -1] = target[:, -1] = EOS
        lengths = np.full(len(source), length, np.int32)
        self.batch = Batch(source, lengths, target, lengths)
        self.seconds(1)

    def seconds(self, steps: int) -> float:
        """Seconds per step of this many steps, which run without waiting for the host."""
        start = time.perf_counter()
        for _ in range(steps):
            self.state, _ = self.update(self.state, self.batch)
        jax.block_until_ready(self.state)
        return (time.perf_counter() - start) / steps
