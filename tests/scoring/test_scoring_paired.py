"""Paired tests of two systems against sacreBLEU's own and all swaps, and their properties."""

from itertools import product

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from system_files import outputs, reference_texts

from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import (
    Estimate,
    draw,
    draw_blocks,
    estimate,
    ratio_of_sums,
)
from seq2seq_bottleneck.scoring.paired import (
    Resampling,
    bootstrap_p,
    estimates,
    pair,
    randomisation_p,
)

LENGTHS = [3 + 7 * n % 29 for n in range(120)]
REFERENCES = reference_texts(LENGTHS)
A, B = outputs(REFERENCES, 0.25, 1), outputs(REFERENCES, 0.23, 2)
RESAMPLES = 3_000
HOW = Resampling(resamples=RESAMPLES, trials=RESAMPLES, seed=4)


def counts(hypotheses, references=REFERENCES):
    return bleu_statistics(hypotheses, references)


def theirs(a, b, test_type):
    """sacreBLEU's results of both systems."""
    metrics = {"BLEU": BLEU(references=[REFERENCES])}
    systems = [("Baseline", a), ("System", b)]
    test = PairedTest(systems, metrics, None, test_type=test_type, n_samples=RESAMPLES)
    return test()[1]["BLEU"]


@pytest.fixture(scope="module")
def planted():
    return pair(bleu, counts(A), counts(B), HOW, bucket=0)


def test_difference_and_randomisation_p_are_sacrebleus(planted):
    first, second = theirs(A, B, "bs")
    assert planted.a.value == pytest.approx(first.score, abs=1e-10)
    assert planted.b.value == pytest.approx(second.score, abs=1e-10)
    assert planted.gain.value == pytest.approx(second.score - first.score, abs=1e-10)
    p = theirs(A, B, "ar")[1].p_value
    assert 0.02 < p < 0.5
    error = 4 * np.sqrt(2 * p * (1 - p) / RESAMPLES)  # of two independent estimates of p
    assert planted.p_randomisation == pytest.approx(p, abs=error)


def test_a_clear_difference_has_the_smallest_p_in_every_test():
    clear = pair(bleu, counts(outputs(REFERENCES, 0.5, 3)), counts(A), HOW, bucket=0)
    assert clear.gain.interval.above_zero
    assert bootstrap_p(clear.gain) == pytest.approx(2 / (RESAMPLES + 1))
    assert clear.p_randomisation == pytest.approx(1 / (RESAMPLES + 1))


def test_swapping_the_systems_turns_the_sign_and_nothing_else(planted):
    other = pair(bleu, counts(B), counts(A), HOW, bucket=0)
    assert other.gain.value == -planted.gain.value
    assert np.array_equal(other.gain.draws, -planted.gain.draws)
    assert bootstrap_p(other.gain) == bootstrap_p(planted.gain)
    assert other.p_randomisation == planted.p_randomisation


@pytest.mark.parametrize("cells", [1, 100, 1_000, 10**9])
def test_blocks_are_the_rows_of_draw(cells):
    blocks = list(draw_blocks(30, 70, seed=2, bucket=3, cells=cells))
    assert np.array_equal(np.concatenate(blocks), draw(30, 70, seed=2, bucket=3))
    assert len(blocks) == {1: 70, 100: 24, 1_000: 3, 10**9: 1}[cells]


def test_estimates_are_those_of_a_runs_table():
    ours = estimates(bleu, [counts(A), counts(B)], 200, seed=1, bucket=2)
    weights = draw(len(A), 200, seed=1, bucket=2)
    for system, hypotheses in zip(ours, (A, B), strict=True):
        one = estimate(bleu, counts(hypotheses)[None], weights)
        assert system.value == one.value
        assert system.draws == pytest.approx(one.draws, abs=1e-12)


