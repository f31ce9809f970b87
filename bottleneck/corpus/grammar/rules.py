"""The rules of the grammar, read from ``rules.txt``, whose head describes its notation."""

import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from itertools import count
from math import prod
from typing import Any

from . import french
from .french import FUTURE, INFINITIVE, PAST, PRESENT, Item, VerbGroup, affirmed
from .lexicon import COMMA, FRAMES, POSSESSIVE, Rule, words

START = "Sentence"

# frame: classes of its subject, classes and pronouns of its object, share
_TRANSITIVE = {
    "Sense": ("HA", "HATUP", "near you far it", 5),
    "Hear": ("HA", "HA", "near you far it", 4),
    "Mind": ("H", "HATUP", "near you far", 6),
    "Meet": ("H", "H", "near you far", 4),
    "Handle": ("H", "TUW", "thing", 5),
    "Read": ("H", "R", "thing", 6),
    "Eat": ("HA", "FM", "thing", 3),
    "Cook": ("H", "FM", "thing", 3),
    "Drink": ("H", "L", "", 2),
    "Visit": ("H", "P", "thing", 3),
    "Rule": ("OC", "RH", "near you far it", 6),
    "Organize": ("HOC", "V", "thing", 2),
}
_TENSES = (PRESENT, PAST, FUTURE)
_RANGES = {
    "a": "I3N",
    "n": "sp",
    "t": _TENSES,
    "still": ("", "Still"),
    "doing": (*_TENSES, INFINITIVE),  # as in: people want to do something
    "frames": FRAMES,
    "free": [frame for frame in FRAMES if frame not in ("Say", "Can")],
    "transitive": tuple(_TRANSITIVE),
    "human": [frame for frame, (subjects, *_) in _TRANSITIVE.items() if "H" in subjects],
}
_ETRE, _AVOIR, _POUVOIR = (french.conjugate(verb).forms for verb in ("être", "avoir", "pouvoir"))
_BE = {PRESENT: {"I": "am", "3": "is", "N": "are"}, PAST: {"I": "was", "3": "was", "N": "were"}}
Variables = dict[str, Any]
_NOMINAL = frozenset(
    ["Def", "Np", "Sub", "Late", "Obj", "Both", "Owner", "Callee", "Exist", "Pron"]
)
_SHAPES = {
    **dict.fromkeys([*_NOMINAL, "Group", "Noun", "Name", "Topic"], "nominal"),
    **dict.fromkeys(["Flat", "Away"], "pair"),
    "Vg": "verb group",
}
_VARIABLE = re.compile(r"<(\w+)>|(?<=\.)[a-z]\b")


def rules(size: str = "full") -> list[Rule]:
    """All words and rules of the grammar. Draws depend on the order of a symbol's rules."""
    result = [*words(size)]
    text = files(__package__).joinpath("rules.txt").read_text("utf8")
    table = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for block in table.split("\nfor")[1:]:
        ranges, *lines = block.splitlines()
        rows = [[cell.strip() for cell in line.split("|")] for line in lines if line]
        for given in _assignments({}, ranges):
            for symbol, english, notation, weight, *inner in rows:
                for values in _assignments(given, *inner):
                    variables = _extended(values)
                    factors = weight.split("*")
                    share = prod(variables[f] if f in variables else float(f) for f in factors)
                    if share:
                        result.append(_rule(symbol, english, notation, float(share), variables))
    return result


def _assignments(given: Variables, ranges: str = "") -> Iterator[Variables]:
    """Every possible combination of values of variables, written "c in HA, a, t in doing".

    If a variable has a value already, its range only says whether the value is possible.
    """
    if not ranges:
        a, k = given.get("a"), given.get("k", "")
        person = given.get("c", "H") == "H"  # only people say I, and want to do something
        subject = person or (a != "I" and given.get("t") != INFINITIVE)
        if subject and ("near" not in k or a == "3") and ("you" not in k or a == "I"):
            yield given
        return
    first, _, others = ranges.strip().partition(", ")
    name, _, listed = first.partition(" in ")
    named = _RANGES if (listed or name) in _RANGES else _extended(given)
    letters_or_words = listed if listed.isupper() else listed.split()
    for value in named.get(listed or name, letters_or_words):
        if given.get(name, value) == value:
            yield from _assignments({**given, name: value}, others)


def _extended(given: Variables) -> Variables:
    """The variables, and others that follow from them."""
    result = dict(given)
    if "u" in given:  # the tenses of a main clause and of another
        result["t"], result["other"] = given["u"].split(".")
    c, n, a, t, f, o = (result.get(name) for name in "cnatfo")
    result |= {
        "who": "who" if c == "H" else "that",
        "which": "who" if c == "H" else "which",
        "whom": "whom" if o == "H" else "that",
        "frequent": {"H": 6, "A": 2, "O": 1, "C": 1}.get(c, 0.5),
        "usual": 1.5 if t == PAST else 1,
        "timed": not given.get("still"),
        "r": given.get("r", "3" if n == "s" else "N"),
        "w": t if t != PRESENT else "third" if a == "3" else "base",
        "peut": "/".join(_POUVOIR[PRESENT]),
    }
    if t in _TENSES:
        result |= {"être": "/".join(_ETRE[t]), "avoir": _AVOIR[t][2]}
        agreement = a or result["r"]
        result["be"] = "will be" if t == FUTURE else _BE[t][agreement]
    if f in _TRANSITIVE:
        subjects, objects, pronouns, share = _TRANSITIVE[f]
        result |= {
            "closed": "Act" if f == "Mind" else "Flat",  # one does not love quickly
            "subjects": subjects,
            "objects": objects,
            "late": [letter for letter in objects if letter in "HAUTWRFPOC"],
            "pronouns": pronouns.split(),
            "share": share,
            "part": share / len(objects),
        }
    return result


