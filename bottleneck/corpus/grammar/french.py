"""French morphology: forms, agreement, verbs, and elision between words.

Four forms are masculine, feminine, masculine plural, feminine plural; six forms are those of je,
tu, il, nous, vous, ils. A trailing "~" marks a form that ``join`` treats differently from the same
word without it: the pronouns le and les do not contract, and a predicate beau is never bel.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

from ..vocabulary import JOINER

Links = tuple[int, ...]  # positions of English tokens
Forms = tuple[str, str, str, str]
Persons = tuple[str, str, str, str, str, str]
Item = tuple[str | Forms | Persons, Links]  # a form, or the forms it will be chosen from

PRESENT, PAST, FUTURE, INFINITIVE = "present", "past", "future", "infinitive"

_IRREGULAR = tomllib.loads(files(__package__).joinpath("french.toml").read_text("utf8"))


def plural(word: str) -> str:
    """The regular plural of a noun or of a masculine adjective."""
    if word.endswith("al"):
        return word[:-2] + "aux"
    ending = "x" if word.endswith(("eau", "eu")) and word != "bleu" else "s"
    return word if word.endswith(("s", "x", "z")) else word + ending


def adjective(word: str) -> Forms:
    """The four forms of an adjective from its masculine."""
    if word in _IRREGULAR["adjectives"]:
        masculine, feminine, many = _IRREGULAR["adjectives"][word].split()
        return masculine, feminine, many, feminine + "s"
    feminine = word if word.endswith("e") else word + "e"
    for ending in ("eux euse", "er ère", "if ive", "en enne", "el elle"):
        short, long = ending.split()
        if word.endswith(short):
            feminine = word.removesuffix(short) + long
    return word, feminine, plural(word), feminine + "s"


def before_noun(forms: Forms) -> Forms:
    """The forms of an adjective before its noun: beau may become bel."""
    masculine, *others = forms
    return (masculine + "~" if masculine + "~" in _MEETING else masculine, *others)


_ETRE = frozenset(["aller", "venir", "revenir", "retourner", "arriver", "partir", "tomber"])
_IMPERFECT = frozenset(["être", "vouloir", "avoir", "pouvoir", "espérer"])


@dataclass(frozen=True, slots=True)
class Verb:
    """A French verb with all that a clause needs.

    The past of a state is the imperfect (was: était); other verbs have the passé composé
    (``compound``), and the auxiliary is their past. After être the participle ``agrees`` with the
    subject. ``link`` is the preposition before the complement. ``generic`` verbs take le, la, les
    (aimer les chats).
    """

    forms: dict[str, Persons | str]
    participle: Forms
    compound: bool
    agrees: bool
    reflexive: bool
    link: tuple[str, ...]
    generic: bool


def _principal(verb: str) -> tuple[list[str], str, str]:
    """Present, past participle and future stem."""
    if verb in _IRREGULAR["verbs"]:
        present, past, future = _IRREGULAR["verbs"][verb].split("|")
        return present.split(), past, future
    stem = verb[:-2]
    if verb.endswith("ir"):
        endings = ["is", "is", "it", "issons", "issez", "issent"]
        return [stem + ending for ending in endings], stem + "i", verb
    if verb.endswith("re"):
        endings = ("s", "s", "", "ons", "ez", "ent")
        return [stem + ending for ending in endings], stem + "u", verb[:-1]
    # Verbs in -er: the stem may change before a silent e, and before -ons.
    strong, ending = stem, stem[-1]
    if stem.endswith(("appel", "jet")):
        strong = stem + ending
    elif ending == "y":
        strong = stem[:-1] + "i"
    elif stem[-2] in "eé" and ending in "cdgjklmnprstv" and stem[-3] not in "aeiou":
        strong = stem[:-2] + "è" + ending
    softened = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(ending, stem)
    present = [strong + "e", strong + "es", strong + "e", softened + "ons", stem + "ez"]
    return [*present, strong + "ent"], stem + "é", (stem if stem[-2] == "é" else strong) + "er"


def conjugate(lemma: str, link: str = "", generic: bool = False) -> Verb:
    """All forms of a verb; ``lemma`` is its infinitive, with se or s' if it is reflexive."""
    infinitive = lemma.removeprefix("se ").removeprefix("s'")
    reflexive = infinitive != lemma
    agrees = reflexive or infinitive in _ETRE
    present, participle, future = _principal(infinitive)
    past = _principal("être" if agrees else "avoir")[0]
    if infinitive in _IMPERFECT:
        stem = "ét" if infinitive == "être" else present[3].removesuffix("ons")
        past = [stem + ending for ending in ("ais", "ais", "ait", "ions", "iez", "aient")]
    forms = {
        PRESENT: tuple(present),
        PAST: tuple(past),
        FUTURE: tuple(future + ending for ending in ("ai", "as", "a", "ons", "ez", "ont")),
        INFINITIVE: infinitive,
    }
    stem = participle.replace("û", "u")  # dû, but due
    many = stem if stem.endswith("s") else stem + "s"
    participles = participle, stem + "e", many, stem + "es"
    compound = infinitive not in _IMPERFECT
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


_INDEFINITE = (("un",), ("une",))


def agree(items: list[Item], nominal: Nominal) -> list[Item]:
    """Choose the forms that agree with a noun phrase."""
    return [
        item
        if type(form := item[0]) is str
        else (form[nominal.agreement if len(form) == 4 else nominal.person], item[1])
        for item in items
    ]