def test_nothing_to_score_has_no_p():
    assert np.isnan(bootstrap_p(Estimate(np.nan, np.full(10, np.nan))))
    nothing = np.zeros((0, 10), dtype=np.int64)
    assert np.isnan(randomisation_p(bleu, nothing, nothing, 10, seed=1, bucket=0))


@settings(max_examples=200, deadline=None)
@given(shift=st.floats(-4, 4), seed=st.integers(0, 10**6))
def test_the_bootstraps_p_says_what_its_interval_says(shift, seed):
    draws = shift + np.random.default_rng(seed).normal(size=1_000)
    gain = Estimate(shift, draws)
    clear = gain.interval.above_zero or gain.interval.below_zero
    p = bootstrap_p(gain)
    assert clear or p > 0.05
    assert not clear or p < 0.055  # one resample more or less at the edge
    assert 0 < p <= 1


# Approximate randomisation of a few sentences, against all their swaps.

FEW = reference_texts([9, 12, 7, 15, 11, 8, 13], seed=2)
C, D = outputs(FEW, 0.3, 1), outputs(FEW, 0.15, 7)
TRIALS = 20_000


def exact_p(a, b):
    """The share of all 2^n swaps whose difference is at least the systems' own."""
    distances = []
    for swaps in product([False, True], repeat=len(a)):
        halves = [
            [y if swap != other else x for x, y, swap in zip(a, b, swaps, strict=True)]
            for other in (False, True)
        ]
        first, second = (sacrebleu.corpus_bleu(half, [FEW]).score for half in halves)
        distances.append(abs(first - second))
    return np.mean(np.array(distances) >= distances[0] - 1e-9)


def p_of(a, b, trials=TRIALS, seed=1, bucket=0):
    rows = [bleu_statistics(texts, FEW) for texts in (a, b)]
    return randomisation_p(bleu, *rows, trials, seed=seed, bucket=bucket)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [(C, D), (D, FEW), (C, outputs(FEW, 0.3, 3))])
def test_trials_approach_all_swaps(a, b):
    exact = exact_p(a, b)
    assert 2 / 2 ** len(a) <= exact < 1
    error = 4 * np.sqrt(exact * (1 - exact) / TRIALS)
    assert p_of(a, b) == pytest.approx(exact, abs=error + 1 / TRIALS)


def test_seed_bucket_and_nothing_else_decide_the_trials():
    assert p_of(C, D, 999) == p_of(C, D, 999)
    assert len({p_of(C, D, 999, seed=seed) for seed in range(4)}) > 1
    assert len({p_of(C, D, 999, bucket=bucket) for bucket in range(4)}) > 1


@pytest.mark.parametrize("trials", [8, 9])
def test_equal_systems_and_one_sentence_differ_as_much_in_every_trial(trials):
    same = pair(bleu, counts(A), counts(A), Resampling(trials, trials, 4), bucket=0)
    assert same.gain.value == 0.0
    assert (same.gain.draws == 0.0).all()
    assert bootstrap_p(same.gain) == same.p_randomisation == 1.0
    rows = [bleu_statistics([text], FEW[:1]) for text in (C[0], FEW[0])]
    assert randomisation_p(bleu, *rows, trials, seed=1, bucket=0) == 1.0


def test_any_score_of_sums_will_do():
    """A ratio of sums, whose swaps can be counted by hand: two of four differ as much."""
    a, b = np.array([[1, 1], [2, 1]]), np.array([[2, 1], [4, 1]])
    p = randomisation_p(ratio_of_sums, a, b, TRIALS, seed=1, bucket=0)
    assert p == pytest.approx(0.5, abs=0.02)


def test_a_large_test_set_is_swapped_in_blocks():
    rng = np.random.default_rng(0)
    a = np.stack([rng.integers(0, 5, 30_000), np.full(30_000, 4)], axis=1)
    b = a.copy()
    b[:, 0] = rng.permutation(b[:, 0])
    assert 0.001 < randomisation_p(ratio_of_sums, a, b, 300, seed=3, bucket=0) <= 1
