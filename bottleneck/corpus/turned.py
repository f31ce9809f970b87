"""The other direction: French to English, whatever the corpus.

Lengths are then those of the French. How probable a French sentence is among all is not known,
since several English ones may share it: turned pairs of the grammar have no bits. A copied
sentence is its own source, and keeps them.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from weakref import WeakKeyDictionary

from ..settings.errors import UserError
from .drawing import TRIES, SentenceSource
from .joining import Join
from .pair import SentencePair


def reverse_pair(pair: SentencePair) -> SentencePair:
    """The pair with its sides, and the sides of its links, exchanged."""
    links = tuple(sorted((theirs, ours) for ours, theirs in pair.links))
    bits = pair.bits if pair.source == pair.target else None
    return SentencePair(pair.target, pair.source, links, bits)


def turned_join(join: Join) -> Join:
    """A way to join pairs, for turned ones."""

    def joined(parts: Sequence[SentencePair]) -> SentencePair | None:
        pair = join([reverse_pair(part) for part in parts])
        return pair and reverse_pair(pair)

    return joined


class Turned:
    """A language drawn by the length of its translations.

    A length of the original is drawn, evenly from those near the one that is wanted, then a
    sentence of it, until a translation has that length. What came at other lengths is kept for
    later draws with the same ``Random``.
    """

    def __init__(self, language: SentenceSource) -> None:
        self.language = language
        self._spare: WeakKeyDictionary[Random, dict[int, list[SentencePair]]] = WeakKeyDictionary()

    @property
    def shortest(self) -> int:
        """Fewest words of a translation that can be asked for."""
        return self.language.shortest

    @property
    def longest(self) -> int:
        """Most words of a translation that can be asked for."""
        return self.language.longest

    def weight(self, words: int) -> float:
        """Every length is equally common: how common a translation's is, is not known."""
        return float(self.shortest <= words <= self.longest)

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a pair, without bits, whose source, the translation, has this many words.

        Raises UserError where `TRIES` draws find none.
        """
        spare = self._spare.setdefault(random, {})
        if spare.get(words):
            return spare[words].pop()
        lengths = self._lengths(words)
        for _ in range(TRIES):
            length = lengths[int(random.random() * len(lengths))]
            pair = replace(reverse_pair(self.language.draw(random, length)), bits=None)
            if pair.words == words:
                return pair
            spare.setdefault(pair.words, []).append(pair)
        raise UserError(
            f"no sentence with a translation of {words} words was found; change corpus.min_words "
            "or corpus.max_words"
        )

    def _lengths(self, words: int) -> range:
        """Lengths of the original whose translation may have so many words."""
        spread = 2 + words // 10
        low = max(self.shortest, min(words, self.longest) - spread)
        return range(low, min(self.longest, words + spread) + 1)