def group(items: list[Item], noun: Nominal, adjective_first: bool) -> Nominal:
    """A noun and its adjectives; the default article is du, de la, des or de."""
    article = (("de", "le"), ("de", "la"), ("des",), ("des",))[noun.agreement]
    if adjective_first and noun.agreement > 1:
        article = ("de",)
    return noun._replace(items=agree(items, noun) if len(items) > 1 else items, article=article)


def indefinite(position: int, noun_group: Nominal) -> Nominal:
    """A noun group with a or an: un, une."""
    return noun_group._replace(article=_INDEFINITE[noun_group.agreement], links=(position,))


def both(first: Nominal, conjunction: int, second: Nominal) -> Nominal:
    """Two noun phrases: masculine unless both are feminine."""
    items = [*affirmed(first), ("et", (conjunction,)), *affirmed(second)]
    return Nominal(items, 2 + (first.agreement & second.agreement & 1), 5)


def research(noun: int, topic: list[Item] | tuple[()] = ()) -> Nominal:
    """Research, with its topic if there is one: des recherches."""
    return Nominal([("recherches", (noun,)), *topic], 3, 5, ("des",), (noun,))


def affirmed(nominal: Nominal) -> list[Item]:
    """A noun phrase as subject, or as object of a verb without negation."""
    return [(form, nominal.links) for form in nominal.article] + nominal.items


def definite(nominal: Nominal, links: Links | None = None) -> list[Item]:
    """A noun group with le, la or les, which is linked to the noun or to ``links``."""
    article = ("le", "la", "les", "les")[nominal.agreement]
    return [(article, nominal.links if links is None else links), *nominal.items]


# A verb group: verb, tense, links of the finite form, links of the verb, negation, its links,
# adverb. The subject chooses among the forms of its items.

VerbGroup = tuple[Verb, str, Links, Links, str, Links, list[Item]]


def verbal(
    verb_group: VerbGroup, clitic: Item | None = None, agreement: int | None = 0
) -> list[Item]:
    """A verb group and its pronoun; avoir's participle has ``agreement`` (None keeps all forms)."""
    verb, tense, links, verb_links, negation, denial, adverb = verb_group
    items: list[Item] = [("ne", denial)] if negation else []
    if verb.reflexive:
        items.append((("me", "te", "se", "nous", "vous", "se"), verb_links))
    items += [] if clitic is None else [clitic]
    items.append((verb.forms[tense], links))
    items += [(negation, denial), *adverb] if negation else adverb
    if tense == PAST and verb.compound:
        every = verb.agrees or agreement is None
        items.append((verb.participle if every else verb.participle[agreement], verb_links))
    return items


def with_pronoun(verb_group: VerbGroup, pronoun: Nominal, *to: int) -> list[Item]:
    """A verb group with its pronoun, which is also linked to the positions ``to``."""
    (form, links), *_ = pronoun.items
    return verbal(verb_group, (form, to + links), pronoun.agreement)


def gapped(subject: Nominal, verb_group: VerbGroup) -> list[Item]:
    """Subject and verb of a clause whose object comes before it and chooses the participle."""
    return affirmed(subject) + [
        (form[subject.person] if type(form) is tuple and len(form) == 6 else form, links)
        for form, links in verbal(verb_group, agreement=None)
    ]


def link(verb_group: VerbGroup, links: Links | None = None) -> list[Item]:
    """The preposition before the complement, which is linked to the verb or to ``links``."""
    return [(form, verb_group[3] if links is None else links) for form in verb_group[0].link]


def object_of(verb_group: VerbGroup, nominal: Nominal) -> list[Item]:
    """A noun phrase as object: pas de after a negation; definite after a ``generic`` verb."""
    if nominal.article and verb_group[0].generic and nominal.article not in _INDEFINITE:
        return definite(nominal)
    if nominal.article and verb_group[4]:
        return [("de", nominal.links), *nominal.items]
    return affirmed(nominal)


def one_of(be: list[Item], one_at: int, of_at: int, the_at: int, *parts: Any) -> list[Item]:
    """Be one of the best ones, which agree with the subject if they can; with a purpose if any."""
    [(forms, best)], (kinds, links), *purpose = parts
    genders = (0, 1, 0, 1) if all(kinds) else (int(not kinds[0]),) * 4
    un, meilleurs, experts = (
        tuple(pair[gender] for gender in genders) for pair in (("un", "une"), forms[2:], kinds)
    )
    chosen = [("le~", (one_at,)), (un, (one_at,)), ("de", (of_at,)), ("les", (the_at,))]
    return [*be, *chosen, (meilleurs, best), (experts, links), *chain(*purpose)]


_VOWELS = tuple("aeiouyàâéèêëîïôûœh")
_ASPIRATED = frozenset(["héros", "hibou", "hiboux", "haricot", "haricots", "huit"])
_CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
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
    for form, links in reversed(items):
        if right == right_form and (merged := _CONTRACTED.get((form, right))):
            tokens[-1] = right = right_form = merged
            if links != sources[-1]:
                sources[-1] = links + sources[-1]
            continue
        usual, elided = _MEETING.get(form, (form, form))
        elides = right.startswith(_VOWELS) and right not in _ASPIRATED
        if form == "si~":
            elides = right in ("il", "ils")
        right, right_form = elided if elides else usual, form
        tokens.append(right)
        sources.append(links)
    tokens.reverse()
    sources.reverse()
    return tokens, sources
