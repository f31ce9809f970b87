"""Seeds trained together as one program: every array gets the seeds as its first axis.

The runs of a stack are equal but for their seed, so all their arrays have the same shapes. A
stack of one is no stack: its arrays have no such axis, and its program is the plain one, or one
that cuts the rows of a batch among the cores of the process (``model.parts``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ..model.parts import AXIS, in_parts, on_host, row_by_row

Tree = TypeVar("Tree")


@dataclass(frozen=True)
class Stack:
    """How arrays of ``seeds`` runs become one and are taken apart; or a batch of one, in parts."""

    seeds: int
    parts: int = 1

    def join(self, trees: Sequence[Tree]) -> Tree:
        """One tree of arrays for all seeds."""
        if self.seeds == 1:
            return trees[0]

        def stacked(*leaves: Any) -> Any:
            on_host = isinstance(leaves[0], np.ndarray)  # and stays there
            return np.stack(leaves) if on_host else jnp.stack(leaves)

        return jax.tree.map(stacked, *trees)

    def part(self, tree: Tree, seed: int) -> Tree:
        """The arrays of one seed, by its place."""
        return tree if self.seeds == 1 else jax.tree.map(lambda leaf: leaf[seed], tree)

    def program(
        self, function: Callable, shared: Sequence[int] = (), cut: Sequence[int] = ()
    ) -> Callable:
        """The jitted function for all seeds; ``shared`` arguments are the same for each.

        The rows of ``cut`` arguments are those of a part, and what is not a ``total`` of them must
        not depend on them.
        """
        if self.parts > 1 and cut:
            return in_parts(function, self.parts, cut)
        if self.seeds == 1:
            return jax.jit(function)
        count = len(signature(function).parameters)
        axes = tuple(None if place in shared else 0 for place in range(count))
        return jax.jit(jax.vmap(function, in_axes=axes))

    def by_row(self, function: Callable, cut: Sequence[int]) -> Callable:
        """The jitted function of rows to rows; all seeds have the same rows."""
        if self.seeds == 1:
            return row_by_row(function, self.parts, cut)
        return self.program(function, shared=cut)

    def total(self, tree: Tree) -> Tree:
        """Within a program of parts: the sum over all of them."""
        return tree if self.parts == 1 else jax.lax.psum(tree, AXIS)

    def part_key(self, key: PRNGKeyArray) -> PRNGKeyArray:
        """Within a program of parts: a key of the part's own, for what is drawn for its rows."""
        return key if self.parts == 1 else jax.random.fold_in(key, jax.lax.axis_index(AXIS))

    def numbers(self, values: Any) -> Float[np.ndarray, " seeds"]:
        """One number per seed, on the host."""
        return np.reshape(on_host(values).astype(np.float64), self.seeds)
