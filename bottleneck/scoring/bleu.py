"""BLEU (Papineni et al. 2002) from counts, as sacreBLEU scores them, and chrF2 (Popović 2015).

Each sentence has one row of counts. A bucket, a resample or the whole test set has their sum.
"""

from collections.abc import Sequence
from functools import cache
from itertools import chain
from math import nan

import numpy as np
from jaxtyping import Float, Int, Real
from numpy import ndarray
from sacrebleu.metrics import BLEU, CHRF

from ..settings.errors import UsageError, UserError, did_you_mean, quoted


@cache
def bleu_metric(tokenize: str) -> BLEU:
    """sacreBLEU's BLEU with one of its tokenizers."""
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
    """Counts of each sentence: tokens of hypothesis and reference, matching n-grams, all n-grams.

    n-grams have orders 1 to 4. Of several references, the nearest in length gives the tokens.
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
    """Penalty on short texts, min(1, exp(1 - reference / hypothesis)); nan as in `bleu`."""
    hypothesis, reference = sums[..., 0], sums[..., 1]
    shortfall = np.minimum(0.0, 1.0 - reference / np.maximum(hypothesis, 1))
    penalty = np.where(hypothesis > 0, np.exp(shortfall), 0.0)
    return np.where(reference > 0, penalty, np.nan)


def chrf(hypotheses: Sequence[str], *references: Sequence[str]) -> float:
    """sacreBLEU's chrF2, 0 to 100, of texts line by line; nan where no reference has text."""
    if not any(text.strip() for text in chain(*references)):
        return nan
    return CHRF().corpus_score(list(hypotheses), [list(texts) for texts in references]).score


def bleu_signature(tokenize: str = "13a", references: int = 1) -> str:
    """sacreBLEU's signature of BLEU with this number of references per sentence (Post 2018)."""
    metric = bleu_metric(tokenize)
    metric.num_refs = references
    return str(metric.get_signature())
