"""The validation loss of each length bucket: sums, of which means over runs can be formed."""

import math
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from jaxtyping import Float, Int

from ..corpus.batches import EvaluationBatch, restore

Buckets = Mapping[str, Int[np.ndarray, " rows"]]
"""Of each length bucket the places of its sentences in the corpus; none where it is empty."""


class BucketLoss(TypedDict):
    """One bucket at one validation, as it stands in a run's log and in its checkpoint.

    ``tokens`` are target tokens, end tokens included; ``nats`` is -log P summed over them.
    ``standard_error`` is that of nats / tokens, as sentences are drawn; None for under two.
    """

    sentences: int
    tokens: int
    nats: float
    standard_error: float | None


ByBucket = dict[str, BucketLoss]


def target_tokens(batches: Sequence[EvaluationBatch]) -> Int[np.ndarray, " sentences"]:
    """Target tokens of each sentence, end token included, in the order of the corpus."""
    lengths = [batch.batch.target_lengths.tolist() for batch in batches]
    return np.array(restore(lengths, list(batches)), dtype=np.int64)


def by_bucket(
    losses: Float[np.ndarray, " sentences"],
    tokens: Int[np.ndarray, " sentences"],
    buckets: Buckets,
) -> ByBucket:
    """-log P in nats of each sentence, summed by bucket."""
    return {
        name: {
            "sentences": len(rows),
            "tokens": int(tokens[rows].sum()),
            "nats": float(losses[rows].sum()),
            "standard_error": _standard_error(losses[rows], tokens[rows]),
        }
        for name, rows in buckets.items()
    }


def _standard_error(
    losses: Float[np.ndarray, " rows"], tokens: Int[np.ndarray, " rows"]
) -> float | None:
    """Of the ratio of two sums over sentences (Cochran 1977, equation 2.46, with no end to draw).

    sqrt(n / (n - 1) sum of (nats - ratio tokens)^2) / sum of tokens.
    """
    count, total = len(tokens), tokens.sum()
    if count < 2:
        return None
    deviation = losses - losses.sum() / total * tokens
    return math.sqrt(count / (count - 1) * float((deviation**2).sum())) / float(total)
