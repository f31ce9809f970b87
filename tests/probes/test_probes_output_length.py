"""Lengths and loops whose answer is known, and the definition of a loop word for word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.probes.output_length import (
    COLUMNS,
    in_loops,
    length_ratio,
    length_statistics,
    looping_share,
    share_of_sentences,
)
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate


def _marks(text: str) -> str:
    """An x for every token that stands in a loop."""
    return "".join("x" if inside else "." for inside in in_loops(text.split()))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("", ""),
        ("a", "."),
        ("a a", ".."),
        ("a a a", "xxx"),
        ("b a a a a c", ".xxxx."),
        ("a b a b", "...."),
        ("a b a b a", "....."),
        ("a b a b a b", "xxxxxx"),
        ("c a b a b a b a c", ".xxxxxxx."),
        ("a b c d e a b c d e a b c d e f", "x" * 15 + "."),
        ("a a a b b", "xxx.."),
        ("a a a b b b", "xxxxxx"),
        ("le chat et le chien et le rat", "........"),
    ],
)
def test_loops_by_hand(text: str, marks: str) -> None:
    assert _marks(text) == marks


@given(tokens=st.lists(st.sampled_from("ab"), max_size=16))
def test_loops_are_what_the_definition_says(tokens: list[str]) -> None:
    expected = np.zeros(len(tokens), bool)
    for start in range(len(tokens)):
        for stop in range(start + 1, len(tokens) + 1):
            part = tokens[start:stop]
            for period in range(1, len(part) // 3 + 1):
                if part[period:] == part[:-period]:
                    expected[start:stop] = True
    assert np.array_equal(in_loops(tokens), expected)


def test_counts_of_sentences_by_hand() -> None:
    hypotheses = [["le", "chat"], [], ["va"] * 5, ["le"]]
    references = [["le", "chat"], ["oui"], ["il", "va"], ["non"] * 3]
    rows = length_statistics(hypotheses, references, np.array([True, True, False, False]))
    assert dict(zip(COLUMNS, rows.sum(axis=0).tolist(), strict=True)) == {
        "sentences": 4,
        "hypothesis_tokens": 8,
        "reference_tokens": 8,
        "empty": 1,
        "unfinished": 2,
        "repeating": 1,
        "looping_tokens": 5,
        "repeating_references": 1,
    }
    assert rows[1].tolist() == [1, 0, 1, 1, 0, 0, 0, 0]
    sums = rows.sum(axis=0)
    assert length_ratio(sums) == 1
    assert share_of_sentences("unfinished")(sums) == 0.5
    assert share_of_sentences("empty")(sums) == 0.25
    assert looping_share(sums) == 5 / 8


def test_references_as_outputs_have_ratio_one_and_no_faults() -> None:
    texts = [["le", "chat", "dort"], ["il", "va"]]
    sums = length_statistics(texts, texts, np.array([True, True])).sum(axis=0)
    assert length_ratio(sums) == 1
    for fault in ("empty", "unfinished", "repeating", "repeating_references"):
        assert share_of_sentences(fault)(sums) == 0


def test_scores_fit_the_bootstrap() -> None:
    rng = np.random.default_rng(0)
    golds = [["x", "y"] * int(n) for n in rng.integers(1, 9, size=60)]
    halves = [gold[: len(gold) // 2] for gold in golds]
    rows = np.stack([length_statistics(halves, golds, rng.random(60) < 0.8) for _ in range(2)])
    weights = draw(60, 200, seed=0, bucket=0)
    ratio = estimate(length_ratio, rows, weights)
    assert ratio.value == 0.5
    assert ratio.draws == pytest.approx(0.5)
    unfinished = estimate(share_of_sentences("unfinished"), rows, weights)
    assert unfinished.value == pytest.approx(rows[..., 4].mean())
    assert unfinished.interval.low < unfinished.value < unfinished.interval.high


def test_nothing_is_blank() -> None:
    none = length_statistics([], [], np.zeros(0, bool))
    assert none.shape == (0, len(COLUMNS))
    assert np.isnan(length_ratio(none.sum(axis=0)))
    assert np.isnan(looping_share(none.sum(axis=0)))
    assert np.isnan(share_of_sentences("empty")(none.sum(axis=0)))
