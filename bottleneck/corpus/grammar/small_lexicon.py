"""The small lexicon: the first quarter of every table of words, and the words of the lecture.

Nouns, verbs, adjectives, names, numerals, times, topics, greetings and adverbs of manner and
attitude are cut; pronouns, determiners, prepositions, conjunctions and the rules stay. So the small
language is a part of the full one: a sentence has the same French, links and derivation in both.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from math import ceil

from ..tokens import tokenize
from . import words
from .adjectives import ADJECTIVES
from .lecture import LECTURE_SENTENCES
from .nouns import CLASSES, KINDS, NOUNS, entries
from .rule import Choice, Rule
from .verbs import VERBS

SHARE = 1 / 4
Forms = list[tuple[str, ...]]
"""The English forms of a word, each as its tokens."""

_LECTURE = frozenset(token for sentence in LECTURE_SENTENCES for token in tokenize(sentence))
_PHRASES = (
    *(("Name", table) for table in (words.WOMEN, words.MEN)),
    ("City", words.CITIES),
    ("Number", words.NUMERALS),
    ("Manner", words.MANNERS),
    ("Attitude", words.ATTITUDES),
    *(("Time", table) for tables in words.TIMES.values() for table in tables),
    ("Topic", words.TOPICS),
    *(("Kind", table) for table in KINDS.values()),
    ("Morning", words.MORNINGS),
    ("Parting", words.PARTINGS),
)
_ADJECTIVE = "Before After Graded GradedAfter Quality Long"


def small(choices: Iterable[Choice]) -> list[Choice]:
    """The choices of the small lexicon, in the order given."""
    kept: dict[str, set[tuple[str, ...]]] = {}
    for kinds, table in _tables():
        first = ceil(SHARE * len(table))
        lecture = filter(_in_lecture, table[first:])
        forms = [*chain(*table[:first], *lecture)]
        for kind in kinds.split():
            kept.setdefault(kind, set()).update(forms)
    return [
        choice
        for choice in choices
        if isinstance(choice, Rule)
        or (kind := choice.symbol.partition(".")[0]) not in kept
        or choice.tokens in kept[kind]
    ]


def _in_lecture(forms: Forms) -> bool:
    """Whether the lecture's sentences have a form of the word."""
    return any(map(_LECTURE.issuperset, forms))


def _tables() -> Iterator[tuple[str, list[Forms]]]:
    """Every table that is cut, with the kinds of symbols that its words stand for."""
    for nouns in NOUNS.values():
        yield "Noun", [[(noun.singular,), (noun.plural,)] for noun in nouns]
    for pairs in VERBS.values():
        yield "Verb Gerund", [[pair.base, pair.third, pair.past, pair.gerund] for pair in pairs]
    for letter in CLASSES:
        for before in (True, False):
            table = [a for a in ADJECTIVES if letter in a.classes and a.before is before]
            yield _ADJECTIVE, [[(adjective.english,)] for adjective in table]
    for kind, table in _PHRASES:
        heads = [entry.split("|" if "|" in entry else None)[0] for entry in entries(table)]
        yield kind, [[tuple(head.split())] for head in heads]
