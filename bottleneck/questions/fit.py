"""C12: how well the training sentences themselves are translated, by length, beside the test set.

What a model does not manage on sentences that it was trained on was not learned, or the context
cannot hold it. No claim is decided by it: C12's rule is in `claims.rules`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ..corpus.batches import evaluation_batches
from ..results.schema import BLEU_COLUMNS
from ..scoring.bleu import bleu, bleu_statistics
from .arms import Probed, Row, rows_by_bucket
from .question import Axes, Columns, Question, StudyColumn, StudyTable, Tell

if TYPE_CHECKING:
    from .subject import Subject

SPLITS = {"train": "trained on", "test": "test"}


def probe(subject: "Subject", tell: Tell) -> Columns:
    """BLEU counts of the first 240 sentences of every bucket, training text and test set."""
    from ..runs.translate import BATCH

    parts = []
    for split in SPLITS:
        tell(f"translating, {split}")
        buckets = subject.first_of_each(subject.corpus.splits[split], 240)
        pairs = [pair for bucket in buckets for pair in bucket]
        batches = evaluation_batches(subject.encode(pairs), BATCH)
        _, _, outputs = subject.trained.decode(batches)
        references, tokenizer = [pair.target for pair in pairs], subject.settings.scoring.tokenize
        counts = bleu_statistics(outputs, references, tokenize=tokenizer)
        lengths = [pair.words for pair in pairs]
        part = pd.DataFrame(counts, columns=list(BLEU_COLUMNS))
        parts.append(part.assign(split=split, source_words=lengths))
    return pd.concat(parts).to_dict("list")


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """BLEU of every arm, bucket and split."""
    return rows_by_bucket(probed, [("bleu", "", bleu, BLEU_COLUMNS)], SPLITS)


QUESTION = Question(
    name="fit",
    ids=("C12",),
    question="Are the training sentences themselves translated, or not even those?",
    title="Training sentences beside test sentences (C12)",
    probe=probe,
    summarise=summarise,
    notes=[
        "BLEU of the run's own translations; n: sentences trained on. `bottleneck reproduce "
        "--check-schedule` tells training from capacity (C12)."
    ],
    measures=("bleu",),
    tables=[
        StudyTable(
            "BLEU of training sentences beside test sentences (C12)",
            [StudyColumn(name.replace(" ", "\n"), "bleu", part=split)
             for split, name in SPLITS.items()],
        )
    ],
    counted="sentences",
    axes=[
        Axes("Translation", "bleu", "BLEU (0 to 100)", lines=None,
             select=lambda rows: rows.assign(control=rows["part"].replace(SPLITS | {"test": ""})))
    ],
)  # fmt: skip
