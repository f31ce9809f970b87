"""The rules of the grammar: one table with English and French side by side.

A row is ``symbol | English | French | weight``. Of the English, what starts with a capital letter
is a symbol and anything else a token. The French names the English parts by their places, from 0:

- ``2``: the French of part 2. A noun phrase comes with its article, a verb group conjugated.
- ``que:2``: a word that stands for the token at 2 (``du:0,1`` for two); forms that agree are
  separated by "/".
- ``@2``, ``@2:1``: the noun group 2 with le, la or les, which stands for the noun or the token 1.
- ``2!``: the noun phrase 2 as the object of the verb 0.
- ``0+1``, ``0+2+1``: the verb 0 with the pronoun 1, which stands for the token 2 too.
- ``&0``, ``&0:1``: the preposition of the verb 0, which stands for the verb or for the token 1.
- ``0 / 1``: a verb and what follows it; ``0a`` and ``0b`` are these two halves of part 0.
- ``2^1``: the subject 1 and the verb 2 of a clause whose object comes before it.

Left empty, it is the parts in their order. A name is that of a function in ``french``. A verb group
has its tense instead. Forms agree where a noun group meets its determiner and a clause its subject.

The rows under a line ``for`` are repeated for all values of its variables. A fifth column has more
variables, or says for which values the row is. A small letter after a dot, and a word in "<>", is
replaced by a variable's value. A weight is a product of numbers and variables; a row of weight 0 is
left out. The variables: c and o classes of nouns (the letters of the lexicon's [nouns]), n number
(s or p), a the subject's agreement (I, 3 for he and the cat, N for you, we, they and the cats), r
that of a relative clause, t tense, f frame of a verb (a table of the lexicon's [verbs]), w form of
an English verb, k kind of a pronoun; ``_extended`` has those that follow from them.

Each phrase attaches in one way: what may follow a noun is distinguished by its words (on a topic,
from a city, with the hat), and a relative clause stands only where nothing else of the phrase above
it can follow. What may follow a verb phrase in its clause follows only closed ones (Act, Timed).
Subordinate clauses follow the clause before them and hold no comma; coordination between clauses
always has one.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from math import prod
from typing import Any

from . import french
from .french import FUTURE, INFINITIVE, PAST, PRESENT, conjugate
from .lexicon import COMMA, FRAMES, POSSESSIVE, Rule, words

START = "Sentence"

_TABLE = """
# Nouns with up to two adjectives.
for c in HAUTWRFPOCVDML, n
Group.c.n | Noun.c.n | 0 | 3
Group.c.n | After.c Noun.c.n | 1 0 | 4
Group.c.n | Degree GradedAfter.c Noun.c.n | 2 0 1 | 0.3
Group.c.n | Before.c Noun.c.n | 0 1 | 2 | c in HDAUTWRFPOCV
Group.c.n | Before.c After.c Noun.c.n | 0 2 1 | 1 | c in HDAUTWRFPOCV

# Def can be coordinated, owned or compared with; Np is whole but for a relative clause, which Sub
# may have before a verb, and Late has at the end of a clause.
for c in HAUTWRFPOCV, n
Def.c.n | The.n Group.c.n | 0 1 | 6
Def.c.n | Name | 0 | 3 | c in H, n in s
Def.c.n | Owner 's Group.c.n | @2:1 de:1 0 | 1 | c in HAUTWRF
Np.c.n | Def.c.n | 0 | 6
Np.c.n | a Group.c.n | 1 | 2 | n in s
Np.c.n | Number Group.c.n | 0 1 | 2 | n in p
Np.c.n | The.n Group.c.n Modifier.c | 0 1 2 | 1 | c in HRV
Np.c.n | The.n Group.c.n Modifier.c | 0 1 2 | 5 | c in C
Np.c.n | Just.n Group.D.n Whole | 0 1 2 | 1 | c in H
Sub.c.n | Np.c.n | 0 | 8
Sub.c.n | The.n Group.c.n Rel.c.r | 0 1 2 | 1
Sub.c.n | Np.c.n , Aside.c.r , | 0 ,:1 2 ,:3 | 1
Sub.c.n | Quantity Group.c.n | 0 1 | 1 | n in p
Late.c | The.n Group.c.n Rel.c.r | 0 1 2 | 1
for c in HAUTWRFPOCV
Obj.c | Np.c.s | 0 | 4
Obj.c | Np.c.p | 0 | 3
Obj.c | Group.c.p | 0 | 1
Obj.c | Def.c.s and Def.c.s | both | 0.6
for c in ML
Obj.c | Group.c.s | 0 | 2
Obj.c | The.s Group.c.s | 0 1 | 1
for
Obj.R | Group.R.p From | 0 1 | 1
Obj.R | research | research | 0.2
Obj.R | research InTopic | research | 0.8
for c in HA
Both.c | Def.c.s and Def.c.s | both | 1
Both.c | Def.c.s and Def.c.p | both | 1
Both.c | Def.c.p and Def.c.s | both | 1
for c in HATU
Exist.s | a Group.c.s | 1 | 1
Exist.p | Number Group.c.p | 0 1 | 1
Exist.p | Quantity Group.c.p | 0 1 | 1

