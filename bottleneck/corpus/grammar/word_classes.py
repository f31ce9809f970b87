"""The class of every English word of the grammar, and the gender of its nouns' French."""

from collections.abc import Iterator
from functools import cache

from . import words
from .adjectives import ADJECTIVES, SELECTING
from .nouns import NOUNS, entries
from .rule import COMMA, POSSESSIVE
from .verbs import GERUNDS, VERBS

CONTENT = frozenset(["noun", "name", "adjective", "verb", "adverb", "numeral"])
FUNCTION = frozenset(
    [
        *["pronoun", "determiner", "preposition", "conjunction", "auxiliary", "particle"],
        *["interjection", "punctuation", "possessive"],
    ]
)


def word_class(token: str) -> str:
    """The class of an English token; each has one. KeyError for a word that is not ours."""
    return _classes()[token]


def noun_gender(noun: str) -> str:
    """The gender, m or f, of the French for an English noun, singular or plural; else KeyError."""
    return _genders()[noun]


def assignments() -> Iterator[tuple[str, str]]:
    """Every word with a class that a table gives it; a word may come up more than once."""
    for nouns in NOUNS.values():
        for noun in nouns:
            yield from ((form, "noun") for form in (noun.singular, noun.plural) if form)
    yield from ((adjective.english, "adjective") for adjective in (*ADJECTIVES, *SELECTING))
    for frame, pairs in VERBS.items():
        for pair in pairs if frame != "Can" else ():
            for form in (pair.base, pair.third, pair.past)[: 2 if frame == "Say" else 3]:
                yield form[0], "verb"
            if frame == "Read" and pair.base[0] in GERUNDS:
                yield pair.gerund[0], "verb"
    for kind, table in (
        ("name", words.WOMEN + words.MEN.strip() + words.CITIES),
        ("numeral", words.NUMERALS),
        ("adverb", words.FREQUENCIES + words.MANNERS.strip() + words.SPOTS),
        ("adverb", words.DEGREES + words.PREDICATE_DEGREES.strip() + words.ATTITUDES),
    ):
        for entry in entries(table):
            yield entry.replace("|", " ").split()[0], kind
    for topic in _single_topics():
        yield topic.split("|")[0], "noun"
    for kind, own in words.CLASSES.items():
        yield from ((word, kind) for word in own.split())
    yield COMMA, "punctuation"
    yield POSSESSIVE, "possessive"


def _single_topics() -> Iterator[str]:
    """The topics of one English word."""
    return (entry for entry in entries(words.TOPICS) if " " not in entry.split("|")[0])


@cache
def _classes() -> dict[str, str]:
    return dict(assignments())


@cache
def _genders() -> dict[str, str]:
    genders = {
        form: "mf"[noun.female]
        for nouns in NOUNS.values()
        for noun in nouns
        for form in (noun.singular, noun.plural)
        if form
    }
    genders |= {
        topic.split("|")[0]: "mf"[int(topic.split("|")[2]) % 2] for topic in _single_topics()
    }
    return genders | {word: gender for gender, own in words.GENDERS.items() for word in own.split()}
