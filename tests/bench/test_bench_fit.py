"""Exponents: exact on powers, intervals as SciPy's, coverage under noise, what bends."""

import numpy as np
import pytest
from scipy import stats

from seq2seq_bottleneck.bench.fit import exponents, fit, upper

SIZES = np.array([10.0, 20, 30, 50, 70, 100, 140, 200])


@pytest.mark.parametrize("power", [-0.5, 0.0, 1.0, 2.0, 2.7])
def test_a_power_gives_its_exponent_and_no_interval_to_speak_of(power):
    found = fit(SIZES, 3e-4 * SIZES**power)
    assert found.value == pytest.approx(power, abs=1e-12)
    assert found.high - found.low < 1e-9
    assert found[3:] == (8, 10, 200)


def test_slope_and_interval_are_scipys():
    values = 2e-3 * SIZES**1.3 * np.random.default_rng(0).lognormal(0, 0.2, len(SIZES))
    line = stats.linregress(np.log(SIZES), np.log(values))
    half = stats.t.ppf(0.975, len(SIZES) - 2) * line.stderr
    found = fit(SIZES, values)
    assert found.value == pytest.approx(line.slope, rel=1e-12)
    assert (found.low, found.high) == pytest.approx((line.slope - half, line.slope + half))


def test_the_interval_covers_the_exponent_as_often_as_it_says():
    draw = np.random.default_rng(1)
    fits = [fit(SIZES, SIZES**1.7 * draw.lognormal(0, 0.1, len(SIZES))) for _ in range(2000)]
    covered = np.mean([one.low <= 1.7 <= one.high for one in fits])
    assert 0.935 <= covered <= 0.965


def test_what_has_no_logarithm_is_left_out_and_counted():
    values = SIZES**2.0
    values[0], values[3] = -1.0, np.nan
    found = fit(SIZES, values)
    assert found.value == pytest.approx(2.0)
    assert found[3:] == (6, 20, 200)
    assert fit(SIZES, np.where(SIZES == 50, 1.0, 0.0)) is None
    assert fit(SIZES, -values) is None


def test_two_points_have_an_exponent_without_an_interval():
    found = fit(np.array([10.0, 100.0]), np.array([1.0, 100.0]))
    assert found.value == pytest.approx(2.0)
    assert np.isnan([found.low, found.high]).all()


def test_the_upper_part_begins_at_the_geometric_middle():
    def kept(*sizes):
        return list(np.array(sizes)[upper(np.array(sizes, float)) == 1])

    assert kept(10, 20, 40, 80, 160) == [40, 80, 160]
    assert kept(64, 128, 256, 512, 1024) == [256, 512, 1024]
    assert kept(*SIZES) == [50, 70, 100, 140, 200]


def _rows(arm, varied, seconds, attention=None):
    return [
        {"arm": arm, "varied": varied, varied: size, "seconds": s, "attention_seconds": a}
        for size, s, a in zip(SIZES, seconds, attention or [None] * len(SIZES), strict=True)
    ]


def test_a_line_beside_a_square_bends_and_the_upper_part_says_where_to():
    own = list(1.0 * SIZES + 0.02 * SIZES**2)
    rows = _rows("none", "length", 5.0 * SIZES)
    rows += _rows("dot", "length", 5.0 * SIZES + own, own)
    held = {(row["arm"], row["quantity"], row["part"]): row for row in exponents(rows)}
    assert held["none", "seconds", "all"]["exponent"] == pytest.approx(1.0)
    whole, top = (held["dot", "attention_seconds", part] for part in ("all", "upper"))
    assert 1.0 < whole["exponent"] < top["exponent"] < 2.0
    assert (whole["from"], whole["to"], top["from"], top["points"]) == (10, 200, 50, 5)
    assert ("none", "attention_seconds", "all") not in held
    assert not any(quantity == "peak_mb" for _, quantity, _ in held)


def test_a_point_that_failed_leaves_the_others():
    seconds = [*(1.0 * SIZES[:-1]), None]
    (whole, *_) = exponents(_rows("none", "batch_size", seconds))
    assert whole["exponent"] == pytest.approx(1.0)
    assert whole["to"] == 140
