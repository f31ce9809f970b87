"""The bootstrap and paired tests against sacreBLEU, scipy, all swaps, and planted differences."""

from itertools import product

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats
from system_files import outputs, reference_texts

from seq2seq_bottleneck.scoring import bootstrap
from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import (
    Estimate,
    Interval,
    Resampling,
    bootstrap_p,
    difference,
    draw,
    draw_blocks,
    estimate,
    estimates,
    interaction,
    pair,
    percent_change,
    randomisation_p,
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
    assert gain.draws.std() < unpaired.draws.std()
    nothing = difference(estimate(bleu, better, same), estimate(bleu, better, same))
    assert (nothing.value, nothing.interval) == (0.0, Interval(0.0, 0.0))
    assert not nothing.interval.above_zero


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


def test_the_interval_of_a_loss_per_token_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(8)
    covered = 0
    for trial in range(300):
        tokens = rng.integers(5, 30, size=60)
        loss = tokens * rng.gamma(4.0, 0.5, size=60)  # mean of 2 a token
        rows = np.stack([loss, tokens], axis=-1)[None]
        interval = estimate(ratio_of_sums, rows, draw(60, 300, seed=9, bucket=trial)).interval
        covered += interval.low <= 2.0 <= interval.high
    assert 0.89 <= covered / 300 <= 0.98


def test_one_sentence_has_no_width_and_an_empty_bucket_is_nan_and_on_no_side_of_zero():
    only = estimate(bleu, seed_rows(1, 0.0, seeds=(1,)), draw(1, 30, seed=1, bucket=0))
    assert only.filled
    assert only.interval == Interval(only.value, only.value)
    nothing = estimate(bleu, np.zeros((2, 0, 10), dtype=np.int64), draw(0, 30, seed=1, bucket=0))
    assert nothing.draws.shape == (30,)
    assert not nothing.filled
    assert np.isnan([nothing.interval.low, nothing.interval.high]).all()
    assert not nothing.interval.above_zero


@pytest.mark.parametrize("seeds", [0, 1, 2, 3, 12, 200])
def test_spread_over_seeds_is_students(seeds):
    values = np.random.default_rng(seeds).normal(30.0, 2.0, size=seeds)
    interval = (np.nan, np.nan)
    if seeds > 1:
        interval = stats.t.interval(0.95, seeds - 1, loc=values.mean(), scale=stats.sem(values))
    ours = spread(values)
    assert (ours.low, ours.high) == pytest.approx(interval, nan_ok=True)


def test_edges_belong_to_the_bucket_they_open():
    slides = Buckets((5, 11, 21, 31, 41))
    assert slides.names == ("5-10", "11-20", "21-30", "31-40", "41+")
    words = [0, 4, 5, 10, 11, 31, 40, 41, 500]
    buckets = [OUTSIDE, OUTSIDE, 0, 0, 1, 3, 3, 4, 4]
    assert slides.assign(np.array(words)).tolist() == buckets
    for count, bucket in zip(words, buckets, strict=True):
        assert [holds(name, count) for name in slides.names] == [n == bucket for n in range(5)]
    assert Buckets((1, 2, 4)).names == ("1", "2-3", "4+")
    assert [holds("30", count) for count in (29, 30, 31)] == [False, True, False]


# Two systems on the same sentences.

LENGTHS = [3 + 7 * n % 29 for n in range(120)]
REFERENCES = reference_texts(LENGTHS)
A, B = outputs(REFERENCES, 0.25, 1), outputs(REFERENCES, 0.23, 2)
RESAMPLES = 3_000
HOW = Resampling(resamples=RESAMPLES, trials=RESAMPLES, seed=4)


def counts(hypotheses):
    return bleu_statistics(hypotheses, REFERENCES)


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


def test_a_clear_difference_has_the_smallest_p_and_swapping_the_systems_turns_the_sign(planted):
    clear = pair(bleu, counts(outputs(REFERENCES, 0.5, 3)), counts(A), HOW, bucket=0)
    assert clear.gain.interval.above_zero
    assert bootstrap_p(clear.gain) == pytest.approx(2 / (RESAMPLES + 1))
    assert clear.p_randomisation == pytest.approx(1 / (RESAMPLES + 1))
    other = pair(bleu, counts(B), counts(A), HOW, bucket=0)
    assert np.array_equal(other.gain.draws, -planted.gain.draws)
    assert bootstrap_p(other.gain) == bootstrap_p(planted.gain)
    assert other.p_randomisation == planted.p_randomisation
    nothing = np.zeros((0, 10), dtype=np.int64)
    assert np.isnan(bootstrap_p(Estimate(np.nan, np.full(10, np.nan))))
    assert np.isnan(randomisation_p(bleu, nothing, nothing, 10, seed=1, bucket=0))


@pytest.mark.parametrize(("cells", "count"), [(1, 70), (100, 24), (1_000, 3), (10**9, 1)])
def test_blocks_are_the_rows_of_draw(cells, count):
    blocks = list(draw_blocks(30, 70, seed=2, bucket=3, cells=cells))
    assert np.array_equal(np.concatenate(blocks), draw(30, 70, seed=2, bucket=3))
    assert len(blocks) == count


def test_estimates_are_those_of_a_runs_table():
    ours = estimates(bleu, [counts(A), counts(B)], 200, seed=1, bucket=2)
    weights = draw(len(A), 200, seed=1, bucket=2)
    for system, hypotheses in zip(ours, (A, B), strict=True):
        one = estimate(bleu, counts(hypotheses)[None], weights)
        assert system.value == one.value
        assert system.draws == pytest.approx(one.draws, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(shift=st.floats(-4, 4), seed=st.integers(0, 10**6))
def test_the_bootstraps_p_says_what_its_interval_says(shift, seed):
    draws = shift + np.random.default_rng(seed).normal(size=1_000)
    gain = Estimate(shift, draws)
    clear = gain.interval.above_zero or gain.interval.high < 0
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


@pytest.mark.parametrize("trials", [8, 9])
def test_equal_systems_and_one_sentence_differ_as_much_in_every_trial(trials):
    same = pair(bleu, counts(A), counts(A), Resampling(trials, trials, 4), bucket=0)
    assert same.gain.value == 0.0
    assert (same.gain.draws == 0.0).all()
    assert bootstrap_p(same.gain) == same.p_randomisation == 1.0
    rows = [bleu_statistics([text], FEW[:1]) for text in (C[0], FEW[0])]
    assert randomisation_p(bleu, *rows, trials, seed=1, bucket=0) == 1.0


def test_the_same_trials_in_blocks_and_others_of_another_seed_or_bucket(monkeypatch):
    rows = counts(A)[:32], counts(B)[:32]
    whole = randomisation_p(bleu, *rows, 999, seed=1, bucket=0)
    monkeypatch.setattr(bootstrap, "BLOCK", 10 * 32)  # 32 tosses are a word of the stream
    assert randomisation_p(bleu, *rows, 999, seed=1, bucket=0) == whole
    assert len({p_of(C, D, 999, seed=seed) for seed in range(4)}) > 1
    assert len({p_of(C, D, 999, bucket=bucket) for bucket in range(4)}) > 1


def test_any_score_of_sums_will_do():
    """A ratio of sums, whose swaps can be counted by hand: two of four differ as much."""
    a, b = np.array([[1, 1], [2, 1]]), np.array([[2, 1], [4, 1]])
    p = randomisation_p(ratio_of_sums, a, b, TRIALS, seed=1, bucket=0)
    assert p == pytest.approx(0.5, abs=0.02)
