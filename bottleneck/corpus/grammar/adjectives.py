"""The adjectives: English French, and the noun classes each may describe.

Letters are those of ``nouns.CLASSES``. French puts the first table before its noun.
"""

from dataclasses import dataclass

from .french import Forms, adjective
from .nouns import entries

_BEFORE = """
big gros ATUWF; small petit HATUWFPOV; old vieux HATUWRPO; new nouveau TUWROVP
beautiful beau ATUWRP; young jeune HA; good bon RF; bad mauvais RF; pretty joli ATUWP
tall grand H; large grand TUPOV; long long R; nice gentil HA; poor pauvre H
"""
_AFTER = """
black noir ATUW; white blanc ATUW; red rouge TUW; green vert TUW; blue bleu TUW
yellow jaune TUW; grey gris ATUW; brown brun ATUW; happy heureux H; sad triste HR
tired fatigué HA; hungry affamé HA; furious furieux HA; intelligent intelligent HA
curious curieux HA; famous célèbre HRPOV; rich riche HO; honest honnête H; polite poli H
shy timide HA; lazy paresseux HA; patient patient H; serious sérieux HR; strong fort HA
strange étrange HTRP; dangerous dangereux ATP; calm calme HAP; wild sauvage A
hot chaud FML; cold froid FML; expensive cher TUWFMLV; heavy lourd TU; broken cassé TU
round rond TU; empty vide P; modern moderne TUP; delicious délicieux FML; fresh frais FML
bitter amer L; ripe mûr F; sweet sucré FL; international international OV
important important HROV; difficult difficile R; interesting intéressant RV; useful utile TR
boring ennuyeux RV; dark sombre P; noisy bruyant AP; local local OVL
national national OV; annual annuel V; independent indépendant O; french français HROFML
italian italien HROFML; german allemand HRO; spanish espagnol HROF; charming charmant HP
powerful puissant O; secret secret RV; elegant élégant HW; comfortable confortable UW
"""
# what only "one of the ..." or "the ..." may go with
_SELECTING = """
premier principal; best meilleur; first premier; last dernier
"""
# "more ... than" needs an adjective that English does not inflect
LONG = frozenset(
    [
        *["beautiful", "furious", "intelligent", "curious", "famous", "honest", "patient"],
        *["serious", "dangerous", "expensive", "modern", "delicious", "important", "difficult"],
        *["interesting", "useful", "boring", "independent", "charming", "powerful", "elegant"],
        "comfortable",
    ]
)


# what is so or is not: no "very", no "as ... as"
UNGRADED = frozenset(
    [
        *["black", "white", "red", "green", "blue", "yellow", "grey", "brown", "broken", "round"],
        *["international", "local", "national", "annual", "independent", "french", "italian"],
        *["german", "spanish", "delicious", "wild", "empty"],
    ]
)


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective in both languages.

    ``classes`` are the letters of the nouns that it may describe; ``before``: French puts it there.
    """

    english: str
    forms: Forms
    classes: str
    before: bool


def _adjective(entry: str, before: bool) -> Adjective:
    english, french, classes = (*entry.split(), "")[:3]
    return Adjective(english, adjective(french), classes, before)


ADJECTIVES = tuple(
    _adjective(entry, table is _BEFORE) for table in (_BEFORE, _AFTER) for entry in entries(table)
)
SELECTING = tuple(_adjective(entry, before=True) for entry in entries(_SELECTING))
