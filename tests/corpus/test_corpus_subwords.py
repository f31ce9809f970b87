"""Subwords: text comes back, the same text gives the same model, and pieces are those of BPE.

And the words that pieces belong to.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.corpus import describe, load_corpus
from seq2seq_bottleneck.corpus.subwords import (
    BYTES,
    START,
    Shares,
    Subwords,
    by_word,
    learn_subwords,
    links_from_weights,
    shares_of,
)
from seq2seq_bottleneck.corpus.vocabulary import (
    JOINER,
    SPECIAL,
    SQUARE,
    UNKNOWN,
    WORDS,
    Vocabulary,
    tokenize,
)
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError

TEXTS = (
    ["the lower house of the newest parliament", "l'été, les maisons (basses) étaient vides."] * 20
    + ["the newest law lowers the lowest rate", "Article 12.5 : la loi du 3 mai"] * 7
    + ["a sign of its own: ▁ and <s> and <0x41> and ⁇ and ▅", "une fois 日"]
)
SIZE = 400
LEARNED = learn_subwords(TEXTS, SIZE, "corpus.source_vocabulary")


@given(st.text())
@example(f"a{START}b {START} {START}{START} {JOINER}x {JOINER}")
@example("\x00 \x01\x7f \u0085 \u2028 \ufeff\u200b  e\u0301 é")
@example("<s> </s> <pad> <0x41> <unk> ⁇ ▅ a<s>b")
@example("l'été du 日本 𝄞")
def test_text_comes_back(text: str):
    pieces = LEARNED.pieces(text)
    assert LEARNED.text(pieces) == " ".join(text.replace(START, SQUARE).split())
    vocabulary = Vocabulary(LEARNED.tokens, LEARNED)
    assert vocabulary.unknown_rate([pieces]) == 0
    assert vocabulary.decode(vocabulary.numbers(text)) == pieces
    assert sum(map(LEARNED.size, pieces)) == len("".join(text.split()).encode())


@given(st.text(alphabet="abdehlmnorstuwé'.12", min_size=1, max_size=12))
def test_pieces_are_those_of_merging_the_earliest_learned_first(chunk: str):
    ranks = {token: place for place, token in enumerate(LEARNED.tokens[len(SPECIAL) + BYTES :])}
    parts = [START, *chunk]
    while True:
        pairs = [a + b for a, b in pairwise(parts)]
        known = [pair for pair in pairs if pair in ranks]
        if not known:
            break
        place = pairs.index(min(known, key=ranks.__getitem__))
        parts[place : place + 2] = [pairs[place]]
    spelled = [
        part if part in ranks else "".join(f"<0x{byte:02X}>" for byte in part.encode())
        for part in parts
    ]
    assert "".join(LEARNED.pieces(chunk)) == "".join(spelled)
    assert [piece for piece in LEARNED.pieces(chunk) if piece in ranks] == [
        part for part in parts if part in ranks
    ]


def test_the_same_text_gives_the_same_bytes_which_are_sentencepieces_own(tmp_path: Path):
    again = learn_subwords(reversed(TEXTS), SIZE, "corpus.source_vocabulary")
    assert again == LEARNED
    assert learn_subwords(TEXTS[1:], SIZE, "x").model != LEARNED.model
    (tmp_path / "side.model").write_bytes(LEARNED.model)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "side.model"))
    text = "the lowest house, l'été de 1905 (vide)"
    assert theirs.encode(f" {text}", out_type=str) == LEARNED.pieces(text)
    ids = Vocabulary(LEARNED.tokens, LEARNED).numbers(text)
    assert theirs.encode(f" {text}") == ids
    assert theirs.decode(ids).strip() == text


def test_whatever_a_model_says_is_one_line():
    for pieces, text in (
        (["▁le", UNKNOWN, "s"], "le ⁇ s"),
        (["le", "▁▁", "s"], "le s"),
        (["▁", "<0xC3>", "<0xA9>", "t"], "ét"),
        (["▁a", "<0xC3>", "b"], "a\ufffdb"),
        (["▁a", "<0x0A>", "b"], "a b"),
        ([], ""),
    ):
        assert LEARNED.text(pieces) == text


def test_what_teaches_no_subwords_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch):
    message = r"corpus\.target_vocabulary=100 is too small .*: 256 bytes .*; give 26\d or more"
    with pytest.raises(UserError, match=message):
        learn_subwords(["abcd abc"], 100, "corpus.target_vocabulary")
    assert learn_subwords(["abcd abc"], 261, "corpus.target_vocabulary").pieces("abcd")
    for model in (b"", b"no model", b"\x00" * 50):
        with pytest.raises(ValueError, match="no model of sentencepiece"):
            Subwords(model).check()
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(
        UserError, match=r'^[^\n]*pip install "seq2seq-bottleneck\[subword\]"[^\n]*$'
    ):
        learn_subwords(TEXTS, SIZE, "x")


def test_a_corpus_of_subwords(tmp_path: Path):
    """Learned on the training side alone, in the corpus' case; lengths stay words."""
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
    assert source.tokenizer == learn_subwords((pair.source for pair in corpus.train), 350, "x")
    assert source.tokens == source.tokenizer.tokens
    assert ("▁le" in target.tokens, "▁le" in source.tokens) == (True, False)
    assert not any(token.isupper() for token in source.tokens[len(SPECIAL) + BYTES :])
    assert corpus.unknown_rates == (0, 0)
    assert len(source) - len(SPECIAL) <= 350
    pairs = [pair for pair in corpus.test if 5 <= pair.words <= 10]
    row = next(
        row for row in describe(corpus, (5, 11)) if (row.split, row.bucket) == ("test", "5-10")
    )
    assert row.pairs == len(pairs)
    tokens = sum(len(target.pieces(pair.target)) for pair in pairs)
    assert row.target_tokens == pytest.approx(tokens / len(pairs))


