"""The three splits of a corpus, before vocabularies."""

from typing import NamedTuple

from .pair import SentencePair


class Splits(NamedTuple):
    """Training, validation and test pairs, and what a person should know about their making."""

    train: tuple[SentencePair, ...]
    valid: tuple[SentencePair, ...]
    test: tuple[SentencePair, ...]
    notes: tuple[str, ...] = ()
