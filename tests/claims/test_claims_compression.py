"""C1 from planted cells: its numbers against scipy and least squares, its verdict at the edges."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from seq2seq_bottleneck.claims.compression import (
    Cell,
    compression_predicts_loss,
    correlation,
    measure_curve,
    r_squared,
    ranks,
)
from seq2seq_bottleneck.scoring.bootstrap import Estimate

WORDS = {"5-10": 7.5, "11-20": 15.5, "21-30": 25.5, "31-40": 35.5, "41+": 50.0}
SIZES = (32, 64, 128, 256, 512)


SUBSETS = [chosen for count in range(2, 7) for chosen in combinations((16, *SIZES), count)]


def _cells(bleu, sizes=SIZES, words=WORDS, noise=0.0, sentences=300):
    """Cells of 100-number words whose BLEU is a function of (ratio, words)."""
    random = np.random.default_rng(0)
    made = []
    for size in sizes:
        for bucket, length in words.items():
            value = float(bleu(length * 100 / size, length))
            draws = value * np.exp(noise * random.standard_normal(200))
            ratio = length * 100 / size
            made.append(Cell(size, bucket, sentences, length, ratio, Estimate(value, draws)))
    return made


def _printed(ratio, _words):
    """The printed table's own curve, flatter so that no cell falls under BLEU .5."""
    return 42.3 * np.exp(-0.02 * ratio)


def _slide(ratio, _words):
    """The printed table's own curve: at 16 numbers all but two cells fall under BLEU .5."""
    return 42.3 * np.exp(-0.082 * ratio)


def _bent(ratio, _words):
    """Another curve of the ratio alone: no loss at first, then a steep one."""
    return 2 + 90 / (1 + (ratio / 20) ** 2)


@pytest.mark.parametrize("bleu", [_printed, _bent, lambda ratio, _: 90 / ratio])
def test_cells_on_one_curve_of_the_ratio_hold(bleu):
    verdict = compression_predicts_loss(_cells(bleu))
    assert verdict.verdict == "held"
    assert "over 25 cells of 5 context sizes" in verdict.because
    assert "compression ratio is -1.000 [-1.000, -1.000]" in verdict.because


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SUBSETS)
def test_whatever_falls_with_the_ratio_alone_holds_at_any_sizes(sizes):
    """No bend of the curve and no cell under BLEU .5 may pass for an effect of length."""
    for bleu in (_slide, _printed, _bent, lambda ratio, _: 130 / ratio):
        curve = measure_curve(_cells(bleu, sizes))
        assert curve.length_points.value == pytest.approx(0, abs=1e-9)
        assert compression_predicts_loss(_cells(bleu, sizes, noise=0.002)).verdict == "held"


@pytest.mark.parametrize("sizes", SUBSETS)
def test_length_alone_holds_at_no_sizes(sizes):
    for bleu in (lambda _, words: 90 / words, lambda _, words: 90 - words):
        verdict = compression_predicts_loss(_cells(bleu, sizes))
        assert verdict.verdict in ("not held", "partly")
        assert measure_curve(_cells(bleu, sizes)).length_points.value > 20


def test_the_printed_curve_is_found_again():
    curve = measure_curve(_cells(_printed))
    assert curve.fit.scale.value == pytest.approx(42.3)
    assert curve.fit.rate.value == pytest.approx(0.02)
    assert curve.fit.correlation.value == pytest.approx(-1)
    because = compression_predicts_loss(_cells(_printed)).because
    assert "BLEU = 42.3 exp(-b ratio), b 0.020 [0.020, 0.020]" in because
    assert "(the slide's table: 42.3 exp(-b ratio), b 0.082, -0.9997)" in because
    assert "the ratio explains 100.0 %, and length adds 0.0 [0.0, 0.0] points" in because


def test_length_beside_the_ratio_makes_it_partly_from_five_points_on():
    def with_length(power):
        return _cells(lambda ratio, words: 90 * (ratio**-1 * words**-power) ** 0.5)

    added = {power: measure_curve(with_length(power)).length_points.value for power in (0.4, 0.7)}
    assert added[0.4] < 5 < added[0.7]
    assert compression_predicts_loss(with_length(0.4)).verdict == "held"
    assert compression_predicts_loss(with_length(0.7)).verdict == "partly"


def test_the_interval_and_not_the_value_decides():
    cells = {noise: _cells(_printed, noise=noise) for noise in (0.05, 0.9)}
    high = {
        noise: measure_curve(held).rank_correlation.interval.high for noise, held in cells.items()
    }
    assert high[0.05] < -0.8 < high[0.9]
    assert compression_predicts_loss(cells[0.05]).verdict == "held"
    assert measure_curve(cells[0.9]).rank_correlation.value == pytest.approx(-1)
    assert compression_predicts_loss(cells[0.9]).verdict == "not held"


