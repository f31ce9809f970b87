"""The whole translator against the lecture's formulas in NumPy: logits, weights, gradients."""

import itertools

import jax
import numpy as np
import numpy_translator as plain
import pytest
from flax import nnx
from lanes import few
from tiny import (
    ATTENTIONS,
    PAIRS,
    PLACEMENTS,
    forward,
    loss_and_gradient,
    padded,
    random_translator,
    settings_of,
)

from seq2seq_bottleneck.model.recurrence import GateInput
from seq2seq_bottleneck.training.loss import decoder_inputs

pytestmark = pytest.mark.usefixtures("float64")

CLOSE = {"rtol": 1e-9, "atol": 1e-12}

# Each fifth of these has every read, both placements and every cell among it.
ARMS = list(itertools.product(ATTENTIONS, PLACEMENTS, ("rnn", "gru", "lstm")))
# Gradients: every read in both placements with one cell, every cell in both with one read.
GRADIENTS = [(kind, placement, "gru") for kind in ATTENTIONS for placement in PLACEMENTS]
GRADIENTS += [("additive", placement, cell) for placement in PLACEMENTS for cell in ("rnn", "lstm")]
GRADIENTS += [("none", "input", "lstm"), ("none", "output", "rnn")]
TWO_WAY = {"bidirectional": True, "hidden_size": 2}
DEEPER = [
    {"layers": 2, "residual": True, "bidirectional": True, "cell": "lstm"},
    {"layers": 3, "residual": False, "attention": "dot", "placement": "output", "cell": "rnn"},
    {"layers": 3, "residual": True, "attention": "general", "placement": "output"},
    {"hidden_size": 4, "attention_size": 5, "bidirectional": True, "attention": "additive"},
    {"hidden_size": 4, "attention": "general", "placement": "output"},
    {"hidden_size": 2, "attention": "none", "layers": 2, "cell": "lstm"},
    {"hidden_size": 4, "attention": "none", "placement": "output", "initial_state": "zero"},
    {"initial_state": "zero", "attention": "additive", "layers": 2},
    {"bidirectional": True, "attention": "none", "cell": "rnn"},
    {"tied_output": True, "attention": "dot", "placement": "output"},
    {"tied_output": True, "hidden_size": 4, "attention": "general", "layers": 2, "cell": "lstm"},
]


def check_forward(settings, **close):
    """A padded batch, garbage in its padding: what NumPy makes of each sentence alone."""
    graph, weights = random_translator(settings)
    logits, read = forward(graph, weights, padded(extra=1, garbage=np.random.default_rng(3)))
    p = plain.arrays(weights)
    for row, (source, target) in enumerate(PAIRS):
        words = plain.translate(p, settings, source, [plain.BOS, *target[:-1]])
        real = np.s_[row, : len(target)]
        np.testing.assert_allclose(logits[real], words[0], **(close or CLOSE))
        np.testing.assert_allclose(read[real][:, : len(source)], words[1], **(close or CLOSE))
    return logits


@pytest.mark.parametrize(("kind", "placement", "cell"), few(ARMS, 5))
def test_logits_and_weights_equal_the_formulas(kind, placement, cell):
    check_forward(settings_of(attention=kind, placement=placement, cell=cell))


@pytest.mark.parametrize(
    "changes", few(DEEPER, 3), ids=lambda changes: "-".join(map(str, changes.values()))
)
def test_deeper_and_wider_translators_equal_the_formulas(changes):
    check_forward(settings_of(**changes))


def check_gradient(settings, pairs):
    """Loss, and its slope in every single parameter, against NumPy."""
    graph, weights = random_translator(settings)
    batch = padded(pairs, extra=1, garbage=np.random.default_rng(3))
    loss, gradient = loss_and_gradient(graph)(weights, batch)
    p = plain.arrays(weights)
    np.testing.assert_allclose(loss, plain.batch_loss(p, settings, pairs), **CLOSE)
    slopes = plain.finite_differences(lambda q: plain.batch_loss(q, settings, pairs), p)
    result, expected = plain.flat(plain.arrays(gradient)), plain.flat(slopes)
    assert result.keys() == expected.keys()
    for path, slope in expected.items():
        np.testing.assert_allclose(result[path], slope, rtol=1e-6, atol=1e-8, err_msg=str(path))