def _rule(symbol: str, english: str, notation: str, weight: float, variables: Variables) -> Rule:
    """The rule of a row for these values of the variables."""

    def filled(text: str) -> str:
        return _VARIABLE.sub(lambda match: str(variables.get(match[1] or match[0], match[0])), text)

    glued = {",": COMMA, "'s": POSSESSIVE}
    row = [[glued.get(token, token) for token in filled(part).split()] for part in english.split()]
    parts = tuple(part for tokens in row for part in tokens)
    function = _french(filled(symbol), row, filled(notation))
    return Rule(filled(symbol), parts, function, weight)


def _french(symbol: str, row: list[list[str]], notation: str) -> Callable[..., Any]:
    """The French of a row as a function of its English parts, which may have several tokens."""
    if notation.isidentifier() and hasattr(french, notation):
        return getattr(french, notation)
    numbers = count()
    places = [[next(numbers) for _ in tokens] for tokens in row]
    firsts = [place[0] for place in places]
    kinds = [tokens[0].partition(".")[0] for tokens in row]
    kind = symbol.partition(".")[0]
    if kind == "Vg":
        return _verb_group(dict(zip(kinds, firsts, strict=True)), kinds[0], notation)
    if not notation:
        notation = " ".join(f",:{n}" if k == COMMA else str(n) for n, k in enumerate(kinds))
    shape = _SHAPES.get(kind, "items")
    if notation == "0" and kind != "Group" and shape == _SHAPES.get(kinds[0], "items"):
        return lambda value: value
    is_clause = kinds[0] in _NOMINAL and shape == "items"
    halves = [
        _joined([_element(word, kinds, places) for word in half.split()])
        for half in notation.removeprefix("0" if is_clause else "").split(" / ")
    ]
    items = halves[0] if shape == "pair" else _joined(halves)
    if kind == "Group":
        noun, adjective_first = firsts[kinds.index("Noun")], kinds[int(notation[0])] != "Noun"
        return lambda *values: french.group(items(values), values[noun], adjective_first)
    if shape == "pair":
        rest = halves[1] if halves[1:] else _joined([])
        return lambda *values: (items(values), rest(values))
    if shape == "nominal":  # it agrees with its last noun group, or is a noun phrase and more
        last = max((n for n, part in enumerate(kinds) if part == "Group"), default=0)
        has_article = kinds[last] != "Group" or not notation.startswith(str(last))
        head = firsts[last]
        kept = {"article": ()} if has_article else {}
        return lambda *values: values[head]._replace(
            items=french.agree(items(values), values[head]), **kept
        )
    if is_clause:
        return lambda *values: affirmed(values[0]) + french.agree(items(values), values[0])
    return lambda *values: items(values)


def _joined(elements: list[Callable]) -> Callable[[tuple], list[Item]]:
    return lambda values: [item for element in elements for item in element(values)]


def _element(word: str, kinds: list[str], places: list[list[int]]) -> Callable[[tuple], list[Item]]:
    """The items of one French word in a row, from tokens' positions and symbols' French."""
    sign, (part, _, others) = word[0], word.lstrip("@&").partition(":")
    if sign in "@&":
        function, at = french.definite if sign == "@" else french.link, places[int(part)][0]
        linked = places[int(others)][:1] if others else None
        return lambda values: function(values[at], linked and (values[linked[0]],))
    if others:
        form = COMMA if part == "," else tuple(part.split("/")) if "/" in part else part
        linked = [place for n in others.split(",") for place in places[int(n)]]
        return lambda values: [(form, tuple(values[place] for place in linked))]
    first, *more = [places[int(n)][0] for n in re.findall(r"\d+", word)]
    if "+" in word:
        *to, pronoun = more
        return lambda values: french.with_pronoun(
            values[first], values[pronoun], *(values[place] for place in to)
        )
    if "^" in word:
        return lambda values: french.gapped(values[more[0]], values[first])
    if word.endswith(("a", "b")):
        half = "ab".index(word[-1])
        return lambda values: values[first][half]
    if word.endswith("!"):
        return lambda values: french.object_of(values[0], values[first])
    kind = kinds[int(word)]
    if kind in _NOMINAL:
        return lambda values: affirmed(values[first])
    if kind in ("Flat", "Away"):
        return lambda values: values[first][0] + values[first][1]
    if kind == "Vg":
        return lambda values: french.verbal(values[first])
    if kind in _SHAPES:
        return lambda values: values[first].items
    return lambda values: values[first]


def _verb_group(part: dict[str, int], first: str, tense: str) -> Callable[..., VerbGroup]:
    """An English tense with its negation or adverb; ``part`` has the place of each English part."""
    verb, adverb = part["Verb"], part.get("Often")
    denied = part.get("not", part.get("never"))
    negation = "pas" if "not" in part else "jamais" if "never" in part else ""

    def conjugated(*values: Any) -> VerbGroup:
        word, links = values[verb]
        finite = links
        if first in ("will", "do", "does", "did"):  # a participle stands for the verb itself
            alone = tense == PAST and word.compound
            finite = values[:1] if alone else (values[0], *links)
        denial = () if denied is None else (values[denied],)
        adverbs = [] if adverb is None else values[adverb]
        return word, tense, finite, links, negation, denial, adverbs

    return conjugated
