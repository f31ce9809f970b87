"""C12: how well the training sentences themselves are translated, by length, beside the test set.

What a model does not manage on sentences that it was trained on was not learned, or the context
cannot hold it. No claim is decided by it: C12's rule is in `claims.rules`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..corpus.batches import evaluation_batches
from ..results.schema import BLEU_COLUMNS
from ..scoring.bleu import bleu, bleu_statistics
from ..scoring.bootstrap import ratio_of_sums
from .arms import Probed, Row, rows_by_bucket
from .question import Axes, Columns, Question, StudyColumn, StudyTable, Tell, by_bucket

if TYPE_CHECKING:
    from .subject import Subject

MOST = 240
"""Sentences of a bucket and split at most."""
SPLITS = {"train": "trained on", "test": "test"}


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Loss and BLEU counts of the first sentences of every bucket, training text and test set."""
    from ..runs.translate import BATCH
    from ..training.loop import sentence_losses
    from ..training.step import make_sentence_losses

    graph, weights = subject.graph, subject.weights
    results = []
    for split in SPLITS:
        tell(f"translating, {split}")
        buckets = subject.first_of_each(subject.corpus.splits[split], MOST)
        pairs = tuple(pair for bucket in buckets for pair in bucket)
        encoded = subject.encode(pairs)
        batches = evaluation_batches(encoded, BATCH)
        words = [subject.trained.source_vocabulary.pieces(pair.source) for pair in pairs]
        _, _, texts = subject.trained.decode(encoded, batches, words)
        references, tokenizer = [pair.target for pair in pairs], subject.settings.scoring.tokenize
        statistics = bleu_statistics(texts, references, tokenize=tokenizer)
        results.append({
            "split": [split] * len(pairs),
            "source_words": [pair.words for pair in pairs],
            "nll": sentence_losses(make_sentence_losses(graph), weights, batches),
            "tokens": encoded.target_lengths,
        } | dict(zip(BLEU_COLUMNS, statistics.T, strict=True)))  # fmt: skip
    return {name: np.concatenate([part[name] for part in results]) for name in results[0]}


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Loss (nats per token) and BLEU of every arm, bucket and split."""
    scores = [("loss", "", ratio_of_sums, ("nll", "tokens")), ("bleu", "", bleu, BLEU_COLUMNS)]
    return rows_by_bucket(probed, scores, SPLITS)


QUESTION = Question(
    name="fit",
    ids=("C12",),
    question="Are the training sentences themselves translated, or not even those?",
    title="Training sentences beside test sentences (C12)",
    probe=probe,
    summarise=summarise,
    notes=[
        "BLEU: of its own translations. Loss: -log P per token, given the true words before it. "
        "`bottleneck reproduce --check-schedule` tells training from capacity (C12)."
    ],
    measures=("bleu", "loss"),
    tables=[
        StudyTable(
            "", [StudyColumn("BLEU", "bleu"), StudyColumn("loss\nnats", "loss", form="{:.2f}")],
            ("source words", "attention", "sentences"),
            lambda estimates: (
                ((*texts, name), keys | {"part": split})
                for texts, keys in by_bucket(estimates)
                for split, name in SPLITS.items()
            ),
        )
    ],
    counted="sentences",
    axes=[
        Axes("Translation", "bleu", "BLEU (0 to 100)", lines=None,
             select=lambda rows: rows.assign(control=rows["part"].replace(SPLITS | {"test": ""})))
    ],
)  # fmt: skip
