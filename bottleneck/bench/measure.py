"""What `bottleneck bench` measures, and the rows of ``probes/cost.csv`` that it gives.

One size is varied at a time from common sizes. Each point, a set of sizes, is measured in a process
of its own (`worker`).
"""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, get_args

import pandas as pd

from ..corpus.vocabulary import UNK
from ..questions.cost import COLUMNS, OUTPUT, VARIED
from ..runs.pool import held_processes, last_words, start_worker
from ..settings.concerns import ModelSettings
from ..settings.errors import UsageError, UserError, did_you_mean
from ..settings.machine import cores
from ..settings.sums import write_listed

NONE = "none"
ATTENTIONS = get_args(ModelSettings.model_fields["attention"].annotation)
ARM_NAMES = (*ATTENTIONS, *(f"{name}{OUTPUT}" for name in ATTENTIONS))
SHORT_NAMES = {"context": "context_size", "batch": "batch_size"}
"""What ``--vary`` calls some quantities."""
NAMES = [name.removesuffix("_size") for name in VARIED]
LEAST = {"length": 1, "context_size": 1, "batch_size": 1, "vocabulary": UNK + 2}
"""Least sizes; of the vocabulary one word beside the special tokens."""

Variation = Mapping[str, tuple[int, ...]]
"""The sizes that each varied quantity takes."""
DEFAULT: Variation = {
    "length": (10, 20, 30, 50, 70, 100, 140, 200),
    "context_size": (64, 128, 256, 512, 1024),
    "batch_size": (16, 32, 64, 128, 256),
    "vocabulary": (500, 2_000, 8_000, 32_000),
}
QUICK: Variation = {
    "length": (10, 30, 90),
    "context_size": (64, 256),
    "batch_size": (16, 64),
    "vocabulary": (500, 2_000),
}
DEFAULT_ARMS = ("none", "additive", "dot", "none-output", "dot-output")
QUICK_ARMS = ("none", "additive", "dot")


@dataclass(frozen=True)
class Arm:
    """One attention in one placement."""

    attention: str
    placement: str

    @property
    def name(self) -> str:
        """``dot``, or ``dot-output`` in Luong's placement."""
        return self.attention + (OUTPUT if self.placement == "output" else "")

    @property
    def baseline(self) -> str:
        """Name of the arm without attention in the same placement."""
        return Arm(NONE, self.placement).name


@dataclass(frozen=True)
class Sizes:
    """Tokens a side (end token included), context and hidden size, sentences, words.

    Words are those of either vocabulary, special tokens among them; each has ``embedding_size``
    numbers. The defaults are what all quantities but one have.
    """

    length: int = 30
    context_size: int = 256
    batch_size: int = 64
    vocabulary: int = 2_000
    embedding_size: int = 100

    def model(self, arm: Arm) -> ModelSettings:
        """The lecture's model at these sizes."""
        return ModelSettings(
            attention=arm.attention,
            placement=arm.placement,
            embedding_size=self.embedding_size,
            context_size=self.context_size,
        )


@dataclass(frozen=True)
class Point:
    """Sizes that are measured once, and the quantities whose variations they belong to."""

    sizes: Sizes
    varied: tuple[str, ...]

    @property
    def name(self) -> str:
        """``length 50``; ``base`` where no size is varied."""
        base = asdict(Sizes())
        changed = {k: size for k, size in asdict(self.sizes).items() if size != base[k]}
        return ", ".join(f"{name} {size:,}" for name, size in changed.items()) or "base"


def points(variation: Variation) -> list[Point]:
    """Every distinct set of sizes once, in the order of the variation."""
    varied: dict[Sizes, tuple[str, ...]] = {}
    for name, values in variation.items():
        for value in values:
            sizes = replace(Sizes(), **{name: value})
            varied[sizes] = (*varied.get(sizes, ()), name)
    return [Point(*item) for item in varied.items()]


def parse_arms(text: str) -> list[Arm]:
    """``additive,dot-output`` as arms, each behind the arm without attention in its placement.

    Raises UsageError for an unknown name, or for no name.
    """
    arms: dict[str, Arm] = {}
    for name in _words(text):
        if name not in ARM_NAMES:
            raise UsageError(f"--arms: unknown arm {name!r}{did_you_mean(name, ARM_NAMES)}")
        arm = Arm(name.removesuffix(OUTPUT), "output" if name.endswith(OUTPUT) else "input")
        arms.setdefault(arm.baseline, Arm(NONE, arm.placement))
        arms[arm.name] = arm
    if not arms:
        raise UsageError(f"--arms: name at least one of {', '.join(ARM_NAMES)}")
    return list(arms.values())


