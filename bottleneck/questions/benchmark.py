"""What `bottleneck study cost` measures: a training step of each arm, by length (C9).

Each length is measured in a process of its own, so that none is influenced by what another left
behind. All arms are compiled first; then they take turns, A B A B, a group of steps each.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, get_args

import jax
import numpy as np
import pandas as pd

from ..corpus.batches import Batch
from ..corpus.vocabulary import EOS, UNK
from ..model.translator import create
from ..runs.pool import worker_processes
from ..runs.run import describe_environment, use_cache
from ..settings.concerns import ModelSettings, TrainingSettings
from ..settings.errors import UsageError, UserError, did_you_mean
from ..settings.files import write_listed
from ..settings.machine import cores
from ..training.step import TrainState, initial_state, make_update
from .cost import COLUMNS, OUTPUT, baseline

ARMS = tuple(
    name + placement
    for placement in ("", OUTPUT)
    for name in get_args(ModelSettings.model_fields["attention"].annotation)
)
CONTEXT, EMBEDDING, BATCH, VOCABULARY = 256, 100, 64, 2_000
"""The sizes of every step."""
LENGTHS, QUICK_LENGTHS = (10, 20, 30, 50, 70, 100, 140, 200), (10, 30, 90)
DEFAULT_ARMS, QUICK_ARMS = "none,additive,dot,none-output,dot-output", "none,additive,dot"
TRAINING = TrainingSettings()

Row = dict[str, Any]


def parse_arms(text: str) -> list[str]:
    """The arms of ``additive,dot-output``, each after its baseline."""
    arms: dict[str, None] = {}
    for name in map(str.strip, text.split(",")):
        if name not in ARMS:
            raise UsageError(f"--arms: unknown arm {name!r}{did_you_mean(name, ARMS)}")
        arms |= dict.fromkeys((baseline(name), name))
    return list(arms)


def parse_lengths(text: str) -> list[int]:
    """The lengths of ``10,20``, ascending; UsageError for what is no whole number above 0."""
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if not (word.isdecimal() and int(word)):
            raise UsageError(f"--lengths: {word!r}: give whole numbers from 1 up, as in 10,20,40")
    return sorted(set(map(int, words)))


def measure(
    lengths: Sequence[int], arms: Sequence[str], repeats: int,
    listener: Callable[[int, Sequence[Row]], None],
) -> tuple[list[Row], dict[int, str]]:  # fmt: skip
    """A row for each length and arm, and why a length could not be measured."""
    rows: list[Row] = []
    failed: dict[int, str] = {}
    for length in lengths:
        order = {"length": length, "arms": arms, "repeats": repeats}
        with worker_processes() as (start, events):
            start(None, "questions.benchmark:measure_length", order, threads=1)
            _, result = events.get()
        if "arms" not in result:
            failed[length] = result["reason"]
            continue
        of_arms = [point_row(length, arm, result) for arm in arms]
        rows += of_arms
        listener(length, of_arms)
    if not rows:
        raise UserError(f"no length could be measured: {result['reason']}")
    return rows, failed


def point_row(length: int, arm: str, result: Mapping[str, Any]) -> Row:
    """The row of ``cost.csv``; attention's seconds and share (0 to 1) are taken round by round."""
    step, without = result["arms"][arm], result["arms"][baseline(arm)]
    timed = {"seconds": step["seconds"]}
    if arm != baseline(arm):
        pairs = list(zip(step["seconds"], without["seconds"], strict=True))
        timed["attention_seconds"] = [long - short for long, short in pairs]
        timed["attention_share"] = [1 - short / long for long, short in pairs]
    row = dict.fromkeys(COLUMNS) | result["machine"] | {
        "varied": "length", "arm": arm, "attention": arm.removesuffix(OUTPUT),
        "placement": "output" if arm.endswith(OUTPUT) else "input", "length": length,
        "context_size": CONTEXT, "hidden_size": CONTEXT, "embedding_size": EMBEDDING,
        "batch_size": BATCH, "vocabulary": VOCABULARY, "repeats": len(step["seconds"]),
        "steps": step["steps"], "cores": cores(), "date": datetime.now(UTC).date().isoformat(),
    }  # fmt: skip
    for name, values in timed.items():
        row |= {name: median(values), f"{name}_low": min(values), f"{name}_high": max(values)}
    return row


def write(folder: Path, rows: Sequence[Row]) -> None:
    """``probes/cost.csv``, whole or not at all."""
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    write_listed(folder, [("probes/cost.csv", frame.to_csv(index=False).encode())])


def measure_length(
    emit: Callable[[int, dict[str, Any]], None], length: int, arms: Sequence[str], repeats: int
) -> None:
    """The task of a worker process: seconds of each arm's groups of steps, after a first round."""
    use_cache()
    steps = {arm: Step(arm, length) for arm in arms}
    results: dict[str, dict[str, Any]] = {}
    for arm, step in steps.items():
        count = max(1, round(0.3 / step.seconds(1)))  # a group takes 0.3 seconds, or a step
        results[arm] = {"seconds": [], "steps": count}
    for number in range(repeats + 1):
        for arm, step in steps.items():
            elapsed = step.seconds(results[arm]["steps"])
            results[arm]["seconds"] += [elapsed] if number else []
    facts = describe_environment()
    machine = {"machine": facts["processor"], "version": facts["bottleneck"],
               "device": facts["device"], "threads": facts["threads"],
               "jax": facts["versions"]["jax"]}  # fmt: skip
    emit(0, {"phase": "done", "machine": machine, "arms": results})


class Step:
    """A training step of one arm at one length; its first step compiles it."""

    def __init__(self, arm: str, length: int, context: int = CONTEXT):
        model = ModelSettings(
            attention=arm.removesuffix(OUTPUT),
            placement="output" if arm.endswith(OUTPUT) else "input",
            embedding_size=EMBEDDING,
            context_size=context,
        )
        graph, weights = create(model, VOCABULARY, VOCABULARY, TRAINING.seed)
        self.state: TrainState = initial_state(weights, TRAINING)
        self.update = make_update(graph, TRAINING)
        draw = np.random.default_rng(1)
        sides = [draw.integers(UNK + 1, VOCABULARY, (BATCH, length), np.int32) for _ in range(2)]
        for side in sides:
            side[:, -1] = EOS
        lengths = np.full(BATCH, length, np.int32)
        self.batch = Batch(sides[0], lengths, sides[1], lengths)
        self.seconds(1)

    def seconds(self, steps: int) -> float:
        """Seconds per step of so many steps in turn; none waits for the host to look at it."""
        start = time.perf_counter()
        for _ in range(steps):
            self.state, _ = self.update(self.state, self.batch)
        jax.block_until_ready(self.state)
        return (time.perf_counter() - start) / steps