for
Owner | Name | 0 | 1
Owner | The.s Group.H.s | 0 1 | 1
Modifier.H | from City | de:0 1 | 1
Modifier.H | with the Group.W.s | à:0 @2:1 | 1
Modifier.c | on Topic | sur:0 @1 | 1 | c in RCV
InTopic | in Topic | en:0 1 | 1
From | from Group.H.p | de:0 1 | 2
From | from Group.H.p around the world | de:0 1 de:2 le:3 monde:4 entier:2 | 1
Whole | of Def.P.s | de:0 1 | 1
Whole | of Def.O.s | de:0 1 | 1
Callee | Name | 0 | 1
Callee | My.n Group.H.n | 0 1 | 1 | n
Greeted | Name | 0 | 1
Greeted | Group.H.p | @0 | 1
Greeted | world | le:0 monde:0 | 0.05
Pron.x | Pron.x.word | 0 | 1 | x in I 3 N It
Place | Inside Def.P.s | 0 1 | 3
Place | Upon Def.U.s | 0 1 | 3
Place | in City | à:0 1 | 1
Place | Spot | 0 | 1
ForDoing | for Gerund Obj.R | pour:0 1 2 | 1

# English tenses, their negations and their adverbs.
for f in frames
Vg.f.infinitive | Verb.f.base | infinitive | 1
Vg.f.future | will Verb.f.base | future | 6
Vg.f.future | will not Verb.f.base | future | 2 | f in free
Vg.f.future | will never Verb.f.base | future | 1 | f in free
Vg.f.future | will Often Verb.f.base | future | 1 | f in free
Vg.f.third | Verb.f.third | present | 7
Vg.f.third | does not Verb.f.base | present | 2 | f in free
Vg.f.third | never Verb.f.third | present | 0.7 | f in free
Vg.f.third | Often Verb.f.third | present | 1.3 | f in free
Vg.f.base | Verb.f.base | present | 7
Vg.f.base | do not Verb.f.base | present | 2 | f in free
Vg.f.base | never Verb.f.base | present | 0.7 | f in free
Vg.f.base | Often Verb.f.base | present | 1.3 | f in free
Vg.f.past | Verb.f.past | past | 7
Vg.f.past | did not Verb.f.base | past | 2 | f in free
Vg.f.past | never Verb.f.past | past | 0.7 | f in free
Vg.f.past | Often Verb.f.past | past | 1.3 | f in free
for a, t
Be.a.t | <be> | <être>:0 | 4 | t in present past
Be.a.t | <be> not | ne:1 <être>:0 pas:1 | 1 | t in present past
Be.a.t | will be | <être>:0,1 | 4 | t in future
Be.a.t | will not be | ne:1 <être>:0,2 pas:1 | 1 | t in future

