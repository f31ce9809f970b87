"""The printed tables agree with the slides and with their own arithmetic."""

import numpy as np
import pytest

from seq2seq_bottleneck.lecture.printed import L4, L_FAIL, L_FAIL_FIT, L_VIND

BUCKETS = ["5-10", "11-20", "21-30", "31-40", "41+"]
ON_THE_SLIDE = ["5-10 words", "10-20 words", "20-30 words", "30-40 words", "40+ words"]


def test_rows_are_in_order_and_keep_the_slides_names():
    for table in (L_FAIL, L_VIND):
        assert list(table) == BUCKETS
        assert [row.slide_bucket for row in table.values()] == ON_THE_SLIDE


def test_values_are_the_printed_ones():
    assert [row.bleu for row in L_FAIL.values()] == [35.2, 28.5, 18.7, 12.4, 8.1]
    assert [row.compression_ratio for row in L_FAIL.values()] == [2, 5, 10, 15, 20]
    assert [row.attention for row in L_VIND.values()] == [36.1, 32.7, 28.9, 24.8, 24.3]
    assert [row.improvement_percent for row in L_VIND.values()] == [2.6, 14.7, 54.5, 100.0, 200.0]


def test_both_tables_print_the_same_arm_without_attention():
    assert [row.none for row in L_VIND.values()] == [row.bleu for row in L_FAIL.values()]


def test_drops_round_to_the_printed_ones():
    first = L_FAIL["5-10"]
    assert first.drop_percent is None
    for row in list(L_FAIL.values())[1:]:
        assert round(100 * (row.bleu / first.bleu - 1)) == row.drop_percent


def test_improvements_round_to_the_printed_ones():
    for row in L_VIND.values():
        assert round(100 * (row.attention / row.none - 1), 1) == row.improvement_percent


def test_compression_rows_are_the_printed_ones_and_their_audit():
    assert [row.words for row in L4] == [5, 20, 50, 100]
    assert [row.numbers for row in L4] == [100 * row.words for row in L4]
    assert [row.word for row in L4] == ["Good", "Mediocre", "Poor", "Very Poor"]
    assert [row.ratio for row in L4] == pytest.approx([1.95, 7.81, 19.5, 39.06], abs=0.05)
    # 19.5 to 20 and 39.06 to 40: the slide rounds up.
    assert all(0 <= row.printed_ratio - row.ratio < 1 for row in L4)


def test_the_fit_is_that_of_the_printed_table():
    ratio = [row.compression_ratio for row in L_FAIL.values()]
    logs = np.log([row.bleu for row in L_FAIL.values()])
    slope, constant = np.polyfit(ratio, logs, 1)
    assert round(np.exp(constant), 1) == L_FAIL_FIT.scale
    assert round(-slope, 3) == L_FAIL_FIT.rate
    assert round(np.corrcoef(ratio, logs)[0, 1], 4) == L_FAIL_FIT.correlation
