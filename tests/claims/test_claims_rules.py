"""Planted numbers flip each rule's verdict at its threshold; C1's numbers equal scipy's."""

from dataclasses import replace

import numpy as np
import pytest
from planted import estimate
from scipy.stats import rankdata, spearmanr

from seq2seq_bottleneck.claims.registry import CLAIMS, verdict_on
from seq2seq_bottleneck.claims.rules import Bucket, Row
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.scoring.bootstrap import Estimate

ROWS = SLIDES["L-VIND"]["rows"]
NAMES = tuple(row["bucket"] for row in ROWS)
NONE, ATTENTION = ([float(row[arm]) for row in ROWS] for arm in ("none", "attention"))
VINDICATION = [claim.id for claim in CLAIMS if claim.id.startswith("L-VIND")]
TABLES = ["L-FAIL", *VINDICATION]
FALLING = (30, 25, 20, 15, 10)


def row(name, n, *scores):
    """One bucket of arms with these BLEU scores."""
    return Row(name, *(Bucket(name, n, 10.0, 256, 4.0, bleu, np.array([]), 1.0) for bleu in scores))


EMPTY = row("41+", 0, estimate(np.nan), estimate(np.nan))


def rows(none, attention=None, halves=(0,) * 5, none_halves=(0,) * 5, sentences=300):
    """Buckets whose arms have intervals of these half widths."""
    attention = [None] * len(none) if attention is None else attention
    return [
        row(name, sentences, estimate(low, none_half),
            *([] if high is None else [estimate(high, half)]))
        for name, low, high, half, none_half in zip(
            NAMES, none, attention, halves, none_halves, strict=False)
    ]  # fmt: skip


def gained(gains, last=0.0, second=0.0):
    """Buckets with these gains of attention, and the half widths of the last and second gain."""
    halves = (0, second, 0, 0, last)
    return rows(FALLING, [none + gain for none, gain in zip(FALLING, gains, strict=True)], halves)


def improved(attention, half=0.0):
    """Buckets with 10 BLEU without attention; ``half`` is the half width of the last with it."""
    return rows([10] * 5, attention, (0, 0, 0, 0, half))


def short(none, attention, half=0.0):
    """Buckets; the first has these scores, and this half width without attention."""
    return rows([none, 20, 20, 20, 20], [attention, 30, 30, 30, 30], none_halves=(half, 0, 0, 0, 0))


def fails(none, half=0.0):
    """Buckets of the arm without attention; ``half`` is the half width of the last."""
    return rows(none, none_halves=(0, 0, 0, 0, half))


@pytest.mark.parametrize(
    ("claim", "buckets", "verdict"),
    [
        ("L-FAIL", fails([35, 28, 18, 12, 8]), "held"),
        ("L-FAIL", fails([35, 28, 18, 12, 12.9], 1), "held"),  # a rise within its interval: a tie
        ("L-FAIL", fails([35, 28, 18, 12, 13.1], 1), "partly"),  # the same rise, clear of it
        ("L-FAIL", fails([35, 35, 35, 35, 34.1], 1), "not held"),
        ("L-VIND", gained([1, 2, 3, 4, 5], 3.9), "held"),
        ("L-VIND", gained([1, 2, 3, 4, 5], 4.1), "partly"),  # the interaction is no longer clear
        ("L-VIND", gained([1, 2, 3, 4, 5], 5.1), "not held"),  # nor the gain in the longest
        ("L-VIND", gained([-5, -4, -3, -2, -1]), "not held"),
        ("L-VIND", gained([1, -2, 3, 4, 5], second=1.9), "partly"),  # a clear loss
        ("L-VIND-largest", gained([1, 2, 3, 4, 5]), "held"),
        ("L-VIND-largest", gained([1, 2, 3, 4, 5], 1.1), "partly"),  # 31-40 ties with 41+
        ("L-VIND-largest", gained([1, 2, 3, 5, 4], 0.9), "not held"),
        ("L-VIND-short", short(35.2, 36.1), "held"),  # the slide's row: 2.5 % of attention's BLEU
        ("L-VIND-short", short(90.1, 100, 0.2), "partly"),  # the interval reaches 10.1 %
        ("L-VIND-short", short(75.1, 100, 0.2), "not held"),
        ("L-VIND-rising", improved([11, 12, 13, 14, 15], 0.9), "held"),
        ("L-VIND-rising", improved([11, 12, 13, 14, 15], 1.1), "partly"),  # the last step is a tie
        ("L-VIND-rising", improved([11, 12, 11.9, 14, 15]), "not held"),  # a clear fall
        *((claim, rows(NONE, ATTENTION), "held") for claim in TABLES),  # the printed tables
        ("L-FAIL", [*rows([30, 25, 20]), EMPTY], "held"),
    ],
)
def test_a_rule_at_its_thresholds(claim, buckets, verdict):
    result = verdict_on(claim, buckets)
    assert (result.claim, result.verdict) == (claim, verdict)