for c in HAUTWRFPOC, a, t
Being.c.a.t | Be.a.t Quality.c | 0 1 | 4
Being.c.a.t | Be.a.t PredicateDegree Graded.c | 0 1 2 | 3
Being.c.a.t | Be.a.t as Graded.c as Def.c.s | 0 aussi:1 2 que:3 4 | 0.6
Being.c.a.t | Be.a.t more Long.c than Def.c.s | 0 plus:1 2 que:3 4 | 0.6
Being.c.a.t | Be.a.t Place | 0 1 | 2 | c in HAUTWR
Being.c.a.t | Be.a.t one of the Selecting Kind.c | one_of | 0.5 | c in HOC, a in I3
Being.c.a.t | Be.a.t one of the Selecting Kind.c ForDoing | one_of | 0.6 | c in C, a in I3

# Of verb phrases Act has no time and Timed has one; French says how right after the verb.
for c in HAOCUTW, a, t in doing
Act.c.a.t | Flat.c.a.t | 0 | 6
Act.c.a.t | Flat.c.a.t Manner | 0a 1 0b | 0.7
Act.c.a.t | Flat.c.a.t Place | 0 1 | 1.2
Act.c.a.t | Flat.c.a.t Manner Place | 0a 1 0b 2 | 0.1
Timed.c.a.t | Flat.c.a.t Time.t | 0 1 | 0.7
Timed.c.a.t | Flat.c.a.t Manner Time.t | 0a 1 0b 2 | 0.1
Timed.c.a.t | Flat.c.a.t Place Time.t | 0 1 2 | 0.2
for c in HA, a, t in doing
Flat.c.a.t | Vg.Live.w | 0 | 4
for c in H, a, t in doing
Flat.c.a.t | Vg.Act.w | 0 | 4
for c in UTW, a, t in doing
Flat.c.a.t | Vg.Happen.w | 0 | 4
for f in transitive, c in subjects, a, t in doing
<closed>.c.a.t | Vg.f.w Obj.o | 0 / 1! | part | o in objects
Open.c.a.t | Vg.f.w Late.o | 0 1! | part | t in present past future, o in late
<closed>.c.a.t | Vg.f.w Pronoun.k | 0+1 | 0.1*share | k in pronouns
for c in H, a, t in doing, o in TRW
Flat.c.a.t | Vg.Give.w Obj.o to Np.H.s | 0 / 1! à:2 3 | 0.8
Flat.c.a.t | Vg.Give.w Obj.o to Def.H.p | 0 / 1! à:2 3 | 0.4
Flat.c.a.t | Vg.Give.w Obj.o to Pronoun.k | 0+2+3 / 1! | 0.2 | k in tonear toyou tofar
for c in H, a, t in doing
Flat.c.a.t | Vg.Give.w Pronoun.thing to Np.H.s | 0+1 / à:2 3 | 0.5
for c in H, a, t in doing, n
Flat.c.a.t | Vg.Answer.w Np.H.n | 0 / &0 1 | 0.6
Flat.c.a.t | Vg.Remember.w Np.H.n | 0 / &0 1 | 0.4
Flat.c.a.t | Vg.Remember.w Def.P.n | 0 / &0 1 | 0.4
for c in H, a, t in doing
Flat.c.a.t | Vg.Answer.w Pronoun.k | 0+1 | 0.3 | k in tonear toyou tofar
for c in HA, a, t in doing
Act.c.a.t | Vg.Go.w to Def.P.s | 0 &0:1 2 | 0.8
Act.c.a.t | Vg.Go.w to City | 0 &0:1 2 | 0.2
Act.c.a.t | Away.c.a.t | 0 | 6*0.1
Act.c.a.t | Away.c.a.t Manner | 0a 1 0b | 0.7*0.1
Timed.c.a.t | Vg.Go.w to Def.P.s Time.t | 0 &0:1 2 3 | 0.2
Timed.c.a.t | Away.c.a.t Time.t | 0 1 | 0.7*0.1
Timed.c.a.t | Away.c.a.t Manner Time.t | 0a 1 0b 2 | 0.1*0.1
Away.c.a.t | Vg.Leave.w | 0 | 1
for c in H, a, t
Act.c.a.t | Vg.Want.w Act.c.a.infinitive | 0 &0 1 | 1
Act.c.a.t | Vg.Can.w Act.c.a.infinitive | 0 &0 1 | 0.8 | t in present
Act.c.a.t | cannot Act.c.a.infinitive | ne:0 <peut>:0 pas:0 1 | 0.3 | t in present
Timed.c.a.t | Vg.Want.w Timed.c.a.infinitive | 0 &0 1 | 0.1
Timed.c.a.t | Vg.Can.w Timed.c.a.infinitive | 0 &0 1 | 0.8*0.1 | t in present
Timed.c.a.t | cannot Timed.c.a.infinitive | ne:0 <peut>:0 pas:0 1 | 0.3*0.1 | t in present

