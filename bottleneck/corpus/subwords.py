"""Subwords: pieces of words that byte-pair encoding found in the training text (sentencepiece).

Byte-pair encoding (Sennrich et al. 2016) rather than the unigram model: it goes by the counts of
chunks (what stands between spaces) alone, so that the same text gives the same model, byte for
byte, on any machine. A piece that begins a chunk begins with ``▁``; none reaches over a space. A
character that training hardly showed is spelled in bytes (``<0xC5>``), so that no text has an
unknown piece. Text is not normalised and comes back exactly, but for white space, which is folded
to single spaces.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from types import ModuleType
from typing import Any

from ..settings.errors import UserError
from .tokens import Tokenizer
from .vocabulary import SPECIAL, UNKNOWN

START = "▁"
"""What the first piece of a chunk begins with; of a text's own such signs the bytes are spelled."""
BYTES = 256
"""Pieces that are single bytes: each has one."""


@dataclass(frozen=True)
class Subwords(Tokenizer):
    """A learned model: ``model`` are the bytes of sentencepiece's own file format."""

    model: bytes

    def check(self) -> None:
        """Raise UserError where sentencepiece is missing, ValueError where this is no model."""
        _ = self._processor

    def pieces(self, text: str) -> list[str]:
        """The pieces of every chunk, none of them unknown."""
        return list(chain.from_iterable(map(self._cut, text.split())))

    def text(self, pieces: Sequence[str]) -> str:
        """Bytes put together, spaces where chunks begin; bytes that are no UTF-8 become U+FFFD."""
        text = b"".join(map(_bytes_of, pieces)).decode(errors="replace")
        return " ".join(text.split())

    def display(self, piece: str) -> str:
        """The piece itself: its ``▁`` tells where a chunk begins."""
        return piece

    def size(self, piece: str) -> int:
        """Bytes, of which ``▁`` has none."""
        return len(_bytes_of(piece).strip())

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All pieces by id, the special tokens first, then the bytes."""
        return tuple(map(self._processor.id_to_piece, range(self._processor.get_piece_size())))

    @cached_property
    def _processor(self) -> Any:
        """sentencepiece's own object; ValueError where these are not the bytes of a model."""
        processor = _sentencepiece().SentencePieceProcessor()
        try:
            processor.load_from_serialized_proto(self.model)
        except RuntimeError:
            raise ValueError("no model of sentencepiece") from None
        return processor

    @cached_property
    def _cut(self) -> Callable[[str], tuple[str, ...]]:
        """The pieces of a chunk; text repeats its chunks."""
        encode = self._processor.encode

        @lru_cache(maxsize=2**18)
        def cut(chunk: str) -> tuple[str, ...]:
            first, *others = chunk.split(START)  # sentencepiece would read its own sign as a space
            pieces = encode(f" {first}", out_type=str)
            for part in others:
                pieces += [f"<0x{byte:02X}>" for byte in START.encode()]
                pieces += encode(part, out_type=str)
            return tuple(pieces)

        return cut


def _bytes_of(piece: str) -> bytes:
    """What a piece stands for, a space before it where it begins a chunk or is unknown."""
    if spelled := re.fullmatch(r"<0x([0-9A-F]{2})>", piece):
        return bytes([int(spelled[1], 16)])
    return f" {piece} ".encode() if piece == UNKNOWN else piece.replace(START, " ").encode()


def learn_subwords(texts: Iterable[str], size: int, setting: str) -> Subwords:
    """Learn at most ``size`` pieces, bytes among them, from a side of the training text.

    A text that supports fewer gives fewer. Raises UserError, naming ``setting``, where ``size`` is
    too small for the bytes and the text's characters.
    """
    counts = Counter(chain.from_iterable(text.split() for text in texts))
    # The most frequent chunks first, ties in string order.
    ordered = sorted(counts, key=lambda chunk: (-counts[chunk], chunk))
    model = io.BytesIO()
    names = dict(zip(("pad", "bos", "eos", "unk"), enumerate(SPECIAL), strict=True))
    try:
        _sentencepiece().SentencePieceTrainer.train(
            sentence_iterator=(f" {item.replace(START, ' ')}\t{counts[item]}" for item in ordered),
            model_writer=model,
            vocab_size=size + len(SPECIAL),
            **{f"{name}_id": place for name, (place, _) in names.items()},
            **{f"{name}_piece": token for name, (_, token) in names.items()},
            # Text as it is, whole chunks alone, bytes for the rest.
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
    except RuntimeError as error:
        least = BYTES + len(set(chain.from_iterable(counts))) + 1
        if size < least:
            raise UserError(
                f"{setting}={size} is too small for corpus.tokens=subwords: {BYTES} bytes and the "
                f"text's characters come first; give {least} or more"
            ) from None
        reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        raise UserError(
            f"sentencepiece cannot learn subwords for {setting} from this text ({reason}); "
            "give more text, or corpus.tokens=words"
        ) from None
    return Subwords(model.getvalue())


def _sentencepiece() -> ModuleType:
    """The library, which is an extra."""
    try:
        import sentencepiece
    except ImportError:
        raise UserError(
            "corpus.tokens=subwords needs sentencepiece: "
            '`pip install "seq2seq-bottleneck[subword]"`'
        ) from None
    return sentencepiece
