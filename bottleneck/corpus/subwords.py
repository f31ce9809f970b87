"""Subwords: pieces of words that byte-pair encoding finds in the training text (sentencepiece).

Byte-pair encoding (Sennrich et al. 2016) counts chunks (the text between spaces). A piece that
begins a chunk begins with ``▁``; no piece crosses a space. A character that is rare in training is
spelled in bytes (``<0xC5>``), so that no text has an unknown piece.

Gold links and word classes belong to words: `by_word` turns a model's attention into theirs.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..settings.errors import UserError
from .vocabulary import SPECIAL, SQUARE, UNK, WORDS, Tokenizer, Vocabulary

START = "▁"  # the start of a chunk's first piece


@dataclass(frozen=True)
class Subwords(Tokenizer):
    """A learned model: ``model`` has the bytes of sentencepiece's file."""

    model: bytes

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text; none is unknown."""
        folded = " ".join(text.replace(START, SQUARE).split())
        return self.processor.encode(f" {folded}", out_type=str) if folded else []

    def text(self, pieces: Sequence[str]) -> str:
        """The text of pieces; bytes that are not UTF-8 become U+FFFD."""
        text = b"".join(map(self.spelled, pieces)).decode(errors="replace")
        return " ".join(text.split())

    def spelled(self, piece: str) -> bytes:
        """The bytes of a piece, with a space before it if it begins a chunk or is unknown."""
        if byte := re.fullmatch(r"<0x([0-9A-F]{2})>", piece):
            return bytes([int(byte[1], 16)])
        unknown = piece == SPECIAL[UNK]
        return (f" {piece} " if unknown else piece.replace(START, " ")).encode()

    @cached_property
    def processor(self) -> Any:
        """The model in sentencepiece."""
        processor = _sentencepiece().SentencePieceProcessor()
        processor.load_from_serialized_proto(self.model)
        return processor


def learn_subwords(texts: Iterable[str], size: int, setting: str) -> Vocabulary:
    """Learn at most ``size`` pieces, including bytes, from one side of the training text."""
    counts = Counter(chain.from_iterable(text.split() for text in texts))
    # The most frequent chunks first, ties in string order.
    ordered = sorted(counts, key=lambda chunk: (-counts[chunk], chunk))
    model, special = io.BytesIO(), {}
    for number, name in enumerate(("pad", "bos", "eos", "unk")):
        special |= {f"{name}_id": number, f"{name}_piece": SPECIAL[number]}
    try:
        _sentencepiece().SentencePieceTrainer.train(
            sentence_iterator=(f" {item.replace(START, ' ')}\t{counts[item]}" for item in ordered),
            model_writer=model,
            vocab_size=size + len(SPECIAL),
            **special,
            # The text is not changed, no piece crosses a chunk, rare characters become bytes.
            model_type="bpe",
            input_format="tsv",
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,
            byte_fallback=True,
            character_coverage=0.9999,  # the text's other characters are spelled in bytes
            hard_vocab_limit=False,
            shuffle_input_sentence=False,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError:
        least = 256 + len(set(chain.from_iterable(counts))) + 1
        raise UserError(
            f"{setting}={size} is too small for corpus.tokens=subwords; give {least} or more"
        ) from None
    subwords = Subwords(model.getvalue())
    numbers = range(subwords.processor.get_piece_size())  # the special tokens first, then the bytes
    return Vocabulary(tuple(map(subwords.processor.id_to_piece, numbers)), subwords)


def _sentencepiece() -> ModuleType:
    try:
        import sentencepiece
    except ImportError:
        raise UserError(
            "corpus.tokens=subwords needs sentencepiece: "
            '`pip install "seq2seq-bottleneck[subword]"`'
        ) from None
    return sentencepiece


def shares_of(
    pieces: Sequence[str], words: Sequence[str], tokenizer: Tokenizer
) -> Float[ndarray, "pieces words"]:
    """The shares of pieces in word tokens (or words between spaces) of the same text, by bytes.

    A piece of two word tokens (``).``) belongs to both, a piece without bytes to the next word.
    End tokens are last; rows sum to 1.
    """
    # After the text come an end piece and an end word of size 1.
    sizes = np.array([*(len(tokenizer.spelled(piece).strip()) for piece in pieces), 1], np.int64)
    widths = np.array([*(len(WORDS.spelled(word)) for word in words), 1], np.int64)
    starts, ends = np.cumsum(sizes) - sizes, np.cumsum(widths)
    last_starts = np.maximum.outer(starts, ends - widths)
    common = np.minimum.outer(starts + np.maximum(sizes, 1), ends) - last_starts
    shared = np.maximum(common, 0).astype(np.float64)
    return shared / shared.sum(axis=1, keepdims=True)


def by_word(
    weights: Float[ndarray, "target_pieces source_pieces"],
    source: Float[ndarray, "source_pieces source_words"],
    target: Float[ndarray, "target_pieces target_words"],
) -> Float[ndarray, "target_words source_words"]:
    """Add the weights of a source word's pieces, and average those of a target word's pieces.

    A source piece of two words is divided by its shares; a target piece of two counts for both.
    """
    touching = (target > 0).astype(np.float64)
    return (touching / touching.sum(axis=0)).T @ weights @ source
