"""The rules of noun phrases.

Symbols are written Kind.class.number; classes are those of ``nouns.CLASSES``, number is s or p.
What may follow a noun is told apart by its words (on a topic, from a city, with the hat), and a
relative clause stands only where nothing else of the phrase above it can follow: so each phrase
attaches in one way.
"""

from collections.abc import Iterator

from . import phrases, relatives, words
from .adjectives import ADJECTIVES, LONG, SELECTING, UNGRADED, Adjective
from .french import before_noun
from .nouns import KINDS, NOUNS, entries
from .rule import Choice, Word, rule

COUNTED = "HAUTWRFPOCV"
MASSES = "ML"
SUBJECTS = "HAUTWRFPOC"


def phrase_word(symbol: str, entry: str, weight: float = 1.0) -> Word:
    """A set phrase from its notation in ``words``."""
    english, french = entry.split("|")[:2]
    return Word(symbol, tuple(english.split()), phrase_forms(french), weight)


def phrase_forms(french: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The French of a set phrase: each form with the places (from 0) of its English tokens."""
    pairs = (form.split(":") for form in french.split())
    return tuple((form, tuple(int(place) for place in places.split(","))) for form, places in pairs)


def noun_rules() -> Iterator[Choice]:
    """Every rule and word below the verb."""
    yield from _nouns()
    yield from _adjectives()
    yield from _determiners()
    yield from _names()
    yield from _topics()
    yield from _kinds()
    for letter in COUNTED:
        for number in "sp":
            yield from _groups(letter, number)
            yield from _definite(letter, number)
            yield from _closed(letter, number)
        yield from _objects(letter)
    for number in "sp":
        yield from _groups("D", number)
    for letter in MASSES:
        yield from _groups(letter, "s")
        yield rule(f"Obj.{letter}", f"Group.{letter}.s", phrases.mass, 2)
        yield rule(f"Obj.{letter}", f"The.s Group.{letter}.s", phrases.determined)
    for letter in SUBJECTS:
        yield from _subjects(letter)
    yield from _modifiers()


def _nouns() -> Iterator[Word]:
    for letter, nouns in NOUNS.items():
        for noun in nouns:
            yield Word(f"Noun.{letter}.s", (noun.singular,), (int(noun.female), noun.french))
            if noun.plural:
                forms = (2 + noun.female, noun.french_plural)
                yield Word(f"Noun.{letter}.p", (noun.plural,), forms)


def _classes(adjective: Adjective) -> str:
    """The noun classes of an adjective: leaders are people, gatherings are events."""
    own = adjective.classes
    return own + ("D" if "H" in own else "") + ("C" if "V" in own else "")


def _adjectives() -> Iterator[Word]:
    for adjective in ADJECTIVES:
        token = (adjective.english,)
        for letter in _classes(adjective):
            if adjective.before:
                yield Word(f"Before.{letter}", token, before_noun(adjective.forms))
            else:
                yield Word(f"After.{letter}", token, adjective.forms)
            if adjective.english not in UNGRADED:
                yield Word(f"Graded.{letter}", token, adjective.forms)
                if not adjective.before:
                    yield Word(f"GradedAfter.{letter}", token, adjective.forms)
            yield Word(f"Quality.{letter}", token, adjective.forms)
            if adjective.english in LONG:
                yield Word(f"Long.{letter}", token, adjective.forms)
    for adjective in SELECTING:
        yield Word("Selecting", (adjective.english,), before_noun(adjective.forms))


def _forms(table: str) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Determiners and their four French forms; one form alone stands for all."""
    for entry in entries(table):
        english, french = entry.split()
        forms = french.split(",") * (1 if "," in french else 4)
        yield english, tuple(tuple(form.split("+")) for form in forms)


def _determiners() -> Iterator[Word]:
    for symbol, table in (
        ("The.s", words.SINGULAR_DETERMINERS),
        ("The.p", words.PLURAL_DETERMINERS),
        ("Number", words.NUMERALS),
        ("Quantity", words.QUANTITIES),
    ):
        for english, forms in _forms(table):
            if english == "the":
                yield Word(symbol.replace("The", "Just"), (english,), forms)
            yield Word(symbol, (english,), forms, 3.0 if english == "the" else 1.0)


def _names() -> Iterator[Word]:
    for female, table in ((1, words.WOMEN), (0, words.MEN)):
        for english, french in (entry.split() for entry in entries(table)):
            yield Word("Name", (english,), (female, french))
    for english, french in (entry.split() for entry in entries(words.CITIES)):
        yield Word("City", (english,), french)


def _topics() -> Iterator[Word]:
    for entry in entries(words.TOPICS):
        english, french, agreement = entry.split("|")
        value = (phrase_forms(french), int(agreement))
        yield Word("Topic", tuple(english.split()), value)


def _kinds() -> Iterator[Word]:
    for letter, table in KINDS.items():
        for english, *forms in (entry.split() for entry in entries(table)):
            yield Word(f"Kind.{letter}", (english,), tuple(form.strip("-") for form in forms))


def _groups(letter: str, number: str) -> Iterator[Choice]:
    """Nouns with up to two adjectives."""
    group, noun = f"Group.{letter}.{number}", f"Noun.{letter}.{number}"
    before = any(a.before and letter in _classes(a) for a in ADJECTIVES)
    yield rule(group, noun, phrases.bare, 3)
    yield rule(group, f"After.{letter} {noun}", phrases.after, 4)
    yield rule(group, f"Degree GradedAfter.{letter} {noun}", phrases.very, 0.3)
    if before:
        yield rule(group, f"Before.{letter} {noun}", phrases.before, 2)
        yield rule(group, f"Before.{letter} After.{letter} {noun}", phrases.around, 1)


def _definite(letter: str, number: str) -> Iterator[Choice]:
    """The phrases that can be coordinated, owned or leant on."""
    symbol, group = f"Def.{letter}.{number}", f"Group.{letter}.{number}"
    yield rule(symbol, f"The.{number} {group}", phrases.determined, 6)
    if letter == "H" and number == "s":
        yield rule(symbol, "Name", phrases.name, 3)
    if letter not in "OCVP":
        yield rule(symbol, f"Owner 's {group}", phrases.owned, 1)


def _closed(letter: str, number: str) -> Iterator[Choice]:
    """Whole phrases without a relative clause."""
    symbol, group = f"Np.{letter}.{number}", f"Group.{letter}.{number}"
    yield rule(symbol, f"Def.{letter}.{number}", _same, 6)
    if number == "s":
        yield rule(symbol, f"a {group}", phrases.indefinite, 2)
    else:
        yield rule(symbol, f"Number {group}", phrases.determined, 2)
    if letter in "HRCV":
        parts = f"The.{number} {group} Modifier.{letter}"
        yield rule(symbol, parts, _modified, 5 if letter == "C" else 1)
    if letter == "H":
        yield rule(symbol, f"Just.{number} Group.D.{number} Whole", _modified, 1)


def _same(value: object) -> object:
    return value


def _modified(
    determiner: phrases.Leaf, group: phrases.Group, modifier: list[phrases.Item]
) -> phrases.NounPhrase:
    return phrases.determined(determiner, phrases.extend(group, modifier))


def _subjects(letter: str) -> Iterator[Choice]:
    """Phrases that stand before a verb: a relative clause may follow them."""
    for number, who in (("s", "3"), ("p", "N")):
        symbol, phrase = f"Sub.{letter}.{number}", f"Np.{letter}.{number}"
        head = f"The.{number} Group.{letter}.{number}"
        yield rule(symbol, phrase, _same, 8)
        yield rule(symbol, f"{head} Rel.{letter}.{who}", relatives.related, 1)
        parts = f"{phrase} , Aside.{letter}.{who} ,"
        yield rule(symbol, parts, relatives.described_aside, 1)
        group = f"Group.{letter}.{number}"
        if number == "p":
            yield rule(symbol, f"Quantity {group}", phrases.determined, 1)
    if letter in "HA":
        for first, second in ("ss", "sp", "ps"):
            parts = f"Def.{letter}.{first} and Def.{letter}.{second}"
            yield rule(f"Both.{letter}", parts, phrases.both)


def _objects(letter: str) -> Iterator[Choice]:
    """Phrases that stand after a verb: closed, and open ones, after which nothing may follow."""
    closed = f"Obj.{letter}"
    yield rule(closed, f"Np.{letter}.s", _same, 4)
    yield rule(closed, f"Np.{letter}.p", _same, 3)
    yield rule(closed, f"Group.{letter}.p", phrases.some, 1)
    yield rule(closed, f"Def.{letter}.s and Def.{letter}.s", phrases.both, 0.6)
    if letter in SUBJECTS:
        for number, who in (("s", "3"), ("p", "N")):
            relative = f"The.{number} Group.{letter}.{number} Rel.{letter}.{who}"
            yield rule(f"Open.{letter}", relative, relatives.related)
    if letter == "R":
        yield rule(closed, "Group.R.p From", _some_modified, 1)
        yield rule(closed, "research", relatives.research, 0.2)
        yield rule(closed, "research InTopic", _research_in, 0.8)


def _some_modified(group: phrases.Group, modifier: list[phrases.Item]) -> phrases.NounPhrase:
    return phrases.some(phrases.extend(group, modifier))


def _research_in(noun: int, topic: list[phrases.Item]) -> phrases.NounPhrase:
    return phrases.extend_phrase(relatives.research(noun), topic)


def _modifiers() -> Iterator[Choice]:
    yield rule("Owner", "Name", phrases.name, 1)
    yield rule("Owner", "The.s Group.H.s", phrases.determined, 1)
    yield rule("Modifier.H", "from City", relatives.from_city)
    yield rule("Modifier.H", "with the Group.W.s", relatives.wearing)
    for letter in "RCV":
        yield rule(f"Modifier.{letter}", "on Topic", relatives.on_topic)
    yield rule("InTopic", "in Topic", relatives.in_topic)
    yield rule("From", "from Group.H.p", relatives.from_people, 2)
    yield rule("From", "from Group.H.p around the world", relatives.from_the_world, 1)
    yield rule("Whole", "of Def.P.s", relatives.of_whole)
    yield rule("Whole", "of Def.O.s", relatives.of_whole)
    yield rule("Callee", "Name", relatives.person_called)
    yield rule("Callee", "My.s Group.H.s", relatives.one_called)
    yield rule("Callee", "My.p Group.H.p", relatives.one_called)
    yield rule("Greeted", "Name", relatives.person_called)
    yield rule("Greeted", "Group.H.p", relatives.all_of)
    yield rule("Greeted", "world", relatives.the_world, 0.05)
    for number in "sp":
        yield Word(f"My.{number}", ("my",), (("mon",), ("ma",), ("mes",), ("mes",)))
