"""A process that measures one point: an order as JSON on stdin, JSON lines on stdout.

It is a process of its own because a worker's memory and threads are set when it starts
(`runs.pool.worker_environment`), and so that no point finds what another left behind. All arms of
the point are compiled first; then they take turns, A B A B, a group of steps each.

Events have a ``phase``: ``ready`` (what it runs on), ``compiled`` (an arm), ``round`` (a number),
``failed`` (an arm, and the reason), ``done`` (``seconds`` and ``steps`` of a group, by arm).
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import jax

from ..runs.environment import describe_environment, use_cache
from ..settings.machine import cores
from .grid import Arm, Sizes
from .step import Step

GROUP_SECONDS = 0.3
"""What a group of steps takes, if one step does not take more."""
PATIENCE = 60.0
"""Seconds after which a point has had enough rounds, once it has had `FEWEST`."""
FEWEST = 2
"""Rounds that count, whatever they take; the forgotten one is not among them."""


def main() -> None:
    """Read the order, measure, tell."""
    order = json.loads(sys.stdin.read())
    sizes, arms = Sizes(**order["sizes"]), [Arm(*arm) for arm in order["arms"]]
    use_cache()
    facts = describe_environment()
    tell(
        phase="ready",
        machine=facts["processor"],
        device=facts["device"],
        threads=facts["threads"],
        version=facts["bottleneck"],
        jax=facts["versions"]["jax"],
    )
    steps = begun(compiled(arms, sizes))
    tell(phase="done", **take_turns(steps, order["repeats"]))


def tell(**event: Any) -> None:
    """One line on stdout."""
    print(json.dumps(event), flush=True)


def compiled(arms: list[Arm], sizes: Sizes) -> list[Step]:
    """The arms' steps that fit into the memory that is free; the others are told of.

    Compiling is not timed and takes longest of all, so it has every core.
    """
    free, steps = free_bytes(), []
    with ThreadPoolExecutor(cores()) as pool:
        for arm, made in zip(arms, pool.map(partial(_compiled, sizes=sizes), arms), strict=True):
            if isinstance(made, Exception):
                failed(arm, made)
                continue
            tell(phase="compiled", arm=arm.name, peak_bytes=made.peak_bytes)
            if free is not None and made.peak_bytes > free:
                need, has = (f"{count / 1e9:,.1f} GB" for count in (made.peak_bytes, free))
                tell(phase="failed", arm=arm.name, reason=f"a step needs {need}, {has} are free")
            else:
                steps.append(made)
    return steps


def _compiled(arm: Arm, sizes: Sizes) -> Step | Exception:
    """The arm's step, or why there is none: an arm that fails does not stop the others."""
    try:
        return Step(arm, sizes)
    except (RuntimeError, MemoryError, OverflowError, ValueError, TypeError) as error:
        return error


def begun(steps: list[Step]) -> list[Step]:
    """Those that could be begun."""
    kept = []
    for step in steps:
        try:
            step.begin()
        except (RuntimeError, MemoryError) as error:
            failed(step.arm, error)
        else:
            kept.append(step)
    return kept


def failed(arm: Arm, error: Exception) -> None:
    """Tell of an arm that cannot be measured, in one line."""
    words = str(error).strip().splitlines() or [type(error).__name__]
    tell(phase="failed", arm=arm.name, reason=words[0][:200])


def free_bytes() -> int | None:
    """Memory that can be had: the device's own, else the machine's as Linux tells it."""
    held = jax.devices()[0].memory_stats() or {}
    if "bytes_limit" in held:
        return held["bytes_limit"] - held.get("bytes_in_use", 0)
    try:
        with open("/proc/meminfo", encoding="utf8") as lines:
            kilobytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    except OSError:
        return None
    return 1024 * int(kilobytes[0]) if kilobytes else None


def take_turns(steps: list[Step], repeats: int) -> dict[str, dict[str, Any]]:
    """Seconds of a step in each group, by arm, and how many steps a group had.

    The first round is for warming up and is forgotten.
    """
    groups = {step.arm.name: max(1, round(GROUP_SECONDS / step.seconds(1))) for step in steps}
    seconds: dict[str, list[float]] = {name: [] for name in groups}
    start = time.monotonic()
    for number in range(repeats + 1):
        if number > FEWEST and time.monotonic() - start > PATIENCE:
            break
        tell(phase="round", round=number)
        for step in steps:
            taken = step.seconds(groups[step.arm.name])
            seconds[step.arm.name] += [taken] if number else []
    return {"seconds": seconds, "steps": groups}


if __name__ == "__main__":
    main()
