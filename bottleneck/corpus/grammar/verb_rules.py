"""The rules of verb phrases.

Symbols are written Kind.class.agreement.tense. Agreement is the subject's: I, 3 (he, the cat) or
N (you, we, they, the cats). What may follow a verb phrase in the same clause follows only closed
ones, so that adverbials attach in one way.
"""

from collections.abc import Iterator

from . import clauses, relatives, words
from .clauses import FUTURE, INFINITIVE, PAST, PRESENT
from .noun_rules import SUBJECTS, phrase_word
from .nouns import KINDS, entries
from .rule import Choice, Word, rule
from .verbs import GERUNDS, VERBS

TENSES = (PRESENT, PAST, FUTURE)
AGREEMENTS = {letter: "I3N" if letter == "H" else "3N" for letter in SUBJECTS}

# frame -> the noun classes of its object, the pronouns that may replace it, its share
_TRANSITIVE = {
    "Sense": ("HATUP", "near far thing", 5),
    "Hear": ("HA", "near far thing", 4),
    "Mind": ("HATUP", "near far", 6),
    "Meet": ("H", "near far", 4),
    "Handle": ("TUW", "thing", 5),
    "Read": ("R", "thing", 6),
    "Eat": ("FM", "thing", 3),
    "Cook": ("FM", "thing", 3),
    "Drink": ("L", "", 2),
    "Visit": ("P", "thing", 3),
    "Organize": ("V", "thing", 2),
    "Rule": ("RH", "near far thing", 6),
}
# subject class -> its transitive frames
_TAKES = {
    "H": "Sense Hear Mind Meet Handle Read Eat Cook Drink Visit Organize",
    "A": "Sense Hear Eat",
    "O": "Rule Organize",
    "C": "Rule Organize",
}
_INTRANSITIVE = {"H": "Live Act", "A": "Live", "U": "Happen", "T": "Happen", "W": "Happen"}
_LOCATED = "HAUTWR"
# two verb phrases of one subject, with at most one time; things do not do two
_TWO = (
    *(("Act", "Act", 1.3), ("Timed", "Act", 0.1), ("Act", "Timed", 0.2)),
    *(("Being", "Act", 0.3), ("Being", "Timed", 0.05)),
    *(("Act", "Being", 0.3), ("Timed", "Being", 0.05)),
)
# what a relative clause says: who does something, which is somehow
_DOES = (("Act", 0.9), ("Timed", 0.1))
_IS = (("Being", 1.0),)
STILL = ("", "Still")  # may name a time, names none
_FORMS = ("third", "base", PAST, FUTURE, INFINITIVE)


def verb_rules() -> Iterator[Choice]:
    """Every rule and word between the verb and its clause."""
    yield from _verbs()
    for frame in VERBS:
        for form in ("third", "base") if frame == "Can" else _FORMS:
            yield from _groups(frame, form)
    yield from _adverbials()
    yield from _pronouns()
    for tense in TENSES:
        for agreement in "I3N":
            yield from _be(agreement, tense)
    for letter, agreements in AGREEMENTS.items():
        for agreement in agreements:
            for tense in TENSES:
                yield from _phrases(letter, agreement, tense)
    for agreement in AGREEMENTS["H"]:
        yield from _verbal("H", agreement, INFINITIVE)
    yield from _relatives()
    yield rule("ForDoing", "for Gerund Obj.R", _for_doing)


def _same(value: object) -> object:
    return value


def _for_doing(
    preposition: int, verb: clauses.Leaf, done: clauses.NounPhrase
) -> list[clauses.Item]:
    return relatives.for_doing(preposition, clauses.plain(INFINITIVE)(verb), done)


def form_of(agreement: str, tense: str) -> str:
    """The form of an English verb for a subject and a tense."""
    if tense != PRESENT:
        return tense
    return "third" if agreement == "3" else "base"


def _verbs() -> Iterator[Word]:
    for frame, pairs in VERBS.items():
        for pair in pairs:
            yield Word(f"Verb.{frame}.base", pair.base, pair.french)
            yield Word(f"Verb.{frame}.third", pair.third, pair.french)
            yield Word(f"Verb.{frame}.past", pair.past, pair.french)
            if frame == "Read" and pair.base[0] in GERUNDS:
                yield Word("Gerund", pair.gerund, pair.french)