UNLEARNED = rows([0.02, 0.015, 0.01, 0.008, 0.006], [0.03] * 5)


@pytest.mark.parametrize(
    ("claims", "buckets", "reason"),
    [
        (TABLES, [rows([30], [31])[0], EMPTY], "fewer than two buckets"),
        (["L-VIND-rising"], rows([10, 8, 6, 4, 0.9], [11] * 5),
         "BLEU without attention is under 1 in 41+"),
        (["L-FAIL"], rows([4.9, 3, 2, 1, 0.5], [60] * 5), "under 5 in 5-10"),
        (["L-VIND"], UNLEARNED, "BLEU with attention is under 5 in every bucket"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_not_measured(claims, buckets, reason):
    for claim in claims:
        result = verdict_on(claim, buckets)
        assert (result.verdict, result.value) == ("not measured", None)
        assert reason in result.because


def test_a_bucket_of_few_sentences_decides_nothing_and_is_named():
    buckets = rows([30, 20, 10, 90], [35, 30, 25, 6])
    few, ten = (buckets[3]._replace(none=replace(buckets[3].none, n=count)) for count in (9, 10))
    result = verdict_on("L-VIND", [*buckets[:3], few])
    assert result.verdict == verdict_on("L-VIND", buckets[:3]).verdict == "held"
    assert result.because.endswith(f"not read: {few.name}")
    assert verdict_on("L-VIND", [*buckets[:3], ten]).verdict != "held"


# C1, with planted cells.

WORDS = {"5-10": 7.5, "11-20": 15.5, "21-30": 25.5, "31-40": 35.5, "41+": 50.0}
SIZES = (32, 64, 128, 256, 512)


def cells_of(bleu, sizes=SIZES, words=WORDS, noise=0.0, sentences=300):
    """Cells of 100-number words whose BLEU is a function of (ratio, words)."""
    random = np.random.default_rng(0)
    cells = []
    for size in sizes:
        for bucket, length in words.items():
            ratio = length * 100 / size
            value = float(bleu(ratio, length))
            draws = value * np.exp(noise * random.standard_normal(200))
            scores = Estimate(value, draws), np.array([]), 1.0
            cells.append(Bucket(bucket, sentences, length, size, ratio, *scores))
    return cells


def flat(ratio, _words):
    """The slide's own curve, made flatter so that no cell falls under BLEU .5."""
    return 42.3 * np.exp(-0.02 * ratio)


@pytest.mark.parametrize(
    ("cells", "verdict", "part"),
    [
        (cells_of(flat), "held", "over 25 cells of 5 context sizes the rank correlation of BLEU "
         "with the compression ratio is -1.000 [-1.000, -1.000]"),
        (cells_of(flat, sentences=99), "held", "under 100 sentences: 5-10 (n = 99), 11-20"),
        (cells_of(lambda ratio, words: 90 * (ratio * words**0.7) ** -0.5), "partly", ""),
        (cells_of(flat, noise=0.9), "not held", ""),  # the interval decides, not the value
        (cells_of(lambda ratio, _: 7.3 / ratio), "not measured", "under 5 in every cell"),
        (cells_of(flat, (64,)), "not measured", "two context sizes and two filled length buckets "
         "are needed; there are 1 and 5"),
        (cells_of(lambda ratio, _: 30.0 - ratio * 1e-14), "not measured",
         "BLEU is 30.0 in every cell: there is no order to judge"),
    ],
)  # fmt: skip
def test_the_cells_decide(cells, verdict, part):
    result = verdict_on("C1", cells)
    assert (result.claim, result.verdict) == ("C1", verdict)
    assert part in result.because


def test_numbers_are_those_of_scipy_and_least_squares_with_ties():
    random = np.random.default_rng(1)
    noise = iter(random.integers(4, size=99))
    cells = cells_of(lambda ratio, _: round(20 * ratio**-0.4) + next(noise), noise=0.3)
    result = verdict_on("C1", cells)
    columns = [c.compression_ratio for c in cells], [c.source_words for c in cells]
    resamples = [[cell.bleu.value, *cell.bleu.draws] for cell in cells]
    rows = np.round(np.transpose(resamples), 9)
    ranks = [spearmanr(columns[0], row).statistic for row in rows]
    assert len(set(rows[0])) < len(cells)
    assert result.value == pytest.approx(ranks[0])
    assert (result.low, result.high) == pytest.approx(np.quantile(ranks[1:], [0.025, 0.975]))
    by_ratio = 100 * ranks[0] ** 2
    bleu = rankdata(rows[0])
    design = np.stack([np.ones(len(cells)), *map(rankdata, columns)], axis=1)
    _, residue, *_ = np.linalg.lstsq(design, bleu, rcond=None)
    explained = 100 * (1 - residue[0] / (len(bleu) * np.var(bleu)))
    shares = f"the ratio explains {by_ratio:.1f} %, and length adds {explained - by_ratio:.1f} ["
    assert shares in result.because


# C10 and C12, with planted gains of controls and planted effects of more training.

BUCKETS = ("5-10", "21-30", "41+")


def controlled(uniform=10.0, others=10.0, halves=(1.0, 1.0), variation=60.0, **changes):
    """Attention at 80 BLEU; two controls by their BLEU and half widths; a variation by its gain."""
    attention = estimate(80.0)
    known = {
        "attention": row("41+", 200, attention).none,
        "controls": {
            "uniform weights": (estimate(uniform, halves[0]), attention),
            "no attention": (estimate(7), attention),
            "source reversed": (estimate(others, halves[1]), attention),
        },
        "variations": {"source reversed": estimate(variation, 1.0)},
    }
    return known | changes


@pytest.mark.parametrize(
    ("changes", "verdict", "part"),
    [
        ({}, "held", ""),
        ({"uniform": 79.1}, "partly", ""),  # its gain is no longer clear of 0
        ({"uniform": 79.1, "others": 79.1}, "not held", ""),
        ({"variation": 0.9}, "partly", ""),
        ({"uniform": 90}, "partly", "10.00 [9.00, 11.00] less than the best control, uniform "),
        (
            {"controls": dict.fromkeys(("no attention", "x"), (estimate(7), estimate(80)))},
            "not measured",
            "another control must be trained",
        ),
        ({"attention": row("41+", 200, estimate(4.9)).none}, "not measured", "under 5 in 41+"),
    ],
)
def test_a_gain_that_is_no_longer_clear_flips_the_verdict(changes, verdict, part):
    result = verdict_on("C10", **controlled(**changes))
    assert (result.claim, result.verdict) == ("C10", verdict)
    assert part in result.because


def trained(moves, halves=(0.1, 0.1, 0.1), attention=(90, 90, 88), once=(50, 12, 8)):
    return [
        row(bucket, 200, estimate(low), estimate(high), estimate(low + move, half))
        for bucket, low, move, half, high in zip(
            BUCKETS, once, moves, halves, attention, strict=True
        )
    ]


@pytest.mark.parametrize(
    ("rows", "verdict", "part"),
    [
        (trained((0, 0, 8.1)), "held", ""),  # a tenth of the gap of 80
        (trained((0, 0, 7.9)), "partly", ""),
        (trained((0, 0, 8.1), (0.1, 0.1, 8.2)), "not held", ""),  # not clear of 0
        (trained((0.2, 0, 0)), "partly", ""),  # only in a different bucket
        (trained((0, 0, -5)), "not held", "take away 5.00 [4.90, 5.10] BLEU, -6.2% of what"),
        (trained((0, 0, 0), once=(4.9, 1, 1)), "not measured", "is under 5 in every bucket"),
        (trained((0, 0, 2), attention=(90, 90, 8)), "not measured", "there is no loss to explain"),
    ],
)
def test_the_verdict_flips_where_the_move_crosses_the_rule(rows, verdict, part):
    result = verdict_on("C12", rows)
    assert (result.claim, result.verdict) == ("C12", verdict)
    assert part in result.because