# Vp names at most one time and VpStill none; things do not do two things.
for still, c in HAUTWRFPOC, a, t
Vp<still>.c.a.t | Being.c.a.t | 0 | 2
Vp<still>.c.a.t | Act.c.a.t | 0 | 7 | c in HAOC
Vp<still>.c.a.t | Act.c.a.t | 0 | 1.75 | c in UTW
Vp<still>.c.a.t | Timed.c.a.t | 0 | timed | c in HAOC
Vp<still>.c.a.t | Timed.c.a.t | 0 | 0.25*timed | c in UTW
Vp<still>.c.a.t | Act.c.a.t and Act.c.a.t | 0 et:1 2 | 1.3 | c in HAOC
Vp<still>.c.a.t | Timed.c.a.t and Act.c.a.t | 0 et:1 2 | 0.1*timed | c in HAOC
Vp<still>.c.a.t | Act.c.a.t and Timed.c.a.t | 0 et:1 2 | 0.2*timed | c in HAOC
Vp<still>.c.a.t | Being.c.a.t and Act.c.a.t | 0 et:1 2 | 0.3 | c in HAOCUTW
Vp<still>.c.a.t | Being.c.a.t and Timed.c.a.t | 0 et:1 2 | 0.05*timed | c in HAOCUTW
Vp<still>.c.a.t | Act.c.a.t and Being.c.a.t | 0 et:1 2 | 0.3 | c in HAOCUTW
Vp<still>.c.a.t | Timed.c.a.t and Being.c.a.t | 0 et:1 2 | 0.05*timed | c in HAOCUTW
Vp<still>.c.a.t | Open.c.a.t | 0 | 1 | c in HAOC

# Who does something, which is somehow; whom she saw, that he broke.
for c in HAUTWRFPOC, a, t
Rel.c.a | <who> Act.c.a.t | qui:0 1 | 0.9 | c in HAOC
Rel.c.a | <who> Timed.c.a.t | qui:0 1 | 0.1 | c in HAOC
Rel.c.a | <who> Being.c.a.t | qui:0 1 | 1 | c in UTWRFP
Aside.c.a | <which> Vp.c.a.t | qui:0 1 | 1
for f in human, o in objects, r in 3N
Rel.o.r | <whom> Pron.a Vg.f.w | que:0 2^1 | 0.2 | a, t
Rel.o.r | <whom> Def.H.s Vg.f.w | que:0 2^1 | 0.4 | a in 3, t

# Clauses without a conjunction; a still one names no time.
for still, t
Simple<still>.t | Pron.I Vp<still>.H.I.t | 0 1 | 1
Simple<still>.t | Pron.3 Vp<still>.H.3.t | 0 1 | 1.5
Simple<still>.t | Pron.N Vp<still>.H.N.t | 0 1 | 1.5
Simple<still>.t | Pron.It Vp<still>.A.3.t | 0 1 | 0.3
for still, t, c in HAUTWRFPOC
Simple<still>.t | Sub.c.s Vp<still>.c.3.t | 0 1 | frequent
Simple<still>.t | Sub.c.p Vp<still>.c.N.t | 0 1 | 0.6*frequent
for still, t
Simple<still>.t | Both.c Vp<still>.c.N.t | 0 1 | 0.5 | c in HA
Simple<still>.t | There.t | 0 | 0.5
Simple<still>.t | There.t Place | 0 1 | 0.7
Unit<still>.t | Simple<still>.t | 0 | 6
for t, n
There.t | there <be> Exist.n | il:0 y:0 <avoir>:1 2 | 3
There.t | there <be> no Group.c.n | il:0 ne:2 y:0 <avoir>:1 pas:2 de:2 3 | 0.2 | c in HATU