# From pieces to words.

BORDERS = learn_subwords(["the houses (old). l'été, the house", "▁ a b)."] * 9, 330, "x")


def overlaps(pieces: list[int], words: list[int]) -> Shares:
    """The shares of pieces of these sizes in words of these sizes."""
    texts = ([size * "x" or JOINER for size in sizes] for sizes in (pieces, words))
    return shares_of(*texts, WORDS)


@st.composite
def two_cuts(draw: st.DrawFn) -> list[list[int]]:
    """One text cut twice: sizes above 0 that add up to the same total."""
    total = draw(st.integers(1, 25))
    places = st.sets(st.integers(1, total - 1)) if total > 1 else st.just(set())
    return [np.diff([0, *sorted(draw(places)), total]).tolist() for _ in range(2)]


@given(two_cuts())
def test_shares_are_counts_of_bytes(sizes):
    pieces, words = sizes
    owners = [np.repeat(np.arange(len(side) + 1), [*side, 1]) for side in sizes]
    counts = np.zeros((len(pieces) + 1, len(words) + 1))
    for piece, word in zip(*owners, strict=True):
        counts[piece, word] += 1
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(overlaps(pieces, words), expected)


@given(two_cuts(), two_cuts(), st.integers(0, 2**20))
def test_weights_of_a_target_word_still_add_up_to_one(source, target, seed):
    weights = np.random.default_rng(seed).random((len(target[0]) + 1, len(source[0]) + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    result = by_word(weights, overlaps(*source), overlaps(*target))
    assert result.shape == (len(target[1]) + 1, len(source[1]) + 1)
    np.testing.assert_allclose(result.sum(axis=1), 1)
    np.testing.assert_allclose(result[-1, -1], weights[-1, -1])


def test_pieces_of_two_words_and_pieces_without_bytes():
    shares = overlaps([1, 3], [2, 2])
    np.testing.assert_allclose(shares, [[1, 0, 0], [1 / 3, 2 / 3, 0], [0, 0, 1]])
    weights = np.array([[0.3, 0.6, 0.1], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]])
    expected = [[(0.5 + 0.3) / 2, (0.4 + 0.6) / 2, 0.1], [0.3, 0.6, 0.1]]
    np.testing.assert_allclose(by_word(weights, shares, shares)[:2], expected)
    # What has no bytes belongs to the word that follows.
    expected = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(overlaps([2, 0, 3], [2, 3]), expected)
    with pytest.raises(ValueError, match="pieces of 3 bytes for words of 4"):
        overlaps([1, 2], [4])


@given(st.text())
@example("the houses (old).")
def test_every_text_has_shares(text):
    words, pieces = tokenize(text), BORDERS.pieces(text)
    shares = shares_of(pieces, words, BORDERS)
    assert shares.shape == (len(pieces) + 1, len(words) + 1)
    sizes = [BORDERS.size(piece) for piece in pieces]
    np.testing.assert_allclose(sizes @ shares[:-1, :-1], [WORDS.size(word) for word in words])
    np.testing.assert_array_equal(shares_of(words, words, WORDS), np.eye(len(words) + 1))


def test_links_from_weights_leave_end_tokens_out():
    weights = np.array([[0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]])
    assert links_from_weights(weights, 2, 2) == {(1, 0), (0, 1)}
    assert links_from_weights(weights, 3, 3) == {(2, 0), (0, 1), (2, 2)}
    assert links_from_weights(weights, 0, 2) == frozenset()
