"""The printed tables are the slides' and agree with their own arithmetic."""

import numpy as np
import pytest

from seq2seq_bottleneck.lecture.slides import L4, L_FAIL, L_VIND, SLIDES, Printed, log_linear_fit


def test_a_number_keeps_the_text_of_its_slide():
    assert [str(number) for number in SLIDES["L7"]["scores"]] == ["0.09", "0.94", "0.20"]
    assert f"{Printed('0.60')}" == "0.60"
    assert Printed("0.60") + 1 == 1.6


def test_ids_and_rows_are_in_the_lectures_order_and_keep_the_slides_names():
    last = ["L-FAIL", "L-VIND", "L-SHORT", "L-LOST"]
    assert list(SLIDES) == [f"L{number}" for number in range(1, 19)] + last
    for table in (L_FAIL, L_VIND):
        assert list(table) == ["5-10", "11-20", "21-30", "31-40", "41+"]
        names = [row.slide_bucket.removesuffix(" words") for row in table.values()]
        assert names == ["5-10", "10-20", "20-30", "30-40", "40+"]


def test_values_are_the_printed_ones():
    assert [row.bleu for row in L_FAIL.values()] == [35.2, 28.5, 18.7, 12.4, 8.1]
    assert [row.compression_ratio for row in L_FAIL.values()] == [2, 5, 10, 15, 20]
    assert [row.drop_percent for row in L_FAIL.values()] == [0, -19, -47, -65, -77]
    assert [row.none for row in L_VIND.values()] == [row.bleu for row in L_FAIL.values()]
    assert [row.attention for row in L_VIND.values()] == [36.1, 32.7, 28.9, 24.8, 24.3]
    assert [row.improvement_percent for row in L_VIND.values()] == [2.6, 14.7, 54.5, 100.0, 200.0]


def test_compression_rows_are_the_printed_ones_and_their_audit():
    assert [row.words for row in L4] == [5, 20, 50, 100]
    assert [row.quality for row in L4] == ["Good", "Mediocre", "Poor", "Very Poor"]
    assert [row.ratio for row in L4] == pytest.approx([1.95, 7.81, 19.5, 39.06], abs=0.05)
    # 19.5 to 20 and 39.06 to 40: the slide rounds up.
    assert all(0 <= row.printed_ratio - row.ratio < 1 for row in L4)


def test_the_fit_of_the_failure_pattern():
    ratio = [row.compression_ratio for row in L_FAIL.values()]
    bleu = [row.bleu for row in L_FAIL.values()]
    scale, rate, correlation = log_linear_fit(ratio, bleu)
    assert (round(scale, 1), round(rate, 3), round(correlation, 4)) == (42.3, 0.082, -0.9997)
    exact = [30 * float(np.exp(-0.1 * x)) for x in ratio]
    assert log_linear_fit(ratio, exact) == pytest.approx((30, 0.1, -1))