def test_two_sizes_and_two_buckets_are_enough_and_fewer_are_not():
    two = dict(list(WORDS.items())[:2])
    assert compression_predicts_loss(_cells(_printed, (64, 256), two)).verdict == "held"
    one_size = compression_predicts_loss(_cells(_printed, (64,)))
    assert one_size.verdict == "not measured"
    assert one_size.because == (
        "two context sizes and two filled length buckets are needed, and there are 1 and 5"
    )
    empty = Cell(64, "41+", 0, np.nan, np.nan, Estimate(np.nan, np.full(200, np.nan)))
    one_bucket = _cells(_printed, (64, 256), {"5-10": 7.5})
    assert compression_predicts_loss([*one_bucket, empty]).verdict == "not measured"


def test_a_cell_without_a_logarithm_keeps_its_rank_and_is_named():
    def falling(ratio, words):
        return 0.0 if ratio > 100 else _printed(ratio, words)

    cells = _cells(falling)
    curve = measure_curve(cells)
    assert [(cell.context_size, cell.bucket) for cell in curve.left_out] == [
        (32, "31-40"),
        (32, "41+"),
    ]
    assert curve.fit.rate.value == pytest.approx(0.02)
    bleu = [cell.bleu.value for cell in cells]
    outside = spearmanr([cell.compression_ratio for cell in cells], bleu).statistic
    assert curve.rank_correlation.value == pytest.approx(outside)
    because = compression_predicts_loss(cells).because
    assert "left out of the fit, BLEU under 0.5: 32 x 31-40, 32 x 41+" in because


def test_without_logarithms_there_is_no_fit_and_still_a_verdict():
    def tiny(ratio, _words):
        return 5.0 if ratio < 1.5 else 0.4 / ratio

    verdict = compression_predicts_loss(_cells(tiny))
    assert verdict.verdict == "held"
    assert "too few cells for a fit of log BLEU" in verdict.because


def test_a_sweep_that_learned_nothing_is_not_judged():
    cells = {top: _cells(lambda ratio, _, top=top: top / ratio) for top in (7.3, 7.4)}
    verdicts = {top: compression_predicts_loss(held) for top, held in cells.items()}
    assert max(cell.bleu.value for cell in cells[7.3]) < 5 < cells[7.4][-5].bleu.value
    assert verdicts[7.3].verdict == "not measured"
    assert "under 5 in every cell" in verdicts[7.3].because
    assert verdicts[7.4].verdict == "held"


@pytest.mark.parametrize("least", [0.0, 1e-14])
def test_equal_scores_are_not_judged(least):
    verdict = compression_predicts_loss(_cells(lambda ratio, _: 30.0 - ratio * least))
    assert verdict.verdict == "not measured"
    assert verdict.because == "BLEU is 30.0 in every cell: there is no order to judge"


def test_a_resample_in_which_all_score_alike_leaves_the_interval_defined():
    cells = _cells(_printed)
    for cell in cells:
        cell.bleu.draws[:2] = 30.0
    verdict = compression_predicts_loss(cells)
    assert verdict.verdict == "held"
    assert "nan" not in verdict.because
    for cell in cells:
        cell.bleu.draws[:20] = 30.0
    assert measure_curve(cells).rank_correlation.interval.high == 0
    assert compression_predicts_loss(cells).verdict == "not held"


def test_small_buckets_are_named_once():
    because = compression_predicts_loss(_cells(_printed, sentences=99)).because
    assert because.count("5-10 (n = 99)") == 1


def test_ranks_and_correlation_are_scipys_with_ties():
    random = np.random.default_rng(1)
    x = random.integers(6, size=12).astype(float)
    y = random.integers(6, size=(50, 12)).astype(float)
    ours = correlation(ranks(x), ranks(y))
    np.testing.assert_allclose(ours, [spearmanr(x, row).statistic for row in y], atol=1e-12)


def test_variance_explained_is_that_of_least_squares():
    random = np.random.default_rng(2)
    x, z = random.standard_normal((2, 9))
    y = random.standard_normal((20, 9)) + x
    design = np.stack([np.ones(9), x, z], axis=1)
    outside = []
    for row in y:
        _, residue, *_ = np.linalg.lstsq(design, row, rcond=None)
        outside.append(1 - residue[0] / (len(row) * np.var(row)))
    np.testing.assert_allclose(r_squared(design, y), outside, atol=1e-12)


def test_what_length_adds_is_the_squared_part_correlation_of_ranks():
    random = np.random.default_rng(3)
    noise = iter(random.normal(size=99))
    cells = _cells(lambda ratio, _: 60 * ratio**-0.4 * np.exp(next(noise) / 9))
    held = [[c.bleu.value, c.compression_ratio, c.source_words] for c in cells]
    bleu, ratio, length = (rankdata(column) for column in np.transpose(held))
    slope, constant = np.polyfit(ratio, length, 1)
    expected = 100 * np.corrcoef(bleu, length - slope * ratio - constant)[0, 1] ** 2
    curve = measure_curve(cells)
    assert curve.length_points.value == pytest.approx(expected)
    assert curve.ratio_points.value == pytest.approx(100 * curve.rank_correlation.value**2)
