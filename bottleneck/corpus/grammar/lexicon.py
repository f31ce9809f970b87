"""The words of the grammar, from ``lexicon.toml``, whose first lines explain its notation."""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ..vocabulary import JOINER
from .french import Nominal, adjective, before_noun, conjugate, plural

COMMA = JOINER + ","
POSSESSIVE = JOINER + "'s"
_DATA = tomllib.loads(files(__package__).joinpath("lexicon.toml").read_text("utf8"))
FRAMES = tuple(_DATA["verbs"])
_AGREEMENTS = {"m": 0, "f": 1, "mp": 2, "fp": 3}
CONTENT, FUNCTION = frozenset(_DATA["content"]), frozenset(_DATA["function"])
"""The classes of content words, and those of function words."""
LECTURE_SENTENCES: tuple[str, ...] = tuple(_DATA["lecture"])
"""The lecture's sentences that the grammar has; callers keep them out of every split."""


@dataclass(slots=True, eq=False)
class Rule:
    """Rewrites a symbol as parts: ``symbols``, which start with a capital letter, and tokens.

    ``build`` makes the symbol's French from its parts in order: the French of a symbol, and the
    English position of a token. ``fixed`` is the number of words that the tokens add; a token that
    touches the word before it adds none.
    """

    symbol: str
    parts: tuple[str, ...]
    build: Callable[..., Any]
    weight: float = 1.0
    symbols: tuple[str, ...] = field(init=False)
    fixed: int = field(init=False)

    def __post_init__(self) -> None:
        self.symbols = tuple(part for part in self.parts if part[0].isupper())
        tokens = sum(not part.startswith(JOINER) for part in self.parts)
        self.fixed = tokens - len(self.symbols)


def words(size: str = "full") -> Iterator[Rule]:
    """Every word of the full or the small lexicon, as rules."""
    yield from _nouns(size)
    yield from _adjectives(size)
    yield from _verbs(size)
    for symbol in _DATA["open"]:
        places = [f"Attitude.{place}" for place in _DATA["barred"]]
        for kind in places if symbol == "Attitude" else [symbol]:
            for entry in _entries("open", symbol, size):
                if entry[0] not in _DATA["barred"].get(kind.partition(".")[2], ()):
                    yield _word(kind, *entry)
    for tense, tables in _DATA["tenses"].items():
        for table in tables:
            for entry in _entries("times", table, size):
                yield _word(f"Time.{tense}", *entry)
    for symbol, table in _DATA["closed"].items():
        for entry in table:
            yield _word(symbol, *entry.split("|"))
    subordinators = _DATA["subordinators"]
    for tenses, table in _DATA["between"].items():
        for english in table:
            yield _word(f"Conjunction.{tenses}", english, subordinators[english])
    for tenses, table in _DATA["fronted"].items():
        for place, barred in _DATA["barred"].items():
            for english in table:
                if english not in barred:
                    yield _word(f"Fronted.{place}.{tenses}", english, subordinators[english])


def _entries(section: str, key: str, size: str) -> Iterator[list[str]]:
    """The fields of the entries of a table; those of the small lexicon have a star."""
    for entry in _DATA[section][key]:
        if size == "full" or entry.startswith("*"):
            yield entry.removeprefix("*").split("|")


def _nouns(size: str) -> Iterator[Rule]:
    for letter in _DATA["nouns"]:
        for english, french, gender in _entries("nouns", letter, size):
            (singular, _, many), (un, _, des) = english.partition("/"), french.partition("/")
            female = _AGREEMENTS[gender]
            yield Rule(f"Noun.{letter}.s", (singular,), _nominal(un, 1, female))
            if many != "-":
                build = _nominal(des or plural(un), 1, 2 + female)
                yield Rule(f"Noun.{letter}.p", (many or _inflected(singular, "s"),), build)
    for letter in _DATA["kinds"]:
        for english, masculine, feminine in _entries("kinds", letter, size):
            build = _linked((masculine.strip("-"), feminine.strip("-")))
            yield Rule(f"Kind.{letter}", (english,), build)


