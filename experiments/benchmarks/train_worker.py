"""A process that trains one program; it reads orders as lines of JSON on stdin.

``{"do": "train"}`` trains once on each batch, and ``{"do": "multiply", "size": n}`` measures a
matrix product. It answers each order with a line of JSON on stdout. A first line has the losses of
one update for every padded shape.
"""

import argparse
import json
import os
import resource
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from products import product_operations
from programs import Program, make_program
from workload import Workload


def main() -> None:
    """Train on every padded shape once, then answer orders until stdin ends."""
    # What a library prints goes to stderr, so that stdout has only answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf8")
    os.dup2(2, 1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("arm")
    parser.add_argument("folder", type=Path)
    parser.add_argument("threads", type=int)
    given = parser.parse_args()
    workload = Workload.load(given.folder)
    program = make_program(given.program, given.folder, given.arm, given.threads)
    losses = program.train(workload.one_of_each_shape())
    print(json.dumps({"losses": losses.tolist()}), file=answers, flush=True)
    tasks = {
        "train": partial(train, program, len(workload.batches)),
        "multiply": partial(multiply, program),
    }
    for line in sys.stdin:
        order = json.loads(line)
        answer = tasks[order.pop("do")](**order)
        print(json.dumps(answer), file=answers, flush=True)


def train(program: Program, steps: int) -> dict[str, Any]:
    """Train once on each batch."""
    start = time.perf_counter()
    losses = program.train(range(steps))
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "loss": losses[-1], "megabytes": peak_megabytes()}


def multiply(program: Program, size: int) -> dict[str, Any]:
    """Operations per second of a large product, the best of five."""
    product, times = program.multiply(size), []
    for _ in range(5):
        start = time.perf_counter()
        product()
        times.append(time.perf_counter() - start)
    return {"rate": product_operations(size) / min(times)}


def peak_megabytes() -> float:
    """The peak memory of this process (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
