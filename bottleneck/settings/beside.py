"""Work begun in a thread beside what is done meanwhile."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def cores() -> int:
    """Processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_told(environment: Mapping[str, str]) -> int | None:
    """How many threads NPROC asks of XLA; None where it is not set, or is no number above 0."""
    told = environment.get("NPROC", "").strip()
    return int(told) or None if told.isascii() and told.isdecimal() else None


def begun(pool: ThreadPoolExecutor, work: Callable[[], Made]) -> Callable[[], Made]:
    """What waits for a work that has been begun; where no thread is to be had, the work itself."""
    try:
        return pool.submit(work).result
    except RuntimeError:
        return work


def one_ahead(work: Callable[[Given], Made], given: Iterable[Given]) -> Iterator[Made]:
    """``map``, each next one being made while whoever asked has the one before it."""
    with ThreadPoolExecutor(max_workers=1) as beside:
        waiting: list[Callable[[], Made]] = []
        for each in given:
            waiting.append(begun(beside, lambda each=each: work(each)))
            if len(waiting) > 1:
                yield waiting.pop(0)()
        yield from (made() for made in waiting)
