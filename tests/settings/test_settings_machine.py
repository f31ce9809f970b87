"""What the machine is asked for."""

import pytest

from seq2seq_bottleneck.settings.machine import nproc_from


@pytest.mark.parametrize(
    ("text", "threads"),
    [("3", 3), (" 2 ", 2), ("0", None), ("", None), ("abc", None), ("-1", None), ("²", None)],
)
def test_threads_are_set_by_a_number_above_0_alone(text, threads):
    assert nproc_from({"NPROC": text}) == threads
    assert nproc_from({}) is None
