"""The rules of clauses and sentences.

Subordinate clauses lean on the clause before them and hold no comma; coordination between
clauses always has one. So every clause attaches in one way.
"""

from collections.abc import Iterator

from . import clauses, phrases, relatives, words
from .clauses import PAST, PRESENT
from .noun_rules import phrase_word
from .nouns import entries
from .rule import Choice, Word, rule
from .verb_rules import AGREEMENTS, STILL, TENSES, form_of

START = "Sentence"
_SHARES = {"H": 6.0, "A": 2.0, "O": 1.0, "C": 1.0}
# pronoun, class and agreement, share
_PRONOUNS = (
    *(("Pron.I", "H.I", 1.0), ("Pron.3", "H.3", 1.5)),
    *(("Pron.N", "H.N", 1.5), ("Pron.It", "A.3", 0.3)),
)
_EXISTING = "HATU"


def sentence_rules() -> Iterator[Choice]:
    """Every rule and word above the verb phrase."""
    yield from _pronouns()
    for tense in TENSES:
        yield from _there(tense)
        for still in STILL:
            yield from _simple(tense, still)
            yield from _units(tense, still)
    yield from _existing()
    yield from _saying()
    yield from _conjunctions()
    for place in words.BARRED:
        yield from _openers(place)
        yield from _items(place)
    yield from _chains()
    yield from _greetings()


def _same(value: object) -> object:
    return value


def _pronouns() -> Iterator[Choice]:
    for kind, table in words.SUBJECTS.items():
        symbol = {"I": "Pron.I", "Third": "Pron.3", "It": "Pron.It", "Other": "Pron.N"}[kind]
        for entry in table.split("; "):
            english, french, person, agreement = entry.split()
            value = (french, int(person), int(agreement))
            yield Word(f"{symbol}.word", (english,), value)
        yield rule(symbol, f"{symbol}.word", phrases.pronoun)


def _simple(tense: str, still: str) -> Iterator[Choice]:
    """Clauses without a conjunction; a still one names no time."""
    symbol, predicate = f"Simple{still}.{tense}", f"Vp{still}"
    for subject, key, share in _PRONOUNS:
        yield rule(symbol, f"{subject} {predicate}.{key}.{tense}", clauses.clause, share)
    for letter in AGREEMENTS:
        share = _SHARES.get(letter, 0.5)
        one, many = f"{predicate}.{letter}.3.{tense}", f"{predicate}.{letter}.N.{tense}"
        yield rule(symbol, f"Sub.{letter}.s {one}", clauses.clause, share)
        yield rule(symbol, f"Sub.{letter}.p {many}", clauses.clause, 0.6 * share)
    for letter in "HA":
        yield rule(symbol, f"Both.{letter} {predicate}.{letter}.N.{tense}", clauses.clause, 0.5)
    yield rule(symbol, f"There.{tense}", _same, 0.5)
    yield rule(symbol, f"There.{tense} Place", relatives.chained, 0.7)


def _there(tense: str) -> Iterator[Choice]:
    for number in "sp":
        be = {"present": "is are", "past": "was were"}.get(tense, "").split()
        form = be["sp".index(number)] if be else "will be"
        symbol = f"There.{tense}"
        exist = clauses.existing(form, tense, negative=False)
        yield rule(symbol, f"there {form} Exist.{number}", exist, 3)
        absent = clauses.existing(form, tense, negative=True)
        for letter in _EXISTING:
            yield rule(symbol, f"there {form} no Group.{letter}.{number}", absent, 0.2)


def _existing() -> Iterator[Choice]:
    for letter in _EXISTING:
        yield rule("Exist.s", f"a Group.{letter}.s", phrases.indefinite)
        yield rule("Exist.p", f"Number Group.{letter}.p", phrases.determined)
        yield rule("Exist.p", f"Quantity Group.{letter}.p", phrases.determined)


