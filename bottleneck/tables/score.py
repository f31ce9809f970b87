"""One system's output by source length: BLEU with its interval, and what explains it."""

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from numpy import ndarray
from rich.table import Table

from ..claims.verdict import MARKED_BELOW, marked
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
from .render import count, new_table, number, ranged
from .slides import bounds, typed_frame

TITLE = "BLEU by sentence length"
LEVELS = "BLEU levels are not comparable across buckets: texts of other lengths have other n-grams."
COLUMNS = (
    "BP: brevity penalty; length: tokens of the hypotheses over those of the references; empty: "
    "hypotheses without a token, which are scored as any other."
)
TEXTS = ("bucket", "n", "reference_tokens", "empty", "signature")


def score_page(output: Output, scoring: ScoringSettings) -> Page:
    """The table of one system, and what stands under it."""
    counts = bleu_statistics(output.hypotheses, output.references)
    characters = chrf_statistics(output.hypotheses, output.references)
    edges = scoring.lower_edges
    assigned = assign(output, counts, edges)
    rows = []
    for place, name in enumerate(bucket_labels(edges)):
        inside = assigned == place
        row = _row(counts[inside], characters[inside], place, scoring)
        words = output.words[inside]
        rows.append({"bucket": name, "source_words": words.mean() if len(words) else None} | row)
    frame = _ordered(rows)
    lines = [
        f"Hypotheses: {output.name}.",
        f"All {len(counts):,} sentences, those outside the buckets too: BLEU "
        f"{bleu(counts.sum(axis=0)):.2f}, chrF {chrf(characters.sum(axis=0)):.2f}.",
        LEVELS,
        _ranges(scoring),
        COLUMNS,
        *notes(output, assigned, edges),
        small_buckets(frame),
        SHORT_SENTENCES,
        f"sacreBLEU: {bleu_signature()}",
        f"sacreBLEU, chrF: {chrf_signature()}",
    ]
    return Page("score", TITLE, frame, score_table(frame), [], [line for line in lines if line])


def _ranges(scoring: ScoringSettings) -> str:
    return (
        f"Ranges: 95 % bootstrap over test sentences ({scoring.resamples:,} resamples, seed "
        f"{scoring.seed}); they say nothing of a second training."
    )


def _row(
    counts: Int[ndarray, "sentences 10"],
    characters: Int[ndarray, "sentences 18"],
    place: int,
    scoring: ScoringSettings,
) -> dict[str, Any]:
    """The scores of one bucket; what cannot be scored is blank."""
    measured = _estimate(counts, place, scoring)
    sums = counts.sum(axis=0)
    return {
        "n": len(counts),
        "bleu": measured.value,
        **bounds("bleu", measured),
        "brevity_penalty": float(brevity_penalty(sums)),
        "length_ratio": float(length_ratio(sums)),
        "chrf": float(chrf(characters.sum(axis=0))),
        "reference_tokens": int(sums[REFERENCE]),
        "empty": int((counts[:, HYPOTHESIS] == 0).sum()),
        "signature": bleu_signature() if measured.filled else "",
    }


def _estimate(
    counts: Int[ndarray, "sentences 10"], place: int, scoring: ScoringSettings
) -> Estimate:
    """BLEU of one bucket, resampled as a run's own table has it."""
    if not counts[:, REFERENCE].any():
        return Estimate(np.nan, np.full(scoring.resamples, np.nan))
    return estimates(bleu, [counts], scoring.resamples, seed=scoring.seed, bucket=place)[0]


def _ordered(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Bucket and count in front, the signature last."""
    frame = typed_frame(rows, TEXTS)
    front = ["bucket", "n"]
    return frame[[*front, *(name for name in frame.columns if name not in front)]]


def score_table(frame: pd.DataFrame) -> Table:
    """The same for a terminal of 80 columns or more."""
    heads = ["source\nwords", "n", "BLEU", "BP", "length", "chrF", "empty"]
    table = new_table(TITLE, heads)
    for row in frame.to_dict("records"):
        table.add_row(
            row["bucket"],
            count(row["n"]),
            ranged(row, "bleu", "{:.1f}"),
            number(row["brevity_penalty"], "{:.2f}"),
            number(row["length_ratio"], "{:.2f}"),
            number(row["chrf"], "{:.1f}"),
            f"{row['empty']:,}",
        )
    return table


def small_buckets(frame: pd.DataFrame) -> str:
    """The rows that are starred for their count; empty where none is."""
    rows = zip(frame["bucket"], frame["n"], strict=True)
    small = [f"{name} (n = {n})" for name, n in rows if marked(n)]
    return f"* under {MARKED_BELOW} sentences: {', '.join(small)}." if small else ""