# Think that, say that: in the present, so that no tense shifts.
for
Unit.present | Saying | 0 | 1
Saying | Pron.I Vg.Say.base that Said | 0 1 que:2 3 | 1
Saying | Pron.3 Vg.Say.third that Said | 0 1 que:2 3 | 1
Saying | Pron.N Vg.Say.base that Said | 0 1 que:2 3 | 1
Saying | Def.H.s Vg.Say.third that Said | 0 1 que:2 3 | 1
Saying | Def.H.p Vg.Say.base that Said | 0 1 que:2 3 | 1
Said | Simple.t | 0 | 1 | t
# A clause and one that explains it.
for u in present.present present.past past.past future.present future.future
Said | Simple.t Conjunction.u Simple.<other> | | 0.1
for still, u in present.present present.past past.past future.present future.future
Unit<still>.t | Simple<still>.t Conjunction.u Simple<still>.<other> | | 1.5

# What a comma and a conjunction may join; what may open it depends on the coordinator before it.
for b in first and other, t
Item.b | Unit.t | 0 | 6*usual
Item.b | Time.t , UnitStill.t | | usual
Item.b | Attitude.b , Unit.t | | 0.5*usual
for b in first and other, u in present.present past.past future.present
Item.b | Fronted.b.u Simple.<other> , Unit.t | | 0.7
for
Sentence | Item.first | | 0.5
Sentence | Item.first More | | 0.5
More | Next | | 1
More | Next More | | 1
Next | , Coordinator.and Item.and | | 1
Next | , Coordinator.other Item.other | | 1
Sentence | Morning | | 0.001
Sentence | Morning , Callee | | 0.002
Sentence | Parting | | 0.001
Sentence | Parting , Callee | | 0.002
Sentence | hello Greeted | bonjour:0 1 | 0.003
"""

# frame: classes of its subject, classes and pronouns of its object, share
_TRANSITIVE = {
    "Sense": ("HA", "HATUP", "near you far it", 5),
    "Hear": ("HA", "HA", "near you far it", 4),
    "Mind": ("H", "HATUP", "near you far", 6),
    "Meet": ("H", "H", "near you far", 4),
    "Handle": ("H", "TUW", "thing", 5),
    "Read": ("H", "R", "thing", 6),
    "Eat": ("HA", "FM", "thing", 3),
    "Cook": ("H", "FM", "thing", 3),
    "Drink": ("H", "L", "", 2),
    "Visit": ("H", "P", "thing", 3),
    "Rule": ("OC", "RH", "near you far it", 6),
    "Organize": ("HOC", "V", "thing", 2),
}
_TENSES = (PRESENT, PAST, FUTURE)
_RANGES = {
    "a": "I3N",
    "n": "sp",
    "t": _TENSES,
    "still": ("", "Still"),
    "doing": (*_TENSES, INFINITIVE),  # people want to do something too
    "frames": FRAMES,
    "free": [frame for frame in FRAMES if frame not in ("Say", "Can")],
    "transitive": tuple(_TRANSITIVE),
    "human": [frame for frame, (subjects, *_) in _TRANSITIVE.items() if "H" in subjects],
}
_ETRE, _AVOIR, _POUVOIR = (conjugate(verb).forms for verb in ("être", "avoir", "pouvoir"))
_BE = {PRESENT: {"I": "am", "3": "is", "N": "are"}, PAST: {"I": "was", "3": "was", "N": "were"}}
Variables = dict[str, Any]
_NOMINAL = frozenset(
    ["Def", "Np", "Sub", "Late", "Obj", "Both", "Owner", "Callee", "Exist", "Pron"]
)
_SHAPES = {
    **dict.fromkeys([*_NOMINAL, "Group", "Noun", "Name", "Topic"], "nominal"),
    **dict.fromkeys(["Flat", "Away"], "pair"),
    "Vg": "verb group",
}
_HELPERS = frozenset(["will", "do", "does", "did"])
_VARIABLE = re.compile(r"<(\w+)>|(?<=\.)[a-z]\b")


def rules(size: str = "full") -> list[Rule]:
    """All words and rules of the grammar. The order of a symbol's own is that of its draws."""
    result = [*words(size)]
    for block in _TABLE.split("\nfor")[1:]:
        ranges, *lines = block.splitlines()
        rows = [[cell.strip() for cell in line.split("|")] for line in lines if "|" in line]
        for given in _assignments({}, ranges):
            for symbol, english, notation, weight, *inner in rows:
                for values in _assignments(given, *inner):
                    variables = _extended(values)
                    factors = weight.split("*")
                    share = prod(variables[f] if f in variables else float(f) for f in factors)
                    if share:
                        result.append(_rule(symbol, english, notation, float(share), variables))
    return result


