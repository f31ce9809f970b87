"""A hidden source: nothing of it reaches the decoder, and with a seen one nothing changes."""

import jax
import numpy as np
import pytest
from tiny_model import (
    PAIRS,
    PLACEMENTS,
    SOURCE_WORDS,
    TARGET_WORDS,
    loss_and_gradient,
    padded,
    random_translator,
    run_forward,
    settings_of,
)

from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.settings.run import resolve

OTHER_SOURCES = (([5], PAIRS[0][1]), ([3, 3, 3, 3, 3, 3, 2], PAIRS[1][1]), ([4, 6], PAIRS[2][1]))


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("attention", ["none", "uniform", "additive"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_neither_words_nor_length_of_a_hidden_source_are_read(attention, placement):
    settings = settings_of(attention=attention, placement=placement, source="hidden")
    graph, weights = random_translator(settings)
    logits, read = run_forward(graph, weights, padded())
    others, _ = run_forward(graph, weights, padded(OTHER_SOURCES))
    np.testing.assert_array_equal(logits, others)
    np.testing.assert_array_equal(read[..., 0], 1.0)
    np.testing.assert_array_equal(read[..., 1:], 0.0)


def test_the_same_weights_read_a_seen_source():
    hidden = random_translator(settings_of(attention="none", source="hidden"))[1]
    graph, weights = random_translator(settings_of(attention="none"))
    assert jax.tree.map(np.shape, weights) == jax.tree.map(np.shape, hidden)
    logits, _ = run_forward(graph, hidden, padded())
    others, _ = run_forward(graph, hidden, padded(OTHER_SOURCES))
    assert np.abs(logits - others).max() > 1e-3


@pytest.mark.slow
def test_a_hidden_source_trains_the_decoder_alone():
    graph, weights = random_translator(settings_of(source="hidden"))
    _, slopes = loss_and_gradient(graph)(weights, padded())
    assert all(not np.any(each) for each in jax.tree.leaves(slopes["encoder"]))
    assert np.any(slopes["decoder"]["output"][...])


@pytest.mark.slow
def test_hiding_the_source_changes_no_starting_value():
    seen, hidden = (
        create(settings_of(source=source), SOURCE_WORDS, TARGET_WORDS, 3)[1]
        for source in ("seen", "hidden")
    )
    pairs = zip(jax.tree.leaves(seen), jax.tree.leaves(hidden), strict=True)
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)


def test_the_setting_takes_two_words():
    assert resolve("smoke").model.source == "seen"
    assert resolve("smoke", ["model.source=hidden"]).model.source == "hidden"
    with pytest.raises(UsageError, match=r"model\.source"):
        resolve("smoke", ["model.source=none"])
