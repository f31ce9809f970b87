"""What is asked of the machine, and counts in words."""

import pytest

from seq2seq_bottleneck.settings.errors import counted
from seq2seq_bottleneck.settings.machine import nproc_from


@pytest.mark.parametrize(
    ("text", "threads"),
    [("3", 3), (" 2 ", 2), ("0", None), ("", None), ("abc", None), ("-1", None), ("²", None)],
)
def test_threads_are_set_by_a_number_above_0_alone(text, threads):
    assert nproc_from({"NPROC": text}) == threads
    assert nproc_from({}) is None


def test_one_has_no_s_and_thousands_have_a_comma():
    assert [counted(n, "test pair") for n in (0, 1, 2, 1234)] == [
        "0 test pairs", "1 test pair", "2 test pairs", "1,234 test pairs",
    ]  # fmt: skip