def _units(tense: str, still: str) -> Iterator[Choice]:
    """A clause, with at most one that explains it; none of a still unit names a time."""
    symbol, clause = f"Unit{still}.{tense}", f"Simple{still}"
    yield rule(symbol, f"{clause}.{tense}", _same, 6)
    if tense == PRESENT and not still:
        yield rule(symbol, "Saying", _same, 1)
    for main, other in words.CONJUNCTIONS:
        if main == tense:
            parts = f"{clause}.{tense} Conjunction.{main}.{other} {clause}.{other}"
            yield rule(symbol, parts, relatives.chained, 1.5)


def _saying() -> Iterator[Choice]:
    """Think that, say that; in the present, so that no tense shifts."""
    for subject, agreement in (
        ("Pron.I", "I"),
        ("Pron.3", "3"),
        ("Pron.N", "N"),
        ("Def.H.s", "3"),
        ("Def.H.p", "N"),
    ):
        group = f"Vg.Say.{form_of(agreement, PRESENT)}"
        yield rule("Saying", f"{subject} {group} that Said", relatives.saying)
    for tense in TENSES:
        yield rule("Said", f"Simple.{tense}", _same)
    for main, other in words.CONJUNCTIONS:
        parts = f"Simple.{main} Conjunction.{main}.{other} Simple.{other}"
        yield rule("Said", parts, relatives.chained, 0.1)


def _conjunctions() -> Iterator[Word]:
    for (main, other), english in words.CONJUNCTIONS.items():
        for word in english.split():
            yield phrase_word(f"Conjunction.{main}.{other}", _subordinator(word))
    for kind, table in words.COORDINATORS.items():
        for entry in entries(table):
            yield phrase_word(f"Coordinator.{kind}", entry)


def _subordinator(word: str) -> str:
    return words.SUBORDINATORS[word.replace("+", " ")]


def _openers(place: str) -> Iterator[Word]:
    """What opens a clause there: first, or after a coordinator."""
    barred = words.BARRED[place].split()
    for (main, other), english in words.FRONTED.items():
        for word in english.split():
            if word not in barred:
                yield phrase_word(f"Fronted.{place}.{main}.{other}", _subordinator(word))
    for entry in entries(words.ATTITUDES):
        if entry.split("|")[0] not in barred:
            yield phrase_word(f"Attitude.{place}", entry)


def _items(place: str) -> Iterator[Choice]:
    """What a comma and a conjunction may join."""
    symbol = f"Item.{place}"
    for tense in TENSES:
        share = 1.5 if tense == PAST else 1.0
        yield rule(symbol, f"Unit.{tense}", _same, 6 * share)
        yield rule(symbol, f"Time.{tense} , UnitStill.{tense}", relatives.chained, share)
        parts = f"Attitude.{place} , Unit.{tense}"
        yield rule(symbol, parts, relatives.chained, 0.5 * share)
    for main, other in words.FRONTED:
        parts = f"Fronted.{place}.{main}.{other} Simple.{other} , Unit.{main}"
        yield rule(symbol, parts, relatives.chained, 0.7)


def _chains() -> Iterator[Choice]:
    """Clauses joined: what may open one depends on the coordinator before it."""
    yield rule(START, "Item.first", _same, 0.5)
    yield rule(START, "Item.first More", relatives.chained, 0.5)
    yield rule("More", "Next", _same, 1)
    yield rule("More", "Next More", relatives.chained, 1)
    for kind in words.COORDINATORS:
        yield rule("Next", f", Coordinator.{kind} Item.{kind}", relatives.chained, 1)


def _greetings() -> Iterator[Choice]:
    for symbol, table in (("Morning", words.MORNINGS), ("Parting", words.PARTINGS)):
        for entry in entries(table):
            yield phrase_word(symbol, entry)
        yield rule(START, symbol, clauses.phrase, 0.001)
        yield rule(START, f"{symbol} , Callee", relatives.greeting, 0.002)
    yield rule(START, "hello Greeted", relatives.hello, 0.003)
