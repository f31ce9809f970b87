"""C12: how well the training sentences themselves are translated, by length, beside the test set.

What a model does not manage on sentences that it was trained on is not lost for want of more text:
it was not learned, or the context cannot hold it. What it manages there and not on the test set
was learned by heart.
"""

from collections.abc import Callable, Sequence
from itertools import islice

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Int

from ..corpus.batches import evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..model.host import on_host
from ..model.translator import Weights, real_positions
from ..results.schema import BLEU_COLUMNS
from ..runs.evaluation import EVALUATION_BATCH, decode
from ..scoring.bleu import bleu, bleu_statistics
from ..scoring.sums import ratio_of_sums
from ..training.loop import sentence_losses
from ..training.loss import Sentences, read_outs
from ..training.step import make_sentence_losses
from .arms import Arm, arms_of, in_buckets
from .study import Columns, Probed, Row, Study, Tell
from .subject import Subject, source_words

MOST = 240
"""Sentences of a bucket and split at most."""
SPLITS = ("train", "test")
TOKENS = ("right", "nll", "tokens")

Right = Callable[[Weights, Sentences], Int[Array, " batch"]]


def right_tokens(graph: nnx.GraphDef) -> Right:
    """The jitted count of target tokens that are the likeliest next word, given those before.

    The end token is one of them.
    """

    @jax.jit
    def right(weights: Weights, batch: Sentences) -> Int[Array, " batch"]:
        translator = nnx.merge(graph, weights)
        best = jnp.argmax(translator.decoder.logits(read_outs(translator, batch)), axis=-1).T
        real = real_positions(batch.target_lengths, best.shape[1])
        return jnp.sum(real & (best == batch.target), axis=1)

    return right


def probe(subject: Subject, tell: Tell) -> Columns:
    """Counts of the first sentences of every bucket, of the training text and of the test set."""
    found: list[Columns] = []
    for split in SPLITS:
        tell(f"translating, {split}")
        pairs = _first_of_each(subject, subject.corpus.splits[split])
        found.append({"split": [split] * len(pairs)} | _counted(subject, pairs))
    return {name: np.concatenate([held[name] for held in found]) for name in found[0]}


def _first_of_each(subject: Subject, pairs: Sequence[SentencePair]) -> tuple[SentencePair, ...]:
    """At most ``MOST`` pairs of each bucket: the order of a split is random already."""
    held = tuple(pairs)
    assigned = subject.buckets.assign(source_words(held))
    places = [
        place
        for bucket in range(len(subject.buckets.names))
        for place in islice(np.flatnonzero(assigned == bucket), MOST)
    ]
    return tuple(held[place] for place in places)


def _counted(subject: Subject, pairs: tuple[SentencePair, ...]) -> Columns:
    """What is counted once a sentence: teacher-forced tokens, and BLEU of the own translation."""
    encoded = subject.encode(pairs)
    batches = evaluation_batches(encoded, EVALUATION_BATCH)
    right = right_tokens(subject.graph)
    counts = [on_host(right(subject.weights, held.batch)) for held in batches]
    losses = sentence_losses(make_sentence_losses(subject.graph), subject.weights, batches)
    own = decode(subject.graph, subject.weights, subject.settings, subject.corpus, batches)
    statistics = bleu_statistics(own.texts, [pair.target for pair in pairs])
    return {
        "source_words": source_words(pairs),
        "right": np.array(restore(counts, batches)),
        "nll": losses,
        "tokens": np.array(encoded.target_lengths),
    } | dict(zip(BLEU_COLUMNS, statistics.T, strict=True))


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of every arm, bucket and split."""
    return [row for arm in arms_of(probed) for split in SPLITS for row in _rows(arm, split)]


def _rows(arm: Arm, split: str) -> list[Row]:
    """Accuracy (0 to 1), loss (nats a token) and BLEU of one split; seeds share their sentences."""
    first = arm.runs[0].found
    held = first["split"] == split
    columns = np.stack(
        [
            np.stack([run.found[name][held] for name in (*TOKENS, *BLEU_COLUMNS)], axis=1)
            for run in arm.runs
        ]
    )
    return [
        row
        for place, bucket, inside in in_buckets(arm.runs[0], first["source_words"][held])
        for measure, score, chosen in (
            ("accuracy", ratio_of_sums, [0, 2]),
            ("loss", ratio_of_sums, [1, 2]),
            ("bleu", bleu, slice(len(TOKENS), None)),
        )
        for row in arm.rows(
            measure, score, columns[:, inside][..., chosen], place=place, bucket=bucket, part=split
        )
    ]


STUDY = Study(
    name="fit",
    ids=("C12",),
    question="Are the training sentences themselves translated, or not even those?",
    version=1,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
)
