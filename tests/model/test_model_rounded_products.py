"""The whole loss with bfloat16 products against NumPy whose products round what enters them."""

import jax
import ml_dtypes
import numpy as np
import numpy_translator as plain
import pytest
from tiny_model import CELLS, PAIRS, loss_and_gradient, padded, random_translator, settings_of

from seq2seq_bottleneck.training.products import bfloat16_products


class Rounding(np.ndarray):
    """float64, but for what enters a product."""

    def __matmul__(self, other):
        return (rounded(self) @ rounded(other)).view(Rounding)

    def __rmatmul__(self, other):
        return (rounded(other) @ rounded(self)).view(Rounding)


def rounded(values):
    """To the nearest bfloat16."""
    return np.asarray(values, np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)


def rounding(node):
    """The weights as arrays whose products round."""
    if isinstance(node, dict):
        return {name: rounding(child) for name, child in node.items()}
    return node.view(Rounding)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_the_loss_is_that_of_rounded_products(cell, tied):
    settings = settings_of(
        attention="none", cell=cell, placement="output", hidden_size=4, tied_output=tied
    )
    graph, weights = random_translator(settings)
    arrays = plain.arrays(weights)
    exact = plain.batch_loss(arrays, settings, PAIRS)
    expected = plain.batch_loss(rounding(arrays), settings, PAIRS)
    found = jax.jit(bfloat16_products(loss_and_gradient(graph)))(weights, padded())[0]
    assert abs(float(found) - expected) < 0.05 * abs(exact - expected)