def _groups(frame: str, form: str) -> Iterator[Choice]:
    """The English tenses, their negations, and their adverbs."""
    symbol, base = f"Vg.{frame}.{form}", f"Verb.{frame}.base"
    if form == INFINITIVE:
        yield rule(symbol, base, clauses.plain(INFINITIVE))
        return
    if form == FUTURE:
        yield rule(symbol, f"will {base}", clauses.helped(FUTURE), 6)
        if frame not in ("Say", "Can"):
            yield rule(symbol, f"will not {base}", clauses.refused(FUTURE), 2)
            yield rule(symbol, f"will never {base}", clauses.will_never, 1)
            yield rule(symbol, f"will Often {base}", clauses.will_often, 1)
        return
    tense = PAST if form == PAST else PRESENT
    verb = f"Verb.{frame}.{form}"
    yield rule(symbol, verb, clauses.plain(tense), 7)
    if frame in ("Say", "Can"):
        return
    helper = {"third": "does", "base": "do", PAST: "did"}[form]
    yield rule(symbol, f"{helper} not {base}", clauses.refused(tense), 2)
    yield rule(symbol, f"never {verb}", clauses.never(tense), 0.7)
    yield rule(symbol, f"Often {verb}", clauses.often(tense), 1.3)


def _be(agreement: str, tense: str) -> Iterator[Choice]:
    present = {"I": "am", "3": "is", "N": "are"}[agreement]
    past = "were" if agreement == "N" else "was"
    symbol = f"Be.{agreement}.{tense}"
    first, *rest = {PRESENT: present, PAST: past, FUTURE: "will be"}[tense].split()
    yield rule(symbol, " ".join([first, *rest]), clauses.being(tense, negative=False), 4)
    yield rule(symbol, " ".join([first, "not", *rest]), clauses.being(tense, negative=True), 1)


def _adverbials() -> Iterator[Choice]:
    for symbol, table in (
        ("Often", words.FREQUENCIES),
        ("Manner", words.MANNERS),
        ("Spot", words.SPOTS),
        ("Degree", words.DEGREES),
        ("PredicateDegree", words.PREDICATE_DEGREES),
        ("Inside", words.PREPOSITIONS),
        ("Upon", words.SURFACE_PREPOSITIONS),
        *((f"Time.{tense}", table) for tense, tables in words.TIMES.items() for table in tables),
    ):
        for entry in entries(table):
            yield phrase_word(symbol, entry)
    for table in words.TIMES[PAST]:
        for entry in entries(table):
            if entry.split()[0] in ("in", "on", "at"):
                yield phrase_word(f"Time.{INFINITIVE}", entry)
    yield rule("Place", "Inside Def.P.s", relatives.inside, 3)
    yield rule("Place", "Upon Def.U.s", relatives.inside, 3)
    yield rule("Place", "in City", relatives.in_city, 1)
    yield rule("Place", "Spot", clauses.phrase, 1)


def _pronouns() -> Iterator[Word]:
    for kind, table in (
        ("near", words.DIRECT_NEAR),
        ("far", words.DIRECT_FAR),
        ("it", "it le~ 0"),
        ("you", "you te 0"),
        ("toyou", "you te 0"),
        ("thing", words.DIRECT_THING),
        ("tonear", words.INDIRECT_NEAR),
        ("tofar", words.INDIRECT_FAR),
    ):
        for entry in table.split("; "):
            english, french, agreement = entry.split()
            yield Word(f"Pronoun.{kind}", (english,), (french, int(agreement)))


def _tailed(key: str, phrase: str, tense: str, share: float) -> Iterator[Choice]:
    """A closed verb phrase, how, and when: no time (Act) or one (Timed)."""
    act, timed, time = f"Act.{key}", f"Timed.{key}", f"Time.{tense}"
    yield rule(act, phrase, _same, 6 * share)
    yield rule(act, f"{phrase} Manner", clauses.mannered, 0.7 * share)
    yield rule(timed, f"{phrase} {time}", clauses.placed, 0.7 * share)
    yield rule(timed, f"{phrase} Manner {time}", clauses.mannered, 0.1 * share)


def _located(key: str, phrase: str, tense: str) -> Iterator[Choice]:
    """A closed verb phrase, where, and perhaps how or when."""
    yield rule(f"Act.{key}", f"{phrase} Place", clauses.placed, 1.2)
    yield rule(f"Act.{key}", f"{phrase} Manner Place", clauses.mannered, 0.1)
    yield rule(f"Timed.{key}", f"{phrase} Place Time.{tense}", clauses.placed, 0.2)


