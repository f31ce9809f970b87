"""Subwords: text comes back, equal texts give equal models, pieces belong to words."""

import sys
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.subwords import (
    START,
    by_word,
    learn_subwords,
    shares_of,
)
from seq2seq_bottleneck.corpus.vocabulary import (
    JOINER,
    SPECIAL,
    SQUARE,
    UNK,
    WORDS,
)
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError

TEXTS = (
    ["the lower house of the newest parliament", "l'été, les maisons (basses) étaient vides."] * 20
    + ["the newest law lowers the lowest rate", "Article 12.5 : la loi du 3 mai"] * 7
    + ["a sign of its own: ▁ and <s> and <0x41> and ⁇ and ▅", "une fois 日"]
)
SIZE = 400
VOCABULARY = learn_subwords(TEXTS, SIZE, "corpus.source_vocabulary")
LEARNED = VOCABULARY.tokenizer


@given(st.text())
@example(f"a{START}b {START} {START}{START} {JOINER}x {JOINER}")
@example("<s> </s> <pad> <0x41> <unk> ⁇ ▅ a<s>b")
def test_text_comes_back(text: str):
    pieces = LEARNED.pieces(text)
    assert LEARNED.text(pieces) == " ".join(text.replace(START, SQUARE).split())
    numbers = VOCABULARY.numbers(text)
    assert UNK not in numbers
    assert [VOCABULARY.tokens[number] for number in numbers] == pieces
    sizes = [len(LEARNED.spelled(piece).strip()) for piece in pieces]
    assert sum(sizes) == len("".join(text.split()).encode())


def test_the_same_text_gives_the_same_bytes_which_are_sentencepieces_own(tmp_path: Path):
    again = learn_subwords(reversed(TEXTS), SIZE, "corpus.source_vocabulary")
    assert again == VOCABULARY
    (tmp_path / "side.model").write_bytes(LEARNED.model)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "side.model"))
    text = "the lowest house, l'été de 1905 (vide)"
    assert theirs.encode(f" {text}", out_type=str) == LEARNED.pieces(text)
    ids = VOCABULARY.numbers(text)
    assert theirs.encode(f" {text}") == ids
    assert theirs.decode(ids).strip() == text


def test_what_teaches_no_subwords_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch):
    message = r"corpus\.target_vocabulary=100 is too small .*; give 26\d or more"
    with pytest.raises(UserError, match=message):
        learn_subwords(["abcd abc"], 100, "corpus.target_vocabulary")
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(
        UserError, match=r'^[^\n]*pip install "seq2seq-bottleneck\[subword\]"[^\n]*$'
    ):
        learn_subwords(TEXTS, SIZE, "x")


def test_a_corpus_of_subwords(tmp_path: Path):
    """Learned from the training text only, in the corpus' case; lengths are still in words."""
    lines = [f"Word{n} " + " ".join("XY" * (1 + n % 3) for _ in range(4 + n % 30))
             for n in range(300)]  # fmt: skip
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{line}\tLe {line}\n" for line in lines))
    settings = CorpusSettings(
        name="files", source=str(path), lowercase=True, tokens="subwords",
        source_vocabulary=350, target_vocabulary=360,
    )  # fmt: skip
    corpus = load_corpus(settings, (5, 11, 21, 31, 41))
    source, target = corpus.source_vocabulary, corpus.target_vocabulary
    assert source == learn_subwords((pair.source for pair in corpus.train), 350, "x")
    assert ("▁le" in target.tokens, "▁le" in source.tokens) == (True, False)
    assert not any(token.isupper() for token in source.tokens[len(SPECIAL) + 256 :])
    assert corpus.unknown_rates == (0, 0)
    assert len(source) - len(SPECIAL) <= 350


# From pieces to words.


def overlaps(pieces: list[int], words: list[int]) -> np.ndarray:
    """The shares of pieces of these sizes in words of these sizes."""
    texts = ([size * "x" or JOINER for size in sizes] for sizes in (pieces, words))
    return shares_of(*texts, WORDS)


def test_pieces_of_two_words():
    shares = overlaps([1, 3], [2, 2])
    np.testing.assert_allclose(shares, [[1, 0, 0], [1 / 3, 2 / 3, 0], [0, 0, 1]])
    weights = np.array([[0.3, 0.6, 0.1], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]])
    expected = [[(0.5 + 0.3) / 2, (0.4 + 0.6) / 2, 0.1], [0.3, 0.6, 0.1]]
    np.testing.assert_allclose(by_word(weights, shares, shares)[:2], expected)
    shares = overlaps([2, 2, 1], [3, 2])
    np.testing.assert_allclose(shares, [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]])
