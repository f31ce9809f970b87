"""A run that was never trained: random weights, so large that outputs differ with every word."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from seq2seq_bottleneck.corpus.vocabulary import BOS, Vocabulary
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.runs.translate import TrainedRun
from seq2seq_bottleneck.settings.run import resolve

SPECIAL = ("<pad>", "<s>", "</s>", "⁇")
WORDS = 9


def random_run(seed=3, corpus=None, decoding=None, **model):
    """Nine words per side, w0 to w4 and the special ones."""
    sizes = {"embedding_size": 4, "context_size": 5, "attention": "additive"} | model
    settings = resolve("smoke").changed(
        model=sizes, corpus={"name": "copy"} | (corpus or {}), decoding=decoding or {}
    )
    graph, weights = create(settings.model, WORDS, WORDS, 1)
    random = np.random.default_rng(seed)
    weights = jax.tree.map(
        lambda leaf: jnp.asarray(random.normal(0.0, 1.5, leaf.shape), leaf.dtype), weights
    )
    words = Vocabulary((*SPECIAL, *(f"w{place}" for place in range(WORDS - len(SPECIAL)))))
    return TrainedRun(settings, words, words, graph, weights)


def never_ending(run):
    """The same run, its end token barred."""
    bias = run.weights["decoder"]["output_bias"]
    bias[...] = bias[...].at[2].set(-1e9)
    return run


def walked(trained, source, target):
    """The weights of each step of the decoder, one word after the other, without padding."""
    translator = nnx.merge(trained.graph, trained.weights)
    memory = translator.encode(jnp.array([source]), jnp.array([len(source)]))
    states, rows = translator.decoder.initial(memory), []
    for word in [BOS, *target[:-1]]:
        states, _, weights = translator.decoder.step(states, jnp.array([word]), memory)
        rows.append(np.asarray(weights[0]))
    return np.stack(rows)
