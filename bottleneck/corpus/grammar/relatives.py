"""French relative clauses, noun modifiers and whole sentences from their parts."""

from collections.abc import Callable
from typing import Any

from .clauses import Predicate, VerbGroup, VerbPhrase, finite, unconjugated
from .phrases import SOME, Group, Leaf, NounPhrase, affirmed, determined, extend_phrase, phrase
from .rule import COMMA, Item

Relative = Callable[[int, int], list[Item]]  # from the antecedent's person and agreement

_ARTICLES = ("le", "la", "les", "les")


def as_subject(pronoun: int, verb_phrase: VerbPhrase) -> Relative:
    """Who sleeps: qui dort."""

    def build(person: int, agreement: int) -> list[Item]:
        return [("qui", (pronoun,)), *finite(verb_phrase, person, agreement)]

    return build


def aside(pronoun: int, said: Predicate) -> Relative:
    """Which sleeps and eats: qui dort et mange."""

    def build(person: int, agreement: int) -> list[Item]:
        return [("qui", (pronoun,)), *said(person, agreement)]

    return build


def as_object(pronoun: int, subject: NounPhrase, group: VerbGroup) -> Relative:
    """That she saw: qu'elle a vue, whose participle agrees with what was seen."""

    def build(_person: int, agreement: int) -> list[Item]:
        seen = finite((group, None, agreement, None, []), subject[0], subject[1])
        return [("que", (pronoun,)), *affirmed(subject), *seen]

    return build


def related(determiner: Leaf, group: Group, relative: Relative) -> NounPhrase:
    """A noun phrase and a relative clause that tells which one is meant."""
    noun_phrase = determined(determiner, group)
    return extend_phrase(noun_phrase, relative(noun_phrase[0], noun_phrase[1]))


def described_aside(
    noun_phrase: NounPhrase, opening: int, relative: Relative, closing: int
) -> NounPhrase:
    """A noun phrase and a relative clause between commas."""
    told = relative(noun_phrase[0], noun_phrase[1])
    commas = (COMMA, (opening,)), (COMMA, (closing,))
    return extend_phrase(noun_phrase, [commas[0], *told, commas[1]])


def on_topic(preposition: int, topic: Leaf) -> list[Item]:
    """On history: sur l'histoire."""
    (forms, agreement), links = topic
    return [("sur", (preposition,)), (_ARTICLES[agreement], links), *phrase((forms, links))]


def in_topic(preposition: int, topic: Leaf) -> list[Item]:
    """In history: en histoire."""
    (forms, _), links = topic
    return [("en", (preposition,)), *phrase((forms, links))]


def from_city(preposition: int, city: Leaf) -> list[Item]:
    """From Athens: d'Athènes."""
    return [("de", (preposition,)), city]


def wearing(preposition: int, article: int, group: Group) -> list[Item]:
    """With the black hat: au chapeau noir."""
    agreement, items, _, _ = group
    return [("à", (preposition,)), (_ARTICLES[agreement], (article,)), *items]


def from_people(preposition: int, group: Group) -> list[Item]:
    """From students: d'étudiants."""
    return [("de", (preposition,)), *group[1]]


def from_the_world(preposition: int, group: Group, *world: int) -> list[Item]:
    """From researchers around the world: de chercheurs du monde entier."""
    around, the, noun = world
    end = [("de", (around,)), ("le", (the,)), ("monde", (noun,)), ("entier", (around,))]
    return [*from_people(preposition, group), *end]


def of_whole(preposition: int, whole: NounPhrase) -> list[Item]:
    """Of the school: de l'école."""
    return [("de", (preposition,)), *affirmed(whole)]


def research(noun: int) -> NounPhrase:
    """Research: des recherches."""
    return 5, 3, SOME, (noun,), [("recherches", (noun,))]


def for_doing(preposition: int, group: VerbGroup, done: NounPhrase) -> list[Item]:
    """For presenting research: pour présenter des recherches."""
    doing = unconjugated((group, None, 0, None, affirmed(done)), 2, 0)
    return [("pour", (preposition,)), *doing]


def inside(preposition: Leaf, noun_phrase: NounPhrase) -> list[Item]:
    """In the garden, under the table."""
    return phrase(preposition) + affirmed(noun_phrase)


def in_city(preposition: int, city: Leaf) -> list[Item]:
    """In Paris: à Paris."""
    return [("à", (preposition,)), city]


# Sentences.


def chained(*parts: Any) -> list[Item]:
    """Clauses, tokens' positions standing for commas, and set phrases, one after the other."""
    items: list[Item] = []
    for part in parts:
        if isinstance(part, int):
            items.append((COMMA, (part,)))
        elif isinstance(part, tuple):
            items += phrase(part)
        else:
            items += part
    return items


def saying(subject: NounPhrase, group: VerbGroup, that: int, said: list[Item]) -> list[Item]:
    """Think that: penser que."""
    verb = finite((group, None, 0, None, [("que", (that,))]), subject[0], subject[1])
    return affirmed(subject) + verb + said


def greeting(words: Leaf, comma: int, called: list[Item]) -> list[Item]:
    """A greeting, and to whom."""
    return [*phrase(words), (COMMA, (comma,)), *called]


def all_of(group: Group) -> list[Item]:
    """Friends, when called: les amis."""
    agreement, items, _, links = group
    return [(_ARTICLES[agreement], links), *items]


def one_called(determiner: Leaf, group: Group) -> list[Item]:
    """My friend, when called: mon ami."""
    return affirmed(determined(determiner, group))


def person_called(leaf: Leaf) -> list[Item]:
    """A name, when called."""
    return [(leaf[0][1], leaf[1])]


def the_world(noun: int) -> list[Item]:
    """World, when greeted: le monde."""
    return [("le", (noun,)), ("monde", (noun,))]


def hello(word: int, called: list[Item]) -> list[Item]:
    """Hello, and to whom, without a comma."""
    return [("bonjour", (word,)), *called]
