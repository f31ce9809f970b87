"""A batch's rows cut among the cores of one process, each core a device with its part of them.

The products of a small model are too small to share among threads: two threads gave a step 5 %
where two devices, each with half of the sentences, gave 60 (results/LOG.md, 2026-11-21). A process
has as many devices as ``JAX_NUM_CPU_DEVICES`` says when it starts, one where it says nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Shaped

AXIS = "rows"
"""Name of the axis along which sums over all parts are taken."""

LEAST_ROWS = 16
"""A part with fewer rows is not worth its core."""


def parts_of(rows: int) -> int:
    """Into how many parts batches of so many rows are cut: one on an accelerator."""
    if jax.default_backend() != "cpu":
        return 1
    return max(1, min(jax.local_device_count(), rows // LEAST_ROWS))


def in_parts(
    function: Callable, parts: int, cut: Sequence[int], *, by_row: bool = False
) -> Callable:
    """The jitted function, run on every device with its rows of the arguments in ``cut``.

    Unlike other jitted functions it returns when all is computed.

    The other arguments are the same everywhere, and so must the result be (a sum over ``AXIS``),
    unless it is ``by_row``: then it is put together again. Rows must divide evenly among the parts.
    """
    mesh = Mesh(np.array(jax.local_devices()[:parts]), (AXIS,))
    rows, same = PartitionSpec(AXIS), PartitionSpec()
    places = range(len(signature(function).parameters))
    given = tuple(rows if place in cut else same for place in places)
    # What is the same everywhere is so by construction; the check does not know our own gradients.
    program = jax.jit(
        jax.shard_map(
            function, mesh=mesh, in_specs=given, out_specs=rows if by_row else same, check_vma=False
        )
    )

    def run(*arguments: Any) -> Any:
        # One at a time. XLA's client has as many threads as devices, and from 32 computations under
        # way on, a launch that waits for room keeps one. What a sum over the parts waits for may
        # then be without a thread for ever: seen to hang (jax 0.10.2, results/LOG.md, 2026-11-21).
        return jax.block_until_ready(program(*arguments))

    return run


def row_by_row(function: Callable, parts: int, cut: Sequence[int]) -> Callable:
    """The jitted function, its arguments in ``cut`` and its result cut into parts.

    Every array of these has the shape ``rows ...``; any number of rows will do.
    """
    if parts == 1:
        return jax.jit(function)
    program = in_parts(function, parts, cut, by_row=True)

    def run(*arguments: Any) -> Any:
        rows = len(jax.tree.leaves(arguments[cut[0]])[0])
        filled = [
            jax.tree.map(partial(fill, parts), argument) if place in cut else argument
            for place, argument in enumerate(arguments)
        ]
        return jax.tree.map(lambda leaf: leaf[:rows], program(*filled))

    return run


def fill(parts: int, rows: Shaped[np.ndarray, "rows ..."]) -> Shaped[np.ndarray, "filled ..."]:
    """Rows on the host, the last one repeated until they divide evenly into ``parts``."""
    lacking = -len(rows) % parts
    return np.concatenate([rows, np.repeat(rows[-1:], lacking, axis=0)]) if lacking else rows


def on_host(result: Any) -> Shaped[np.ndarray, "..."]:
    """A result as an array of numpy's, once it is there.

    Of one whose computation found no memory this raises jax's error. ``numpy.asarray`` alone would
    wait for ever where it asks before the computation has failed (jax 0.8 to 0.10, CPU: the wait
    is for the buffer, which never comes, not for the error).
    """
    return np.asarray(jax.block_until_ready(result))
