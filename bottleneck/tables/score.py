"""Any system's output by source length, and two systems on one test set: B minus A in BLEU."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from numpy import ndarray

from ..claims.verdict import FLOOR_BLEU, READ_FROM
from ..scoring.bleu import (
    HYPOTHESIS,
    REFERENCE,
    SHORT_SENTENCES,
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
    chrf,
    chrf_signature,
    chrf_statistics,
    expanded,
    length_ratio,
)
from ..scoring.bootstrap import (
    Estimate,
    Paired,
    Resampling,
    bootstrap_p,
    estimates,
    interaction,
    pair,
)
from ..settings.concerns import ScoringSettings, bucket_labels
from .outputs import Output, assign, notes
from .page import Page
from .render import Column, bounds, count, filled_table, ranged, small_buckets, typed_frame

SCORE, COMPARE = "BLEU by sentence length", "Two systems by sentence length: B minus A in BLEU"
LEVELS = "BLEU levels are not comparable across buckets: texts of other lengths have other n-grams."
SCORE_COLUMNS = [
    Column("source\nwords", "bucket"),
    Column("n", "n", count),
    Column("BLEU", "bleu", "{:.1f}"),
    Column("BP", "brevity_penalty", "{:.2f}"),
    Column("length", "length_ratio", "{:.2f}"),
    Column("chrF", "chrf", "{:.1f}"),
    Column("empty", "empty", "{:,}"),
]
COMPARE_COLUMNS = [
    Column("source\nwords", "bucket"),
    Column("n", "n", count),
    Column("BLEU\nA", "bleu_a", "{:.1f}"),
    Column("BLEU\nB", "bleu_b", "{:.1f}"),
    Column("B - A", "difference", "{:+.1f}"),
    Column("p\nboot.", "p_bootstrap", "{:.4f}"),
    Column("p\nrandom", "p_randomisation", "{:.4f}"),
    Column(
        "BP A\nBP B",
        of_row=lambda row: "\n".join(
            ranged(row, f"brevity_penalty_{side}", "{:.2f}") for side in "ab"
        ).strip(),
    ),
]
ALL, INTERACTION = "all", "interaction"
"""The rows of the whole test set (sentences outside the buckets too), and of the longest filled
bucket's difference minus the shortest's."""
P_VALUES = (
    "p: two-sided, not corrected for the number of rows. Of the bootstrap: twice the share of "
    "resamples in which the difference has not the sign that it has (Koehn 2004), the test set "
    "counted as one of them. Of approximate randomisation: the share of trials, each swapping both "
    "outputs of a sentence or not by the toss of a coin, that differ as much (Riezler and Maxwell "
    f"2005); the safer one where sentences are few. Of under {READ_FROM} sentences there is no p "
    "of the bootstrap: their resamples are a few."
)

Counts = Int[ndarray, "sentences 10"]


def score_page(output: Output, scoring: ScoringSettings) -> Page:
    """The table of one system, and what stands under it."""
    counts = bleu_statistics(output.hypotheses, output.references)
    characters = expanded(chrf_statistics(output.hypotheses, output.references))
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
    table = filled_table(SCORE, frame, SCORE_COLUMNS)
    return Page("score", SCORE, frame, table, [], [line for line in lines if line])


def paired_page(a: Output, b: Output, edges: tuple[int, ...], how: Resampling) -> Page:
    """The comparison of two systems, and what stands under it."""
    counts = [bleu_statistics(output.hypotheses, output.references) for output in (a, b)]
    assigned = assign(a, counts[0], edges)
    frame = _paired_frame(*counts, assigned, bucket_labels(edges), how)
    low = frame["bucket"][:-1][frame[["bleu_a", "bleu_b"]][:-1].max(axis=1) < FLOOR_BLEU]
    buckets = frame[:-2]
    ends = buckets["bucket"][buckets["bleu_a"].notna() & (buckets["n"] >= READ_FROM)].tolist()
    between = f"blank, for want of two buckets of {READ_FROM} sentences or more."
    if len(ends) > 1:
        between = (
            f"the difference in {ends[-1]} minus that in {ends[0]}; only buckets with {READ_FROM} "
            "sentences or more count. It has no p of approximate randomisation, which would test "
            "that the systems do not differ at all."
        )
    lines = [
        f"A: {a.name}.",
        f"B: {b.name}.",
        LEVELS,
        f"Ranges: 95 % paired bootstrap over test sentences ({how.resamples:,} resamples, the same "
        f"for both systems; {how.trials:,} trials of approximate randomisation; seed {how.seed}). "
        "They say nothing of a second training.",
        P_VALUES,
        f"Interaction: {between}",
        "All: every sentence, those outside the buckets too.",
        *dict.fromkeys(line for output in (a, b) for line in notes(output, assigned, edges)),
        small_buckets(frame["bucket"][:-1], frame["n"][:-1]),
        f"Both under BLEU {FLOOR_BLEU:g}: {', '.join(low)}. There BLEU is mostly the smoothing of "
        "orders without a match, and a difference says little of translation."
        if len(low)
        else "",
        SHORT_SENTENCES,
        f"sacreBLEU: {bleu_signature()}",
    ]
    table = filled_table(COMPARE, frame, COMPARE_COLUMNS)
    table.rows[-3].end_section = True
    return Page("compare", COMPARE, frame, table, [], [line for line in lines if line])


def _paired_frame(
    a: Counts,
    b: Counts,
    assigned: Int[ndarray, "sentences"],
    labels: Sequence[str],
    how: Resampling,
) -> pd.DataFrame:
    """One row per bucket, then the whole test set, then the interaction; no score is a blank.

    BLEU, and differences in it, are 0 to 100; ``p_...`` are 0 to 1; intervals are 95 %.
    """
    nothing = Estimate(np.nan, np.full(how.resamples, np.nan))
    parts = [*(assigned == place for place in range(len(labels))), np.full(len(assigned), True)]
    constant = {"resamples": how.resamples, "trials": how.trials, "seed": how.seed}
    rows, read = [], []
    for stream, (name, part) in enumerate(zip([*labels, ALL], parts, strict=True)):
        first, second = a[part], b[part]
        result = Paired(nothing, nothing, np.nan)
        if first[:, REFERENCE].any():
            result = pair(bleu, first, second, how, bucket=stream)
            if name != ALL and len(first) >= READ_FROM:
                read.append((len(first), result.gain))
        row: dict[str, Any] = {"bucket": name, "n": len(first)}
        for side, measured in (("bleu_a", result.a), ("bleu_b", result.b)):
            row |= {side: measured.value, **bounds(side, measured)}
        row |= _difference(result.gain)
        if len(first) < READ_FROM:
            row["p_bootstrap"] = np.nan
        row["p_randomisation"] = result.p_randomisation
        row["brevity_penalty_a"] = float(brevity_penalty(first.sum(axis=0)))
        row["brevity_penalty_b"] = float(brevity_penalty(second.sum(axis=0)))
        rows.append(row)
    gain, n = nothing, 0
    if len(read) > 1:
        gain, n = interaction([gain for _, gain in read]), read[0][0] + read[-1][0]
    rows.append({"bucket": INTERACTION, "n": n, **_difference(gain)})
    signed = [row | constant | {"signature": bleu_signature() if row["n"] else ""} for row in rows]
    return typed_frame(signed, ("bucket", "n", *constant, "signature"))


def _difference(gain: Estimate) -> dict[str, Any]:
    """A difference with its interval and p-value."""
    return {
        "difference": gain.value,
        **bounds("difference", gain),
        "p_bootstrap": bootstrap_p(gain),
    }
