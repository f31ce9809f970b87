"""French verbs: present, future, past participle, imperfect."""

from dataclasses import dataclass

from .french import Forms, participle

Persons = tuple[str, str, str, str, str, str]  # je tu il nous vous ils

_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")

# present, six persons | past participle | future stem
_IRREGULAR = {
    "être": "suis es est sommes êtes sont|été|ser",
    "avoir": "ai as a avons avez ont|eu|aur",
    "aller": "vais vas va allons allez vont|allé|ir",
    "venir": "viens viens vient venons venez viennent|venu|viendr",
    "revenir": "reviens reviens revient revenons revenez reviennent|revenu|reviendr",
    "souvenir": "souviens souviens souvient souvenons souvenez souviennent|souvenu|souviendr",
    "soutenir": "soutiens soutiens soutient soutenons soutenez soutiennent|soutenu|soutiendr",
    "voir": "vois vois voit voyons voyez voient|vu|verr",
    "asseoir": "assieds assieds assied asseyons asseyez asseyent|assis|assiér",
    "dormir": "dors dors dort dormons dormez dorment|dormi|dormir",
    "partir": "pars pars part partons partez partent|parti|partir",
    "courir": "cours cours court courons courez courent|couru|courr",
    "rire": "ris ris rit rions riez rient|ri|rir",
    "sourire": "souris souris sourit sourions souriez sourient|souri|sourir",
    "disparaître": "disparais disparais disparaît disparaissons disparaissez disparaissent"
    "|disparu|disparaîtr",
    "reconnaître": "reconnais reconnais reconnaît reconnaissons reconnaissez reconnaissent"
    "|reconnu|reconnaîtr",
    "suivre": "suis suis suit suivons suivez suivent|suivi|suivr",
    "offrir": "offre offres offre offrons offrez offrent|offert|offrir",
    "écrire": "écris écris écrit écrivons écrivez écrivent|écrit|écrir",
    "traduire": "traduis traduis traduit traduisons traduisez traduisent|traduit|traduir",
    "construire": "construis construis construit construisons construisez construisent"
    "|construit|construir",
    "recevoir": "reçois reçois reçoit recevons recevez reçoivent|reçu|recevr",
    "boire": "bois bois boit buvons buvez boivent|bu|boir",
    "vouloir": "veux veux veut voulons voulez veulent|voulu|voudr",
    "pouvoir": "peux peux peut pouvons pouvez peuvent|pu|pourr",
    "devoir": "dois dois doit devons devez doivent|dû|devr",
    "apprendre": "apprends apprends apprend apprenons apprenez apprennent|appris|apprendr",
    "promettre": "promets promets promet promettons promettez promettent|promis|promettr",
    "dire": "dis dis dit disons dites disent|dit|dir",
    "savoir": "sais sais sait savons savez savent|su|saur",
    "croire": "crois crois croit croyons croyez croient|cru|croir",
    "peindre": "peins peins peint peignons peignez peignent|peint|peindr",
    "accueillir": "accueille accueilles accueille accueillons accueillez accueillent"
    "|accueilli|accueiller",
    "envoyer": "envoie envoies envoie envoyons envoyez envoient|envoyé|enverr",
}
_ETRE = frozenset(["aller", "venir", "revenir", "retourner", "arriver", "partir", "tomber"])
_IMPERFECT_PAST = frozenset(["être", "vouloir", "avoir", "pouvoir", "espérer"])


@dataclass(frozen=True, slots=True)
class Verb:
    """A French verb with all that a clause needs of it.

    ``past`` is the imperfect where English simple past means a state (was: était) and the
    auxiliary of the passé composé elsewhere. ``link`` is the preposition before its complement.
    ``generic`` verbs take what they like or hate with the definite article (aimer les chats).
    """

    infinitive: str
    present: Persons
    past: Persons
    future: Persons
    participle: Forms
    compound: bool
    agrees: bool
    reflexive: bool
    link: str
    generic: bool


def _er_stems(verb: str) -> tuple[str, str, str]:
    """The stems before a silent e, before -ons, and of the future."""
    stem = verb[:-2]
    strong, ending = stem, stem[-1]
    if stem.endswith(("appel", "jet")):
        strong = stem + ending
    elif ending == "y":
        strong = stem[:-1] + "i"
    elif stem[-2] in "eé" and ending in "cdgjklmnprstv" and stem[-3] not in "aeiou":
        strong = stem[:-2] + "è" + ending
    softened = {"g": stem + "e", "c": stem[:-1] + "ç"}.get(ending, stem)
    return strong, softened, (stem if stem[-2] == "é" else strong) + "er"


def _regular(verb: str) -> tuple[Persons, str, str]:
    """Present, past participle and future stem of a regular verb."""
    stem = verb[:-2]
    if verb.endswith("er"):
        strong, softened, future = _er_stems(verb)
        endings = (strong + "e", strong + "es", strong + "e", softened + "ons", stem + "ez")
        return (*endings, strong + "ent"), stem + "é", future
    if verb.endswith("ir"):
        endings = (stem + "is", stem + "is", stem + "it", stem + "issons", stem + "issez")
        return (*endings, stem + "issent"), stem + "i", verb
    endings = (stem + "s", stem + "s", stem, stem + "ons", stem + "ez")
    return (*endings, stem + "ent"), stem + "u", verb[:-1]


def _principal(verb: str) -> tuple[Persons, str, str]:
    """Present, past participle and future stem of any verb."""
    if verb not in _IRREGULAR:
        return _regular(verb)
    present, past, future = _IRREGULAR[verb].split("|")
    first, second, third, we, you, they = present.split()
    return (first, second, third, we, you, they), past, future


def _with_endings(stem: str, endings: Persons) -> Persons:
    first, second, third, we, you, they = (stem + ending for ending in endings)
    return first, second, third, we, you, they


def _past(infinitive: str, we: str, agrees: bool) -> Persons:
    """The imperfect of a state, or the auxiliary in the present."""
    if infinitive in _IMPERFECT_PAST:
        return _with_endings("ét" if infinitive == "être" else we[:-3], _IMPERFECT)
    return _principal("être" if agrees else "avoir")[0]


def conjugate(lemma: str, link: str = "", generic: bool = False) -> Verb:
    """All forms of a verb; ``lemma`` is its infinitive, with se or s' if it is reflexive."""
    infinitive = lemma.removeprefix("se ").removeprefix("s'")
    reflexive = infinitive != lemma
    agrees = reflexive or infinitive in _ETRE
    present, past, future = _principal(infinitive)
    return Verb(
        infinitive=infinitive,
        present=present,
        past=_past(infinitive, present[3], agrees),
        future=_with_endings(future, _FUTURE),
        participle=participle(past),
        compound=infinitive not in _IMPERFECT_PAST,
        agrees=agrees,
        reflexive=reflexive,
        link=link,
        generic=generic,
    )
