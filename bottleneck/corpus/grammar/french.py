"""French morphology: forms, agreement, verbs, and elision between words.

Four forms are masculine, feminine, masculine plural, feminine plural; six forms are those of je,
tu, il, nous, vous, ils. A trailing "~" marks a form that ``join`` treats differently from the same
word without it: the pronouns le and les do not contract, and a predicate beau is never bel.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

from ..vocabulary import JOINER

Links = tuple[int, ...]  # positions of English tokens
Item = tuple[str | tuple[str, ...], Links]  # a form, or the forms it will be chosen from

_IRREGULAR = tomllib.loads(files(__package__).joinpath("french.toml").read_text("utf8"))


def plural(word: str) -> str:
    """The regular plural of a noun or of a masculine adjective."""
    if word.endswith("al"):
        return word[:-2] + "aux"
    ending = "x" if word.endswith(("eau", "eu")) and word != "bleu" else "s"
    return word if word.endswith(("s", "x", "z")) else word + ending


def adjective(word: str, before_noun: bool = False) -> tuple[str, ...]:
    """The four forms of an adjective from its masculine; before a noun beau may become bel."""
    if word in _IRREGULAR["adjectives"]:
        masculine, feminine, many = _IRREGULAR["adjectives"][word].split()
    else:
        masculine, many = word, plural(word)
        feminine = word if word.endswith("e") else word + "e"
        for ending in ("eux euse", "er ère", "if ive", "en enne", "el elle"):
            short, long = ending.split()
            if word.endswith(short):
                feminine = word.removesuffix(short) + long
    if before_noun and masculine + "~" in _MEETING:
        masculine += "~"
    return masculine, feminine, many, feminine + "s"


@dataclass(frozen=True, slots=True)
class Verb:
    """A French verb with all that a clause needs.

    The past of a state is the imperfect (was: était); other verbs have the passé composé
    (``compound``), and the auxiliary is their past. After être the participle ``agrees`` with the
    subject. ``link`` is the preposition before the complement. ``generic`` verbs take le, la, les
    (aimer les chats).
    """

    forms: dict[str, tuple[str, ...] | str]  # by tense; the infinitive has one
    participle: tuple[str, ...]
    compound: bool
    agrees: bool
    reflexive: bool
    link: tuple[str, ...]
    generic: bool


@cache
def conjugate(lemma: str, link: str = "", generic: bool = False) -> Verb:
    """All forms of a verb; ``lemma`` is its infinitive, with se or s' if it is reflexive."""
    infinitive = lemma.removeprefix("se ").removeprefix("s'")
    reflexive = infinitive != lemma
    of_motion = ("aller", "venir", "revenir", "retourner", "arriver", "partir", "tomber")
    agrees = reflexive or infinitive in of_motion
    # The present, the past participle and the stem of the future.
    verbs, stem = _IRREGULAR["verbs"], infinitive[:-2]
    if infinitive in verbs:
        conjugated, participle, future = verbs[infinitive].split("|")
        present = conjugated.split()
    elif infinitive.endswith("ir"):
        endings = ("is", "is", "it", "issons", "issez", "issent")
        present, participle, future = [stem + end for end in endings], stem + "i", infinitive
    elif infinitive.endswith("re"):
        endings = ("s", "s", "", "ons", "ez", "ent")
        present, participle, future = [stem + end for end in endings], stem + "u", infinitive[:-1]
    else:  # in -er: the stem may change before a silent e, and before -ons
        strong, ending = stem, stem[-1]
        if stem.endswith(("appel", "jet")):
            strong = stem + ending
        elif ending == "y":
            strong = stem[:-1] + "i"
        elif stem[-2] in "eé" and ending in "cdgjklmnprstv" and stem[-3] not in "aeiou":
            strong = stem[:-2] + "è" + ending
        softened = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(ending, stem)
        plurals = softened + "ons", stem + "ez", strong + "ent"
        present = [strong + "e", strong + "es", strong + "e", *plurals]
        participle, future = stem + "é", (stem if stem[-2] == "é" else strong) + "er"
    compound = infinitive not in ("être", "vouloir", "avoir", "pouvoir", "espérer")
    if compound:
        past = verbs["être" if agrees else "avoir"].partition("|")[0].split()
    else:
        stem = "ét" if infinitive == "être" else present[3].removesuffix("ons")
        past = [stem + ending for ending in ("ais", "ais", "ait", "ions", "iez", "aient")]
    forms = {
        "present": tuple(present),
        "past": tuple(past),
        "future": tuple(future + ending for ending in ("ai", "as", "a", "ons", "ez", "ont")),
        "infinitive": infinitive,
    }
    stem = participle.replace("û", "u")  # dû, but due
    many = stem if stem.endswith("s") else stem + "s"
    participles = participle, stem + "e", many, stem + "es"
    return Verb(forms, participles, compound, agrees, reflexive, tuple(link.split()), generic)


class Nominal(NamedTuple):
    """A noun phrase; ``agreement`` is gender + 2 * plural, and its verb agrees with ``person``.

    The article, linked to ``links``, comes before it unless the verb needs a different one.
    """

    items: list[Item]
    agreement: int
    person: int
    article: tuple[str, ...] = ()
    links: Links = ()


