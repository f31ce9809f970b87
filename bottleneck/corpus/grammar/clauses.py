"""French clauses from their parts, as lists of items.

A verb group is a tuple (verb, tense, links of the finite form, links of the verb itself,
negation, its links, adverb). A verb phrase is (verb group, clitic, gender and number that an
avoir participle agrees with, attribute, items that follow); an attribute is a function of the
subject's person and agreement: a predicate adjective, an infinitive.
"""

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from .conjugation import Verb, conjugate
from .phrases import NounPhrase, affirmed, after_de, denied, fixed, liked, phrase
from .rule import Item, Links

PRESENT, PAST, FUTURE, INFINITIVE = "present", "past", "future", "infinitive"

Attribute = Callable[[int, int], list[Item]]
Predicate = Attribute
VerbGroup = tuple[Verb, str, Links, Links, str, Links, list[Item]]
VerbPhrase = tuple[VerbGroup, Item | None, int, Attribute | None, list[Item]]
Leaf = tuple[Any, Links]

_REFLEXIVE = ("me", "te", "se", "nous", "vous", "se")
_BE = conjugate("être")
_HAVE = conjugate("avoir")
_CAN = conjugate("pouvoir")


# Verb groups. The leaf's value is the French verb.


def plain(tense: str) -> Callable[[Leaf], VerbGroup]:
    """A verb form that stands alone: sees, saw."""

    def build(verb: Leaf) -> VerbGroup:
        return verb[0], tense, verb[1], verb[1], "", (), []

    return build


def helped(tense: str) -> Callable[[int, Leaf], VerbGroup]:
    """An auxiliary and a verb: will see."""

    def build(auxiliary: int, verb: Leaf) -> VerbGroup:
        return verb[0], tense, _helped(tense, auxiliary, verb), verb[1], "", (), []

    return build


def refused(tense: str) -> Callable[[int, int, Leaf], VerbGroup]:
    """An auxiliary, not, and a verb: does not see."""

    def build(auxiliary: int, negation: int, verb: Leaf) -> VerbGroup:
        finite = _helped(tense, auxiliary, verb)
        return verb[0], tense, finite, verb[1], "pas", (negation,), []

    return build


def never(tense: str) -> Callable[[int, Leaf], VerbGroup]:
    """Never and a verb form."""

    def build(negation: int, verb: Leaf) -> VerbGroup:
        return verb[0], tense, verb[1], verb[1], "jamais", (negation,), []

    return build


def often(tense: str) -> Callable[[Leaf, Leaf], VerbGroup]:
    """An adverb of frequency and a verb form."""

    def build(adverb: Leaf, verb: Leaf) -> VerbGroup:
        return verb[0], tense, verb[1], verb[1], "", (), phrase(adverb)

    return build


def will_never(auxiliary: int, negation: int, verb: Leaf) -> VerbGroup:
    """Will never see."""
    return verb[0], FUTURE, (auxiliary, *verb[1]), verb[1], "jamais", (negation,), []


def will_often(auxiliary: int, adverb: Leaf, verb: Leaf) -> VerbGroup:
    """Will often see."""
    return verb[0], FUTURE, (auxiliary, *verb[1]), verb[1], "", (), phrase(adverb)


def _helped(tense: str, auxiliary: int, verb: Leaf) -> Links:
    """What the finite form stands for: the auxiliary, and the verb unless a participle does."""
    split = tense == PAST and verb[0].compound
    return (auxiliary,) if split else (auxiliary, *verb[1])


def being(tense: str, negative: bool) -> Callable[..., VerbGroup]:
    """A form of be, of one token or of two (will be), with or without not."""

    def build(*places: int) -> VerbGroup:
        if not negative:
            return _BE, tense, places, places, "", (), []
        # not stands after the first: is not, will not be
        own = places[:1] + places[2:]
        return _BE, tense, own, own, "pas", places[1:2], []

    return build


def cannot(place: int, infinitive: VerbPhrase) -> VerbPhrase:
    """Cannot and a verb phrase in the infinitive."""
    group = _CAN, PRESENT, (place,), (place,), "pas", (place,), []
    return wanting(group, infinitive)


# Verb phrases.


def alone(group: VerbGroup) -> VerbPhrase:
    """A verb that takes nothing."""
    return group, None, 0, None, []


