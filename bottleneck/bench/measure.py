"""All points, a process each, into rows of the two files of `results.cost`."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from ..results.bundle import tidy_csv
from ..results.cost import COST, COST_COLUMNS, COST_EXPONENTS, EXPONENT_COLUMNS, VARIED
from ..runs.pool import held_processes, last_words, start_worker
from ..settings.errors import UserError
from ..settings.machine import cores
from ..settings.sums import write_listed
from .fit import exponents
from .grid import Arm, Point

Row = dict[str, Any]
Event = dict[str, Any]
Listener = Callable[[Point, Event], None]


def measure(
    points: Sequence[Point], arms: Sequence[Arm], repeats: int, threads: int, listener: Listener
) -> list[Row]:
    """Measure all points, one after the other; events of each go to the listener.

    An arm that fails at a point is a row with its reason. A ``UserError`` where nothing could be
    measured at all.
    """
    rows: list[Row] = []
    with held_processes() as processes:
        for point in points:
            events = _events_of(point, arms, repeats, threads, processes, listener)
            rows += point_rows(point, arms, events)
            one_each = {row["arm"]: row for row in rows[-len(arms) * len(point.varied) :]}
            listener(point, {"phase": "ended", "rows": list(one_each.values())})
    if all(row["seconds"] is None for row in rows):
        raise UserError(
            f"nothing could be measured: {rows[0]['reason']}; try smaller sizes (--quick has some)"
        )
    order = [arm.name for arm in arms]
    return sorted(rows, key=lambda row: _place(row, order))


def _place(row: Row, arms: Sequence[str]) -> tuple[int, int, int]:
    """By what is varied, then by size, then by arm."""
    return VARIED.index(row["varied"]), row[row["varied"]], arms.index(row["arm"])


def _events_of(
    point: Point,
    arms: Sequence[Arm],
    repeats: int,
    threads: int,
    processes: list[subprocess.Popen],
    listener: Listener,
) -> list[Event]:
    """What the point's process told, and at its end why it ended if it did not get done."""
    order = {
        "sizes": asdict(point.sizes),
        "arms": [(arm.attention, arm.placement) for arm in arms],
        "repeats": repeats,
    }
    with tempfile.TemporaryFile("w+", encoding="utf8", errors="replace") as errors:
        process = start_worker("bench", order, errors, threads=threads)
        processes[:] = [process]
        events = []
        for event in _read(process):
            events.append(event)
            listener(point, event)
        process.wait()
        if not any(event["phase"] == "done" for event in events):
            events.append({"phase": "broken", "reason": last_words(process, errors)})
    return events


def _read(process: subprocess.Popen) -> Iterable[Event]:
    """The worker's events; whatever else a library prints is left out."""
    with process.stdout:
        for line in process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and "phase" in event:
                yield event


def point_rows(point: Point, arms: Sequence[Arm], events: Sequence[Event]) -> list[Row]:
    """Rows of ``cost.csv``: one for each arm and each variation in which the point stands.

    Without numbers a row has the reason; memory is in megabytes, 10^6 bytes.
    """
    facts = next((event for event in events if event["phase"] == "ready"), {})
    machine = {name: facts.get(name) for name in ("machine", "device", "threads", "version", "jax")}
    machine |= {"cores": cores(), "date": datetime.now(UTC).date().isoformat()}
    done = next((event for event in events if event["phase"] == "done"), None)
    peaks = {e["arm"]: e["peak_bytes"] / 1e6 for e in events if e["phase"] == "compiled"}
    reasons = {e["arm"]: e["reason"] for e in events if e["phase"] == "failed"}
    broken = [event["reason"] for event in events if event["phase"] == "broken"]
    rows = []
    for arm in arms:
        row = _blank(point, arm) | machine | {"peak_mb": peaks.get(arm.name)}
        if done and arm.name in done["seconds"]:
            tokens = point.sizes.length * point.sizes.batch_size
            row |= timing(done["seconds"][arm.name], tokens, done["steps"][arm.name])
            row |= attention_part(arm, done["seconds"], peaks)
        else:
            row["reason"] = reasons.get(arm.name) or " ".join(broken)
        rows += [row | {"varied": varied} for varied in point.varied]
    return rows


def _blank(point: Point, arm: Arm) -> Row:
    """A row without numbers."""
    sizes = asdict(point.sizes) | {"hidden_size": point.sizes.context_size}
    named = {"arm": arm.name, "attention": arm.attention, "placement": arm.placement}
    return dict.fromkeys(COST_COLUMNS) | sizes | named | {"reason": ""}


def timing(seconds: Sequence[float], tokens: int, steps: int) -> Row:
    """Median, least and greatest of a step's seconds over the groups; ``tokens`` are a step's."""
    return spread("seconds", seconds) | {
        "repeats": len(seconds),
        "steps": steps,
        "target_tokens_per_second": tokens / median(seconds),
    }


def attention_part(arm: Arm, seconds: dict[str, Sequence[float]], peaks: dict[str, float]) -> Row:
    """What the arm takes beyond its baseline: seconds, share (0 to 1) round by round; megabytes."""
    without = seconds.get(arm.baseline)
    if without is None or arm.name == arm.baseline:
        return {}
    pairs = list(zip(seconds[arm.name], without, strict=True))
    return (
        spread("attention_seconds", [one - none for one, none in pairs])
        | spread("attention_share", [1 - none / one for one, none in pairs])
        | {"attention_mb": peaks[arm.name] - peaks[arm.baseline]}
    )


def spread(name: str, values: Sequence[float]) -> Row:
    """Three columns: the median, the least, the greatest."""
    return {name: median(values), f"{name}_low": min(values), f"{name}_high": max(values)}


def write(folder: Path, rows: Sequence[Row]) -> None:
    """Both files, each whole or not at all."""
    files = []
    for name, columns, lines in (
        (COST, COST_COLUMNS, rows),
        (COST_EXPONENTS, EXPONENT_COLUMNS, exponents(rows)),
    ):
        table = pd.DataFrame(lines, columns=list(columns), dtype=object)
        files.append((name, tidy_csv(table).encode()))
    write_listed(folder, files)
