"""What `bottleneck bench` measures, and the rows of ``probes/cost.csv`` that it gives.

One size is varied at a time from common sizes. Each point, a set of sizes, is measured in a process
of its own (`worker`).
"""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, get_args

import pandas as pd

from ..corpus.vocabulary import UNK
from ..questions.cost import COLUMNS, OUTPUT, VARIED, baseline
from ..runs.pool import held_processes, last_words, start_worker
from ..settings.concerns import ModelSettings
from ..settings.errors import UsageError, UserError, did_you_mean
from ..settings.files import write_listed
from ..settings.machine import cores

ATTENTIONS = get_args(ModelSettings.model_fields["attention"].annotation)
ARMS = (*ATTENTIONS, *(f"{name}{OUTPUT}" for name in ATTENTIONS))
"""An arm is an attention; with ``-output`` behind it, in Luong's placement."""
EMBEDDING = 100


class Sizes(NamedTuple):
    """Tokens per side (end token included), context and hidden size, sentences, words.

    Words are those of either vocabulary, special tokens among them. The defaults are what all
    quantities but one have.
    """

    length: int = 30
    context_size: int = 256
    batch_size: int = 64
    vocabulary: int = 2_000

    @property
    def name(self) -> str:
        """``length 50``; ``base`` where no size is varied."""
        base = Sizes()._asdict()
        changed = {name: size for name, size in self._asdict().items() if size != base[name]}
        return ", ".join(f"{name} {size:,}" for name, size in changed.items()) or "base"


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
DEFAULT_ARMS = "none,additive,dot,none-output,dot-output"
QUICK_ARMS = "none,additive,dot"

Points = Mapping[Sizes, tuple[str, ...]]
"""Sizes that are measured once, and the quantities whose variations they belong to."""
Row = dict[str, Any]


def points(variation: Variation) -> Points:
    """Every distinct set of sizes once, in the order of the variation."""
    varied: dict[Sizes, tuple[str, ...]] = {}
    for name, values in variation.items():
        for value in values:
            sizes = Sizes()._replace(**{name: value})
            varied[sizes] = (*varied.get(sizes, ()), name)
    return varied


def parse_arms(text: str) -> list[str]:
    """The arms of ``additive,dot-output``, each behind the one without attention in its placement.

    Raises UsageError for an unknown name, or for no name.
    """
    arms: dict[str, None] = {}
    for name in _words(text):
        if name not in ARMS:
            raise UsageError(f"--arms: unknown arm {name!r}{did_you_mean(name, ARMS)}")
        arms |= dict.fromkeys((baseline(name), name))
    if not arms:
        raise UsageError(f"--arms: name at least one of {', '.join(ARMS)}")
    return list(arms)


def parse_variation(text: str, default: Variation) -> Variation:
    """``length=10,20,context``: sizes behind an equals sign, otherwise those of the default.

    Raises UsageError for an unknown quantity, and for a size that is no number or too small.
    """
    names = {name.removesuffix("_size"): name for name in VARIED}
    least = dict.fromkeys(VARIED, 1) | {"vocabulary": UNK + 2}  # a word beside the special tokens
    sizes: dict[str, list[int]] = {}
    name = ""
    for word in _words(text):
        given, equals, size = map(str.strip, word.rpartition("="))
        if not equals and not size.lstrip("-")[:1].isdigit():
            given, size = size, ""
        if given:
            name = names.get(given, given)
            if name not in VARIED:
                raise UsageError(f"--vary: unknown quantity {given!r}{did_you_mean(given, names)}")
            sizes[name] = [] if equals else list(default[name])
        if not name:
            raise UsageError(f"--vary: {word!r} belongs to no quantity; write length={word}")
        if size or equals:
            plain = size.replace("_", "")
            if not plain.isdecimal() or int(plain) < least[name]:
                raise UsageError(f"--vary: {name}={size}: give whole numbers from {least[name]} up")
            sizes[name].append(int(plain))
    if not sizes:
        raise UsageError(f"--vary: name at least one of {', '.join(names)}")
    return {name: tuple(sorted(set(values))) for name, values in sizes.items()}


