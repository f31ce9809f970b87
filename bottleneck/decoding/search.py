"""The search that the settings name, jitted, and the attention behind an output."""

from collections.abc import Callable
from functools import cache

import jax
from flax import nnx
from jaxtyping import Array, Float, Int

from ..model.parts import parts_of, row_by_row
from ..model.translator import Weights
from ..settings.concerns import DecodingSettings
from .beam import beam_search
from .greedy import Output, greedy

Search = Callable[[Weights, Int[Array, "batch source"], Int[Array, " batch"]], Output]


def make_search(graph: nnx.GraphDef, settings: DecodingSettings) -> Search:
    """Greedy for ``beam_size`` 1, else beam search; compiled once for each padded shape.

    Where the process has several cores, each searches for its part of a batch.
    """
    method = greedy if settings.beam_size == 1 else beam_search

    def search(weights: Weights, source: Array, lengths: Array) -> Output:
        return method(nnx.merge(graph, weights), source, lengths, settings)

    program = cache(lambda parts: row_by_row(search, parts, (1, 2)))
    return lambda *given: program(parts_of(len(given[2])))(*given)


AttentionWeights = Callable[[Weights, Array, Array, Array], Float[Array, "batch target source"]]


def make_attention_weights(graph: nnx.GraphDef) -> AttentionWeights:
    """Weights with which given outputs were (or would be) produced, greedy, beam or reference.

    A step's weights depend on the words before it alone, so reading them off the finished output
    gives those of the search without carrying them through it. ``inputs`` are those words: the
    start token, then the output but for its last.
    """

    @jax.jit
    def weights_of(
        weights: Weights, source: Array, lengths: Array, inputs: Array
    ) -> Float[Array, "batch target source"]:
        return nnx.merge(graph, weights).logits(source, lengths, inputs)[1]

    return weights_of
