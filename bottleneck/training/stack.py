"""Seeds trained together as one program: every array gets the seeds as its first axis.

The runs of a stack are equal but for their seed, so all their arrays have the same shapes. A
stack of one is no stack: its arrays have no such axis, and its program is the plain one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

Tree = TypeVar("Tree")


@dataclass(frozen=True)
class Stack:
    """How arrays of ``seeds`` runs become one and are taken apart."""

    seeds: int

    def join(self, trees: Sequence[Tree]) -> Tree:
        """One tree of arrays for all seeds."""
        if self.seeds == 1:
            return trees[0]
        return jax.tree.map(_stacked, *trees)

    def part(self, tree: Tree, seed: int) -> Tree:
        """The arrays of one seed, by its place."""
        return tree if self.seeds == 1 else jax.tree.map(lambda leaf: leaf[seed], tree)

    def program(self, function: Callable, shared: Sequence[int] = ()) -> Callable:
        """The jitted function for all seeds; ``shared`` arguments are the same for each."""
        if self.seeds == 1:
            return jax.jit(function)
        count = len(signature(function).parameters)
        axes = tuple(None if place in shared else 0 for place in range(count))
        return jax.jit(jax.vmap(function, in_axes=axes))

    def numbers(self, values: Any) -> Float[np.ndarray, " seeds"]:
        """One number a seed, on the host."""
        return np.reshape(np.asarray(values, dtype=np.float64), self.seeds)


def _stacked(*leaves: Any) -> Any:
    """Along a new first axis; what is on the host stays there."""
    host = isinstance(leaves[0], np.ndarray)
    return np.stack(leaves) if host else jnp.stack(leaves)
