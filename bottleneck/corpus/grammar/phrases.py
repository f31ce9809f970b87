"""French noun phrases from their parts, as lists of items.

A noun phrase is a tuple (person, gender and number, kind, links, items). Its person is the place
in a conjugation. Kind tells how its article behaves: FIXED stands among the items; the others
have none there yet, because it depends on the verb and its negation.
"""

from typing import Any

from .rule import Item, Links

FIXED, ONE, SOME, SOME_BEFORE_ADJECTIVE, MASS = range(5)

Group = tuple[int, list[Item], bool, Links]  # gender and number, items, adjective first?, noun
NounPhrase = tuple[int, int, int, Links, list[Item]]
Leaf = tuple[Any, Links]

_ARTICLES = ("le", "la", "les", "les")


def phrase(leaf: Leaf) -> list[Item]:
    """A set phrase: each French form with the English tokens it stands for."""
    forms, links = leaf
    return [(form, tuple([links[place] for place in places])) for form, places in forms]


# Noun groups: noun and adjectives.


def bare(noun: Leaf) -> Group:
    """A noun alone."""
    (agreement, form), links = noun
    return agreement, [(form, links)], False, links


def before(adjective: Leaf, noun: Leaf) -> Group:
    """An adjective that French leaves before the noun."""
    (agreement, form), links = noun
    forms, own = adjective
    return agreement, [(forms[agreement], own), (form, links)], True, links


def after(adjective: Leaf, noun: Leaf) -> Group:
    """An adjective that French puts after the noun."""
    (agreement, form), links = noun
    forms, own = adjective
    return agreement, [(form, links), (forms[agreement], own)], False, links


def around(first: Leaf, second: Leaf, noun: Leaf) -> Group:
    """One adjective on either side."""
    (agreement, form), links = noun
    items = [(first[0][agreement], first[1]), (form, links), (second[0][agreement], second[1])]
    return agreement, items, True, links


def very(degree: Leaf, adjective: Leaf, noun: Leaf) -> Group:
    """An adjective with its adverb, after the noun."""
    (agreement, form), links = noun
    forms, own = adjective
    return agreement, [(form, links), *phrase(degree), (forms[agreement], own)], False, links


def extend(group: Group, modifier: list[Item]) -> Group:
    """A noun group and what follows it."""
    agreement, items, adjective_first, links = group
    return agreement, items + modifier, adjective_first, links


# Noun phrases.


def fixed(agreement: int, items: list[Item]) -> NounPhrase:
    """A noun phrase of the third person whose article never changes."""
    return (5 if agreement > 1 else 2), agreement, FIXED, (), items


def determined(determiner: Leaf, group: Group) -> NounPhrase:
    """The, this, my, three, several ... and a noun group."""
    forms, own = determiner
    agreement, items, _, _ = group
    return fixed(agreement, [(form, own) for form in forms[agreement]] + items)


def indefinite(place: int, group: Group) -> NounPhrase:
    """A or an and a noun group."""
    agreement, items, _, _ = group
    return 2, agreement, ONE, (place,), items


def some(group: Group) -> NounPhrase:
    """A plural noun group without article."""
    agreement, items, adjective_first, links = group
    return 5, agreement, SOME_BEFORE_ADJECTIVE if adjective_first else SOME, links, items


def mass(group: Group) -> NounPhrase:
    """A noun group of something not counted, without article."""
    agreement, items, _, links = group
    return 2, agreement, MASS, links, items


def name(leaf: Leaf) -> NounPhrase:
    """A person's name."""
    (agreement, form), links = leaf
    return 2, agreement, FIXED, (), [(form, links)]


def owned(owner: NounPhrase, possessive: int, group: Group) -> NounPhrase:
    """The owner's thing: the thing of the owner."""
    agreement, items, _, _ = group
    own = (possessive,)
    return fixed(agreement, [(_ARTICLES[agreement], own), *items, ("de", own), *owner[4]])


def both(first: NounPhrase, conjunction: int, second: NounPhrase) -> NounPhrase:
    """Two coordinated: masculine unless both are feminine."""
    female = first[1] & second[1] & 1
    return 5, 2 + female, FIXED, (), [*first[4], ("et", (conjunction,)), *second[4]]


def extend_phrase(noun_phrase: NounPhrase, modifier: list[Item]) -> NounPhrase:
    """A noun phrase and what follows it."""
    person, agreement, kind, links, items = noun_phrase
    return person, agreement, kind, links, items + modifier


def pronoun(leaf: Leaf) -> NounPhrase:
    """A subject pronoun."""
    (form, person, agreement), links = leaf
    return person, agreement, FIXED, (), [(form, links)]


# A noun phrase in its place.


def affirmed(noun_phrase: NounPhrase) -> list[Item]:
    """As a subject, or as the object of an affirmed verb."""
    _, agreement, kind, links, items = noun_phrase
    if kind == FIXED:
        return items
    if kind == ONE:
        return [("une" if agreement == 1 else "un", links), *items]
    if kind == SOME:
        return [("des", links), *items]
    if kind == SOME_BEFORE_ADJECTIVE:
        return [("de", links), *items]
    return [("de", links), (_ARTICLES[agreement], links), *items]


def denied(noun_phrase: NounPhrase) -> list[Item]:
    """As the object of a denied verb: pas de."""
    _, _, kind, links, items = noun_phrase
    return items if kind == FIXED else [("de", links), *items]


def liked(noun_phrase: NounPhrase, negative: bool) -> list[Item]:
    """As the object of a verb of liking: the kind as a whole takes the definite article."""
    _, agreement, kind, links, items = noun_phrase
    if kind == FIXED:
        return items
    if kind == ONE:
        return denied(noun_phrase) if negative else affirmed(noun_phrase)
    return [(_ARTICLES[agreement], links), *items]


def after_de(noun_phrase: NounPhrase) -> list[Item]:
    """After the preposition de, which swallows an article in de-."""
    kind = noun_phrase[2]
    return affirmed(noun_phrase) if kind in (FIXED, ONE) else noun_phrase[4]
