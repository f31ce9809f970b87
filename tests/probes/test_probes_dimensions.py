"""Dimensions of planted contexts, the spectrum by another route, and intervals that cover."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import entropy

from seq2seq_bottleneck.probes.dimensions import (
    Jackknifed,
    components,
    difference,
    dimensions,
    effective_rank,
    half_of,
    mean,
    participation_ratio,
)
from seq2seq_bottleneck.scoring.bootstrap import Interval, draw

MEASURES = ("participation_ratio", "components", "effective_rank")
SPECTRA = arrays(np.float64, 6, elements=st.floats(1e-3, 1e3)).map(lambda row: -np.sort(-row))


def _gaussian(sentences, spectrum, seed):
    """Contexts whose covariance has this spectrum, turned out of the axes and off the origin."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(len(spectrum), len(spectrum))))
    return rng.normal(size=(sentences, len(spectrum))) * np.sqrt(spectrum) @ turn + 3.0


def test_equal_variances_are_as_many_dimensions():
    spectrum = np.array([2.0] * 20 + [0.0] * 12)
    assert participation_ratio(spectrum) == pytest.approx(20)
    assert effective_rank(spectrum) == pytest.approx(20)
    assert components(spectrum, 0.95) == pytest.approx(19)


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.97])
def test_geometric_spectra(rate):
    spectrum = rate ** np.arange(2_000)
    assert participation_ratio(spectrum) == pytest.approx((1 + rate) / (1 - rate))
    nats = -np.log(1 - rate) - rate * np.log(rate) / (1 - rate)
    assert effective_rank(spectrum) == pytest.approx(np.exp(nats))
    usual = np.ceil(np.log(0.05) / np.log(rate))  # first m with 1 - rate^m >= .95
    assert np.ceil(components(spectrum, 0.95)) == usual


@given(SPECTRA)
def test_measures_are_ordered_and_bounded(spectrum):
    ratio, rank = participation_ratio(spectrum), effective_rank(spectrum)
    assert 1 - 1e-9 <= ratio <= rank + 1e-9 <= len(spectrum) + 1e-8  # Renyi's entropies fall
    assert participation_ratio(5 * spectrum) == pytest.approx(ratio)
    assert effective_rank(spectrum) == pytest.approx(np.exp(entropy(spectrum)))


@given(SPECTRA, st.floats(0.01, 0.99))
def test_components_reach_the_share_and_one_fewer_does_not(spectrum, share):
    reached = np.cumsum(spectrum) / spectrum.sum()
    usual = 1 + int(np.argmax(reached >= share - 1e-12))
    assert np.ceil(components(spectrum, share) - 1e-9) == max(usual, 1)


def test_one_direction_is_one_dimension():
    rng = np.random.default_rng(1)
    contexts = np.outer(rng.normal(size=100), rng.normal(size=16)) + 5.0
    measured = dimensions(contexts, seed=1)
    assert measured.participation_ratio.value == pytest.approx(1)
    assert measured.effective_rank.value == pytest.approx(1)
    assert measured.components.value == pytest.approx(0.95)
    interval = measured.participation_ratio.interval
    assert [interval.low, interval.high] == pytest.approx([1, 1])


def test_contexts_equal_the_singular_values_of_the_centred_matrix():
    contexts = _gaussian(300, 0.8 ** np.arange(24), 2)
    singular = np.linalg.svd(contexts - contexts.mean(axis=0), compute_uv=False)
    variances = singular**2 / 299
    measured = dimensions(contexts, seed=1)
    assert measured.spectrum == pytest.approx(variances)
    covariance = np.cov(contexts.T)
    by_trace = np.trace(covariance) ** 2 / np.linalg.norm(covariance) ** 2
    assert measured.participation_ratio.value == pytest.approx(by_trace)
    assert measured.effective_rank.value == pytest.approx(np.exp(entropy(variances)))


def test_gaussian_of_k_dimensions_tends_to_k_from_below():
    contexts = _gaussian(20_000, np.array([1.0] * 16 + [0.0] * 16), 3)
    whole = dimensions(contexts, seed=1)
    few = dimensions(contexts[:200], seed=1)
    assert whole.participation_ratio.value == pytest.approx(16 / (1 + 17 / 20_000), rel=2e-3)
    assert few.participation_ratio.value == pytest.approx(16 / (1 + 17 / 200), rel=0.02)


def test_half_the_sentences_have_fewer_dimensions():
    contexts = _gaussian(401, np.ones(64), 4)
    half = half_of(contexts, seed=5)
    assert half.shape == (200, 64)
    assert np.array_equal(half, half_of(contexts, seed=5))
    assert not np.array_equal(half, half_of(contexts, seed=6))
    assert len(np.unique(np.concatenate([half, contexts]), axis=0)) == 401
    whole, part = dimensions(contexts, seed=1), dimensions(half, seed=1)
    assert (whole.sentences, part.sentences) == (401, 200)
    for name in MEASURES:
        assert getattr(part, name).interval.high < getattr(whole, name).value