def _phrases(letter: str, agreement: str, tense: str) -> Iterator[Choice]:
    """Whole verb phrases: of doing, of being, or two of them."""
    yield from _copular(letter, agreement, tense)
    if letter in _TAKES or letter in _INTRANSITIVE:
        yield from _verbal(letter, agreement, tense)
    for still in STILL:
        yield from _predicates(letter, f"{letter}.{agreement}.{tense}", still)


def _predicates(letter: str, key: str, still: str) -> Iterator[Choice]:
    """Predicates; a still one names no time, any other at most one."""
    symbol, taking = f"Vp{still}.{key}", letter in _TAKES
    yield rule(symbol, f"Being.{key}", clauses.predicate, 2)
    if not taking and letter not in _INTRANSITIVE:
        return
    for doing, share in (("Act", 7), ("Timed", 1))[: 1 if still else 2]:
        yield rule(symbol, f"{doing}.{key}", clauses.predicate, share if taking else share / 4)
    for first, second, share in _TWO if taking else _TWO[3:]:
        if not (still and "Timed" in (first, second)):
            yield rule(symbol, f"{first}.{key} and {second}.{key}", clauses.two, share)
    if taking:
        yield rule(symbol, f"Open.{key}", clauses.predicate, 1)


def _copular(letter: str, agreement: str, tense: str) -> Iterator[Choice]:
    symbol, be = f"Being.{letter}.{agreement}.{tense}", f"Be.{agreement}.{tense}"
    yield rule(symbol, f"{be} Quality.{letter}", clauses.described_plainly, 4)
    yield rule(symbol, f"{be} PredicateDegree Graded.{letter}", clauses.described, 3)
    other = f"Def.{letter}.s"
    yield rule(symbol, f"{be} as Graded.{letter} as {other}", clauses.equalled, 0.6)
    yield rule(symbol, f"{be} more Long.{letter} than {other}", clauses.compared, 0.6)
    if letter in _LOCATED:
        yield rule(symbol, f"{be} Place", clauses.placed_being, 2)
    if letter in KINDS and agreement != "N":
        parts = f"{be} one of the Selecting Kind.{letter}"
        yield rule(symbol, parts, clauses.one_of, 0.5)
        if letter == "C":
            yield rule(symbol, f"{parts} ForDoing", clauses.one_of, 0.6)


def _pronoun_kinds(kinds: str, agreement: str) -> list[str]:
    """The pronouns that an object may have: not those of its own subject."""
    if agreement == "3":
        return kinds.split()
    you = {"near": "you", "tonear": "toyou"} if agreement == "I" else {}
    own = [you.get(kind, kind) for kind in kinds.split()]
    return [kind for kind in own if kind not in ("near", "tonear")]


def _verbal(letter: str, agreement: str, tense: str) -> Iterator[Choice]:
    """Verb phrases of doing, closed (Act) and open (Open)."""
    key, form = f"{letter}.{agreement}.{tense}", form_of(agreement, tense)
    act, flat = f"Act.{key}", f"Flat.{key}"
    yield from _tailed(key, flat, tense, 1.0)
    yield from _located(key, flat, tense)
    for frame in _INTRANSITIVE.get(letter, "").split():
        yield rule(flat, f"Vg.{frame}.{form}", clauses.alone, 4)
    for frame in _TAKES.get(letter, "").split():
        closed = act if frame == "Mind" else flat  # one does not love quickly
        yield from _transitive(closed, f"Open.{key}", frame, form, agreement)
    if letter in "HA":
        yield from _motion(key, form, tense)
    if letter == "H" and tense != INFINITIVE:
        yield from _wanting(key, form, agreement)
    if letter == "H":
        yield from _human(flat, form, agreement)


def _transitive(
    closed: str, opened: str, frame: str, form: str, agreement: str
) -> Iterator[Choice]:
    classes, pronouns, share = _TRANSITIVE[frame]
    group = f"Vg.{frame}.{form}"
    for letter in classes:
        part = share / len(classes)
        yield rule(closed, f"{group} Obj.{letter}", clauses.with_object, part)
        if letter in SUBJECTS and not opened.endswith(INFINITIVE):
            yield rule(opened, f"{group} Open.{letter}", clauses.with_object, part)
    kinds = _pronoun_kinds(pronouns, agreement)
    if "far" in kinds and "thing" in kinds:
        kinds[kinds.index("thing")] = "it"
    for kind in kinds:
        yield rule(closed, f"{group} Pronoun.{kind}", clauses.with_pronoun, 0.1 * share)


