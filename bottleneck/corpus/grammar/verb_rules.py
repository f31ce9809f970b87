"""The rules of verb phrases.

Symbols are written Kind.class.agreement.tense. Agreement is the subject's: I, 3 (he, the cat) or
N (you, we, they, the cats). What may follow a verb phrase in the same clause follows only closed
ones, so that adverbials attach in one way.
"""

from collections.abc import Iterator

from . import clauses, relatives, words
from .clauses import FUTURE, INFINITIVE, PAST, PRESENT
from .noun_rules import SUBJECTS, phrase_word
from .nouns import entries
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
}
_INTRANSITIVE = {"H": "Live Act", "A": "Live", "U": "Happen", "T": "Happen", "W": "Happen"}
_LOCATED = "HAUTWR"
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
        yield from _tails(tense)
    yield from _tails(INFINITIVE)
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
        ("Degree", words.DEGREES),
        ("PredicateDegree", words.PREDICATE_DEGREES),
        ("Inside", words.PREPOSITIONS),
        ("Upon", words.SURFACE_PREPOSITIONS),
        *((f"Time.{tense}", table) for tense, table in words.TIMES.items()),
    ):
        for entry in entries(table):
            yield phrase_word(symbol, entry)
    for entry in entries(words.TIMES[PAST]):
        if entry.split()[0] in ("in", "on", "at"):
            yield phrase_word(f"Time.{INFINITIVE}", entry)
    yield rule("Place", "Inside Def.P.s", relatives.inside, 3)
    yield rule("Place", "Upon Def.U.s", relatives.inside, 3)
    yield rule("Place", "in City", relatives.in_city, 1)


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


def _tails(tense: str) -> Iterator[Choice]:
    """What may follow a closed verb phrase."""
    symbol, time = f"Tail.{tense}", f"Time.{tense}"
    yield rule(symbol, "Place", _same, 5)
    yield rule(symbol, "Manner", clauses.phrase, 3)
    yield rule(symbol, time, clauses.phrase, 3)
    yield rule(symbol, f"Manner {time}", relatives.chained, 0.5)
    yield rule(symbol, "Manner Place", relatives.chained, 0.5)
    yield rule(symbol, f"Place {time}", relatives.chained, 1)


def _phrases(letter: str, agreement: str, tense: str) -> Iterator[Choice]:
    """Whole verb phrases: of doing, of being, or two of them."""
    key = f"{letter}.{agreement}.{tense}"
    doing = letter in _TAKES or letter in _INTRANSITIVE
    yield from _copular(letter, agreement, tense)
    yield rule(f"Vp.{key}", f"Being.{key}", clauses.predicate, 2 if doing else 1)
    if not doing:
        return
    yield from _verbal(letter, agreement, tense)
    yield rule(f"Vp.{key}", f"Act.{key}", clauses.predicate, 8 if letter in _TAKES else 2)
    both = (("Act", "Act", 1.5), ("Being", "Act", 0.3), ("Act", "Being", 0.3))
    for first, second, share in both if letter in _TAKES else both[1:]:
        yield rule(f"Vp.{key}", f"{first}.{key} and {second}.{key}", clauses.two, share)
    if letter in _TAKES:
        yield rule(f"Vp.{key}", f"Open.{key}", clauses.predicate, 1)


def _copular(letter: str, agreement: str, tense: str) -> Iterator[Choice]:
    symbol, be = f"Being.{letter}.{agreement}.{tense}", f"Be.{agreement}.{tense}"
    yield rule(symbol, f"{be} Quality.{letter}", clauses.described_plainly, 4)
    yield rule(symbol, f"{be} PredicateDegree Graded.{letter}", clauses.described, 3)
    other = f"Def.{letter}.s"
    yield rule(symbol, f"{be} as Graded.{letter} as {other}", clauses.equalled, 0.6)
    yield rule(symbol, f"{be} more Long.{letter} than {other}", clauses.compared, 0.6)
    if letter in _LOCATED:
        yield rule(symbol, f"{be} Place", clauses.placed_being, 2)
    if letter in "HO" and agreement != "N":
        parts = f"{be} one of the Selecting Group.{letter}.p"
        yield rule(symbol, parts, clauses.one_of, 0.5)
    if letter == "O" and agreement == "3":
        parts = f"{be} one of the Selecting Group.V.p"
        yield rule(symbol, parts, clauses.one_of, 0.3)
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
    act, flat, tail = f"Act.{key}", f"Flat.{key}", f"Tail.{tense}"
    yield rule(act, flat, _same, 6)
    yield rule(act, f"{flat} {tail}", clauses.placed, 3)
    for frame in _INTRANSITIVE.get(letter, "").split():
        yield rule(flat, f"Vg.{frame}.{form}", clauses.alone, 4)
    for frame in _TAKES.get(letter, "").split():
        closed = act if frame == "Mind" else flat  # one does not love quickly
        yield from _transitive(closed, f"Open.{key}", frame, form, agreement)
    if letter in "HA":
        yield from _motion(act, form, tense)
    if letter == "H" and tense != INFINITIVE:
        yield from _wanting(act, form, agreement)
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


def _motion(act: str, form: str, tense: str) -> Iterator[Choice]:
    group = f"Vg.Go.{form}"
    yield rule(act, f"{group} to Def.P.s", clauses.going, 0.8)
    yield rule(act, f"{group} to City", clauses.going_to_city, 0.2)
    yield rule(act, f"{group} to Def.P.s Time.{tense}", clauses.going_when, 0.6)


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


def _wanting(act: str, form: str, agreement: str) -> Iterator[Choice]:
    infinitive = f"Act.H.{agreement}.{INFINITIVE}"
    yield rule(act, f"Vg.Want.{form} {infinitive}", clauses.wanting, 1)
    if form in ("third", "base"):
        yield rule(act, f"Vg.Can.{form} {infinitive}", clauses.wanting, 0.8)
        yield rule(act, f"cannot {infinitive}", clauses.cannot, 0.3)


def _relatives() -> Iterator[Choice]:
    """Relative clauses by the class of the noun they follow."""
    for letter, agreements in AGREEMENTS.items():
        for agreement in agreements.replace("I", ""):
            key = f"{letter}.{agreement}"
            who, whom = ("who", "whom") if letter == "H" else ("that", "that")
            for tense in TENSES:
                phrase = "Act" if letter in _TAKES else "Being"
                yield rule(f"Rel.{key}", f"{who} {phrase}.{key}.{tense}", relatives.as_subject)
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
