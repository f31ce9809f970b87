"""The PyTorch program is the same model: equal weights give equal losses and gradients."""

import jax
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch (extra `bench`) is not installed")

from from_ours import copy_into  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402
from tiny import loss_and_gradient, random_weights  # noqa: E402
from torch_translator import Translator, to_torch  # noqa: E402
from workload import ARMS  # noqa: E402

from seq2seq_bottleneck.corpus.batches import Batch  # noqa: E402
from seq2seq_bottleneck.model.translator import create  # noqa: E402
from seq2seq_bottleneck.runs.checkpoint import save_weights  # noqa: E402
from seq2seq_bottleneck.settings.concerns import ModelSettings  # noqa: E402

WORDS = (9, 8)


def padded_batch():
    """A batch of unequal lengths on both sides; words in its padding must not matter."""
    draw = np.random.default_rng(3)
    source = draw.integers(3, WORDS[0], (4, 6), dtype=np.int32)
    target = draw.integers(3, WORDS[1], (4, 5), dtype=np.int32)
    lengths = np.array([6, 1, 4, 3], np.int32), np.array([2, 5, 1, 4], np.int32)
    return Batch(source, lengths[0], target, lengths[1])


def both_models(arm, folder):
    """Our model as (structure, weights) without zeros, and PyTorch's with the same numbers."""
    settings = ModelSettings(embedding_size=3, context_size=4, **ARMS[arm])
    graph, weights = create(settings, *WORDS, 1)
    weights = random_weights(weights, 2)
    save_weights(folder / "ours.safetensors", weights)
    model = Translator(settings, *WORDS)
    copy_into(model, load_file(folder / "ours.safetensors"))
    return graph, weights, model


@pytest.mark.parametrize("arm", ARMS)
def test_losses_and_gradients_are_the_same(arm, tmp_path):
    graph, weights, model = both_models(arm, tmp_path)
    batch = padded_batch()
    arrays = jax.tree.map(jax.numpy.asarray, batch)
    loss, ours = loss_and_gradient(graph)(weights, arrays)
    sizes = [sum(leaf.size for leaf in jax.tree.leaves(weights)),
             sum(parameter.numel() for parameter in model.parameters())]  # fmt: skip
    # nn.GRU has a second bias for two gates in which the first does all the work: here 2 x 2 x 4.
    assert sizes[1] == sizes[0] + 16
    theirs = model(to_torch(batch))
    assert theirs.item() == pytest.approx(float(loss), rel=1e-5)
    theirs.backward()
    for there, here in (
        (model.source_embedding.weight.grad, ours["encoder"]["embedding"]),
        (model.target_embedding.weight.grad, ours["decoder"]["embedding"]),
        (model.output.weight.grad.T, ours["decoder"]["output"]),
    ):
        np.testing.assert_allclose(there.numpy(), here[...], rtol=1e-4, atol=1e-6)
