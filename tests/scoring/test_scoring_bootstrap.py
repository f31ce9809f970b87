"""The bootstrap against sacreBLEU on the same sentences, scipy, and planted differences."""

import numpy as np
import pytest
import sacrebleu
from scipy import stats
from system_files import outputs, reference_texts

from seq2seq_bottleneck.scoring import bootstrap
from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import (
    Estimate,
    Interval,
    difference,
    draw,
    estimate,
    interaction,
    percent_change,
    ratio_of_sums,
    spread,
)
from seq2seq_bottleneck.settings.concerns import OUTSIDE, Buckets, holds


def corpus(sentences, noise, seed=1):
    """Translations with a share of words replaced, and references, which no seed changes."""
    references = reference_texts([3 + 5 * n % 12 for n in range(sentences)])
    return outputs(references, noise, seed), references


def seed_rows(sentences, noise, seeds=(1, 2)):
    """Statistics, seeds first: the words that fail differ by seed; with more noise more fail."""
    return np.stack([bleu_statistics(*corpus(sentences, noise, seed)) for seed in seeds])


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


def test_draws_are_whole_resamples_that_differ_by_bucket_and_seed_alone():
    weights = draw(30, 50, seed=4, bucket=0)
    assert weights.shape == (50, 30)
    assert (weights.sum(axis=1) == 30).all()
    assert weights.mean(axis=0) == pytest.approx(1.0, abs=0.6)
    assert np.array_equal(weights, draw(30, 50, seed=4, bucket=0))
    assert not np.array_equal(weights, draw(30, 50, seed=4, bucket=1))
    assert not np.array_equal(weights, draw(30, 50, seed=2, bucket=0))


def test_interval_agrees_with_scipys_percentile_bootstrap():
    rng = np.random.default_rng(5)
    rows = np.stack([rng.gamma(2.0, 3.0, size=80), rng.integers(1, 30, size=80)], axis=-1)
    ours = estimate(ratio_of_sums, rows[None], draw(80, 6_000, seed=1, bucket=0)).interval
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


def test_statistic_is_the_mean_over_seeds_and_their_order_does_not_matter():
    rows = seed_rows(40, 0.3, seeds=(1, 2, 3))
    weights = draw(40, 200, seed=1, bucket=0)
    forward, back = (estimate(bleu, seeds, weights) for seeds in (rows, rows[::-1]))
    assert forward.value == pytest.approx(np.mean([bleu(row.sum(axis=0)) for row in rows]))
    assert back.draws == pytest.approx(forward.draws, abs=1e-12)
    singly = [estimate(bleu, row[None], weights).draws for row in rows]
    assert forward.draws == pytest.approx(np.mean(singly, axis=0), abs=1e-12)


@pytest.mark.parametrize("many", [0, 1, 2**20])
@pytest.mark.parametrize("most", [1, 60, 2**24])
def test_many_seeds_a_few_at_a_time_give_the_same_bits(monkeypatch, many, most):
    """Of counts for which single precision is enough, of such for which it is not, smoothed too."""
    monkeypatch.setattr(bootstrap, "PRODUCT", many * 10 * 50)
    monkeypatch.setattr(bootstrap, "CACHED", 3 * 10 * 50)
    rows = np.random.default_rng(1).integers(most + 1, size=(20, 7, 10))
    weights = draw(7, 50, seed=1, bucket=0)
    ours = estimate(bleu, rows, weights)
    assert np.array_equal(ours.draws, bleu(weights @ rows).mean(axis=0), equal_nan=True)
    assert ours.value == bleu(rows.sum(axis=1)).mean()
    narrow = estimate(bleu, rows.astype(np.min_scalar_type(most)), weights)
    assert np.array_equal(ours.draws, narrow.draws, equal_nan=True)


def test_planted_difference_is_found_and_pairing_narrows_it():
    better, worse = seed_rows(150, 0.2), seed_rows(150, 0.35)
    same, other = (draw(150, 500, seed=1, bucket=bucket) for bucket in (0, 1))
    gain = difference(estimate(bleu, better, same), estimate(bleu, worse, same))
    unpaired = difference(estimate(bleu, better, same), estimate(bleu, worse, other))
    assert gain.interval.above_zero
    assert gain.interval.low < gain.value < gain.interval.high
    assert gain.draws.std() < unpaired.draws.std()
    nothing = difference(estimate(bleu, better, same), estimate(bleu, better, same))
    assert (nothing.value, nothing.interval) == (0.0, Interval(0.0, 0.0))
    assert not nothing.interval.above_zero
    assert not nothing.interval.below_zero


def test_interaction_is_longest_filled_minus_shortest_filled():
    noise = np.random.default_rng(7).normal(size=(2, 20_000))
    empty = Estimate(np.nan, np.full(20_000, np.nan))
    gains = [empty, Estimate(1.0, 1.0 + noise[0]), empty, Estimate(7.0, 7.0 + noise[1]), empty]
    planted = interaction(gains)
    assert planted.value == 6.0
    half = 1.96 * np.sqrt(2)  # two independent standard errors of one
    assert planted.interval.low == pytest.approx(6.0 - half, abs=0.08)
    assert planted.interval.high == pytest.approx(6.0 + half, abs=0.08)
    with pytest.raises(ValueError, match="two filled buckets, not 1"):
        interaction(gains[:3])


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


def test_one_sentence_has_no_width_and_an_empty_bucket_is_nan_and_on_no_side_of_zero():
    only = estimate(bleu, seed_rows(1, 0.0, seeds=(1,)), draw(1, 30, seed=1, bucket=0))
    assert only.filled
    assert only.interval == Interval(only.value, only.value)
    nothing = estimate(bleu, np.zeros((2, 0, 10), dtype=np.int64), draw(0, 30, seed=1, bucket=0))
    assert nothing.draws.shape == (30,)
    assert not nothing.filled
    assert np.isnan([nothing.interval.low, nothing.interval.high]).all()
    assert not nothing.interval.above_zero
    assert not nothing.interval.below_zero


@pytest.mark.parametrize("seeds", [0, 1, 2, 3, 12, 200])
def test_spread_over_seeds_is_students(seeds):
    values = np.random.default_rng(seeds).normal(30.0, 2.0, size=seeds)
    ours = spread(values)
    assert ours.seeds == seeds
    assert ours.mean == pytest.approx(values.mean() if seeds else np.nan, nan_ok=True)
    if seeds < 2:
        assert np.isnan([ours.sd, ours.low, ours.high]).all()
        return
    interval = stats.t.interval(0.95, seeds - 1, loc=values.mean(), scale=stats.sem(values))
    assert ours.sd == pytest.approx(np.std(values, ddof=1))
    assert (ours.low, ours.high) == pytest.approx(interval)


@pytest.mark.parametrize(
    ("words", "bucket"),
    [(0, OUTSIDE), (4, OUTSIDE), (5, 0), (10, 0), (11, 1), (31, 3), (40, 3), (41, 4), (500, 4)],
)
def test_edges_belong_to_the_bucket_they_open(words, bucket):
    slides = Buckets((5, 11, 21, 31, 41))
    assert slides.assign(np.array([words])).tolist() == [bucket]
    assert slides.names == ("5-10", "11-20", "21-30", "31-40", "41+")
    assert [holds(name, words) for name in slides.names] == [n == bucket for n in range(5)]


def test_a_bucket_of_one_length():
    assert Buckets((1, 2, 4)).names == ("1", "2-3", "4+")
    assert [holds("30", words) for words in (29, 30, 31)] == [False, True, False]
