"""A run's rows of the tidy table, from the counts of its test sentences; jax is not needed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..results.schema import BLEU_COLUMNS, CHRF_COLUMNS
from ..scoring.bleu import (
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
    chrf,
    chrf_statistics,
    expanded,
    length_ratio,
    precisions,
)
from ..scoring.bootstrap import draw, estimate, ratio_of_sums
from ..settings.concerns import Buckets
from ..settings.run import RunSettings

Columns = dict[str, ndarray]


def by_bucket(
    words: Sequence[int] | Int[ndarray, " sentences"], settings: RunSettings
) -> dict[str, Int[ndarray, " rows"]]:
    """Of each length bucket the places of its sentences, of which these are the source words."""
    buckets = Buckets(settings.scoring.lower_edges)
    assigned = buckets.assign(np.array(words, dtype=np.int64))
    return {name: np.flatnonzero(assigned == place) for place, name in enumerate(buckets.names)}


def sentence_columns(
    hypotheses: list[str],
    references: list[str],
    words: Int[ndarray, "sentences"],
    losses: Float[ndarray, "sentences"],
    target_tokens: Int[ndarray, "sentences"],
    ended: ndarray,
) -> Columns:
    """Everything that is counted once per sentence, by the names of ``sentences.csv``."""
    counts = bleu_statistics(hypotheses, references)
    characters = chrf_statistics(hypotheses, references)
    columns: Columns = {
        "sentence": np.arange(len(references)),
        "source_words": words,
        "nll": losses.astype(np.float32),  # which they are
        "target_tokens": target_tokens,
        "ended": ended,
    }
    columns |= dict(zip(BLEU_COLUMNS, counts.T, strict=True))
    return columns | dict(zip(CHRF_COLUMNS, characters.T, strict=True))


def bucket_rows(columns: Columns, settings: RunSettings) -> list[dict[str, Any]]:
    """One row per bucket: n, ratio, scores with their interval, and what explains them.

    An empty bucket has n = 0 and blanks.
    """
    model, scoring, rows = settings.model, settings.scoring, []
    for bucket, (name, places) in enumerate(by_bucket(columns["source_words"], settings).items()):
        n = len(places)
        if n == 0:
            rows.append({"bucket": name, "n": 0})
            continue
        inside = {key: item[places] for key, item in columns.items()}
        words = float(inside["source_words"].mean())
        counts, characters = (
            np.stack([inside[column] for column in kind], axis=1)
            for kind in (BLEU_COLUMNS, CHRF_COLUMNS)
        )
        losses = [float(inside[key].sum(dtype=np.float64)) for key in ("nll", "target_tokens")]
        weights = draw(n, scoring.resamples, seed=scoring.seed, bucket=bucket)
        measured = estimate(bleu, counts[None], weights)
        sums = counts.sum(axis=0)
        row = {
            "bucket": name,
            "n": n,
            "source_words": words,
            "compression_ratio": words * model.embedding_size / model.context_size,
            "bleu": measured.value,
            "bleu_low": measured.interval.low,
            "bleu_high": measured.interval.high,
            "brevity_penalty": float(brevity_penalty(sums)),
            "length_ratio": float(length_ratio(sums)),
            **{f"precision_{k}": float(p) for k, p in enumerate(precisions(sums), start=1)},
            "chrf": float(chrf(expanded(characters).sum(axis=0))),
            "nll_per_token": float(ratio_of_sums(np.array(losses))),
            "reference_tokens": int(inside["reference_tokens"].sum()),
            "empty": int((inside["hypothesis_tokens"] == 0).sum()),
            "unfinished": int((~inside["ended"]).sum()),
            "signature": bleu_signature(),
        }
        rows.append(row)
    return rows