def _assignments(given: Variables, ranges: str = "") -> Iterator[Variables]:
    """Every possible combination of values of variables, written "c in HA, a, t in doing".

    Of a variable that has its value, the range says whether the value is possible.
    """
    if not ranges:
        a, k = given.get("a"), given.get("k", "")
        person = given.get("c", "H") == "H"  # who alone says I, and wants to do something
        subject = person or (a != "I" and given.get("t") != INFINITIVE)
        if subject and ("near" not in k or a == "3") and ("you" not in k or a == "I"):
            yield given
        return
    first, _, others = ranges.strip().partition(", ")
    name, _, listed = first.partition(" in ")
    named = _RANGES if (listed or name) in _RANGES else _extended(given)
    letters_or_words = listed if listed.isupper() else listed.split()
    for value in named.get(listed or name, letters_or_words):
        if given.get(name, value) == value:
            yield from _assignments({**given, name: value}, others)


def _extended(given: Variables) -> Variables:
    """Variables and what follows from them."""
    result = dict(given)
    if "u" in given:  # the tenses of a main clause and of another
        result["t"], result["other"] = given["u"].split(".")
    c, n, a, t, f, o = (result.get(name) for name in "cnatfo")
    result |= {
        "who": "who" if c == "H" else "that",
        "which": "who" if c == "H" else "which",
        "whom": "whom" if o == "H" else "that",
        "frequent": {"H": 6, "A": 2, "O": 1, "C": 1}.get(c, 0.5),
        "usual": 1.5 if t == PAST else 1,
        "timed": not given.get("still"),
        "r": given.get("r", "3" if n == "s" else "N"),
        "w": t if t != PRESENT else "third" if a == "3" else "base",
        "peut": "/".join(_POUVOIR[PRESENT]),
    }
    if t in _TENSES:
        result |= {"être": "/".join(_ETRE[t]), "avoir": _AVOIR[t][2]}
        agreement = a or result["r"]
        result["be"] = "will be" if t == FUTURE else _BE[t][agreement]
    if f in _TRANSITIVE:
        subjects, objects, pronouns, share = _TRANSITIVE[f]
        result |= {
            "closed": "Act" if f == "Mind" else "Flat",  # one does not love quickly
            "subjects": subjects,
            "objects": objects,
            "late": [letter for letter in objects if letter in "HAUTWRFPOC"],
            "pronouns": pronouns.split(),
            "share": share,
            "part": share / len(objects),
        }
    return result


def _rule(symbol: str, english: str, notation: str, weight: float, variables: Variables) -> Rule:
    """The rule of a row with these variables."""

    def filled(text: str) -> str:
        return _VARIABLE.sub(lambda match: str(variables.get(match[1] or match[0], match[0])), text)

    glued = {",": COMMA, "'s": POSSESSIVE}
    row = [[glued.get(token, token) for token in filled(part).split()] for part in english.split()]
    parts = tuple(part for tokens in row for part in tokens)
    source = _source(filled(symbol), row, filled(notation))
    return Rule(filled(symbol), parts, _compiled(source), weight)


@cache
def _compiled(source: str) -> Callable[..., Any]:
    """The French of a row as a function, so that drawing need not read the notation."""
    return eval(source, vars(french))


