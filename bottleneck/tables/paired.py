"""Two systems on one test set, by source length: B minus A in BLEU, and how sure that is."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Int
from numpy import ndarray
from rich.table import Table

from ..claims.verdict import FLOOR_BLEU, READ_FROM
from ..scoring.bleu import (
    REFERENCE,
    SHORT_SENTENCES,
    bleu,
    bleu_signature,
    bleu_statistics,
    brevity_penalty,
)
from ..scoring.bootstrap import Estimate, interaction
from ..scoring.paired import Paired, Resampling, bootstrap_p, pair
from ..settings.buckets import bucket_labels
from .outputs import Output, assign, notes
from .page import Page
from .render import Column, bounds, count, filled_table, number, small_buckets, typed_frame
from .score import LEVELS

TITLE = "Two systems by sentence length: B minus A in BLEU"
ALL, INTERACTION = "all", "interaction"
"""The rows of the whole test set (sentences outside the buckets too), and of the longest filled
bucket's difference minus the shortest's."""
P_VALUES = (
    "p: two-sided, not corrected for the number of rows. Of the bootstrap: twice the share of "
    "resamples in which the difference has not the sign that it has (Koehn 2004), the test set "
    "counted as one of them: about 0.05 where the range begins to leave zero out. Of approximate "
    "randomisation: the share of trials, each swapping both outputs of a sentence or not by the "
    "toss of a coin, that differ as much (Riezler and Maxwell 2005); the safer one where sentences "
    "are few. Of under "
    f"{READ_FROM} sentences there is no p of the bootstrap: their resamples are a few."
)

Counts = Int[ndarray, "sentences 10"]


def paired_page(a: Output, b: Output, edges: tuple[int, ...], how: Resampling) -> Page:
    """The comparison of two systems, and what stands under it."""
    counts = [bleu_statistics(output.hypotheses, output.references) for output in (a, b)]
    assigned = assign(a, counts[0], edges)
    frame = _frame(*counts, assigned, bucket_labels(edges), how)
    low = frame["bucket"][:-1][frame[["bleu_a", "bleu_b"]][:-1].max(axis=1) < FLOOR_BLEU]
    lines = [
        f"A: {a.name}.",
        f"B: {b.name}.",
        LEVELS,
        f"Ranges: 95 % paired bootstrap over test sentences ({how.resamples:,} resamples, the same "
        f"for both systems; {how.trials:,} trials of approximate randomisation; seed {how.seed}). "
        "They say nothing of a second training.",
        P_VALUES,
        _interaction_line(frame[:-2]),
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
    return Page("compare", TITLE, frame, _table(frame), [], [line for line in lines if line])


def _interaction_line(buckets: pd.DataFrame) -> str:
    """Between which buckets the interaction is."""
    named = buckets["bucket"][buckets["bleu_a"].notna() & (buckets["n"] >= READ_FROM)]
    if len(named) < 2:
        return f"Interaction: blank, for want of two buckets of {READ_FROM} sentences or more."
    return (
        f"Interaction: the difference in {named.iloc[-1]} minus that in {named.iloc[0]}; only "
        f"buckets with {READ_FROM} sentences or more count. It has no p of approximate "
        "randomisation, which would test that the systems do not differ at all."
    )


def _frame(
    a: Counts,
    b: Counts,
    assigned: Int[ndarray, "sentences"],
    labels: Sequence[str],
    how: Resampling,
) -> pd.DataFrame:
    """One row per bucket, then the whole test set, then the interaction; no score is a blank.

    BLEU, and differences in it, are 0 to 100; ``p_...`` are 0 to 1; intervals are 95 %.
    """
    parts = [*(assigned == place for place in range(len(labels))), np.full(len(assigned), True)]
    results = [_pair(a[part], b[part], stream, how) for stream, part in enumerate(parts)]
    rows = [
        {"bucket": name, **_scores(a[part], b[part], result)}
        for name, part, result in zip([*labels, ALL], parts, results, strict=True)
    ]
    read = [
        (row["n"], result.gain)
        for row, result in zip(rows[:-1], results, strict=False)
        if result.gain.filled and row["n"] >= READ_FROM
    ]
    gain, n = Estimate(np.nan, np.full(how.resamples, np.nan)), 0
    if len(read) > 1:
        gain, n = interaction([gain for _, gain in read]), read[0][0] + read[-1][0]
    rows.append({"bucket": INTERACTION, "n": n, **_difference(gain)})
    constant = {"resamples": how.resamples, "trials": how.trials, "seed": how.seed}
    signed = [row | constant | {"signature": bleu_signature() if row["n"] else ""} for row in rows]
    return typed_frame(signed, ("bucket", "n", *constant, "signature"))


def _pair(a: Counts, b: Counts, stream: int, how: Resampling) -> Paired:
    """Both systems in one part; nan without a reference."""
    if not a[:, REFERENCE].any():
        nothing = Estimate(np.nan, np.full(how.resamples, np.nan))
        return Paired(nothing, nothing, np.nan)
    return pair(bleu, a, b, how, bucket=stream)


def _scores(a: Counts, b: Counts, result: Paired) -> dict[str, Any]:
    """One row but for its name."""
    return {
        "n": len(a),
        "bleu_a": result.a.value,
        **bounds("bleu_a", result.a),
        "bleu_b": result.b.value,
        **bounds("bleu_b", result.b),
        **_difference(result.gain),
        **({"p_bootstrap": np.nan} if len(a) < READ_FROM else {}),
        "p_randomisation": result.p_randomisation,
        "brevity_penalty_a": float(brevity_penalty(a.sum(axis=0))),
        "brevity_penalty_b": float(brevity_penalty(b.sum(axis=0))),
    }


def _difference(gain: Estimate) -> dict[str, Any]:
    """A difference with its interval and p-value."""
    return {
        "difference": gain.value,
        **bounds("difference", gain),
        "p_bootstrap": bootstrap_p(gain),
    }


def _table(frame: pd.DataFrame) -> Table:
    def penalties(row: Mapping[str, Any]) -> str:
        both = [number(row[f"brevity_penalty_{name}"], "{:.2f}") for name in "ab"]
        return "\n".join(both).strip()

    columns = [
        Column("source\nwords", "bucket"),
        Column("n", "n", cell=count),
        Column("BLEU\nA", "bleu_a", "{:.1f}", interval=True),
        Column("BLEU\nB", "bleu_b", "{:.1f}", interval=True),
        Column("B - A", "difference", "{:+.1f}", interval=True),
        Column("p\nboot.", "p_bootstrap", "{:.4f}"),
        Column("p\nrandom", "p_randomisation", "{:.4f}"),
        Column("BP A\nBP B", of_row=penalties),
    ]
    table = filled_table(TITLE, frame, columns)
    table.rows[-3].end_section = True
    return table
