"""One program for several devices, or for several seeds.

A batch's rows are divided among the cores of one process. Each core is a device
(``JAX_NUM_CPU_DEVICES``), because the products of a small model are too small to share among
threads (results/LOG.md, 2026-11-21).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Shaped

Tree = TypeVar("Tree")


def parts_of(rows: int) -> int:
    """The number of parts, of 16 rows or more, that a batch is cut into; 1 on an accelerator."""
    on_cpu = jax.default_backend() == "cpu"
    return max(1, min(jax.local_device_count(), rows // 16)) if on_cpu else 1


@dataclass(frozen=True)
class Stack:
    """The runs of several seeds as one program, or one run with its batches cut into parts.

    The first axis of a stack's arrays is the seed; a stack of one has no such axis.
    """

    seeds: int
    parts: int = 1

    def join(self, trees: Sequence[Tree]) -> Tree:
        """One tree of arrays for all seeds; arrays on the host stay there."""
        if self.seeds == 1:
            return trees[0]
        return jax.tree.map(
            lambda *leaves: (np if isinstance(leaves[0], np.ndarray) else jnp).stack(leaves), *trees
        )

    def part(self, tree: Tree, seed: int) -> Tree:
        """The arrays of one seed, by its index."""
        return tree if self.seeds == 1 else jax.tree.map(lambda leaf: leaf[seed], tree)

    def program(
        self, function: Callable, cut: Sequence[int] = (), by_row: bool = False
    ) -> Callable:
        """The jitted function for all seeds; every device gets its rows of the arguments ``cut``.

        The result is the same on all devices (a sum over the axis "rows"). With ``by_row`` it has
        a row per row of these arguments, which may have any number of rows and serve all seeds.
        """
        arguments = range(len(signature(function).parameters))
        if self.parts == 1 or not cut:
            if self.seeds == 1:
                return jax.jit(function)
            axes = tuple(None if by_row and index in cut else 0 for index in arguments)
            return jax.jit(jax.vmap(function, in_axes=axes))
        mesh = Mesh(np.array(jax.local_devices()[: self.parts]), ("rows",))
        rows, same = PartitionSpec("rows"), PartitionSpec()
        inputs = tuple(rows if index in cut else same for index in arguments)
        # The results are equal by construction; JAX's check does not know our gradients.
        spread = partial(jax.shard_map, mesh=mesh, in_specs=inputs, check_vma=False)
        program = jax.jit(spread(function, out_specs=rows if by_row else same))

        def run(*arguments: Any) -> Any:
            # One at a time: with 32 or more computations, a sum over the parts may never end
            # (jax 0.10.2, results/LOG.md, 2026-11-21).
            if not by_row:
                return jax.block_until_ready(program(*arguments))
            rows = len(jax.tree.leaves(arguments[cut[0]])[0])
            # The last row is repeated until the rows divide evenly.
            filled = np.minimum(np.arange(rows + -rows % self.parts), rows - 1)
            given = [
                jax.tree.map(lambda leaf: leaf[filled], argument) if index in cut else argument
                for index, argument in enumerate(arguments)
            ]
            result = jax.block_until_ready(program(*given))
            return jax.tree.map(lambda leaf: leaf[:rows], result)

        return run


def on_host(result: Any) -> Shaped[np.ndarray, "..."]:
    """A result as a NumPy array, or the error of its computation."""
    # If memory runs out, `numpy.asarray` alone never returns (jax 0.8 to 0.10, CPU).
    return np.asarray(jax.block_until_ready(result))