def _motion(key: str, form: str, tense: str) -> Iterator[Choice]:
    group = f"Vg.Go.{form}"
    yield rule(f"Act.{key}", f"{group} to Def.P.s", clauses.going, 0.8)
    yield rule(f"Act.{key}", f"{group} to City", clauses.going_to_city, 0.2)
    yield rule(f"Timed.{key}", f"{group} to Def.P.s Time.{tense}", clauses.going_when, 0.2)
    yield rule(f"Away.{key}", f"Vg.Leave.{form}", clauses.alone)
    yield from _tailed(key, f"Away.{key}", tense, 0.1)


def _human(flat: str, form: str, agreement: str) -> Iterator[Choice]:
    give, answer, remember = f"Vg.Give.{form}", f"Vg.Answer.{form}", f"Vg.Remember.{form}"
    for letter in "TRW":
        yield rule(flat, f"{give} Obj.{letter} to Np.H.s", clauses.giving, 0.8)
        yield rule(flat, f"{give} Obj.{letter} to Def.H.p", clauses.giving, 0.4)
        for kind in _pronoun_kinds("tonear tofar", agreement):
            parts = f"{give} Obj.{letter} to Pronoun.{kind}"
            yield rule(flat, parts, clauses.giving_to_pronoun, 0.2)
    yield rule(flat, f"{give} Pronoun.thing to Np.H.s", clauses.giving_pronoun, 0.5)
    for number in "sp":
        yield rule(flat, f"{answer} Np.H.{number}", clauses.with_complement, 0.6)
        yield rule(flat, f"{remember} Np.H.{number}", clauses.with_complement, 0.4)
        yield rule(flat, f"{remember} Def.P.{number}", clauses.with_complement, 0.4)
    for kind in _pronoun_kinds("tonear tofar", agreement):
        yield rule(flat, f"{answer} Pronoun.{kind}", clauses.with_pronoun, 0.3)


def _wanting(key: str, form: str, agreement: str) -> Iterator[Choice]:
    for doing, share in (("Act", 1.0), ("Timed", 0.1)):
        symbol, infinitive = f"{doing}.{key}", f"{doing}.H.{agreement}.{INFINITIVE}"
        yield rule(symbol, f"Vg.Want.{form} {infinitive}", clauses.wanting, share)
        if form in ("third", "base"):
            yield rule(symbol, f"Vg.Can.{form} {infinitive}", clauses.wanting, 0.8 * share)
            yield rule(symbol, f"cannot {infinitive}", clauses.cannot, 0.3 * share)


def _relatives() -> Iterator[Choice]:
    """Relative clauses by the class of the noun they follow."""
    for letter, agreements in AGREEMENTS.items():
        for agreement in agreements.replace("I", ""):
            key = f"{letter}.{agreement}"
            who, whom = ("who", "whom") if letter == "H" else ("that", "that")
            for tense in TENSES:
                for phrase, share in _DOES if letter in _TAKES else _IS:
                    parts = f"{who} {phrase}.{key}.{tense}"
                    yield rule(f"Rel.{key}", parts, relatives.as_subject, share)
                aside = "who" if letter == "H" else "which"
                parts = f"{aside} Vp.{key}.{tense}"
                yield rule(f"Aside.{key}", parts, relatives.aside)
            yield from _gaps(f"Rel.{key}", whom, letter)


def _gaps(symbol: str, whom: str, letter: str) -> Iterator[Choice]:
    """Whom she saw, that he broke: the object has gone before."""
    for frame in _TAKES["H"].split():
        if letter not in _TRANSITIVE[frame][0]:
            continue
        for subject, agreement in (("Pron.I", "I"), ("Pron.3", "3"), ("Pron.N", "N")):
            for tense in TENSES:
                group = f"Vg.{frame}.{form_of(agreement, tense)}"
                yield rule(symbol, f"{whom} {subject} {group}", relatives.as_object, 0.2)
        for tense in TENSES:
            group = f"Vg.{frame}.{form_of('3', tense)}"
            yield rule(symbol, f"{whom} Def.H.s {group}", relatives.as_object, 0.4)