class VerbGroup(NamedTuple):
    """A verb with its negation or adverb; the subject chooses among the forms of its items.

    ``finite`` are the links of the finite form, ``denial`` those of the negation.
    """

    verb: Verb
    tense: str
    finite: Links
    links: Links
    negation: str
    denial: Links
    adverb: list[Item]


def with_article(
    nominal: Nominal, verb_group: VerbGroup | None = None, definite: Links = ()
) -> list[Item]:
    """A noun phrase as subject, or as object of a verb group; le, la, les link to ``definite``.

    The object has pas de after a negation, and le, la or les after a ``generic`` verb.
    """
    article, links = nominal.article, definite or nominal.links
    if article and verb_group:
        if verb_group.verb.generic and article[0] not in ("un", "une"):
            definite = links
        elif verb_group.negation:
            article = ("de",)
    if definite:
        article = (("le", "la", "les", "les")[nominal.agreement],)
    return [(form, links) for form in article] + nominal.items


def verbal(
    verb_group: VerbGroup,
    pronoun: Nominal | None = None,
    to: Links = (),
    subject: Nominal | None = None,
) -> list[Item]:
    """A verb group; its ``pronoun`` as object is also linked to the positions ``to``.

    If it has a ``subject``, the object comes before the clause and will choose the participle.
    """
    verb, tense, finite, links, negation, denial, adverb = verb_group
    items: list[Item] = [("ne", denial)] if negation else []
    if verb.reflexive:
        items.append((("me", "te", "se", "nous", "vous", "se"), links))
    if pronoun:
        form, of_pronoun = pronoun.items[0]
        items.append((form, to + of_pronoun))
    items.append((verb.forms[tense], finite))
    items += [(negation, denial), *adverb] if negation else adverb
    if tense == "past" and verb.compound:
        agreement = pronoun.agreement if pronoun else 0
        open_to_all = verb.agrees or subject
        items.append((verb.participle if open_to_all else verb.participle[agreement], links))
    if subject is None:
        return items
    return with_article(subject) + [
        (form[subject.person] if type(form) is tuple and len(form) == 6 else form, place)
        for form, place in items
    ]


# Functions that rules.txt names.


def indefinite(position: int, noun_group: Nominal) -> Nominal:
    """A noun group with a or an: un, une."""
    article = ("un", "une")[noun_group.agreement]
    return noun_group._replace(article=(article,), links=(position,))


def both(first: Nominal, conjunction: int, second: Nominal) -> Nominal:
    """Two noun phrases: masculine unless both are feminine."""
    items = [*with_article(first), ("et", (conjunction,)), *with_article(second)]
    return Nominal(items, 2 + (first.agreement & second.agreement & 1), 5)


def research(noun: int, topic: list[Item] | tuple[()] = ()) -> Nominal:
    """Research, with its topic if there is one: des recherches."""
    return Nominal([("recherches", (noun,)), *topic], 3, 5, ("des",), (noun,))


def one_of(be: list[Item], one_at: int, of_at: int, the_at: int, *parts: Any) -> list[Item]:
    """Be one of the best ones, which agree with the subject if they can; with a purpose if any."""
    [(forms, best)], (kinds, links), *purpose = parts
    genders = (0, 1, 0, 1) if all(kinds) else (int(not kinds[0]),) * 4
    un, meilleurs, experts = (
        tuple(pair[gender] for gender in genders) for pair in (("un", "une"), forms[2:], kinds)
    )
    chosen = [("le~", (one_at,)), (un, (one_at,)), ("de", (of_at,)), ("les", (the_at,))]
    return [*be, *chosen, (meilleurs, best), (experts, links), *chain(*purpose)]


# form -> (usual form, form before a vowel)
_MEETING = {
    **{
        word: (word, f"{word[:-1]}'{JOINER}")
        for word in ["le", "la", "je", "ne", "me", "te", "se", "de", "que", "puisque", "jusque"]
    },
    "le~": ("le", f"l'{JOINER}"),
    "si~": ("si", f"s'{JOINER}"),
    **{form: (form.rstrip("~"), met) for form, met in _IRREGULAR["before vowels"].items()},
}


def join(items: list[Item]) -> tuple[list[str], list[Links]]:
    """The tokens of a French sentence, and the source positions that each translates."""
    tokens: list[str] = []
    sources: list[Links] = []
    right = right_form = ""
    vowels = tuple("aeiouyàâéèêëîïôûœh")
    aspirated = ("héros", "hibou", "hiboux", "haricot", "haricots", "huit")
    contracted = {"de le": "du", "de les": "des", "à le": "au", "à les": "aux"}
    for form, links in reversed(items):
        if right == right_form and (merged := contracted.get(f"{form} {right}")):
            tokens[-1] = right = right_form = merged
            if links != sources[-1]:
                sources[-1] = links + sources[-1]
            continue
        usual, elided = _MEETING.get(form, (form, form))
        elides = right.startswith(vowels) and right not in aspirated
        if form == "si~":
            elides = right in ("il", "ils")
        right, right_form = elided if elides else usual, form
        tokens.append(right)
        sources.append(links)
    tokens.reverse()
    sources.reverse()
    return tokens, sources
