"""The rules of the grammar, read from ``rules.txt``, whose head describes its notation."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from math import prod
from typing import Any

from ..vocabulary import JOINER
from . import french
from .lexicon import DATA, Rule, words

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
_RANGES = {
    "a": "I3N",
    "n": "sp",
    "t": ("present", "past", "future"),
    "still": ("", "Still"),
    "doing": ("present", "past", "future", "infinitive"),  # as in: people want to do something
    "frames": tuple(DATA["verbs"]),
    "free": [frame for frame in DATA["verbs"] if frame not in ("Say", "Can")],
    "transitive": tuple(_TRANSITIVE),
    "human": [frame for frame, (subjects, *_) in _TRANSITIVE.items() if "H" in subjects],
}
# what the French of a symbol is, unless it is a list of items
_SHAPES = {
    **dict.fromkeys(["Def", "Np", "Sub", "Late", "Obj", "Both", "Owner", "Callee"], "nominal"),
    **dict.fromkeys(["Exist", "Pron", "Group", "Noun", "Name", "Topic"], "nominal"),
    **dict.fromkeys(["Flat", "Away"], "pair"),
    "Vg": "verb group",
}


def rules(size: str = "full") -> Iterator[Rule]:
    """All words and rules of the grammar. Draws depend on the order of a symbol's rules."""
    yield from words(size)
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
                        yield _rule(symbol, english, notation, float(share), variables)


def _assignments(given: dict[str, Any], ranges: str = "") -> Iterator[dict[str, Any]]:
    """Every possible combination of values of variables, written "c in HA, a, t in doing".

    If a variable has a value already, its range only says whether the value is possible.
    """
    if not ranges:
        a, k = given.get("a"), given.get("k", "")
        person = given.get("c", "H") == "H"  # only people say I, and want to do something
        subject = person or (a != "I" and given.get("t") != "infinitive")
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


def _extended(given: dict[str, Any]) -> dict[str, Any]:
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
        "usual": 1.5 if t == "past" else 1,
        "timed": not given.get("still"),
        "r": given.get("r", "3" if n == "s" else "N"),
        "w": t if t != "present" else "third" if a == "3" else "base",
        "peut": "/".join(french.conjugate("pouvoir").forms["present"]),
    }
    if t in ("present", "past", "future"):
        result["être"] = "/".join(french.conjugate("être").forms[t])
        result["avoir"] = french.conjugate("avoir").forms[t][2]
        be = {
            "present": {"I": "am", "3": "is", "N": "are"},
            "past": {"I": "was", "3": "was", "N": "were"},
        }
        result["be"] = "will be" if t == "future" else be[t][a or result["r"]]
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


def _rule(
    symbol: str, english: str, notation: str, weight: float, variables: dict[str, Any]
) -> Rule:
    """The rule of a row for these values of the variables."""
    symbol, *row, notation = [
        re.sub(
            r"<(\w+)>|(?<=\.)[a-z]\b",
            lambda match: str(variables.get(match[1] or match[0], match[0])),
            text,
        )
        for text in (symbol, *english.split(), notation)
    ]
    # An English part of the row may have several tokens: each has a place.
    parts, places = [], []
    for part in row:
        tokens = [JOINER + token if token in (",", "'s") else token for token in part.split()]
        places.append([*range(len(parts), len(parts) + len(tokens))])
        parts += tokens
    kind, kinds = symbol.partition(".")[0], [parts[at[0]].partition(".")[0] for at in places]
    made = partial(Rule, symbol, tuple(parts), weight=weight)

    if notation.isidentifier() and hasattr(french, notation):
        return made(getattr(french, notation))
    if kind == "Vg":
        place_of = {name: at[0] for name, at in zip(kinds, places, strict=True)}
        return made(partial(_verb_group, place_of, notation))
    if not notation:
        notation = " ".join(
            f",:{n}" if name == JOINER + "," else str(n) for n, name in enumerate(kinds)
        )
    shape, of_first = _SHAPES.get(kind), _SHAPES.get(kinds[0])
    if notation == "0" and kind != "Group" and shape == of_first:
        return made(lambda value: value)
    head = articles = None  # what the forms agree with, and its new article by agreement
    if kind == "Group":  # the default article is du, de la, des or de
        head = places[kinds.index("Noun")][0]
        many = ("des",) if kinds[int(notation[0])] == "Noun" else ("de",)
        articles = ("de", "le"), ("de", "la"), many, many
    elif shape == "nominal":  # it agrees with its last noun group, or is a noun phrase and more
        last = max((n for n, name in enumerate(kinds) if name == "Group"), default=0)
        head = places[last][0]
        if kinds[last] != "Group" or not notation.startswith(str(last)):
            articles = ((),) * 4  # it is among the items
    elif shape is None and of_first == "nominal":  # a clause
        head = 0
    verb, _, rest = notation.partition(" / ")
    if shape != "pair":
        verb, rest = f"{verb} {rest}", ""
    halves = [[_element(word, kinds, places) for word in half.split()] for half in (verb, rest)]
    return made(partial(_of_parts, halves, shape, head, articles))


