"""The weights that a run writes, read back."""

import jax
import numpy as np
import pytest

from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.network_files import read_weights, save_weights
from seq2seq_bottleneck.settings.concerns import ModelSettings


@pytest.mark.slow
def test_weights_come_back_the_same(tmp_path):
    settings = ModelSettings(embedding_size=5, context_size=6, hidden_size=7, bidirectional=True)
    _, weights = create(settings, 11, 13, seed=1)
    _, other = create(settings, 11, 13, seed=2)
    save_weights(tmp_path / "w.safetensors", weights)
    back = read_weights((tmp_path / "w.safetensors").read_bytes(), other)
    leaves = [jax.tree.leaves(tree) for tree in (weights, back, other)]
    assert all(np.array_equal(written, read) for written, read, _ in zip(*leaves, strict=True))
    assert not all(np.array_equal(read, fresh) for _, read, fresh in zip(*leaves, strict=True))
