"""chrF2 (Popović 2015) from sums of per-sentence counts, as sacreBLEU scores it."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, Real
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
    pairs = zip(hypotheses, references, strict=True)
    rows = [_row(_letters(h, lowercase), _letters(r, lowercase)) for h, r in pairs]
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


def _letters(text: str, lowercase: bool) -> str:
    """Text without white space."""
    return "".join((text.lower() if lowercase else text).split())


def _row(hypothesis: str, reference: str) -> list[int]:
    """Eighteen counts of one sentence."""
    counts: list[int] = []
    for order in range(1, ORDERS + 1):
        ours, gold = _ngrams(hypothesis, order), _ngrams(reference, order)
        # sacreBLEU's rule: an order that the reference lacks counts no hypothesis n-grams
        counts += [ours.total() if gold else 0, gold.total(), (ours & gold).total()]
    return counts


def _ngrams(letters: str, order: int) -> Counter[str]:
    return Counter(letters[i : i + order] for i in range(len(letters) - order + 1))


def chrf(sums: Real[ndarray, "*rows 18"]) -> Float[ndarray, "*rows"]:
    """chrF2, 0 to 100, of every row of summed counts; nan where there is no reference.

    Precision and recall are means over the orders that both sides have, then F with beta 2.
    """
    hypothesis, reference, match = (sums[..., column::3] for column in range(3))
    used = (hypothesis > 0) & (reference > 0)
    precision = _mean_ratio(match, hypothesis, used)
    recall = _mean_ratio(match, reference, used)
    weighted = BETA**2 * precision + recall
    score = 100.0 * (1 + BETA**2) * precision * recall / np.where(weighted > 0, weighted, 1.0)
    return np.where(reference[..., 0] > 0, score, np.nan)


def _mean_ratio(
    part: Real[ndarray, "*rows 6"], whole: Real[ndarray, "*rows 6"], used: Bool[ndarray, "*rows 6"]
) -> Float[ndarray, "*rows"]:
    """Mean of part / whole over the orders in use; 0 where none is."""
    ratios = np.where(used, part / np.maximum(whole, 1), 0.0)
    return np.asarray(ratios.sum(axis=-1) / np.maximum(used.sum(axis=-1), 1))


def chrf_signature(*, lowercase: bool = False) -> str:
    """SacreBLEU's own signature of this score."""
    return str(CHRF(lowercase=lowercase, references=[[""]]).get_signature())
