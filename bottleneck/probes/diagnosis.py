"""One sentence and what each trained arm kept of it, word by word (slide L-LOST)."""

from collections.abc import Sequence
from dataclasses import dataclass

from .ibm1 import IBM1, Tokens
from .word_report import WordReport

LEAST = 0.1
"""The translation probability from which a word of the output vouches for one of the source."""


@dataclass(frozen=True)
class Diagnosed:
    """One arm's output, and the fate of every source word."""

    arm: str
    output: str
    words: tuple[WordReport, ...]


@dataclass(frozen=True)
class Diagnosis:
    """A sentence through some arms.

    ``words`` is its length, ``reference`` its translation where that is known, ``judged_by`` says
    in a sentence what decided a word's fate, ``unknown`` are words that training never showed,
    ``longest_trained`` is the length in words at which training ended, None where nobody says.
    """

    sentence: str
    words: int
    reference: str | None
    judged_by: str
    unknown: tuple[str, ...]
    arms: tuple[Diagnosed, ...]
    longest_trained: int | None = None


def aligned_reports(
    model: IBM1, source: Tokens, classes: Sequence[str], output: Tokens
) -> list[WordReport]:
    """Word reports where there is no reference: the output itself is aligned to the source.

    A word survives (1, else 0) where IBM model 1 takes it for the likeliest source of a word of the
    output, and t(output word | word) is `LEAST` or more; a word that the model never saw has None.
    """
    (links,) = model.align([(source, output)])
    table = model.table(source, output)
    kept: list[list[str]] = [[] for _ in source]
    for i, j in sorted(links):
        if table[j, i + 1] >= LEAST:
            kept[i].append(output[j])
    return [
        WordReport(word, kind, float(bool(own)) if word in model.source_ids else None, (), (*own,))
        for word, kind, own in zip(source, classes, kept, strict=True)
    ]