def with_object(group: VerbGroup, noun_phrase: NounPhrase) -> VerbPhrase:
    """A verb and its direct object."""
    if group[0].generic:
        items = liked(noun_phrase, bool(group[4]))
    else:
        items = denied(noun_phrase) if group[4] else affirmed(noun_phrase)
    return group, None, 0, None, items


def with_pronoun(group: VerbGroup, pronoun: Leaf) -> VerbPhrase:
    """A verb and a direct object that moves before it."""
    (form, agreement), links = pronoun
    return group, (form, links), agreement, None, []


def with_complement(group: VerbGroup, noun_phrase: NounPhrase) -> VerbPhrase:
    """A verb whose French counterpart asks for a preposition: obéir à, se souvenir de."""
    link = group[0].link
    items = after_de(noun_phrase) if link == "de" else affirmed(noun_phrase)
    return group, None, 0, None, [(form, group[3]) for form in link.split()] + items


def going(group: VerbGroup, to: int, noun_phrase: NounPhrase) -> VerbPhrase:
    """A verb of motion and where to."""
    link = [(form, (to,)) for form in group[0].link.split()]
    return group, None, 0, None, link + affirmed(noun_phrase)


def going_to_city(group: VerbGroup, to: int, city: Leaf) -> VerbPhrase:
    """A verb of motion and the city it leads to."""
    return going(group, to, fixed(0, [(city[0], city[1])]))


def going_when(group: VerbGroup, to: int, noun_phrase: NounPhrase, time: Leaf) -> VerbPhrase:
    """A verb of motion, where to, and when."""
    return placed(going(group, to, noun_phrase), time)


def giving(group: VerbGroup, given: NounPhrase, to: int, receiver: NounPhrase) -> VerbPhrase:
    """Give the book to the friend."""
    items = denied(given) if group[4] else affirmed(given)
    return group, None, 0, None, [*items, ("à", (to,)), *affirmed(receiver)]


def giving_to_pronoun(group: VerbGroup, given: NounPhrase, to: int, pronoun: Leaf) -> VerbPhrase:
    """Give the book to him: lui donner le livre."""
    items = denied(given) if group[4] else affirmed(given)
    return group, (pronoun[0][0], (to, *pronoun[1])), 0, None, items


def giving_pronoun(group: VerbGroup, pronoun: Leaf, to: int, receiver: NounPhrase) -> VerbPhrase:
    """Give it to the friend: le donner à l'ami."""
    (form, agreement), links = pronoun
    return group, (form, links), agreement, None, [("à", (to,)), *affirmed(receiver)]


def wanting(group: VerbGroup, infinitive: VerbPhrase) -> VerbPhrase:
    """Want to, try to, can ... and a verb phrase in the infinitive."""

    def attribute(person: int, agreement: int) -> list[Item]:
        link = [(group[0].link, group[3])] if group[0].link else []
        return link + unconjugated(infinitive, person, agreement)

    return group, None, 0, attribute, []


def described(group: VerbGroup, degree: Leaf | None, adjective: Leaf) -> VerbPhrase:
    """Be and an adjective, which agrees with the subject."""
    forms, own = adjective
    adverb = [] if degree is None else phrase(degree)

    def attribute(_person: int, agreement: int) -> list[Item]:
        return [*adverb, (forms[agreement], own)]

    return group, None, 0, attribute, []


def described_plainly(group: VerbGroup, adjective: Leaf) -> VerbPhrase:
    """Be and an adjective without adverb."""
    return described(group, None, adjective)


def compared(
    group: VerbGroup, first: int, adjective: Leaf, second: int, other: NounPhrase
) -> VerbPhrase:
    """Be more famous than: être plus célèbre que."""
    forms, own = adjective

    def attribute(_person: int, agreement: int) -> list[Item]:
        return [("plus", (first,)), (forms[agreement], own)]

    return group, None, 0, attribute, [("que", (second,)), *affirmed(other)]


def equalled(
    group: VerbGroup, first: int, adjective: Leaf, second: int, other: NounPhrase
) -> VerbPhrase:
    """Be as old as: être aussi vieux que."""
    forms, own = adjective

    def attribute(_person: int, agreement: int) -> list[Item]:
        return [("aussi", (first,)), (forms[agreement], own)]

    return group, None, 0, attribute, [("que", (second,)), *affirmed(other)]