def parse_variation(text: str, default: Variation) -> Variation:
    """``length=10,20,context``: sizes behind an equals sign, otherwise those of the default.

    Raises UsageError for an unknown quantity, and for a size that is no number or below `LEAST`.
    """
    sizes: dict[str, list[int]] = {}
    name = ""
    for word in _words(text):
        head, equals, size = word.rpartition("=")
        if equals or not size.lstrip("-")[:1].isdigit():
            given = (head or size).strip()
            name = SHORT_NAMES.get(given, given)
            if name not in VARIED:
                raise UsageError(f"--vary: unknown quantity {given!r}{did_you_mean(given, NAMES)}")
            sizes[name] = [] if equals else list(default[name])
        if not name:
            raise UsageError(f"--vary: {word!r} belongs to no quantity; write length={word}")
        if equals or size[:1] in "-0123456789":
            plain = size.strip().replace("_", "")
            if not plain.isdecimal() or int(plain) < LEAST[name]:
                raise UsageError(
                    f"--vary: {name}={size.strip()}: give whole numbers from {LEAST[name]} up"
                )
            sizes[name].append(int(plain))
    if not sizes:
        raise UsageError(f"--vary: name at least one of {', '.join(NAMES)}")
    return {name: tuple(sorted(set(values))) for name, values in sizes.items()}


def _words(text: str) -> Iterator[str]:
    return filter(None, map(str.strip, text.split(",")))


Row = dict[str, Any]


def measure(
    points: Sequence[Point], arms: Sequence[Arm], repeats: int, threads: int,
    listener: Callable[[Point, Sequence[Row]], None],
) -> list[Row]:  # fmt: skip
    """Measure all points, one after the other; the listener gets a point with a row for each arm.

    An arm that fails at a point is a row with its reason. A ``UserError`` where nothing could be
    measured at all.
    """
    rows: list[Row] = []
    with held_processes() as processes:
        for point in points:
            result = measure_point(point, arms, repeats, threads, processes)
            of_arms = [point_row(point, arm, result) for arm in arms]
            rows += [row | {"varied": varied} for varied in point.varied for row in of_arms]
            listener(point, of_arms)
    if all(row["seconds"] is None for row in rows):
        raise UserError(
            f"nothing could be measured: {rows[0]['reason']}; try smaller sizes (--quick has some)"
        )
    order = list(VARIED)
    # Sorting is stable: the arms of a point keep their order.
    return sorted(rows, key=lambda row: (order.index(row["varied"]), row[row["varied"]]))


def measure_point(
    point: Point, arms: Sequence[Arm], repeats: int, threads: int,
    processes: list[subprocess.Popen],
) -> dict[str, Any]:  # fmt: skip
    """What the point's process says (`worker.main`), or the ``reason`` why it says nothing."""
    order = {
        "sizes": asdict(point.sizes),
        "arms": [(arm.attention, arm.placement) for arm in arms],
        "repeats": repeats,
    }
    with tempfile.TemporaryFile("w+", encoding="utf8", errors="replace") as errors:
        process = start_worker("bench", order, errors, threads=threads)
        processes[:] = [process]
        with process.stdout:
            lines = process.stdout.read().splitlines()
        process.wait()
        if process.returncode or not lines:
            return {"reason": last_words(process, errors)}
    return json.loads(lines[-1])  # a library may have printed before


def point_row(point: Point, arm: Arm, result: Mapping[str, Any]) -> Row:
    """The row of ``cost.csv`` of an arm at a point; memory is in megabytes, 10^6 bytes.

    Attention's seconds and share (0 to 1) are taken round by round. Without numbers the row has the
    reason.
    """
    machine = {
        name: result.get(name) for name in ("machine", "device", "threads", "version", "jax")
    }
    row = dict.fromkeys(COLUMNS) | asdict(point.sizes) | asdict(arm) | machine | {
        "arm": arm.name,
        "hidden_size": point.sizes.context_size,
        "cores": cores(),
        "date": datetime.now(UTC).date().isoformat(),
    }  # fmt: skip
    steps = result.get("arms", {})
    step, baseline = steps.get(arm.name, result), steps.get(arm.baseline, {})
    row["peak_mb"] = step["peak_bytes"] / 1e6 if "peak_bytes" in step else None
    row["reason"] = step.get("reason", "")
    if "seconds" not in step:
        return row
    seconds = step["seconds"]
    row |= spread("seconds", seconds) | {"repeats": len(seconds), "steps": step["steps"]}
    row["target_tokens_per_second"] = point.sizes.length * point.sizes.batch_size / median(seconds)
    if arm.attention != NONE and "seconds" in baseline:
        pairs = list(zip(seconds, baseline["seconds"], strict=True))
        row |= spread("attention_seconds", [with_ - without for with_, without in pairs])
        row |= spread("attention_share", [1 - without / with_ for with_, without in pairs])
        row["attention_mb"] = (step["peak_bytes"] - baseline["peak_bytes"]) / 1e6
    return row


def spread(name: str, values: Sequence[float]) -> Row:
    """Three columns: the median, the least, the greatest."""
    return {name: median(values), f"{name}_low": min(values), f"{name}_high": max(values)}


def write(folder: Path, rows: Sequence[Row]) -> None:
    """``probes/cost.csv``, whole or not at all."""
    whole = {name: "Int64" for name, kind in COLUMNS.items() if kind == "int64"}
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(whole)
    write_listed(folder, [("probes/cost.csv", frame.to_csv(index=False).encode())])
