"""C1 from planted cells: its numbers against scipy and least squares, its verdict at the edges."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from seq2seq_bottleneck.claims.compression import Cell, measure_curve
from seq2seq_bottleneck.claims.registry import verdict_on
from seq2seq_bottleneck.scoring.bootstrap import Estimate

WORDS = {"5-10": 7.5, "11-20": 15.5, "21-30": 25.5, "31-40": 35.5, "41+": 50.0}
SIZES = (32, 64, 128, 256, 512)
SUBSETS = [chosen for count in range(2, 7) for chosen in combinations((16, *SIZES), count)]


def cells_of(bleu, sizes=SIZES, words=WORDS, noise=0.0, sentences=300):
    """Cells of 100-number words whose BLEU is a function of (ratio, words)."""
    random = np.random.default_rng(0)
    cells = []
    for size in sizes:
        for bucket, length in words.items():
            ratio = length * 100 / size
            value = float(bleu(ratio, length))
            draws = value * np.exp(noise * random.standard_normal(200))
            cells.append(Cell(size, bucket, sentences, length, ratio, Estimate(value, draws)))
    return cells


def flat(ratio, _words):
    """The printed table's own curve, flatter so that no cell falls under BLEU .5."""
    return 42.3 * np.exp(-0.02 * ratio)


def slide(ratio, _words):
    """The printed table's own curve."""
    return 42.3 * np.exp(-0.082 * ratio)


def bent(ratio, _words):
    """Another curve of the ratio alone: no loss at first, then a steep one."""
    return 2 + 90 / (1 + (ratio / 20) ** 2)


def with_length(power):
    return cells_of(lambda ratio, words: 90 * (ratio**-1 * words**-power) ** 0.5)


EMPTY = Cell(64, "41+", 0, np.nan, np.nan, Estimate(np.nan, np.full(200, np.nan)))


@pytest.mark.parametrize(
    ("cells", "verdict", "part"),
    [
        (cells_of(flat), "held", "over 25 cells of 5 context sizes the rank correlation of BLEU "
         "with the compression ratio is -1.000 [-1.000, -1.000]"),
        (cells_of(flat), "held", "the ratio explains 100.0 %, and length adds 0.0 [0.0, 0.0]"),
        (cells_of(bent), "held", ""),
        (cells_of(lambda ratio, _: 90 / ratio), "held", ""),
        (cells_of(flat, (64, 256), dict(list(WORDS.items())[:2])), "held", ""),
        (cells_of(flat, sentences=99), "held", "under 100 sentences: 5-10 (n = 99), 11-20"),
        (with_length(0.4), "held", ""),
        (with_length(0.7), "partly", ""),  # length adds five points
        (cells_of(flat, noise=0.05), "held", ""),
        (cells_of(flat, noise=0.9), "not held", ""),  # the interval decides, not the value
        (cells_of(lambda ratio, _: 7.4 / ratio), "held", ""),
        (cells_of(lambda ratio, _: 7.3 / ratio), "not measured", "under 5 in every cell"),
        (cells_of(flat, (64,)), "not measured", "two context sizes and two filled length buckets "
         "are needed, and there are 1 and 5"),
        ([*cells_of(flat, (64, 256), {"5-10": 7.5}), EMPTY], "not measured", "are 2 and 1"),
        (cells_of(lambda ratio, _: 30.0 - ratio * 1e-14), "not measured",
         "BLEU is 30.0 in every cell: there is no order to judge"),
    ],
)  # fmt: skip
def test_the_cells_decide(cells, verdict, part):
    result = verdict_on("C1", cells)
    assert (result.claim, result.verdict) == ("C1", verdict)
    assert part in result.because


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SUBSETS)
def test_whatever_falls_with_the_ratio_alone_holds_at_any_sizes(sizes):
    """No bend of the curve and no cell of low BLEU may pass for an effect of length."""
    for bleu in (slide, flat, bent, lambda ratio, _: 130 / ratio):
        curve = measure_curve(cells_of(bleu, sizes))
        assert curve.length_points.value == pytest.approx(0, abs=1e-9)
        assert verdict_on("C1", cells_of(bleu, sizes, noise=0.002)).verdict == "held"


@pytest.mark.parametrize("sizes", SUBSETS)
def test_length_alone_holds_at_no_sizes(sizes):
    for bleu in (lambda _, words: 90 / words, lambda _, words: 90 - words):
        assert verdict_on("C1", cells_of(bleu, sizes)).verdict in ("not held", "partly")
        assert measure_curve(cells_of(bleu, sizes)).length_points.value > 20


def test_a_resample_in_which_all_score_alike_leaves_the_interval_defined():
    cells = cells_of(flat)
    for cell in cells:
        cell.bleu.draws[:2] = 30.0
    assert verdict_on("C1", cells).verdict == "held"
    assert "nan" not in verdict_on("C1", cells).because
    for cell in cells:
        cell.bleu.draws[:20] = 30.0
    assert measure_curve(cells).rank_correlation.high == 0
    assert verdict_on("C1", cells).verdict == "not held"


def test_numbers_are_those_of_scipy_and_least_squares_with_ties():
    random = np.random.default_rng(1)
    noise = iter(random.integers(4, size=99))
    cells = cells_of(lambda ratio, _: round(20 * ratio**-0.4) + next(noise), noise=0.3)
    curve, columns = measure_curve(cells), ([c.compression_ratio for c in cells],
                                            [c.source_words for c in cells])  # fmt: skip
    resamples = [[cell.bleu.value, *cell.bleu.draws] for cell in cells]
    rows = np.round(np.transpose(resamples), 9)
    ranks = [spearmanr(columns[0], row).statistic for row in rows]
    assert len(set(rows[0])) < len(cells)
    assert curve.rank_correlation.value == pytest.approx(ranks[0])
    ends = curve.rank_correlation.low, curve.rank_correlation.high
    assert ends == pytest.approx(np.quantile(ranks[1:], [0.025, 0.975]))
    assert curve.ratio_points.value == pytest.approx(100 * ranks[0] ** 2)
    bleu = rankdata(rows[0])
    design = np.stack([np.ones(len(cells)), *map(rankdata, columns)], axis=1)
    _, residue, *_ = np.linalg.lstsq(design, bleu, rcond=None)
    explained = 100 * (1 - residue[0] / (len(bleu) * np.var(bleu)))
    assert curve.length_points.value == pytest.approx(explained - curve.ratio_points.value)
