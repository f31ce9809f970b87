"""Pieces of text as numbers: word tokens, the most frequent of training, or subwords.

What is in no vocabulary is unknown.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from .tokens import WORDS, Tokenizer

PAD, BOS, EOS, UNK = range(4)
"""Token ids that every vocabulary begins with: padding behind a sentence (never read, never
predicted), what the decoder reads before the first word, the end of a sentence on both sides, and
any word outside the vocabulary."""
UNKNOWN = "⁇"
"""How an unknown word prints: U+2047, which sacreBLEU's 13a tokenizer leaves whole."""
SPECIAL = ("<pad>", "<s>", "</s>", UNKNOWN)
"""The first tokens by id."""


@dataclass(frozen=True)
class Vocabulary:
    """Tokens by id: the four special ones, then pieces of text, of words the most frequent first.

    ``tokenizer`` says how text becomes such pieces.
    """

    tokens: tuple[str, ...]
    tokenizer: Tokenizer = WORDS

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def words(self) -> tuple[str, ...]:
        """The ordinary pieces, without the special tokens."""
        return self.tokens[len(SPECIAL) :]

    @cached_property
    def _ids(self) -> dict[str, int]:
        """Ids of the pieces; a special token in the text is none of them."""
        return {token: place for place, token in enumerate(self.words, start=len(SPECIAL))}

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Ids of tokens, ``UNK`` for those not known; nothing is put before or after."""
        return [self._ids.get(token, UNK) for token in tokens]

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text, known or not."""
        return self.tokenizer.pieces(text)

    def numbers(self, text: str) -> list[int]:
        """Ids of a text's pieces."""
        return self.encode(self.pieces(text))

    def text(self, pieces: Sequence[str]) -> str:
        """The text of pieces; the unknown one prints as `UNKNOWN`."""
        return self.tokenizer.text(pieces)

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Tokens up to the first ``EOS``, without padding."""
        ids = list(ids)
        sentence = ids[: ids.index(EOS)] if EOS in ids else ids
        return [self.tokens[place] for place in sentence if place not in (PAD, BOS)]

    def unknown_rate(self, sentences: Iterable[list[str]]) -> float:
        """Share of the tokens that are not known, 0 to 1; 0 where there are none."""
        counts = Counter(token in self._ids for token in chain.from_iterable(sentences))
        return counts[False] / max(1, counts.total())

    def to_bytes(self) -> bytes:
        """One token per line."""
        return "".join(f"{token}\n" for token in self.tokens).encode()

    @classmethod
    def from_bytes(cls, content: bytes, tokenizer: Tokenizer = WORDS) -> "Vocabulary":
        """Read what ``to_bytes`` gave; a ValueError where it is something else."""
        tokens = tuple(content.decode().removesuffix("\n").split("\n"))
        if tokens[: len(SPECIAL)] != SPECIAL:
            raise ValueError(f"no vocabulary: it must start with {' '.join(SPECIAL)}, one per line")
        return cls(tokens, tokenizer)


def build_vocabulary(sentences: Iterable[list[str]], cap: int) -> Vocabulary:
    """Number the ``cap`` most frequent tokens, ties in string order; special tokens are extra."""
    counts = Counter(chain.from_iterable(sentences))
    ranked = sorted(counts.keys() - set(SPECIAL), key=lambda token: (-counts[token], token))
    return Vocabulary((*SPECIAL, *ranked[:cap]))
