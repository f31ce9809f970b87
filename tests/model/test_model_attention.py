"""The reads on their own: the lecture's worked example, rows that sum to 1, bare padding."""

import jax
import numpy as np
import pytest
from flax import nnx
from numpy_translator import score, softmax
from tiny_model import ATTENTIONS

from seq2seq_bottleneck.model.attention import (
    DotAttention,
    Memory,
    UniformAttention,
    make_attention,
    masked_softmax,
)

LENGTHS = np.array([5, 1, 3])
MASK = np.arange(5)[None] < LENGTHS[:, None]


def memory_of(attention, garbage):
    """Three sentences of four numbers per word, ``garbage`` where there is no word."""
    random = np.random.default_rng(0)
    values = random.normal(size=(3, 5, 4)).astype(np.float32)
    values = np.where(MASK[:, :, None], values, np.float32(garbage))
    last = values[np.arange(3), LENGTHS - 1]
    return Memory(values, attention.keys(jax.numpy.asarray(values)), MASK, last)


def read_of(kind, garbage=0.0):
    """The read, its query, memory and result."""
    attention = make_attention(kind, 4, 4, 6, nnx.Rngs(params=jax.random.key(1)))
    query = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    memory = memory_of(attention, garbage)
    read = attention.read(jax.numpy.asarray(query), jax.tree.map(jax.numpy.asarray, memory))
    return attention, query, memory, jax.tree.map(np.asarray, read)


def test_the_worked_example_gives_the_audited_numbers():
    """L7: weights .224 .525 .251, context (.493, .173, .440)."""
    states = np.array([[[0.1, 0.2, 0.1], [0.8, 0.1, 0.7], [0.2, 0.3, 0.2]]], np.float32)
    memory = Memory(states, states, np.ones((1, 3), bool), states[:, -1])
    memory = jax.tree.map(jax.numpy.asarray, memory)
    read = DotAttention().read(jax.numpy.array([[0.5, -0.2, 0.8]]), memory)
    np.testing.assert_allclose(read.weights[0], [0.224, 0.525, 0.251], atol=5e-4)
    np.testing.assert_allclose(read.context[0], [0.493, 0.173, 0.440], atol=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize("garbage", [0.0, 1e4])
@pytest.mark.parametrize("kind", ATTENTIONS)
def test_weights_sum_to_one_and_padding_gets_exactly_nothing(kind, garbage):
    _, _, _, read = read_of(kind, garbage)
    np.testing.assert_allclose(read.weights.sum(axis=1), 1.0, rtol=1e-6)
    assert np.all(read.weights[~MASK] == 0.0)
    assert np.all(read.weights >= 0.0)


@pytest.mark.parametrize("kind", [kind for kind in ATTENTIONS if kind != "none"])
def test_context_and_weights_equal_the_formula(kind):
    attention, query, memory, read = read_of(kind, garbage=7.0)
    p = {name: np.asarray(leaf) for name, leaf in nnx.to_pure_dict(nnx.state(attention)).items()}
    for row, length in enumerate(LENGTHS):
        states = memory.values[row, :length]
        weights = softmax(np.array([score(kind, p, query[row], state) for state in states]))
        np.testing.assert_allclose(read.weights[row, :length], weights, rtol=1e-5)
        np.testing.assert_allclose(read.context[row], weights @ states, rtol=1e-5, atol=1e-6)


def test_without_attention_the_context_is_the_last_state_whatever_the_query():
    _, _, memory, read = read_of("none", garbage=7.0)
    np.testing.assert_array_equal(read.context, memory.last)
    np.testing.assert_array_equal(read.weights.argmax(axis=1), LENGTHS - 1)


def test_uniform_is_the_mean_of_the_real_states():
    values = np.array([[[1.0], [3.0], [100.0]]], np.float32)
    memory = Memory(values, values, np.array([[True, True, False]]), values[:, 1])
    memory = jax.tree.map(jax.numpy.asarray, memory)
    read = UniformAttention().read(jax.numpy.zeros((1, 1)), memory)
    np.testing.assert_allclose(read.context, [[2.0]])


@pytest.mark.slow
def test_huge_scores_neither_overflow_nor_spoil_the_gradient():
    scores = jax.numpy.array([[1e4, 1e4 - 1.0, 3e38], [-1e4, -3e38, 0.0]])
    mask = jax.numpy.array([[True, True, False], [True, True, False]])
    expected = [[1 / (1 + np.exp(-1.0)), 1 / (1 + np.exp(1.0)), 0.0], [1.0, 0.0, 0.0]]
    np.testing.assert_allclose(masked_softmax(scores, mask), expected, rtol=1e-5)
    slopes = jax.grad(lambda given: masked_softmax(given, mask)[0, 0])(scores)
    assert np.all(np.isfinite(slopes))
    assert slopes[0, 0] > 0.1
    assert np.all(slopes[:, 2] == 0.0)


def test_no_other_name_is_an_attention():
    with pytest.raises(ValueError, match="median"):
        make_attention("median", 4, 4, 4, nnx.Rngs(params=jax.random.key(1)))
