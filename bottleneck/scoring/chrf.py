"""chrF2 (Popović 2015) from sums of per-sentence counts, as sacreBLEU scores it."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray
from sacrebleu.metrics import CHRF

ORDERS = 6
BETA = 2
"""chrF2: recall weighs four times as much as precision, beta squared."""


def chrf_statistics(
    hypotheses: Sequence[str], references: Sequence[str], *, lowercase: bool = False
) -> Int[ndarray, "sentences 18"]:
    """Count character n-grams, orders 1 to 6, white space left out.

    Columns are (hypothesis, reference, matched) for order 1, then for order 2, and so on.
    """
    rows = []
    for pair in zip(hypotheses, references, strict=True):
        ours, gold = ("".join((text.lower() if lowercase else text).split()) for text in pair)
        row: list[int] = []
        for order in range(1, ORDERS + 1):
            grams = [
                Counter(text[i : i + order] for i in range(len(text) - order + 1))
                for text in (ours, gold)
            ]
            # sacreBLEU's rule: an order that the reference lacks counts no hypothesis n-grams
            counted = grams[0].total() if grams[1] else 0
            row += [counted, grams[1].total(), (grams[0] & grams[1]).total()]
        rows.append(row)
    return np.array(rows, dtype=np.int64).reshape(len(rows), 3 * ORDERS)


def condensed(counts: Int[ndarray, "sentences 18"]) -> Int[ndarray, "sentences 8"]:
    """The same in fewer columns: characters of hypothesis and reference, matches of each order."""
    return np.concatenate([counts[:, :2], counts[:, 2::3]], axis=1)


def expanded(counts: Int[ndarray, "sentences 8"]) -> Int[ndarray, "sentences 18"]:
    """What was `condensed`: how many n-grams a text has follows from its characters."""
    orders = np.arange(1, ORDERS + 1)
    ours, gold = (np.maximum(counts[:, [side]] - orders + 1, 0) for side in (0, 1))
    matches = np.stack([np.where(gold > 0, ours, 0), gold, counts[:, 2:]], axis=2)
    return matches.reshape(len(counts), 3 * ORDERS)


def chrf(sums: Real[ndarray, "*rows 18"]) -> Float[ndarray, "*rows"]:
    """chrF2, 0 to 100, of every row of summed counts; nan where there is no reference.

    Precision and recall are means over the orders that both sides have, then F with beta 2.
    """
    hypothesis, reference, match = (sums[..., column::3] for column in range(3))
    used = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(used.sum(axis=-1), 1)
    precision, recall = (
        np.where(used, match / np.maximum(whole, 1), 0.0).sum(axis=-1) / orders
        for whole in (hypothesis, reference)
    )
    weighted = BETA**2 * precision + recall
    score = 100.0 * (1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1.0)
    return np.where(reference[..., 0] > 0, score, np.nan)


def chrf_signature(*, lowercase: bool = False) -> str:
    """SacreBLEU's own signature of this score."""
    return str(CHRF(lowercase=lowercase, references=[[""]]).get_signature())
