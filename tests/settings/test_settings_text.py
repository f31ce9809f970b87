"""One of a thing, or several."""

from seq2seq_bottleneck.settings.text import counted


def test_one_has_no_s_and_thousands_have_a_comma():
    assert [counted(n, "test pair") for n in (0, 1, 2, 1234)] == [
        "0 test pairs", "1 test pair", "2 test pairs", "1,234 test pairs",
    ]  # fmt: skip
