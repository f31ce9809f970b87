"""The whole translator equals the lecture's formulas in NumPy: logits, weights, gradients."""

import itertools

import jax
import numpy as np
import numpy_translator as plain
import pytest
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

pytestmark = pytest.mark.usefixtures("float64")

CLOSE = {"rtol": 1e-9, "atol": 1e-12}

# Every fifth of these cases, together, covers every read, both placements and every cell.
ARMS = list(itertools.product(ATTENTIONS, PLACEMENTS, ("rnn", "gru", "lstm")))
GRADIENTS = [(kind, placement, "gru") for kind in ATTENTIONS for placement in PLACEMENTS]
GRADIENTS += [("additive", "input", "lstm"), ("none", "output", "lstm"), ("dot", "input", "rnn")]
DEEPER = [
    {"layers": 2, "bidirectional": True, "cell": "lstm"},
    {"hidden_size": 4, "attention_size": 5, "bidirectional": True, "attention": "additive"},
    {"layers": 3, "attention": "general", "placement": "output"},
    {"hidden_size": 4, "attention": "none", "placement": "output", "initial_state": "zero"},
    {"tied_output": True, "hidden_size": 4, "attention": "general", "layers": 2, "cell": "lstm"},
]


def check_forward(settings):
    """A batch with garbage in its padding gives what NumPy gives for each sentence alone."""
    graph, weights = random_translator(settings)
    logits, read = forward(graph, weights, padded(extra=1, garbage=np.random.default_rng(3)))
    p = plain.arrays(weights)
    for row, (source, target) in enumerate(PAIRS):
        words = plain.translate(p, settings, source, [plain.BOS, *target[:-1]])
        real = np.s_[row, : len(target)]
        np.testing.assert_allclose(logits[real], words[0], **CLOSE)
        np.testing.assert_allclose(read[real][:, : len(source)], words[1], **CLOSE)


@pytest.mark.parametrize(("kind", "placement", "cell"), few(ARMS, 5))
def test_logits_and_weights_equal_the_formulas(kind, placement, cell):
    check_forward(settings_of(attention=kind, placement=placement, cell=cell))


@pytest.mark.parametrize("changes", few(DEEPER, 3))
def test_deeper_and_wider_translators_equal_the_formulas(changes):
    check_forward(settings_of(**changes))


def check_gradient(settings, pairs):
    """The loss, and its slope in every single parameter, equal NumPy's."""
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
        (PAIRS[:2], {"bidirectional": True, "hidden_size": 2, "layers": 2}),
        # A tied embedding's gradient sums over both uses.
        (PAIRS[1:], {"tied_output": True, "hidden_size": 4}),
    ],
)
def test_gradients_of_two_directions_and_of_a_tied_output_equal_the_formulas(pairs, changes):
    check_gradient(settings_of(**changes), pairs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arm",
    [
        {"attention": "dot", "placement": "output", "bidirectional": True},
        {"attention": "none", "layers": 2, "cell": "rnn"},
    ],
)
def test_padding_changes_neither_loss_nor_gradient(arm):
    graph, weights = random_translator(settings_of(**arm))
    run = loss_and_gradient(graph)
    expected = jax.tree.leaves(run(weights, padded()))
    results = jax.tree.leaves(run(weights, padded(extra=3, garbage=np.random.default_rng(7))))
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)