def _source(symbol: str, row: list[list[str]], notation: str) -> str:
    """The Python of a row's French, whose English parts may be of several tokens."""
    if notation.isidentifier() and hasattr(french, notation):
        return notation
    numbers = iter(range(60))
    names = [[f"v{next(numbers)}" for _ in tokens] for tokens in row]
    kinds = [tokens[0].partition(".")[0] for tokens in row]
    kind = symbol.partition(".")[0]
    arguments = f"lambda {', '.join(name for part in names for name in part)}: "
    firsts = [part[0] for part in names]
    if kind == "Vg":
        return arguments + _verb_group(kinds, firsts, notation)
    if not notation:
        notation = " ".join(f",:{n}" if k == COMMA else str(n) for n, k in enumerate(kinds))
    shape = _SHAPES.get(kind, "items")
    if notation == "0" and kind != "Group" and shape == _SHAPES.get(kinds[0], "items"):
        return "same"
    clause = kinds[0] in _NOMINAL and shape == "items"
    halves = [
        ", ".join(_element(element, kinds, names) for element in half.split())
        for half in notation.removeprefix("0" if clause else "").split(" / ")
    ]
    items = f"[{', '.join(halves)}]"
    if kind == "Group":
        noun_first = kinds[int(notation[0])] == "Noun"
        return arguments + f"group({items}, {firsts[kinds.index('Noun')]}, {not noun_first})"
    if shape == "pair":
        return arguments + f"([{halves[0]}], [{', '.join(halves[1:])}])"
    if kinds[0] == "a":
        return arguments + f"indefinite({', '.join(firsts)})"
    if shape == "nominal":  # it agrees with its last noun group, or is a noun phrase and more
        head = max((n for n, part in enumerate(kinds) if part == "Group"), default=0)
        has_article = kinds[head] != "Group" or not notation.startswith(str(head))
        return arguments + f"noun_phrase({items}, {firsts[head]}, {has_article})"
    return arguments + (f"clause(v0, {items})" if clause else items)


def _element(element: str, kinds: list[str], names: list[list[str]]) -> str:
    """The Python of a word of the notation, within a list."""
    sign, (place, _, others) = element[0], element.lstrip("@&").partition(":")
    if sign in "@&":
        links = f", ({names[int(others)][0]},)" if others else ""
        return f"*{'definite' if sign == '@' else 'link'}({names[int(place)][0]}{links})"
    if others:
        form = COMMA if place == "," else tuple(place.split("/")) if "/" in place else place
        links = ", ".join(name for n in others.split(",") for name in names[int(n)])
        return f"({form!r}, ({links},))"
    first, *more = [names[int(n)][0] for n in re.findall(r"\d+", element)]
    if "+" in element:
        *to, pronoun = more
        return f"*with_pronoun({', '.join([first, pronoun, *to])})"
    if "^" in element:
        return f"*gapped({more[0]}, {first})"
    if element.endswith(("a", "b")):
        return f"*{first}[{'ab'.index(element[-1])}]"
    if element.endswith("!"):
        return f"*object_of(v0, {first})"
    kind = kinds[int(element)]
    if kind in _NOMINAL:
        return f"*affirmed({first})"
    if kind in ("Flat", "Away"):
        return f"*{first}[0], *{first}[1]"
    if kind == "Vg":
        return f"*verbal({first})"
    return f"*{first}[0]" if kind in _SHAPES else f"*{first}"


def _verb_group(kinds: list[str], names: list[str], tense: str) -> str:
    """An English tense with its negation or adverb, as ``french.VerbGroup`` describes it."""
    part = dict(zip(kinds, names, strict=True))
    verb, links = part["Verb"], f"{part['Verb']}[1]"
    if kinds[0] in _HELPERS:
        links = f"(v0, *{verb}[1])"
        if tense == PAST:  # a participle stands for the verb itself
            links = f"(v0,) if {verb}[0].compound else {links}"
    negation = "pas" if "not" in part else "jamais" if "never" in part else ""
    denial = f"({part.get('not', part.get('never'))},)" if negation else "()"
    adverb = part.get("Often", "[]")
    return f"({verb}[0], {tense!r}, {links}, {verb}[1], {negation!r}, {denial}, {adverb})"
