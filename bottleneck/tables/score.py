"""One system's output by source length: BLEU with its interval, and what explains it."""

import numpy as np
import pandas as pd
from rich.table import Table

from ..scoring.bleu import (
    HYPOTHESIS,
    REFERENCE,
    SHORT_SENTENCES,
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
    length_ratio,
)
from ..scoring.bootstrap import Estimate
from ..scoring.chrf import chrf, chrf_signature, chrf_statistics
from ..scoring.paired import estimates
from ..settings.buckets import bucket_labels
from ..settings.concerns import ScoringSettings
from .outputs import Output, assign, notes
from .page import Page
from .render import Column, bounds, count, filled_table, small_buckets, typed_frame

TITLE = "BLEU by sentence length"
LEVELS = "BLEU levels are not comparable across buckets: texts of other lengths have other n-grams."


def score_page(output: Output, scoring: ScoringSettings) -> Page:
    """The table of one system, and what stands under it."""
    counts = bleu_statistics(output.hypotheses, output.references)
    characters = chrf_statistics(output.hypotheses, output.references)
    edges = scoring.lower_edges
    assigned = assign(output, counts, edges)
    rows = []
    for place, name in enumerate(bucket_labels(edges)):
        inside = assigned == place
        sums, words = counts[inside].sum(axis=0), output.words[inside]
        measured = Estimate(np.nan, np.full(scoring.resamples, np.nan))
        if sums[REFERENCE]:  # resampled as a run's own table has it
            how = {"seed": scoring.seed, "bucket": place}
            (measured,) = estimates(bleu, [counts[inside]], scoring.resamples, **how)
        rows.append(
            {
                "bucket": name,
                "n": len(words),
                "source_words": words.mean() if len(words) else None,
                "bleu": measured.value,
                **bounds("bleu", measured),
                "brevity_penalty": float(brevity_penalty(sums)),
                "length_ratio": float(length_ratio(sums)),
                "chrf": float(chrf(characters[inside].sum(axis=0))),
                "reference_tokens": int(sums[REFERENCE]),
                "empty": int((counts[inside][:, HYPOTHESIS] == 0).sum()),
                "signature": bleu_signature() if measured.filled else "",
            }
        )
    frame = typed_frame(rows, ("bucket", "n", "reference_tokens", "empty", "signature"))
    lines = [
        f"Hypotheses: {output.name}.",
        f"All {len(counts):,} sentences, those outside the buckets too: BLEU "
        f"{bleu(counts.sum(axis=0)):.2f}, chrF {chrf(characters.sum(axis=0)):.2f}.",
        LEVELS,
        f"Ranges: 95 % bootstrap over test sentences ({scoring.resamples:,} resamples, seed "
        f"{scoring.seed}); they say nothing of a second training.",
        "BP: brevity penalty; length: tokens of the hypotheses over those of the references; "
        "empty: hypotheses without a token, which are scored as any other.",
        *notes(output, assigned, edges),
        small_buckets(frame["bucket"], frame["n"]),
        SHORT_SENTENCES,
        f"sacreBLEU: {bleu_signature()}",
        f"sacreBLEU, chrF: {chrf_signature()}",
    ]
    return Page("score", TITLE, frame, _table(frame), [], [line for line in lines if line])


def _table(frame: pd.DataFrame) -> Table:
    columns = [
        Column("source\nwords", "bucket"),
        Column("n", "n", cell=count),
        Column("BLEU", "bleu", "{:.1f}", interval=True),
        Column("BP", "brevity_penalty", "{:.2f}"),
        Column("length", "length_ratio", "{:.2f}"),
        Column("chrF", "chrf", "{:.1f}"),
        Column("empty", "empty", "{:,}"),
    ]
    return filled_table(TITLE, frame, columns)