@pytest.mark.parametrize(("kind", "placement", "cell"), few(GRADIENTS, 4))
def test_loss_and_gradients_equal_the_formulas(kind, placement, cell):
    check_gradient(settings_of(attention=kind, placement=placement, cell=cell), PAIRS[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pairs", "changes"),
    [
        (PAIRS[:2], {**TWO_WAY, "attention": "general", "layers": 2, "residual": True}),
        (PAIRS[:2], {**TWO_WAY, "attention": "none", "cell": "lstm"}),
        (PAIRS[:2], {**TWO_WAY, "attention": "uniform", "cell": "rnn", "placement": "output"}),
        # A tied embedding's gradient is that of both its uses; more and fewer words than there are.
        (PAIRS[1:], {"tied_output": True, "hidden_size": 4}),
        (PAIRS[1:2], {"tied_output": True, "hidden_size": 4, "placement": "output"}),
    ],
)
def test_gradients_of_two_directions_and_of_a_tied_output_equal_the_formulas(pairs, changes):
    check_gradient(settings_of(**changes), pairs)


@pytest.mark.parametrize("vocabulary", [3, 40])
def test_looking_up_and_mapping_may_change_places(vocabulary):
    """A batch of ten words, of a vocabulary that is smaller and of one that is larger."""
    random = np.random.default_rng(1)
    table = jax.numpy.asarray(random.normal(size=(vocabulary, 4)))
    words = jax.numpy.asarray(random.integers(0, vocabulary, (5, 2)))
    gates = GateInput("gru", 4, 3, rngs=nnx.Rngs(0))
    pairs = zip(gates.of_words(table, words), gates.project(table[words]), strict=True)
    for mapped_first, expected in pairs:
        np.testing.assert_allclose(mapped_first, expected, **CLOSE)


@pytest.mark.slow
def test_float32_is_as_close_as_it_can_be():
    with jax.enable_x64(False):
        logits = check_forward(settings_of(attention="additive"), rtol=1e-5, atol=1e-5)
    assert logits.dtype == np.float32


@pytest.mark.slow
@pytest.mark.parametrize(
    ("double", "arm"),
    [
        (False, {"attention": "additive"}),
        (True, {"attention": "dot", "placement": "output", "bidirectional": True}),
        (True, {"attention": "none", "layers": 2, "residual": True, "cell": "rnn"}),
    ],
)
def test_padding_changes_neither_loss_nor_gradient(double, arm):
    with jax.enable_x64(double):
        graph, weights = random_translator(settings_of(**arm))
        run = loss_and_gradient(graph)
        expected = jax.tree.leaves(run(weights, padded()))
        for garbage in (None, np.random.default_rng(7)):
            results = jax.tree.leaves(run(weights, padded(extra=3, garbage=garbage)))
            close = {"rtol": 1e-6, "atol": 1e-12} if double else {"rtol": 1e-5, "atol": 1e-6}
            for one, other in zip(results, expected, strict=True):
                np.testing.assert_allclose(one, other, **close)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attention", "placement", "cell", "tied"),
    [
        ("additive", "input", "lstm", False),
        ("general", "output", "gru", True),
        ("none", "input", "rnn", True),
    ],
)
def test_word_by_word_equals_the_scan(attention, placement, cell, tied):
    arm = {"attention": attention, "placement": placement, "cell": cell, "tied_output": tied}
    graph, weights = random_translator(settings_of(**arm, layers=2, residual=True))
    batch = padded()
    logits, read = forward(graph, weights, batch)
    translator = nnx.merge(graph, weights)
    memory = translator.encode(batch.source, batch.source_lengths)
    states, step = translator.decoder.initial(memory), jax.jit(translator.decoder.step)
    for place, words in enumerate(decoder_inputs(batch.target).T):
        states, given, read_with = step(states, words, memory)
        np.testing.assert_allclose(given, logits[:, place], **CLOSE)
        np.testing.assert_allclose(read_with, read[:, place], **CLOSE)
