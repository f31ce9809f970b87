"""Noun phrases in their places: what stands before them, by kind and agreement."""

import pytest

from seq2seq_bottleneck.corpus.grammar.phrases import FIXED, ONE, SOME, affirmed, after_de

BOOK = [("livre", (1,))]


def phrase(kind, agreement):
    return (2, agreement, kind, (0,), BOOK)


@pytest.mark.parametrize("agreement", range(4))
def test_de_swallows_the_article_that_begins_with_it_and_no_other(agreement):
    assert after_de(phrase(SOME, agreement)) == BOOK
    one = "une" if agreement == 1 else "un"
    assert after_de(phrase(ONE, agreement)) == [(one, (0,)), *BOOK]
    assert after_de(phrase(FIXED, agreement)) == BOOK
    assert affirmed(phrase(SOME, agreement)) == [("des", (0,)), *BOOK]
