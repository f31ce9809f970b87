"""The words of the grammar, from ``lexicon.toml``, whose first lines explain its notation."""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ..vocabulary import JOINER
from .french import Nominal, adjective, conjugate, plural

DATA = tomllib.loads(files(__package__).joinpath("lexicon.toml").read_text("utf8"))
CONTENT, FUNCTION = frozenset(DATA["content"]), frozenset(DATA["function"])
"""The classes of content words, and those of function words."""
LECTURE_SENTENCES: tuple[str, ...] = tuple(DATA["lecture"])
"""The lecture's sentences that the grammar has; callers keep them out of every split."""


@dataclass(slots=True, eq=False)
class Rule:
    """Rewrites a symbol as parts: ``symbols``, which start with a capital letter, and tokens.

    ``build`` makes the symbol's French from its parts in order: the French of a symbol, and the
    English position of a token. A `Grammar` sets ``symbols`` and ``fixed``, the number of words
    that the tokens add; a token that touches the word before it adds none.
    """

    symbol: str
    parts: tuple[str, ...]
    build: Callable[..., Any]
    weight: float = 1.0
    symbols: tuple[str, ...] = ()
    fixed: int = 0


def words(size: str = "full") -> Iterator[Rule]:
    """Every word of the full or the small lexicon, as rules."""
    for letter in DATA["nouns"]:
        for english, french, gender in _entries("nouns", letter, size):
            (singular, _, many), (un, _, des) = english.partition("/"), french.partition("/")
            yield _word(f"Noun.{letter}.s", singular, un, gender)
            if many != "-":
                many = many or _inflected(singular, "s")
                yield _word(f"Noun.{letter}.p", many, des or plural(un), gender + "p")
    for letter in DATA["kinds"]:
        for english, masculine, feminine in _entries("kinds", letter, size):
            forms = masculine.strip("-"), feminine.strip("-")
            yield Rule(f"Kind.{letter}", (english,), lambda *links, forms=forms: (forms, links))
    # Leaders (D) have the adjectives of people (H), and gatherings (C) those of events (V).
    for place in ("before", "after"):
        for english, french, classes in _entries("adjectives", place, size):
            attributive = "/".join(adjective(french, before_noun=place == "before"))
            predicative, symbols = "/".join(adjective(french)), ["Quality"]
            if english not in DATA["adjectives"]["ungraded"]:
                symbols += ["Graded"] if place == "before" else ["Graded", "GradedAfter"]
            if english in DATA["adjectives"]["long"]:
                symbols.append("Long")
            for letter in classes + "D" * ("H" in classes) + "C" * ("V" in classes):
                yield _word(f"{place.title()}.{letter}", english, attributive)
                for symbol in symbols:
                    yield _word(f"{symbol}.{letter}", english, predicative)
    for entry in DATA["adjectives"]["selecting"]:
        english, french = entry.split("|")
        yield _word("Selecting", english, "/".join(adjective(french, before_noun=True)))
    # A verb's second word ("look for") is in each of its forms.
    for frame in DATA["verbs"]:
        for english, french, *link in _entries("verbs", frame, size):
            head, *particle = english.split()
            base, _, past = head.partition("/")
            verb = conjugate(french.rstrip("+"), *link, generic=french.endswith("+"))
            third = base if base == past else _inflected(base, "s")
            tokens = {"base": base, "third": third, "past": past or _inflected(base, "ed")}
            for form, token in tokens.items():
                symbol, parts = f"Verb.{frame}.{form}", (token, *particle)
                yield Rule(symbol, parts, lambda *links, verb=verb: (verb, links))
    # Set phrases: what "barred" lists cannot open a clause in that place.
    for symbol in DATA["open"]:
        places = [f"Attitude.{place}" for place in DATA["barred"]]
        for kind in places if symbol == "Attitude" else [symbol]:
            for entry in _entries("open", symbol, size):
                if entry[0] not in DATA["barred"].get(kind.partition(".")[2], ()):
                    yield _word(kind, *entry)
    for tense, tables in DATA["tenses"].items():
        for table in tables:
            for entry in _entries("times", table, size):
                yield _word(f"Time.{tense}", *entry)
    for symbol, table in DATA["closed"].items():
        for entry in table:
            yield _word(symbol, *entry.split("|"))
    subordinators = DATA["subordinators"]
    for tenses, table in DATA["between"].items():
        for english in table:
            yield _word(f"Conjunction.{tenses}", english, subordinators[english])
    for tenses, table in DATA["fronted"].items():
        for place, barred in DATA["barred"].items():
            for english in table:
                if english not in barred:
                    yield _word(f"Fronted.{place}.{tenses}", english, subordinators[english])


def _entries(section: str, key: str, size: str) -> Iterator[list[str]]:
    """The fields of the entries of a table; those of the small lexicon have a star."""
    for entry in DATA[section][key]:
        if size == "full" or entry.startswith("*"):
            yield entry.removeprefix("*").split("|")


def _word(symbol: str, english: str, french: str, features: str = "") -> Rule:
    """A word or a set phrase; a noun phrase if it has ``features``: agreement, and person.

    "the" is three times as frequent as other determiners.
    """
    tokens = tuple(english.split())
    items: list[tuple[str | tuple[str, ...], list[int]]] = []
    for part in french.split():
        form, _, places = part.partition(":")
        numbers = [int(n) for n in places.split(",")] if places else [*range(len(tokens))]
        items.append((tuple(form.split("/")) if "/" in form else form, numbers))
    letters, _, given = features.partition(" ")
    agreement = ("m", "f", "mp", "fp").index(letters or "m")
    person = int(given or (5 if agreement > 1 else 2))

    def build(*links: int) -> Any:
        linked = [(form, tuple([links[n] for n in numbers])) for form, numbers in items]
        return Nominal(linked, agreement, person, links=links) if features else linked

    return Rule(symbol, tokens, build, 3.0 if english == "the" else 1.0)


def _inflected(word: str, ending: str) -> str:
    """A regular noun or verb with the ending s or ed."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ie{ending[-1]}"
    if ending == "s":
        return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    return word.removesuffix("e") + ending


WORD_CLASS = {JOINER + ",": "punctuation", JOINER + "'s": "possessive"}
"""The class of each English token."""
NOUN_GENDER: dict[str, str] = {}
"""The French gender (m or f) of each English noun's forms."""
_CLASSES = {symbol: kind for kind, row in DATA["symbols"].items() for symbol in row.split()}
for word in words():
    kind, *frame = word.symbol.split(".")
    if kind in ("Noun", "Topic") and len(word.parts) == 1:
        NOUN_GENDER[word.parts[0]] = "mf"[word.build(0).agreement % 2]
    if kind in _CLASSES and frame[:1] != ["Can"] and (kind != "Topic" or len(word.parts) == 1):
        WORD_CLASS[word.parts[0]] = _CLASSES[kind]
for table, known in ((DATA["classes"], WORD_CLASS), (DATA["genders"], NOUN_GENDER)):
    for kind, tokens in table.items():
        known |= dict.fromkeys(tokens.split(), kind)