def one_of(group: VerbGroup, *parts: Any) -> VerbPhrase:
    """Be one of the best ones, who agree with the subject if they can, and perhaps what for."""
    one, of, the, (forms, own), (kinds, links), *purpose = parts

    def attribute(_person: int, agreement: int) -> list[Item]:
        female = agreement & 1 if all(kinds) else int(not kinds[0])
        chosen = [("le~", (one,)), (("un", "une")[female], (one,)), ("de", (of,)), ("les", (the,))]
        return [*chosen, (forms[2 + female], own), (kinds[female], links)]

    return group, None, 0, attribute, list(chain(*purpose))


def placed(verb_phrase: VerbPhrase, *adverbials: Leaf | list[Item]) -> VerbPhrase:
    """A verb phrase and the adverbials after it: set phrases or items."""
    group, clitic, agreement, attribute, items = verb_phrase
    tails = (phrase(part) if isinstance(part, tuple) else part for part in adverbials)
    return group, clitic, agreement, attribute, list(chain(items, *tails))


def mannered(verb_phrase: VerbPhrase, manner: Leaf, *adverbials: Leaf | list[Item]) -> VerbPhrase:
    """A verb phrase, how, and what follows; French says how right after the verb."""
    group, clitic, agreement, attribute, items = verb_phrase
    how = group, clitic, agreement, attribute, phrase(manner) + items
    return placed(how, *adverbials)


def placed_being(group: VerbGroup, place: list[Item]) -> VerbPhrase:
    """Be somewhere."""
    return group, None, 0, None, place


# A verb phrase in its clause.


def finite(verb_phrase: VerbPhrase, person: int, agreement: int) -> list[Item]:
    """The verb phrase conjugated for a subject."""
    (verb, tense, links, own, negation, denial, adverb), clitic, other, attribute, tail = (
        verb_phrase
    )
    items: list[Item] = []
    if negation:
        items.append(("ne", denial))
    if verb.reflexive:
        items.append((_REFLEXIVE[person], own))
    if clitic is not None:
        items.append(clitic)
    forms = verb.present if tense == PRESENT else verb.past if tense == PAST else verb.future
    items.append((forms[person], links))
    if negation:
        items.append((negation, denial))
    items += adverb
    if tense == PAST and verb.compound:
        items.append((verb.participle[agreement if verb.agrees else other], own))
    if attribute is not None:
        items += attribute(person, agreement)
    return items + tail


def unconjugated(verb_phrase: VerbPhrase, person: int, agreement: int) -> list[Item]:
    """The verb phrase in the infinitive, whose reflexive still agrees with the subject."""
    (verb, _, _, own, _, _, _), clitic, _, attribute, tail = verb_phrase
    items: list[Item] = []
    if verb.reflexive:
        items.append((_REFLEXIVE[person], own))
    if clitic is not None:
        items.append(clitic)
    items.append((verb.infinitive, own))
    if attribute is not None:
        items += attribute(person, agreement)
    return items + tail


def predicate(verb_phrase: VerbPhrase) -> Predicate:
    """A verb phrase that waits for its subject."""
    return partial(finite, verb_phrase)


def two(first: VerbPhrase, conjunction: int, second: VerbPhrase) -> Predicate:
    """Two verb phrases of one subject."""

    def build(person: int, agreement: int) -> list[Item]:
        start = finite(first, person, agreement)
        return [*start, ("et", (conjunction,)), *finite(second, person, agreement)]

    return build


def clause(subject: NounPhrase, said: Predicate) -> list[Item]:
    """Subject and predicate."""
    return affirmed(subject) + said(subject[0], subject[1])


def existing(verb: str, tense: str, negative: bool) -> Callable[..., list[Item]]:
    """There is: il y a. ``verb`` counts the English tokens of be."""

    def build(there: int, *parts: Any) -> list[Item]:
        *places, noun_phrase = parts
        be = tuple(places[: len(verb.split())])
        form = {PRESENT: _HAVE.present, PAST: _HAVE.past, FUTURE: _HAVE.future}[tense][2]
        if not negative:
            return [("il", (there,)), ("y", (there,)), (form, be), *affirmed(noun_phrase)]
        denial = (places[-1],)
        start = [("il", (there,)), ("ne", denial), ("y", (there,)), (form, be)]
        return [*start, ("pas", denial), ("de", denial), *noun_phrase[1]]

    return build
