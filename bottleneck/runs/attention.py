"""The attention weights behind given outputs: a network's own, or references it is made to say."""

from functools import lru_cache

import numpy as np
from flax import nnx
from jaxtyping import Float

from ..corpus.batches import EncodedPairs, evaluation_batches, restore
from ..corpus.vocabulary import BOS, EOS
from ..decoding.search import AttentionWeights, make_attention_weights
from ..model.translator import Weights

END = "</s>"
"""How the end token is shown."""

BATCH = 64

_reader = lru_cache(maxsize=4)(make_attention_weights)


def attention_matrices(
    graph: nnx.GraphDef, weights: Weights, encoded: EncodedPairs, reverse: bool, batch_size: int
) -> list[Float[np.ndarray, "_ _"]]:
    """Weights of every step of every pair's target, teacher-forced, end tokens included.

    Matrices are target x source. Row t holds the weights with which target token t was chosen, in
    either placement: with ``input`` they are those of s_(t-1), read before token t is known.
    Columns are in reading order though the network read the words in ``reverse``; the end token is
    the last of both.
    """
    batches = evaluation_batches(encoded, batch_size)
    read = _reader(graph)
    found = [_of_batch(read, weights, *held.batch[:3]) for held in batches]
    lengths = zip(encoded.target_lengths, encoded.source_lengths, strict=True)
    return [
        matrix[:rows, :columns][:, _order(columns - 1, reverse)].astype(np.float64)
        for matrix, (rows, columns) in zip(restore(found, batches), lengths, strict=True)
    ]


def _of_batch(
    read: AttentionWeights,
    weights: Weights,
    source: np.ndarray,
    lengths: np.ndarray,
    target: np.ndarray,
) -> np.ndarray:
    """Weights (batch, target, source), given the words before each."""
    start = np.full((len(target), 1), BOS, np.int32)
    inputs = np.concatenate([start, target[:, :-1]], axis=1)
    return np.asarray(read(weights, source, lengths, inputs))


def _order(words: int, reverse: bool) -> list[int]:
    """Columns that put a reversed source back into reading order, its end token last."""
    places = list(range(words))
    return [*(reversed(places) if reverse else places), words]


def weights_behind(
    graph: nnx.GraphDef,
    weights: Weights,
    reverse: bool,
    sources: list[list[int]],
    outputs: list[list[int]],
) -> list[Float[np.ndarray, "_ _"]]:
    """``attention_matrices`` of outputs that may be empty, and then have no row."""
    said = EncodedPairs(sources, [ids or [EOS] for ids in outputs])
    found = attention_matrices(graph, weights, said, reverse, BATCH)
    return [matrix[: len(ids)] for matrix, ids in zip(found, outputs, strict=True)]