def _words(text: str) -> Iterator[str]:
    return filter(None, map(str.strip, text.split(",")))


def measure(
    points: Points, arms: Sequence[str], repeats: int, threads: int,
    listener: Callable[[Sizes, Sequence[Row]], None],
) -> list[Row]:  # fmt: skip
    """Measure all points, one after the other; the listener gets the sizes, and one row per arm.

    An arm that fails at a point is a row with its reason. A ``UserError`` where nothing could be
    measured at all.
    """
    rows: list[Row] = []
    with held_processes() as processes:
        for sizes, varied in points.items():
            result = measure_point(sizes, arms, repeats, threads, processes)
            of_arms = [point_row(sizes, arm, result) for arm in arms]
            rows += [row | {"varied": name} for name in varied for row in of_arms]
            listener(sizes, of_arms)
    if all(row["seconds"] is None for row in rows):
        raise UserError(
            f"nothing could be measured: {rows[0]['reason']}; try smaller sizes (--quick has some)"
        )
    order = list(VARIED)
    # Sorting is stable: the arms of a point keep their order.
    return sorted(rows, key=lambda row: (order.index(row["varied"]), row[row["varied"]]))


def measure_point(
    sizes: Sizes, arms: Sequence[str], repeats: int, threads: int,
    processes: list[subprocess.Popen],
) -> dict[str, Any]:  # fmt: skip
    """What the point's process says (`worker.main`), or the ``reason`` why it says nothing."""
    order = {"sizes": sizes, "arms": arms, "repeats": repeats}
    with tempfile.TemporaryFile("w+", encoding="utf8", errors="replace") as errors:
        process = start_worker("bench", order, errors, threads=threads)
        processes[:] = [process]
        with process.stdout:
            lines = process.stdout.read().splitlines()
        if process.wait() or not lines:
            return {"reason": last_words(process, errors)}
    return json.loads(lines[-1])  # a library may have printed before


def point_row(sizes: Sizes, arm: str, result: Mapping[str, Any]) -> Row:
    """The row of ``cost.csv`` of an arm at a point; memory is in megabytes, 10^6 bytes.

    Attention's seconds and share (0 to 1) are taken round by round. Without numbers the row has the
    reason.
    """
    steps = result.get("arms", {})
    step, without = steps.get(arm, result), steps.get(baseline(arm), {})
    row = dict.fromkeys(COLUMNS) | sizes._asdict() | result.get("machine", {}) | {
        "arm": arm,
        "attention": arm.removesuffix(OUTPUT),
        "placement": "output" if arm.endswith(OUTPUT) else "input",
        "hidden_size": sizes.context_size,
        "embedding_size": EMBEDDING,
        "cores": cores(),
        "date": datetime.now(UTC).date().isoformat(),
        "peak_mb": step["peak_bytes"] / 1e6 if "peak_bytes" in step else None,
        "reason": step.get("reason", ""),
    }  # fmt: skip
    if "seconds" in step:
        seconds = step["seconds"]
        speed = sizes.length * sizes.batch_size / median(seconds)
        row |= {"repeats": len(seconds), "steps": step["steps"], "target_tokens_per_second": speed}
        row |= spread("seconds", seconds)
        if arm != baseline(arm) and "seconds" in without:
            pairs = list(zip(seconds, without["seconds"], strict=True))
            row |= spread("attention_seconds", [long - short for long, short in pairs])
            row |= spread("attention_share", [1 - short / long for long, short in pairs])
            row["attention_mb"] = (step["peak_bytes"] - without["peak_bytes"]) / 1e6
    return row


def spread(name: str, values: Sequence[float]) -> Row:
    """Three columns: the median, the least, the greatest."""
    return {name: median(values), f"{name}_low": min(values), f"{name}_high": max(values)}


def write(folder: Path, rows: Sequence[Row]) -> None:
    """``probes/cost.csv``, whole or not at all."""
    whole = {name: "Int64" for name, kind in COLUMNS.items() if kind == "int64"}
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(whole)
    write_listed(folder, [("probes/cost.csv", frame.to_csv(index=False).encode())])
