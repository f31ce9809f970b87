"""Tokens: known splits, and that text comes back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.tokens import JOINER, detokenize, plain, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("l'homme, dit-il", ["l'￭", "homme", "￭,", "dit-il"]),
        ("the cat's mat.", ["the", "cat", "￭'s", "mat", "￭."]),
        ("Qu’il aille", ["Qu’￭", "il", "aille"]),
        ("3,5 (env.) », « oui »", ["3,5", "(￭", "env", "￭.", "￭)", "»", "￭,", "«", "oui", "»"]),
        ("w17 w0", ["w17", "w0"]),
        ("  ", []),
    ],
)
def test_known_tokens(text: str, tokens: list[str]) -> None:
    assert [plain(token) for token in tokenize(text)] == [plain(token) for token in tokens]
    assert detokenize(tokenize(text)) == " ".join(text.split())


@given(st.text())
@example("a￭b ￭")
@example("''s 's' l'l'a")
def test_text_comes_back(text: str) -> None:
    expected = " ".join(text.replace(JOINER, "\u25a0").split())
    assert detokenize(tokenize(text)) == expected


@given(st.text())
def test_tokens_hold_no_white_space(text: str) -> None:
    assert all(token and not any(map(str.isspace, token)) for token in tokenize(text))