def _of_parts(
    halves: list[list[Callable]],
    shape: str | None,
    head: int | None,
    articles: Sequence[tuple[str, ...]] | None,
    *values: Any,
) -> Any:
    """The French of a row from that of its parts; its forms agree with the part ``head``."""
    items, rest = ([item for element in half for item in element(values)] for half in halves)
    if shape == "pair":
        return items, rest
    if head is None:
        return items
    nominal = values[head]
    items = [
        item
        if type(form := item[0]) is str
        else (form[nominal.agreement if len(form) == 4 else nominal.person], item[1])
        for item in items
    ]
    if shape != "nominal":
        return items
    article = articles[nominal.agreement] if articles else nominal.article
    return nominal._replace(items=items, article=article)


def _element(
    word: str, kinds: list[str], places: list[list[int]]
) -> Callable[[tuple], list[french.Item]]:
    """The items of one French word in a row, from tokens' positions and symbols' French."""
    sign, (part, _, others) = word[0], word.lstrip("@&").partition(":")
    linked = [place for n in others.split(",") for place in places[int(n)]] if others else []
    if sign in "@&":
        at = places[int(part)][0]
        if sign == "@":
            return lambda values: french.with_article(
                values[at], definite=tuple(values[n] for n in linked) or values[at].links
            )
        return lambda values: [
            (form, tuple(values[n] for n in linked) or values[at].links)
            for form in values[at].verb.link
        ]
    if others:
        form = JOINER + part if part == "," else tuple(part.split("/")) if "/" in part else part
        return lambda values: [(form, tuple(values[n] for n in linked))]
    first, *more = [places[int(n)][0] for n in re.findall(r"\d+", word)]
    if "+" in word:
        *to, pronoun = more
        return lambda values: french.verbal(
            values[first], values[pronoun], tuple(values[n] for n in to)
        )
    if "^" in word:
        return lambda values: french.verbal(values[first], subject=values[more[0]])
    if word.endswith(("a", "b")):
        half = "ab".index(word[-1])
        return lambda values: values[first][half]
    if word.endswith("!"):
        return lambda values: french.with_article(values[first], values[0])
    match _SHAPES.get(kinds[int(word)]):
        case "nominal" if kinds[int(word)] == "Group":
            return lambda values: values[first].items
        case "nominal":
            return lambda values: french.with_article(values[first])
        case "pair":
            return lambda values: values[first][0] + values[first][1]
        case "verb group":
            return lambda values: french.verbal(values[first])
    return lambda values: values[first]


def _verb_group(part: dict[str, int], tense: str, *values: Any) -> french.VerbGroup:
    """An English tense with its negation or adverb; ``part`` has the place of each English part."""
    verb, links = values[part["Verb"]]
    finite = links
    if part.keys() & {"will", "do", "does", "did"}:  # a participle stands for the verb itself
        finite = values[:1] if tense == "past" and verb.compound else (values[0], *links)
    negation = "pas" if "not" in part else "jamais" if "never" in part else ""
    denial = tuple(values[part[word]] for word in ("not", "never") if word in part)
    adverb = values[part["Often"]] if "Often" in part else []
    return french.VerbGroup(verb, tense, finite, links, negation, denial, adverb)
