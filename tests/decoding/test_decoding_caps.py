"""A sentence's cap comes from its own length, whatever the batch is padded to."""

import jax
import numpy as np
import pytest
from flax import nnx
from tiny_decoding import EOS, padded, random_weights, settings_of, structure

from seq2seq_bottleneck.decoding.beam import beam_search
from seq2seq_bottleneck.decoding.greedy import greedy
from seq2seq_bottleneck.decoding.output import cap, caps, count_tokens, has_ended


def test_the_cap_is_a_multiple_of_the_words_rounded_up_and_some_more():
    found = caps(jax.numpy.array([1, 2, 4, 8]), 8, settings_of(cap_factor=1.5, cap_extra=3))
    np.testing.assert_array_equal(found, [3, 5, 8, 14])


@pytest.mark.parametrize("factor", [0.3, 0.7, 1.0, 1.1, 1.35, 2.0, 2.3])
def test_no_cap_is_wider_than_a_batch_of_its_own_length(factor):
    """Else the batch's width, that is padding, would cut the output."""
    settings = settings_of(cap_factor=factor)
    lengths = np.arange(1, 120)
    found = np.asarray(caps(jax.numpy.asarray(lengths), 119, settings))
    widths = np.array([cap(int(length), settings) for length in lengths])
    np.testing.assert_array_equal(np.minimum(found, widths), found)


def test_tokens_are_counted_to_the_end_token_or_the_padding():
    tokens = jax.numpy.array([[5, 4, 2, 0, 0], [5, 4, 3, 0, 0], [0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(count_tokens(tokens), [3, 3, 0])
    np.testing.assert_array_equal(has_ended(tokens), [True, False, False])


@pytest.mark.slow
@pytest.mark.parametrize("method", [greedy, beam_search])
def test_a_cap_of_nothing_leaves_nothing(method):
    """A sentence without words, in a batch with one that has some."""
    graph, shapes = structure()
    weights = random_weights(shapes, 0)
    weights["decoder"]["output_bias"][...] = weights["decoder"]["output_bias"][...].at[EOS].set(-50)
    settings = settings_of(cap_extra=0, beam_size=1 if method is greedy else 2)
    output = jax.jit(lambda weights, *batch: method(nnx.merge(graph, weights), *batch, settings))(
        weights, *padded([[EOS], [4, 5, EOS]])
    )
    np.testing.assert_array_equal(output.lengths, [0, 2])
    assert float(output.log_probability[0]) == 0.0
