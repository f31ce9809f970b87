"""Two systems on one test set, by source length: B minus A in BLEU, and how sure that is."""

from collections.abc import Sequence
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
from .render import count, new_table, number, ranged
from .score import LEVELS, small_buckets
from .slides import bounds, typed_frame

TITLE = "Two systems by sentence length: B minus A in BLEU"
ALL = "all"
"""The row of the whole test set, sentences outside the buckets too."""
INTERACTION = "interaction"
"""The row of the longest filled bucket's difference minus the shortest's."""
TEXTS = ("bucket", "n", "resamples", "trials", "seed", "signature")

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
    frame = paired_frame(*counts, assigned, bucket_labels(edges), how)
    lines = [
        f"A: {a.name}.",
        f"B: {b.name}.",
        LEVELS,
        f"Ranges: 95 % paired bootstrap over test sentences ({how.resamples:,} resamples, the same "
        f"for both systems; {how.trials:,} trials of approximate randomisation; seed {how.seed}). "
        "They say nothing of a second training.",
        P_VALUES,
        _interaction_told(frame[:-2]),
        "All: every sentence, those outside the buckets too.",
        *dict.fromkeys(line for output in (a, b) for line in notes(output, assigned, edges)),
        small_buckets(frame[:-1]),
        _unlearned(frame[:-1]),
        SHORT_SENTENCES,
        f"sacreBLEU: {bleu_signature()}",
    ]
    return Page("compare", TITLE, frame, paired_table(frame), [], [line for line in lines if line])


def _interaction_told(buckets: pd.DataFrame) -> str:
    """Between which buckets the interaction is."""
    named = buckets["bucket"][buckets["bleu_a"].notna() & (buckets["n"] >= READ_FROM)]
    if len(named) < 2:
        return f"Interaction: blank, for want of two buckets of {READ_FROM} sentences or more."
    return (
        f"Interaction: the difference in {named.iloc[-1]} minus that in {named.iloc[0]}; only "
        f"buckets with {READ_FROM} sentences or more count. It has no p of approximate "
        "randomisation, which would test that the systems do not differ at all."
    )


def _unlearned(rows: pd.DataFrame) -> str:
    """The rows in which neither system translates; empty where one does in all."""
    low = rows["bucket"][rows[["bleu_a", "bleu_b"]].max(axis=1) < FLOOR_BLEU]
    if low.empty:
        return ""
    return (
        f"Both under BLEU {FLOOR_BLEU:g}: {', '.join(low)}. There BLEU is mostly the smoothing of "
        "orders without a match, and a difference says little of translation."
    )


def paired_frame(
    a: Counts,
    b: Counts,
    assigned: Int[ndarray, "sentences"],
    labels: Sequence[str],
    how: Resampling,
) -> pd.DataFrame:
    """One row per bucket, then the whole test set, then the interaction; no score is a blank.

    BLEU, and differences in it, are 0 to 100; ``p_...`` are 0 to 1; intervals are 95 %.
    """
    everything = np.ones(len(assigned), dtype=bool)
    parts = [*(assigned == place for place in range(len(labels))), everything]
    results = [_pair(a[part], b[part], stream, how) for stream, part in enumerate(parts)]
    rows = [
        {"bucket": name, **_scores(a[part], b[part], pair)}
        for name, part, pair in zip([*labels, ALL], parts, results, strict=True)
    ]
    rows.append(_interaction(rows[:-1], [pair.gain for pair in results[:-1]]))
    constant = {"resamples": how.resamples, "trials": how.trials, "seed": how.seed}
    signed = [row | constant | {"signature": bleu_signature() if row["n"] else ""} for row in rows]
    return typed_frame(signed, TEXTS)


def _pair(a: Counts, b: Counts, stream: int, how: Resampling) -> Paired:
    """Both systems in one part; nan without a reference."""
    if not a[:, REFERENCE].any():
        nothing = Estimate(np.nan, np.full(how.resamples, np.nan))
        return Paired(nothing, nothing, np.nan)
    return pair(bleu, a, b, how, bucket=stream)


def _scores(a: Counts, b: Counts, pair: Paired) -> dict[str, Any]:
    """One row but for its name."""
    return {
        "n": len(a),
        "bleu_a": pair.a.value,
        **bounds("bleu_a", pair.a),
        "bleu_b": pair.b.value,
        **bounds("bleu_b", pair.b),
        **_difference(pair.gain),
        **({"p_bootstrap": np.nan} if len(a) < READ_FROM else {}),
        "p_randomisation": pair.p_randomisation,
        "brevity_penalty_a": float(brevity_penalty(a.sum(axis=0))),
        "brevity_penalty_b": float(brevity_penalty(b.sum(axis=0))),
    }


def _difference(gain: Estimate) -> dict[str, Any]:
    """A difference with its interval and p-values."""
    return {
        "difference": gain.value,
        **bounds("difference", gain),
        "p_bootstrap": bootstrap_p(gain),
    }


def _interaction(rows: Sequence[dict[str, Any]], gains: Sequence[Estimate]) -> dict[str, Any]:
    """How much larger the difference is for long sentences; ``n`` are both buckets' sentences."""
    results = [
        (row["n"], gain)
        for row, gain in zip(rows, gains, strict=True)
        if gain.filled and row["n"] >= READ_FROM
    ]
    if len(results) < 2:
        blank = np.full_like(gains[0].draws, np.nan)
        return {"bucket": INTERACTION, "n": 0, **_difference(Estimate(np.nan, blank))}
    more = interaction([gain for _, gain in results])
    return {"bucket": INTERACTION, "n": results[0][0] + results[-1][0], **_difference(more)}


def paired_table(frame: pd.DataFrame) -> Table:
    """The same for a terminal of 80 columns or more."""
    heads = ["source\nwords", "n", "BLEU\nA", "BLEU\nB", "B - A"]
    table = new_table(TITLE, [*heads, "p\nboot.", "p\nrandom", "BP A\nBP B"])
    for row in frame.to_dict("records"):
        if row["bucket"] == ALL:
            table.add_section()
        penalties = [number(row[f"brevity_penalty_{name}"], "{:.2f}") for name in "ab"]
        table.add_row(
            row["bucket"],
            count(row["n"]),
            *(ranged(row, name, "{:.1f}") for name in ("bleu_a", "bleu_b")),
            ranged(row, "difference", "{:+.1f}"),
            *(number(row[name], "{:.4f}") for name in ("p_bootstrap", "p_randomisation")),
            "\n".join(penalties).strip(),
        )
    return table
