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
from .verb_rules import AGREEMENTS, TENSES, form_of

START = "Sentence"
_SHARES = {"H": 6.0, "A": 2.0, "O": 2.0}
_EXISTING = "HATU"


def sentence_rules() -> Iterator[Choice]:
    """Every rule and word above the verb phrase."""
    yield from _pronouns()
    for tense in TENSES:
        yield from _simple(tense)
        yield from _there(tense)
        yield from _units(tense)
    yield from _existing()
    yield from _saying()
    yield from _conjunctions()
    yield from _items()
    yield from _greetings()
    yield rule(START, "Chain", _same, 1)
    yield rule("Chain", "Item", _same, 1)
    yield rule("Chain", "Item , Coordinator Chain", relatives.chained, 1)


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


def _simple(tense: str) -> Iterator[Choice]:
    """Clauses without a conjunction."""
    symbol = f"Simple.{tense}"
    yield rule(symbol, f"Pron.I Vp.H.I.{tense}", clauses.clause, 1)
    yield rule(symbol, f"Pron.3 Vp.H.3.{tense}", clauses.clause, 1.5)
    yield rule(symbol, f"Pron.N Vp.H.N.{tense}", clauses.clause, 1.5)
    yield rule(symbol, f"Pron.It Vp.A.3.{tense}", clauses.clause, 0.3)
    for letter in AGREEMENTS:
        share = _SHARES.get(letter, 0.5)
        yield rule(symbol, f"Sub.{letter}.s Vp.{letter}.3.{tense}", clauses.clause, share)
        yield rule(symbol, f"Sub.{letter}.p Vp.{letter}.N.{tense}", clauses.clause, 0.6 * share)
    for letter in "HA":
        yield rule(symbol, f"Both.{letter} Vp.{letter}.N.{tense}", clauses.clause, 0.5)
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


def _units(tense: str) -> Iterator[Choice]:
    """A clause, with at most one that explains it."""
    yield rule(f"Unit.{tense}", f"Simple.{tense}", _same, 6)
    if tense == PRESENT:
        yield rule(f"Unit.{tense}", "Saying", _same, 1)
    for main, other in words.CONJUNCTIONS:
        if main == tense:
            parts = f"Simple.{tense} Conjunction.{main}.{other} Simple.{other}"
            yield rule(f"Unit.{tense}", parts, relatives.chained, 1.5)


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
    for kind, table in (("Conjunction", words.CONJUNCTIONS), ("Fronted", words.FRONTED)):
        for (main, other), english in table.items():
            for word in english.split():
                entry = words.SUBORDINATORS[word.replace("+", " ")]
                yield phrase_word(f"{kind}.{main}.{other}", entry)
    for entry in entries(words.COORDINATORS):
        yield phrase_word("Coordinator", entry, 3.0 if entry.startswith("and") else 1.0)
    for entry in entries(words.ATTITUDES):
        yield phrase_word("Attitude", entry)


def _items() -> Iterator[Choice]:
    """What a comma and a conjunction may join."""
    for tense in TENSES:
        share = 1.5 if tense == PAST else 1.0
        yield rule("Item", f"Unit.{tense}", _same, 6 * share)
        yield rule("Item", f"Time.{tense} , Unit.{tense}", relatives.chained, share)
        yield rule("Item", f"Attitude , Unit.{tense}", relatives.chained, 0.5 * share)
    for main, other in words.FRONTED:
        parts = f"Fronted.{main}.{other} Simple.{other} , Unit.{main}"
        yield rule("Item", parts, relatives.chained, 0.7)


def _greetings() -> Iterator[Choice]:
    for symbol, table in (("Morning", words.MORNINGS), ("Parting", words.PARTINGS)):
        for entry in entries(table):
            yield phrase_word(symbol, entry)
        yield rule(START, symbol, clauses.phrase, 0.001)
        yield rule(START, f"{symbol} , Callee", relatives.greeting, 0.002)
    yield rule(START, "hello Greeted", relatives.hello, 0.003)
