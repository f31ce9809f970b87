"""Word tokens that can be joined to text again, and vocabularies, which number tokens.

If a token touches its neighbour, it has the joiner on that side: ``"l'homme, dit-il"`` becomes
``l'￭ homme ￭, dit-il``. White space becomes single spaces. A model reads and writes the pieces of
its run's `Tokenizer`: word tokens, or `subwords`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain

from ..settings.concerns import CorpusSettings
from ..settings.errors import counted

JOINER, SQUARE = "\uffed\u25a0"
"""The mark of a token that touches its neighbour; in the user's text it becomes a square."""
SPACELESS = {
    "ja-mecab": "\u3040-\u30ff\uff66-\uff9d",
    "zh": "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "char": "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff",
}
"""Scripts without spaces, by the sacreBLEU tokenizer that splits them: kana; Chinese characters;
Thai, Lao, Myanmar and Khmer."""
IN_CHARACTERS = "Lengths of the source are counted in characters: its script has no spaces"
PAD, BOS, EOS, UNK = range(4)
"""Token ids that every vocabulary begins with: padding after a sentence, the start token that the
decoder reads first, the end of a sentence (source and target), any word outside the vocabulary."""
SPECIAL = ("<pad>", "<s>", "</s>", "⁇")
"""Their tokens; sacreBLEU's 13a tokenizer leaves the unknown word (U+2047) whole."""


def tokenize(text: str) -> list[str]:
    """Split text into words, elisions, possessives, punctuation and characters of `SPACELESS`."""
    chunks = text.replace(JOINER, SQUARE).split()
    return list(chain.from_iterable(map(_split_chunk, chunks)))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of a character of `SPACELESS`, and of a piece of a chunk."""
    spaceless = "".join(SPACELESS.values())
    # Signs that belong to the letter before: combining marks, the joiners of Hindi and Persian.
    marks = "\u200c\u200d\U000e0100-\U000e01ef" + "".join(
        mark for mark in map(chr, range(0x300, 0x1F000)) if unicodedata.category(mark)[0] == "M"
    )
    character, letter = f"[{spaceless}][{marks}]*", rf"[^\W{spaceless}]"
    word = f"{letter}+(?:[{marks}]+{letter}*)*"
    return re.compile(character), re.compile(
        r"((?i:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)['’](?=\w))"  # an elision
        rf"|((?i:['’]s\b)|[^\w\s]|{character})"  # a possessive, punctuation, a spaceless character
        rf"|({word}(?:(?!(?i:['’]s\b))[-'’.,]{word})*)"  # a word
    )


@lru_cache(maxsize=2**16)  # words repeat: this halves the time
def _split_chunk(chunk: str) -> tuple[str, ...]:
    """Split one whitespace-free chunk; between two pieces exactly one carries the joiner."""
    character, piece = _patterns()
    if chunk.isalnum() and not character.search(chunk):
        return (chunk,)
    pieces = [(match.group(), match.lastindex) for match in piece.finditer(chunk)]
    tokens = [text for text, _ in pieces]
    for index in range(1, len(pieces)):
        if pieces[index][1] == 2:  # the right piece is not a word of letters: it has the joiner
            tokens[index] = JOINER + tokens[index]
        else:
            tokens[index - 1] += JOINER
    return tuple(tokens)


def without_joiner(token: str) -> str:
    """The token without joiners, as a person reads it."""
    return token.replace(JOINER, "")


def is_word(token: str) -> bool:
    """Whether a token is more than punctuation."""
    return any(sign.isalnum() for sign in token)


def count_words(text: str) -> int:
    """The length of a text: words between white space, and characters of `SPACELESS` scripts."""
    character, _ = _patterns()
    return len(character.sub(" x ", text).split())


def spaceless(texts: Sequence[str]) -> str:
    """The key of `SPACELESS` whose script is in more than half of the texts; else blank."""
    for tokenizer, characters in SPACELESS.items():
        if 2 * sum(bool(re.search(f"[{characters}]", text)) for text in texts) > len(texts):
            return tokenizer
    return ""


def tokenizer_advice(references: Sequence[str], tokenize: str, option: str) -> list[str]:
    """Advice if BLEU's tokenizer finds no words in references without spaces; else empty."""
    fitting = spaceless(references) if tokenize in ("13a", "intl") else ""
    choice = fitting if fitting == "char" else f"{fitting} (or char)"
    problem = f"BLEU by {tokenize} finds no words where the script has no spaces"
    return [f"{problem}: give {option}{choice}"] if fitting else []


def subword_advice(texts: Mapping[str, Iterable[str]]) -> list[str]:
    """Lines on subwords left in texts, by the texts' names, with a command that joins them."""
    lines = []
    commands = {"@@ ": "sed -r 's/@@( |$)//g'", "▁": "sed 's/ //g; s/▁/ /g; s/^ //'"}
    for mark, command in commands.items():  # of subword-nmt and sentencepiece
        counts = {name: sum(mark in line for line in text) for name, text in texts.items()}
        names = [f"{name} ({counted(count, 'line')})" for name, count in counts.items() if count]
        if names:
            lines.append(f"Subwords ({mark!r}) in {', '.join(names)}: join them first, `{command}`")
    return lines


def prepare_source(sentence: str, corpus: CorpusSettings) -> str:
    """Normalise case, Unicode form and spaces as in the corpus; the grammar has no full stops."""
    lower = corpus.lowercase or corpus.name == "grammar"
    # Case first: the small letter may be one character where the capital is two.
    text = unicodedata.normalize("NFC", sentence.lower() if lower else sentence)
    folded = " ".join(text.split())
    return folded.rstrip(" .!?") if corpus.name == "grammar" else folded


@dataclass(frozen=True)
class Tokenizer:
    """Splits text into the pieces that a model reads and writes, and joins them; here words."""

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text, without the end token."""
        return tokenize(text)

    def text(self, pieces: Sequence[str]) -> str:
        """The text of pieces that a model wrote; the inverse of `pieces` up to white space."""
        return without_joiner(" ".join(pieces).replace(f" {JOINER}", "").replace(f"{JOINER} ", ""))

    def spelled(self, piece: str) -> bytes:
        """The bytes of the text that a piece covers."""
        return without_joiner(piece).encode()


WORDS = Tokenizer()


@dataclass(frozen=True)
class Vocabulary:
    """Tokens by id: the four special ones, then pieces of text, the most frequent word first."""

    tokens: tuple[str, ...]
    tokenizer: Tokenizer = WORDS

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def words(self) -> dict[str, int]:
        """The ordinary pieces, without the special tokens, and their ids."""
        ordinary = self.tokens[len(SPECIAL) :]
        return {token: number for number, token in enumerate(ordinary, start=len(SPECIAL))}

    def numbers(self, text: str) -> list[int]:
        """Ids of a text's pieces, ``UNK`` for unknown ones."""
        return [self.words.get(piece, UNK) for piece in self.tokenizer.pieces(text)]


def build_vocabulary(sentences: Iterable[list[str]], cap: int) -> Vocabulary:
    """Number the ``cap`` most frequent tokens, ties in string order; special tokens are extra."""
    counts = Counter(chain.from_iterable(sentences))
    ranked = sorted(counts.keys() - set(SPECIAL), key=lambda token: (-counts[token], token))
    return Vocabulary((*SPECIAL, *ranked[:cap]))
