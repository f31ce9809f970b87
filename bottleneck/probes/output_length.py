"""Lengths of outputs, and outputs that went wrong by their length alone (claim C11).

A loop is a stretch of one or more tokens written at least three times in a row ("le chat le chat
le chat"). It reaches from its first token to the last that still equals the token one period
before, so a fourth copy that was begun is counted. References can loop too (". . ."), hence their
own column: what it shows is no fault of the translator.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, Real
from numpy import ndarray

from ..scoring.bootstrap import Score
from ..scoring.sums import ratio_of_sums

COPIES = 3
"""How often in a row a stretch must stand to be a loop."""


COLUMNS = (
    "sentences",
    "hypothesis_tokens",
    "reference_tokens",
    "empty",
    "unfinished",
    "repeating",
    "looping_tokens",
    "repeating_references",
)
"""Counts of sentences, but where tokens are named."""


def length_statistics(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    ended: Bool[ndarray, "sentences"],
) -> Int[ndarray, "sentences 8"]:
    """Count each sentence's tokens and faults; ``ended`` is whether the end token was produced.

    Columns are ``COLUMNS``. Tokens leave the end token out; an empty output may
    be finished (nothing but the end token) or not.
    """
    pairs = zip(hypotheses, references, ended.tolist(), strict=True)
    rows = [_row(ours, gold, done) for ours, gold, done in pairs]
    return np.array(rows, np.int64).reshape(len(rows), len(COLUMNS))


def _row(ours: Sequence[str], gold: Sequence[str], ended: bool) -> list[int]:
    """The counts of one sentence."""
    loops, own = int(in_loops(ours).sum()), int(in_loops(gold).sum())
    faults = [len(ours) == 0, not ended, loops > 0, loops, own > 0]
    return [1, len(ours), len(gold), *map(int, faults)]


def in_loops(tokens: Sequence[str]) -> Bool[ndarray, "tokens"]:
    """Whether each token stands in a loop.

    With period n a loop is a run of at least (COPIES - 1) n places t with token t = token t + n.
    """
    inside = np.zeros(len(tokens), bool)
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    ids = np.array([numbers[token] for token in tokens], np.int64)
    for period in range(1, len(tokens) // COPIES + 1):
        for start, stop in _runs(ids[:-period] == ids[period:]):
            if stop - start >= (COPIES - 1) * period:
                inside[start : stop + period] = True
    return inside


def _runs(equal: Bool[ndarray, "places"]) -> list[tuple[int, int]]:
    """First and past-last place of every run of True."""
    edges = np.flatnonzero(np.diff(equal, prepend=False, append=False))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def length_ratio(sums: Real[ndarray, "*rows 8"]) -> Float[ndarray, "*rows"]:
    """Hypothesis tokens over reference tokens; nan without reference tokens."""
    return ratio_of_sums(_columns(sums, "hypothesis_tokens", "reference_tokens"))


def share_of_sentences(fault: str) -> Score:
    """Score: the share of outputs, 0 to 1, that are ``empty``, ``unfinished``, ``repeating``..."""
    return lambda sums: ratio_of_sums(_columns(sums, fault, "sentences"))


def looping_share(sums: Real[ndarray, "*rows 8"]) -> Float[ndarray, "*rows"]:
    """The share of output tokens that stand in loops; nan where nothing was put out."""
    return ratio_of_sums(_columns(sums, "looping_tokens", "hypothesis_tokens"))


def _columns(sums: Real[ndarray, "*rows 8"], part: str, whole: str) -> Real[ndarray, "*rows 2"]:
    """Two named columns."""
    return sums[..., [COLUMNS.index(name) for name in (part, whole)]]
