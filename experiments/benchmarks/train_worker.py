"""A process that trains one program, told what to do by lines of JSON on stdin.

``{"do": "train"}`` goes once through all batches, ``{"do": "multiply", "size": n}`` measures a
matrix product; each is answered by one line of JSON on stdout. The first line says that every
padded shape has been trained on once.
"""

import argparse
import resource
import time
from functools import partial
from pathlib import Path

from orders import Answer, serve
from products import product_operations
from programs import Program, make_program
from workload import Workload


def main() -> None:
    """Get ready, then answer until stdin ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("arm")
    parser.add_argument("folder", type=Path)
    parser.add_argument("threads", type=int)
    given = parser.parse_args()
    workload = Workload.load(given.folder)
    program = make_program(given.program, given.folder, given.arm, given.threads)
    losses = program.train(workload.one_of_each_shape())
    serve(
        {"losses": losses.tolist()},
        {
            "train": partial(train, program, len(workload.batches)),
            "multiply": partial(multiply, program),
        },
    )


def train(program: Program, steps: int) -> Answer:
    """All batches once."""
    start = time.perf_counter()
    losses = program.train(range(steps))
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "loss": losses[-1], "megabytes": peak_megabytes()}


def multiply(program: Program, size: int) -> Answer:
    """Operations a second of a large product, the best of a few."""
    product, times = program.multiply(size), []
    for _ in range(5):
        start = time.perf_counter()
        product()
        times.append(time.perf_counter() - start)
    return {"rate": product_operations(size) / min(times)}


def peak_megabytes() -> float:
    """Most memory that this process has held (Linux counts in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
