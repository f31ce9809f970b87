"""C12: BLEU of training sentences by length, next to that of test sentences.

If a model cannot translate its training sentences, it has not learned them, or the context cannot
hold them. This study decides no claim: C12's rule is in `claims.rules`.
"""

from itertools import chain

import pandas as pd

from ..corpus.batches import evaluation_batches
from ..results.schema import BLEU_COLUMNS
from ..scoring.bleu import bleu, bleu_statistics
from .arms import rows_by_bucket
from .question import Axes, Columns, Question, StudyColumn, StudyTable, Subject

SPLITS = {"train": "trained on", "test": "test"}


def probe(subject: Subject) -> Columns:
    """BLEU counts of the first 240 sentences of every bucket, of training text and test set."""
    from ..runs.translate import BATCH

    parts = []
    for split in SPLITS:
        subject.tell(f"translating, {split}")
        pairs = list(chain(*subject.first_of_each(getattr(subject.corpus, split), 240)))
        _, _, outputs = subject.trained.decode(evaluation_batches(subject.encode(pairs), BATCH))
        references, tokenizer = [pair.target for pair in pairs], subject.settings.scoring.tokenize
        counts = bleu_statistics(outputs, references, tokenize=tokenizer)
        part = pd.DataFrame(counts, columns=list(BLEU_COLUMNS))
        parts.append(part.assign(split=split, source_words=[pair.words for pair in pairs]))
    return pd.concat(parts).to_dict("list")


QUESTION = Question(
    name="fit",
    question="Can an arm translate at least the sentences that it was trained on? (C12)",
    title="Training and test sentences (C12)",
    probe=probe,
    summarise=lambda probed: rows_by_bucket(probed, [("bleu", "", bleu, BLEU_COLUMNS)], SPLITS),
    notes=[
        "BLEU of the run's own translations; n: sentences trained on. `bottleneck reproduce "
        "--check-schedule` tells training from capacity (C12)."
    ],
    tables=[
        StudyTable("BLEU of training and of test sentences (C12)", [
            StudyColumn(name.replace(" ", "\n"), "bleu", part=split)
            for split, name in SPLITS.items()
        ])
    ],
    over="sentences",
    axes=[
        Axes("Translation", "BLEU (0 to 100)", measure="bleu",
             select=lambda rows: rows.assign(control=rows["part"].replace(SPLITS | {"test": ""})))
    ],
)  # fmt: skip
