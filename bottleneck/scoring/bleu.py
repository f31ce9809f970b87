"""Corpus BLEU (Papineni et al. 2002) from sums of per-sentence counts, as sacreBLEU scores it.

A sentence is one row of ten counts, kept once. A bucket, a bootstrap resample and the whole test
set are sums of the same rows, and each equals sacreBLEU's own score of that set of sentences.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray
from sacrebleu.metrics import BLEU

from .bootstrap import ratio_of_sums

ORDERS = 4
HYPOTHESIS, REFERENCE = 0, 1
"""Columns of the two lengths, in tokens of the scorer; sacreBLEU's own order of columns."""
CORRECT = slice(2, 2 + ORDERS)
TOTAL = slice(2 + ORDERS, 2 + 2 * ORDERS)
"""Columns of the n-grams that match, and of all of the hypothesis, by order."""

SHORT_SENTENCES = (
    "Corpus BLEU of a row is sacreBLEU's own score of that row's sentences: n-grams are counted "
    "over all of them before a precision is taken, so a sentence under four tokens counts for the "
    "orders it has (effective order off); an order with no match is smoothed (exp), and a row "
    "whose translations hold no four-token run at all scores 0."
)
"""The rule for short sentences, for a table's caption."""


def bleu_statistics(
    hypotheses: Sequence[str], references: Sequence[str], *, lowercase: bool = False
) -> Int[ndarray, "sentences 10"]:
    """Count each sentence: both lengths, then matching and all n-grams of orders 1 to 4.

    Texts are detokenised; sacreBLEU's 13a tokeniser splits them (Post 2018).
    """
    metric, rows = BLEU(lowercase=lowercase), []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        score = metric.corpus_score([hypothesis], [[reference]])
        rows.append([score.sys_len, score.ref_len, *score.counts, *score.totals])
    return np.array(rows, dtype=np.int64).reshape(len(rows), 2 + 2 * ORDERS)


def bleu(sums: Real[ndarray, "*rows 10"]) -> Float[ndarray, "*rows"]:
    """Corpus BLEU, 0 to 100, of every row of summed counts; nan where there is no reference.

    One division and two roots a row, for a table of many seeds has millions of rows.
    """
    correct, total = (
        sums[..., orders].prod(axis=-1, dtype=np.float64) for orders in (CORRECT, TOTAL)
    )
    fourth_power = np.asarray(100.0**ORDERS * correct / np.maximum(total, 1.0))
    if (lacking := correct == 0).any():
        fourth_power[lacking] = precisions(sums[lacking]).prod(axis=-1)
    return np.asarray(brevity_penalty(sums) * np.sqrt(np.sqrt(fourth_power)))


def precisions(sums: Real[ndarray, "*rows 10"]) -> Float[ndarray, "*rows 4"]:
    """n-gram precisions of orders 1 to 4 in per cent, smoothed as in the score.

    The k-th order without a match counts 1 / 2^k matches (NIST's smoothing, sacreBLEU's ``exp``);
    without any match at all, or without n-grams of the order, the precision is 0.
    """
    correct, total = sums[..., CORRECT], sums[..., TOTAL]
    halvings = np.cumsum((correct == 0) & (total > 0), axis=-1)
    matched = np.where(correct > 0, correct, 0.5**halvings)
    counts = correct.any(axis=-1, keepdims=True) & (total > 0)
    return np.where(counts, 100.0 * matched / np.maximum(total, 1), 0.0)


def brevity_penalty(sums: Real[ndarray, "*rows 10"]) -> Float[ndarray, "*rows"]:
    """Penalty exp(1 - reference / hypothesis) on too short a text, at most 1; nan as in `bleu`."""
    hypothesis, reference = sums[..., HYPOTHESIS], sums[..., REFERENCE]
    shortfall = np.minimum(0.0, 1.0 - reference / np.maximum(hypothesis, 1))
    penalty = np.where(hypothesis > 0, np.exp(shortfall), 0.0)
    return np.where(reference > 0, penalty, np.nan)


def length_ratio(sums: Real[ndarray, "*rows 10"]) -> Float[ndarray, "*rows"]:
    """Tokens of the hypotheses over tokens of the references; nan where there is no reference."""
    return ratio_of_sums(sums[..., : REFERENCE + 1])


def bleu_signature(*, lowercase: bool = False) -> str:
    """SacreBLEU's own signature of this score, to stand under a table (Post 2018)."""
    return str(BLEU(lowercase=lowercase, references=[[""]]).get_signature())
