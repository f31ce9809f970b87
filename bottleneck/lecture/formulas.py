"""The formulas that the slides name, in NumPy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, " width"]
States = Float[np.ndarray, "source width"]
Weights = Float[np.ndarray, " source"]
AttentionCode = Callable[[Vector, States], tuple[Weights, Vector]]
"""A query and the states to the weights and the context."""


def distance(a: Vector, b: Vector) -> float:
    """Euclidean: sqrt(sum_i (a_i - b_i)^2)."""
    return float(np.sqrt(np.sum((a - b) ** 2)))


def cosine(a: Vector, b: Vector) -> float:
    """a . b / (|a| |b|)."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def dot_scores(query: Vector, states: States) -> Weights:
    """e_i = s . h_i (L6, L7)."""
    return states @ query


def softmax(scores: Weights) -> Weights:
    """alpha_i = exp(e_i) / sum_j exp(e_j), as on paper: nothing is subtracted (L7, L8)."""
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum()


def weighted_sum(weights: Weights, states: States) -> Vector:
    """c = sum_i alpha_i h_i (L5, L7)."""
    return weights @ states


def attention_in_code(query: Vector, states: States) -> tuple[Weights, Vector]:
    """Weights and context by the three operations of L18's code."""
    scores = np.dot(states, query)
    exponentials = np.exp(scores - np.max(scores))
    weights = exponentials / np.sum(exponentials)
    return weights, np.sum(weights[:, None] * states, axis=0)


@dataclass(frozen=True)
class Attention:
    """Attention's three operations, to be handed in: the project's own, or those above."""

    scores: Callable[[Vector, States], Weights]
    softmax: Callable[[Weights], Weights]
    weighted_sum: Callable[[Weights, States], Vector]


ON_PAPER = Attention(dot_scores, softmax, weighted_sum)
"""The three operations by the formulas above."""
