"""The bootstrap and paired tests, compared with sacreBLEU, scipy and planted differences."""

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats
from system_files import outputs, reference_texts

from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import (
    Estimate,
    bootstrap_p,
    difference,
    draw,
    estimate,
    percent_change,
    randomisation_p,
    ratio_of_sums,
)
from seq2seq_bottleneck.settings.concerns import bucket_labels, bucket_of, holds


def corpus(sentences, noise, seed=1):
    """Translations with a share of words replaced, and references, the same for every seed."""
    references = reference_texts([3 + 5 * n % 12 for n in range(sentences)])
    return outputs(references, noise, seed), references


def test_draws_equal_sacrebleu_on_the_same_sentences():
    hypotheses, references = corpus(25, 0.3, 3)
    weights = draw(25, 40, seed=1, bucket=2)
    ours = estimate(bleu, bleu_statistics(hypotheses, references)[None], weights)
    for row, score in zip(weights.astype(int), ours.draws, strict=True):
        ids = np.repeat(np.arange(25), row)
        theirs = sacrebleu.corpus_bleu([hypotheses[i] for i in ids], [[references[i] for i in ids]])
        assert score == pytest.approx(theirs.score, abs=1e-9)
    whole = sacrebleu.corpus_bleu(hypotheses, [references])
    assert ours.value == pytest.approx(whole.score, abs=1e-9)


def test_interval_agrees_with_scipys_percentile_bootstrap():
    rng = np.random.default_rng(5)
    rows = np.stack([rng.gamma(2.0, 3.0, size=80), rng.integers(1, 30, size=80)], axis=-1)
    ours = estimate(ratio_of_sums, rows[None], draw(80, 6_000, seed=1, bucket=0))
    theirs = stats.bootstrap(
        (rows[:, 0], rows[:, 1]),
        lambda top, bottom, axis: top.sum(axis=axis) / bottom.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=6_000,
        rng=np.random.default_rng(6),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.05 * width)


def test_an_estimate_is_the_mean_over_seeds():
    rows = np.random.default_rng(1).integers(60, size=(20, 7, 10))
    weights = draw(7, 50, seed=1, bucket=0)
    ours = estimate(bleu, rows.astype(np.uint8), weights)
    assert ours.draws == pytest.approx(bleu(weights @ rows).mean(axis=0))
    assert ours.value == bleu(rows.sum(axis=1)).mean()


def test_the_variances_of_two_independent_gains_add_up():
    noise = np.random.default_rng(7).normal(size=(2, 20_000))
    planted = difference(Estimate(7.0, 7.0 + noise[1]), Estimate(1.0, 1.0 + noise[0]))
    assert planted.value == 6.0
    half = 1.96 * np.sqrt(2)  # two independent standard errors of 1
    assert planted.low == pytest.approx(6.0 - half, abs=0.08)
    assert planted.high == pytest.approx(6.0 + half, abs=0.08)


def test_ratios_of_estimates_and_of_sums():
    first = Estimate(40.0, np.array([40.0, 50.0]))
    last = Estimate(10.0, np.array([10.0, 20.0]))
    drop = percent_change(last, first)
    assert drop.value == pytest.approx(-75.0)
    assert drop.draws == pytest.approx([-75.0, -60.0])
    nothing = percent_change(last, Estimate(0.0, np.zeros(2)))
    assert np.isnan([nothing.value, *nothing.draws]).all()
    # Not the mean of ratios.
    assert ratio_of_sums(np.array([[3.0, 2.0], [30.0, 10.0]]).sum(axis=0)) == 33 / 12
    assert np.isnan(ratio_of_sums(np.array([0.0, 0.0])))


def test_edges_belong_to_the_bucket_they_open():
    edges = (5, 11, 21, 31, 41)
    assert bucket_labels(edges) == ("5-10", "11-20", "21-30", "31-40", "41+")
    words = [0, 4, 5, 10, 11, 31, 40, 41, 500]
    buckets = [-1, -1, 0, 0, 1, 3, 3, 4, 4]
    assert bucket_of(words, edges).tolist() == buckets
    for count, bucket in zip(words, buckets, strict=True):
        within = [holds(name, count) for name in bucket_labels(edges)]
        assert within == [place == bucket for place in range(5)]
    assert bucket_labels((1, 2, 4)) == ("1", "2-3", "4+")


# Two systems on the same sentences.

LENGTHS = [3 + 7 * n % 29 for n in range(120)]
REFERENCES = reference_texts(LENGTHS)
A, B = outputs(REFERENCES, 0.25, 1), outputs(REFERENCES, 0.23, 2)
RESAMPLES = 3_000


def counts(hypotheses):
    return bleu_statistics(hypotheses, REFERENCES)


def theirs(a, b, test_type):
    """sacreBLEU's results for both systems."""
    metrics = {"BLEU": BLEU(references=[REFERENCES])}
    systems = [("Baseline", a), ("System", b)]
    test = PairedTest(systems, metrics, None, test_type=test_type, n_samples=RESAMPLES)
    return test()[1]["BLEU"]


def compared(a, b, resamples=RESAMPLES):
    """B minus A, and the p-value by approximate randomisation."""
    systems, how = (counts(a), counts(b)), {"seed": 4, "bucket": 0}
    weights = draw(len(a), resamples, **how)
    first, second = (estimate(bleu, system[None], weights) for system in systems)
    return difference(second, first), randomisation_p(bleu, *systems, resamples, **how)


@pytest.fixture(scope="module")
def planted():
    return compared(A, B)


def test_difference_and_randomisation_p_are_sacrebleus(planted):
    first, second = theirs(A, B, "bs")
    assert planted[0].value == pytest.approx(second.score - first.score, abs=1e-10)
    p = theirs(A, B, "ar")[1].p_value
    assert 0.02 < p < 0.5
    error = 4 * np.sqrt(2 * p * (1 - p) / RESAMPLES)  # for two independent estimates of p
    assert planted[1] == pytest.approx(p, abs=error)


def test_a_clear_difference_has_the_smallest_p_and_swapping_the_systems_turns_the_sign(planted):
    gain, p = compared(outputs(REFERENCES, 0.5, 3), A)
    assert gain.low > 0
    assert bootstrap_p(gain) == pytest.approx(2 / (RESAMPLES + 1))
    assert p == pytest.approx(1 / (RESAMPLES + 1))
    other, p = compared(B, A)
    assert np.array_equal(other.draws, -planted[0].draws)
    assert bootstrap_p(other) == bootstrap_p(planted[0])
    assert p == planted[1]


@settings(max_examples=200, deadline=None)
@given(shift=st.floats(-4, 4), seed=st.integers(0, 10**6))
def test_the_bootstraps_p_agrees_with_its_interval(shift, seed):
    draws = shift + np.random.default_rng(seed).normal(size=1_000)
    gain = Estimate(shift, draws)
    clear = gain.low > 0 or gain.high < 0
    p = bootstrap_p(gain)
    assert clear or p > 0.05
    assert not clear or p < 0.055  # the edge may be off by one resample
    assert 0 < p <= 1


def test_equal_systems_differ_as_much_in_every_trial():
    gain, p = compared(A, A, 9)
    assert (gain.draws == 0.0).all()
    assert bootstrap_p(gain) == p == 1.0
