"""C12: how well the training sentences themselves are translated, by length, beside the test set.

What a model does not manage on sentences that it was trained on is not lost for want of more text:
it was not learned, or the context cannot hold it. What it manages there and not on the test set
was learned by heart. No claim is decided by it: C12's rule is in `claims.rules`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..corpus.batches import evaluation_batches, restore
from ..results.schema import BLEU_COLUMNS
from ..scoring.bleu import bleu, bleu_statistics
from ..scoring.bootstrap import ratio_of_sums
from .arms import Probed, Row, rows_by_bucket
from .question import Axes, Column, Columns, Grid, Question, Tell, by_bucket

if TYPE_CHECKING:
    from flax import nnx
    from jaxtyping import Array, Int

    from ..model.translator import Weights
    from ..training.loss import Sentences
    from .subject import Subject

MOST = 240
"""Sentences of a bucket and split at most."""
SPLITS = {"train": "trained on", "test": "test"}


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Counts of the first sentences of every bucket, of the training text and of the test set.

    Of each sentence: teacher-forced tokens, and the BLEU counts of its own translation.
    """
    from ..model.parts import on_host
    from ..runs.evaluation import EVALUATION_BATCH, decode
    from ..training.loop import sentence_losses
    from ..training.step import make_sentence_losses

    right, graph, weights = right_tokens(subject.graph), subject.graph, subject.weights
    results = []
    for split in SPLITS:
        tell(f"translating, {split}")
        # The order of a split is random already.
        buckets = subject.first_of_each(subject.corpus.splits[split], MOST)
        pairs = tuple(pair for bucket in buckets for pair in bucket)
        encoded = subject.encode(pairs)
        batches = evaluation_batches(encoded, EVALUATION_BATCH)
        counts = [on_host(right(weights, batch.batch)) for batch in batches]
        outputs = decode(graph, weights, subject.settings, subject.corpus, batches)
        statistics = bleu_statistics(outputs.texts, [pair.target for pair in pairs])
        results.append({
            "split": [split] * len(pairs),
            "source_words": [pair.words for pair in pairs],
            "right": np.array(restore(counts, batches)),
            "nll": sentence_losses(make_sentence_losses(graph), weights, batches),
            "tokens": encoded.target_lengths,
        } | dict(zip(BLEU_COLUMNS, statistics.T, strict=True)))  # fmt: skip
    return {name: np.concatenate([part[name] for part in results]) for name in results[0]}


def right_tokens(graph: "nnx.GraphDef") -> "Callable[[Weights, Sentences], Int[Array, ' batch']]":
    """The jitted count of target tokens that are the likeliest next word, given those before.

    The end token is one of them.
    """
    import jax
    import jax.numpy as jnp
    from flax import nnx

    from ..model.translator import real_positions
    from ..training.loss import read_outs

    @jax.jit
    def right(weights: "Weights", batch: "Sentences") -> "Int[Array, ' batch']":
        translator = nnx.merge(graph, weights)
        best = jnp.argmax(translator.decoder.logits(read_outs(translator, batch)), axis=-1).T
        real = real_positions(batch.target_lengths, best.shape[1])
        return jnp.sum(real & (best == batch.target), axis=1)

    return right


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Accuracy (0 to 1), loss (nats per token) and BLEU of every arm, bucket and split."""
    scores = {
        "accuracy": (ratio_of_sums, ("right", "tokens")),
        "loss": (ratio_of_sums, ("nll", "tokens")),
        "bleu": (bleu, BLEU_COLUMNS),
    }
    return rows_by_bucket(probed, scores, SPLITS)


PANEL = {"key": "part", "lines": {"train": "trained on", "test": ""}, "limit": 102.0}

QUESTION = Question(
    name="fit",
    ids=("C12",),
    question="Are the training sentences themselves translated, or not even those?",
    title="Training sentences beside test sentences (C12)",
    probe=probe,
    summarise=summarise,
    notes=[
        "Accuracy: % of the target's tokens that the model finds likeliest, given the true words "
        "before them. Loss: -log P per token, also given the true words. BLEU: of its own "
        "translations. What is missing on sentences that were trained on was not learned, or does "
        "not fit into the context. `bottleneck reproduce --check-schedule` tells training from "
        "capacity (C12)."
    ],
    measures=("accuracy", "bleu", "loss"),
    grids=[
        Grid(
            "",
            [
                Column("accuracy\n%", "accuracy", scale=100.0, form="{:.0f}"),
                Column("BLEU", "bleu"),
                Column("loss\nnats", "loss", form="{:.2f}"),
            ],
            heads=("source words", "attention", "sentences"),
            lines=lambda estimates: [
                ((*texts, name), keys | {"part": split})
                for texts, keys in by_bucket(estimates)
                for split, name in SPLITS.items()
            ],
        )
    ],
    figure="Does it translate what it was trained on?",
    counted="sentences",
    axes=[
        Axes(
            "Next word right", "accuracy", "% of target tokens, true words before", 100.0, **PANEL
        ),
        Axes("Translation", "bleu", "BLEU (0 to 100)", **PANEL),
    ],
)