@pytest.mark.parametrize("change", ["moved", "scaled", "turned"])
def test_moving_scaling_and_turning_change_nothing(change):
    contexts = _gaussian(200, 0.7 ** np.arange(8), 6)
    turn, _ = np.linalg.qr(np.random.default_rng(7).normal(size=(8, 8)))
    changed = {"moved": contexts + 50.0, "scaled": 1e-4 * contexts, "turned": contexts @ turn}
    ours, theirs = dimensions(contexts, seed=1), dimensions(changed[change], seed=1)
    for name in MEASURES:
        assert getattr(theirs, name).value == pytest.approx(getattr(ours, name).value)
        assert getattr(theirs, name).left_out == pytest.approx(getattr(ours, name).left_out)


def test_jackknife_of_a_mean_has_the_groups_standard_error():
    groups = np.random.default_rng(8).normal(size=20)
    left_out = (groups.sum() - groups) / 19
    interval = Jackknifed(float(groups.mean()), left_out).interval
    half = 2.0930 * groups.std(ddof=1) / np.sqrt(20)
    assert [interval.low, interval.high] == pytest.approx(
        [groups.mean() - half, groups.mean() + half], rel=1e-3
    )


def test_leaving_out_a_group_is_measuring_the_others():
    """The left-out values are those of one of all ways to put six sentences into three pairs."""
    contexts = _gaussian(6, np.ones(4), 9)
    found = dimensions(contexts, seed=1, groups=3).participation_ratio.left_out
    matches = 0
    for group in set(permutations([0, 0, 1, 1, 2, 2])):
        others = [np.cov(contexts[np.array(group) != place].T) for place in range(3)]
        by_hand = [np.trace(cov) ** 2 / (cov**2).sum() for cov in others]
        matches += np.allclose(found, by_hand)
    assert matches == 1


def _bootstrapped(contexts, resamples):
    """Participation ratio of each resample of the sentences."""
    draws = draw(len(contexts), resamples, seed=1, bucket=0)
    spectra = [
        np.linalg.eigvalsh(np.cov(contexts.T, fweights=row.astype(int)))[::-1] for row in draws
    ]
    return np.quantile(participation_ratio(np.stack(spectra)), [0.025, 0.975])


@pytest.mark.slow
def test_jackknife_covers_about_as_often_as_it_says_or_oftener():
    """What 400 other sentences would give, over many samples of 400. The jackknife may be wide."""
    samples = [_gaussian(400, 0.9 ** np.arange(40), 100 + trial) for trial in range(150)]
    measured = [dimensions(sample, seed=trial) for trial, sample in enumerate(samples)]
    for name in MEASURES:
        values = [getattr(one, name).value for one in measured]
        intervals = [getattr(one, name).interval for one in measured]
        covered = [one.low <= np.mean(values) <= one.high for one in intervals]
        assert np.mean(covered) >= 0.91
        half = np.mean([one.high - one.low for one in intervals]) / 2
        assert 0.9 <= half / (2.093 * np.std(values)) <= 1.4


def test_bootstrap_lies_below_the_value_and_the_truth_altogether():
    """Hence the jackknife: a resample of 400 sentences holds some 250, and has their dimensions."""
    samples = [_gaussian(400, np.ones(40), trial) for trial in range(10)]
    measured = [dimensions(sample, seed=1).participation_ratio for sample in samples]
    truth = np.mean([one.value for one in measured])
    for sample, ours in zip(samples, measured, strict=True):
        _, high = _bootstrapped(sample, 60)
        assert high < ours.value - 1
        assert ours.interval.low < truth < ours.interval.high


def test_difference_is_paired_by_sentences_and_seed():
    plain = _gaussian(400, np.ones(20), 10)
    stretched = plain * np.where(np.arange(20) < 10, 1.5, 1.0)
    ours, theirs = (dimensions(one, seed=1).participation_ratio for one in (plain, stretched))
    gap = difference(ours, theirs)
    assert gap.value == ours.value - theirs.value
    assert gap.interval.above_zero
    other = dimensions(stretched, seed=2).participation_ratio
    apart = difference(ours, other).interval
    assert gap.interval.high - gap.interval.low < apart.high - apart.low
    assert difference(ours, ours).interval == Interval(0.0, 0.0)
    with pytest.raises(ValueError, match="same groups"):
        difference(ours, dimensions(plain, seed=1, groups=10).participation_ratio)


def test_mean_over_seeds():
    first, second = Jackknifed(2.0, np.array([1.0, 3.0])), Jackknifed(4.0, np.array([4.0, 8.0]))
    both = mean([first, second])
    assert both.value == 3.0
    assert both.left_out == pytest.approx([2.5, 5.5])


def test_single_precision_is_enough_and_the_same_to_rounding():
    contexts = _gaussian(200, 0.7 ** np.arange(8), 11)
    ours, theirs = (dimensions(one, seed=1) for one in (contexts, contexts.astype(np.float32)))
    for name in MEASURES:
        assert getattr(theirs, name).value == pytest.approx(getattr(ours, name).value, rel=1e-5)


def test_contexts_that_are_all_the_same_have_no_dimension():
    measured = dimensions(np.full((60, 5), 0.1), seed=1)
    for name in MEASURES:
        assert np.isnan(getattr(measured, name).value)
        assert np.isnan(getattr(measured, name).interval.low)


def test_refuses_too_few_sentences_and_what_is_not_finite():
    with pytest.raises(ValueError, match="20 groups need 40 sentences, not 39"):
        dimensions(np.ones((39, 3)), seed=1)
    broken = _gaussian(60, np.ones(3), 12)
    broken[7, 1] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        dimensions(broken, seed=1)
