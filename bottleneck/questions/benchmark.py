"""What `bottleneck bench` measures, and the rows of ``probes/cost.csv`` that it gives.

One size is varied at a time from common sizes. Each point, a set of sizes, is measured in a process
of its own (`step_cost`).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, get_args

import pandas as pd

from ..corpus.vocabulary import UNK
from ..runs.pool import worker_processes
from ..settings.concerns import ModelSettings
from ..settings.errors import UsageError, UserError, did_you_mean
from ..settings.files import write_listed
from ..settings.machine import cores
from .cost import COLUMNS, OUTPUT, VARIED, WHOLE, baseline

ARMS = tuple(
    name + placement
    for placement in ("", OUTPUT)
    for name in get_args(ModelSettings.model_fields["attention"].annotation)
)
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

Row = dict[str, Any]


def points(variation: Variation) -> dict[Sizes, tuple[str, ...]]:
    """Every distinct set of sizes once, and the quantities whose variations it belongs to."""
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
    for name in filter(None, map(str.strip, text.split(","))):
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
    sizes: dict[str, list[int]] = {}
    name = ""
    for word in filter(None, map(str.strip, text.split(","))):
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
            least = UNK + 2 if name == "vocabulary" else 1  # a word beside the special tokens
            number = int(size) if size.replace("_", "").isdecimal() else 0
            if number < least:
                raise UsageError(f"--vary: {name}={size}: give whole numbers from {least} up")
            sizes[name].append(number)
    if not sizes:
        raise UsageError(f"--vary: name at least one of {', '.join(names)}")
    return {name: tuple(sorted(set(values))) for name, values in sizes.items()}


def measure(
    points: Mapping[Sizes, tuple[str, ...]], arms: Sequence[str], repeats: int, threads: int,
    listener: Callable[[Sizes, Sequence[Row]], None],
) -> list[Row]:  # fmt: skip
    """Measure all points, one after the other; the listener gets the sizes, and one row per arm.

    An arm that fails at a point, or whose process dies, is a row with the reason. A ``UserError``
    where nothing could be measured at all.
    """
    rows: list[Row] = []
    for sizes, varied in points.items():
        order = {"sizes": sizes, "arms": arms, "repeats": repeats}
        with worker_processes() as (start, events):
            start(None, "questions.step_cost:measure_point", order, threads=threads)
            _, result = events.get()
        of_arms = [point_row(sizes, arm, result) for arm in arms]
        rows += [row | {"varied": name} for name in varied for row in of_arms]
        listener(sizes, of_arms)
    if all(row["seconds"] is None for row in rows):
        raise UserError(
            f"nothing could be measured: {rows[0]['reason']}; try smaller sizes (--quick has some)"
        )
    # Sorting is stable: the arms of a point keep their order.
    return sorted(rows, key=lambda row: ([*VARIED].index(row["varied"]), row[row["varied"]]))


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
    timed: dict[str, list[float]] = {}
    if "seconds" in step:
        timed = {"seconds": step["seconds"]}
        speed = sizes.length * sizes.batch_size / median(step["seconds"])
        row |= {"repeats": len(step["seconds"]), "steps": step["steps"]}
        row["target_tokens_per_second"] = speed
        if arm != baseline(arm) and "seconds" in without:
            pairs = list(zip(step["seconds"], without["seconds"], strict=True))
            timed["attention_seconds"] = [long - short for long, short in pairs]
            timed["attention_share"] = [1 - short / long for long, short in pairs]
            row["attention_mb"] = (step["peak_bytes"] - without["peak_bytes"]) / 1e6
    for name, values in timed.items():
        row |= {name: median(values), f"{name}_low": min(values), f"{name}_high": max(values)}
    return row


def write(folder: Path, rows: Sequence[Row]) -> None:
    """``probes/cost.csv``, whole or not at all."""
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(WHOLE, "Int64"))
    write_listed(folder, [("probes/cost.csv", frame.to_csv(index=False).encode())])
