"""Hostile input: text, bytes and values for tests that try thousands of them."""

import contextlib
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from lanes import Draws, sample_random

from seq2seq_bottleneck.settings.errors import UserError

HANGS = 60_000
"""Milliseconds after which a case counts as endless, even on a busy machine."""

SIGNS = [
    "\0", "\x1b[31m", "\x1b", "\u202e", "\u2066", "\ufeff", "\r", "\x0b", "\x0c", "\x1c", "\x85",
    "\u2028", "\u2029", "\u00a0", "\u3000", "\u200b", "\uffed", "\u2047", "\u2581", "e\u0301",
    "\u00e9",
    "<pad>", "</s>", "<0x0A>", "[red]", "[/]", "$x$", "\t", "'", '"', "\\", "\U0001f600", "\ufb01",
    "\u0130", "\u00df", "\u1e9e", "&amp;", "<script>", "=1+1", "-", "0-0", "1?2",
]  # fmt: skip
"""Control characters, direction marks, many kinds of spaces, ligatures, our own marks, markup."""
WORDS = ["le", "chat", "noir", "dort", "the", "black", "cat", "l'homme", "3.5", "dort."]
word = (
    st.sampled_from(WORDS) | st.sampled_from(WORDS) | st.sampled_from(SIGNS) | st.text(max_size=4)
)
sentence = st.lists(word, max_size=14).map(" ".join)
plain_sentence = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)
long_sentence = st.sampled_from(["w " * 10_000, "le\u00a0" * 10_000, "x" * 100_000])
spoilt_bytes = st.sampled_from([b"\xff", b"\xed\xa0\x80", b"\0", b"\xef\xbb\xbf", b"\xc3", b"\r\n"])


@st.composite
def file_bytes(draw: Callable, lines: list[str]) -> bytes:
    """Lines as a file's bytes: two kinds of line ends, maybe a byte-order mark or spoilt bytes."""
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    data = end.join(lines).encode() + draw(st.sampled_from([b"", end.encode(), end.encode()]))
    if draw(st.integers(0, 5)) == 0:
        data = b"\xef\xbb\xbf" + data
    return spoilt(draw, data) if draw(st.integers(0, 9)) == 0 else data


def spoilt(draw: Callable, data: bytes) -> bytes:
    """The data with some bytes cut out, put in or changed by one bit."""
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["in", "out", "end", "turned"])):
            case "in":
                data = data[:place] + draw(spoilt_bytes) + data[place:]
            case "out":
                data = data[:place] + data[place + draw(st.integers(1, 40)) :]
            case "end":
                data = data[:place]
            case _ if place < len(data):
                turned = data[place] ^ (1 << draw(st.integers(0, 7)))
                data = data[:place] + bytes([turned]) + data[place + 1 :]
    return data


def try_cases(check: Callable[[Any], object], cases: st.SearchStrategy, draws: Draws) -> None:
    """Check drawn cases: each must end in a result or in an error that the user can correct."""

    def ends_well(case: Any) -> None:
        with contextlib.suppress(UserError):
            check(case)

    drawn = given(cases)(ends_well)
    if draws.fresh:
        drawn = seed(sample_random(check.__qualname__).getrandbits(64))(drawn)
    settings(
        max_examples=draws.count,
        deadline=HANGS,
        database=None,
        derandomize=not draws.fresh,
        suppress_health_check=list(HealthCheck),
    )(drawn)()