def _adjectives(size: str) -> Iterator[Rule]:
    """Leaders (D) have the adjectives of people (H), and gatherings (C) those of events (V)."""
    for place in ("before", "after"):
        for english, french, classes in _entries("adjectives", place, size):
            forms = adjective(french)
            symbols = ["Quality"]
            if english not in _DATA["adjectives"]["ungraded"]:
                symbols += ["Graded"] if place == "before" else ["Graded", "GradedAfter"]
            if english in _DATA["adjectives"]["long"]:
                symbols.append("Long")
            for letter in classes + "D" * ("H" in classes) + "C" * ("V" in classes):
                attributive = before_noun(forms) if place == "before" else forms
                yield Rule(f"{place.title()}.{letter}", (english,), _agreeing(attributive))
                for symbol in symbols:
                    yield Rule(f"{symbol}.{letter}", (english,), _agreeing(forms))
    for entry in _DATA["adjectives"]["selecting"]:
        english, french = entry.split("|")
        yield Rule("Selecting", (english,), _agreeing(before_noun(adjective(french))))


def _verbs(size: str) -> Iterator[Rule]:
    """The forms of English verbs; a second word ("look for") is in each of them."""
    for frame in _DATA["verbs"]:
        for english, french, *link in _entries("verbs", frame, size):
            head, *particle = english.split()
            base, _, past = head.partition("/")
            verb = conjugate(french.rstrip("+"), *link, generic=french.endswith("+"))
            third = base if base == past else _inflected(base, "s")
            tokens = {"base": base, "third": third, "past": past or _inflected(base, "ed")}
            for form, token in tokens.items():
                yield Rule(f"Verb.{frame}.{form}", (token, *particle), _linked(verb))


def _word(symbol: str, english: str, french: str, features: str = "") -> Rule:
    """A set phrase, pronoun or name; "the" is three times as frequent as other determiners."""
    tokens = tuple(english.split())
    agreement, _, person = features.partition(" ")
    build = _phrase(french, len(tokens))
    if features:
        build = _nominal(french, len(tokens), _AGREEMENTS[agreement], person)
    return Rule(symbol, tokens, build, 3.0 if english == "the" else 1.0)


def _phrase(french: str, count: int) -> Callable[..., Any]:
    """A set phrase of ``count`` English tokens."""
    items: list[tuple[str | tuple[str, ...], list[int]]] = []
    for part in french.split():
        form, _, places = part.partition(":")
        numbers = [int(place) for place in places.split(",")] if places else [*range(count)]
        items.append((tuple(form.split("/")) if "/" in form else form, numbers))
    return lambda *links: [(form, tuple([links[n] for n in numbers])) for form, numbers in items]


def _agreeing(form: str | tuple[str, ...]) -> Callable[..., Any]:
    return lambda *links: [(form, links)]


def _linked(value: object) -> Callable[..., Any]:
    return lambda *links: (value, links)


def _nominal(french: str, count: int, agreement: int, person: str = "") -> Callable[..., Any]:
    phrase = _phrase(french, count)
    number = int(person or (5 if agreement > 1 else 2))
    return lambda *links: Nominal(phrase(*links), agreement, number, links=links)


def _inflected(word: str, ending: str) -> str:
    """A regular noun or verb with the ending s or ed."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word[:-1]}ie{ending[-1]}"
    if ending == "s":
        return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    return word.removesuffix("e") + ending


def fix_articles(tokens: list[str]) -> None:
    """Turn "a" into "an" where the next word needs it, in place."""
    for place, following in enumerate(tokens[1:]):
        vowel = following.startswith(("a", "e", "i", "o", "u")) or following in ("honest", "hour")
        consonant = following in ("university", "universities", "useful")
        if tokens[place] == "a" and vowel and not consonant:
            tokens[place] = "an"


def _classes_and_genders() -> tuple[dict[str, str], dict[str, str]]:
    symbols = {symbol: kind for kind, row in _DATA["symbols"].items() for symbol in row.split()}
    classes, genders = {COMMA: "punctuation", POSSESSIVE: "possessive"}, {}
    for word in words():
        symbol, *frame = word.symbol.split(".")
        if symbol == "Topic" and len(word.parts) > 1:
            continue
        if symbol in ("Noun", "Topic") and len(word.parts) == 1:
            genders[word.parts[0]] = "mf"[word.build(0).agreement % 2]
        if symbol in symbols and frame[:1] != ["Can"]:
            classes[word.parts[0]] = symbols[symbol]
    for table, known in ((_DATA["classes"], classes), (_DATA["genders"], genders)):
        for kind, tokens in table.items():
            known |= dict.fromkeys(tokens.split(), kind)
    return classes, genders


WORD_CLASS, NOUN_GENDER = _classes_and_genders()
"""The class of each English token, and the French gender (m or f) of each English noun's forms."""
