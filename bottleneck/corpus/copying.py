"""The copying corpus: a sequence of random words, to be repeated.

All its words are equally probable and independent, so that a sentence of n words out of a
vocabulary of V holds exactly n log2 V bits: the plainest load for a fixed context.
"""

import sys
from dataclasses import dataclass
from math import log2
from random import Random

from .pair import SentencePair


@dataclass(frozen=True)
class Copying:
    """Sentences over the words ``w0`` to ``w{vocabulary - 1}``; the target is the source."""

    vocabulary: int
    shortest: int = 1
    longest: int = sys.maxsize

    def weight(self, words: int) -> float:
        """Every length is equally common."""
        return float(self.shortest <= words <= self.longest)

    def draw(self, random: Random, words: int) -> SentencePair:
        """Draw a sentence of this many words, n log2 V bits, linked word by word to itself."""
        text = " ".join(f"w{int(random.random() * self.vocabulary)}" for _ in range(words))
        links = tuple((place, place) for place in range(words))
        return SentencePair(text, text, links, words * log2(self.vocabulary))
