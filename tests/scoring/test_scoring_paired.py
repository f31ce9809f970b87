"""Paired tests of two systems against sacreBLEU's own, and their properties."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from system_files import outputs, reference_texts

from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import Estimate, draw, draw_blocks, estimate
from seq2seq_bottleneck.scoring.paired import Resampling, bootstrap_p, estimates, pair

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


def sampling_error(p: float) -> float:
    """Four standard deviations of the difference of two independent estimates of p."""
    return 4 * np.sqrt(2 * p * (1 - p) / RESAMPLES)


@pytest.fixture(scope="module")
def planted():
    return pair(bleu, counts(A), counts(B), HOW, bucket=0)


def test_difference_is_sacrebleus(planted):
    first, second = theirs(A, B, "bs")
    assert planted.a.value == pytest.approx(first.score, abs=1e-10)
    assert planted.b.value == pytest.approx(second.score, abs=1e-10)
    assert planted.gain.value == pytest.approx(second.score - first.score, abs=1e-10)


def test_randomisation_p_is_that_of_sacrebleus(planted):
    p = theirs(A, B, "ar")[1].p_value
    assert 0.02 < p < 0.5
    assert planted.p_randomisation == pytest.approx(p, abs=sampling_error(p))


def test_the_two_p_values_agree_on_a_planted_difference(planted):
    assert bootstrap_p(planted.gain) == pytest.approx(planted.p_randomisation, abs=0.04)


def test_a_clear_difference_has_the_smallest_p_in_every_test():
    clear = pair(bleu, counts(outputs(REFERENCES, 0.5, 3)), counts(A), HOW, bucket=0)
    assert clear.gain.interval.above_zero
    assert bootstrap_p(clear.gain) == pytest.approx(2 / (RESAMPLES + 1))
    assert clear.p_randomisation == pytest.approx(1 / (RESAMPLES + 1))


def test_a_system_against_itself():
    same = pair(bleu, counts(A), counts(A), HOW, bucket=0)
    assert same.gain.value == 0.0
    assert (same.gain.draws == 0.0).all()
    assert bootstrap_p(same.gain) == same.p_randomisation == 1.0


def test_swapping_the_systems_turns_the_sign_and_nothing_else(planted):
    other = pair(bleu, counts(B), counts(A), HOW, bucket=0)
    assert other.gain.value == -planted.gain.value
    assert np.array_equal(other.gain.draws, -planted.gain.draws)
    assert bootstrap_p(other.gain) == bootstrap_p(planted.gain)
    assert other.p_randomisation == planted.p_randomisation


def test_systems_that_differ_in_one_sentence_cannot_be_told_apart_by_randomisation():
    changed = [*A[:-1], REFERENCES[-1]]
    held = pair(bleu, counts(A), counts(changed), HOW, bucket=0)
    assert held.gain.value > 0
    assert held.p_randomisation == 1.0


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


def test_resamples_draw_the_same_sentences_for_both_systems():
    weights = draw(len(A), 5, seed=HOW.seed, bucket=1).astype(int)
    held = pair(bleu, counts(A), counts(B), HOW, bucket=1)
    for row, found in zip(weights, held.gain.draws, strict=False):
        ids = np.repeat(np.arange(len(A)), row)
        gold = [[REFERENCES[i] for i in ids]]
        scores = [sacrebleu.corpus_bleu([text[i] for i in ids], gold).score for text in (A, B)]
        assert found == pytest.approx(scores[1] - scores[0], abs=1e-9)


def test_nothing_to_score_has_no_p():
    nothing = Estimate(np.nan, np.full(10, np.nan))
    assert np.isnan(bootstrap_p(nothing))


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


@pytest.mark.slow
def test_false_alarms_are_as_many_as_the_level_says():
    """Systems that differ by chance alone: which of many outputs of a sentence each one has."""
    random = np.random.default_rng(11)
    references = reference_texts([5 + n % 20 for n in range(200)], seed=5)
    pool = np.stack([counts(outputs(references, 0.3, seed), references) for seed in range(12)])
    found = np.zeros(2)
    comparisons = 600
    for comparison in range(comparisons):
        ids = random.integers(200, size=60)
        a, b = (pool[random.integers(12, size=60), ids] for _ in range(2))
        held = pair(bleu, a, b, Resampling(199, 199, comparison), bucket=0)
        p_values = [held.p_randomisation, bootstrap_p(held.gain)]
        found += np.array(p_values) <= 0.05
    randomised, bootstrapped = found / comparisons
    error = 3.5 * np.sqrt(0.05 * 0.95 / comparisons)
    assert randomised == pytest.approx(0.05, abs=error)
    assert bootstrapped == pytest.approx(0.055, abs=error)  # a little bold on 60 sentences
