"""BLEU (Papineni et al. 2002) and chrF2 (Popović 2015) from counts, as sacreBLEU scores them.

A sentence is one row of counts; of a bucket, a resample or the whole test set, rows are added.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray
from sacrebleu.metrics import BLEU, CHRF

from ..settings.errors import UsageError, UserError, did_you_mean, quoted

HYPOTHESIS, REFERENCE = 0, 1
"""Columns of BLEU's two lengths, in tokens of the scorer; sacreBLEU's own order of columns."""


@cache
def bleu_metric(tokenize: str) -> BLEU:
    """SacreBLEU's metric with one of its own tokenizers."""
    if tokenize not in BLEU.TOKENIZERS:
        hint = did_you_mean(tokenize, BLEU.TOKENIZERS)
        raise UsageError(f"sacreBLEU has no tokenizer {quoted(tokenize)}{hint}")
    try:
        return BLEU(tokenize=tokenize)
    except (ImportError, RuntimeError, OSError) as error:  # no package, or no model downloaded
        reason = " ".join(str(error).split())
        raise UserError(f"sacreBLEU's tokenizer {tokenize} cannot be used: {reason}") from None


def bleu_statistics(
    hypotheses: Sequence[str], *references: Sequence[str], tokenize: str = "13a"
) -> Int[ndarray, "sentences 10"]:
    """Count each sentence: both lengths, then matching and all n-grams of orders 1 to 4.

    Of several references, each a text of as many lines, the length is that nearest to the
    hypothesis's.
    """
    metric, rows = bleu_metric(tokenize), []
    for hypothesis, *gold in zip(hypotheses, *references, strict=True):
        score = metric.corpus_score([hypothesis], [[reference] for reference in gold])
        rows.append([score.sys_len, score.ref_len, *score.counts, *score.totals])
    return np.array(rows, dtype=np.int64).reshape(len(rows), 10)


def bleu(sums: Real[ndarray, "*rows 10"]) -> Float[ndarray, "*rows"]:
    """Corpus BLEU, 0 to 100, of every row of summed counts; nan where there is no reference."""
    return np.asarray(brevity_penalty(sums) * precisions(sums).prod(axis=-1) ** 0.25)


def precisions(sums: Real[ndarray, "*rows 10"]) -> Float[ndarray, "*rows 4"]:
    """n-gram precisions of orders 1 to 4 in per cent; 0 without any match, or without n-grams.

    The k-th order without a match counts 1 / 2^k matches (NIST's smoothing, sacreBLEU's ``exp``).
    """
    correct, total = sums[..., 2:6], sums[..., 6:]
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


def chrf_statistics(
    hypotheses: Sequence[str], *references: Sequence[str]
) -> Int[ndarray, "sentences 8"]:
    """Characters without white space of hypothesis and best reference; matches of orders 1 to 6."""
    counts = np.zeros((len(references), len(hypotheses), 8), dtype=np.int64)
    for number, gold_texts in enumerate(references):
        for cells, *pair in zip(counts[number], hypotheses, gold_texts, strict=True):
            texts = ["".join(text.split()) for text in pair]
            cells[:2] = [len(text) for text in texts]
            for order in range(1, 7):
                ours, gold = (
                    Counter(text[place : place + order] for place in range(len(text) - order + 1))
                    for text in texts
                )
                cells[1 + order] = (ours & gold).total()
    scores = [np.nan_to_num(chrf(expanded(rows))) for rows in counts]
    return counts[np.argmax(scores, axis=0), np.arange(counts.shape[1])]


def expanded(counts: Int[ndarray, "sentences 8"]) -> Int[ndarray, "sentences 18"]:
    """(hypothesis, reference, matched) n-grams for order 1, then for order 2, and so on.

    sacreBLEU's rule: an order that the reference lacks counts no n-grams of the hypothesis.
    """
    orders = np.arange(1, 7)
    ours, gold = (np.maximum(counts[:, [side]] - orders + 1, 0) for side in (0, 1))
    columns = np.stack([np.where(gold > 0, ours, 0), gold, counts[:, 2:]], axis=2)
    return columns.reshape(len(counts), 18)


def chrf(sums: Real[ndarray, "*rows 18"]) -> Float[ndarray, "*rows"]:
    """chrF2 (beta 2), 0 to 100, of every row of summed `expanded` counts; nan without reference.

    Precision and recall are means over the orders that both sides have.
    """
    hypothesis, reference, match = (sums[..., column::3] for column in range(3))
    used = (hypothesis > 0) & (reference > 0)
    orders = np.maximum(used.sum(axis=-1), 1)
    precision, recall = (
        np.where(used, match / np.maximum(whole, 1), 0.0).sum(axis=-1) / orders
        for whole in (hypothesis, reference)
    )
    weighted = 4 * precision + recall
    # In the order of sacreBLEU's, so that of several references the same one is the best.
    score = 100.0 * (5 * precision * recall / np.where(weighted > 0, weighted, 1.0))
    return np.where(reference[..., 0] > 0, score, np.nan)


def bleu_signature(tokenize: str = "13a", references: int = 1) -> str:
    """SacreBLEU's own signature of BLEU with so many references per sentence (Post 2018)."""
    metric = bleu_metric(tokenize)
    metric.num_refs = references
    return str(metric.get_signature())


def chrf_signature(references: int = 1) -> str:
    """SacreBLEU's own signature of this chrF."""
    return str(CHRF(references=[[""]] * references).get_signature())
