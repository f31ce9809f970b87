"""Known losses: a change of numerics must raise SCHEMA_VERSION, so that runs are never mixed."""

import numpy as np
import pytest
from lanes import few
from tiny_training import train_one

from seq2seq_bottleneck.corpus.batches import encode_pairs, evaluation_batches, training_batches
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, resolve

TINY = [
    "corpus.name=copy",
    "corpus.copy_words=20",
    "corpus.train_pairs=64",
    "model.context_size=12",
    "model.dropout=0.1",
    "training.updates=8",
    "training.batch_size=16",
]
GOLDEN = {
    (7, "none", "input"): (3.1608145, 3.1528116),
    (7, "additive", "input"): (3.1676561, 3.1603849),
    (7, "dot", "output"): (3.1690100, 3.1675240),
}
"""Training and validation loss after eight updates, by schema version and arm."""


@pytest.mark.parametrize(("version", "attention", "placement"), few(GOLDEN, 3))
def test_losses_are_those_of_this_schema_version(version, attention, placement):
    arm = [f"model.attention={attention}", f"model.placement={placement}"]
    settings = resolve("smoke", [*TINY, *arm])
    corpus = load_corpus(settings.corpus, settings.scoring.lower_edges)
    vocabularies = (corpus.source_vocabulary, corpus.target_vocabulary)
    graph, weights = create(settings.model, *map(len, vocabularies), settings.training.seed)
    batches = training_batches(encode_pairs(corpus.train, *vocabularies), 16, 1, 2)
    valid = evaluation_batches(encode_pairs(corpus.valid, *vocabularies), 16)
    trained = train_one((graph, weights), settings.training, batches, valid)
    found = (trained.log[-1].loss, trained.log[-1].valid_loss)
    assert version == SCHEMA_VERSION
    np.testing.assert_allclose(found, GOLDEN[version, attention, placement], rtol=2e-5)
