"""The nouns by what they name: English[/plural] French[/plural] gender, one class a table.

A star marks an aspirated h, before which nothing elides.
"""

from dataclasses import dataclass

from .english import add_s
from .french import plural

PEOPLE = """
teacher professeur m; doctor médecin m; friend ami m; student étudiant m; girl fille f
researcher chercheur m; expert expert m; child/children enfant m; boy garçon m
man/men homme m; woman/women femme f; king roi m; queen reine f; neighbor voisin m
farmer fermier m; writer écrivain m; lawyer avocat m; engineer ingénieur m; judge juge m
nurse infirmière f; actress actrice f; painter peintre m; mother mère f; father père m
sister sœur f; brother frère m; aunt tante f; baker boulanger m
soldier soldat m; princess princesse f; hero *héros/*héros m; witch sorcière f
dancer danseuse f; singer chanteuse f
"""
LEADERS = """
director directeur m; owner propriétaire m; president présidente f; founder fondatrice f
visitor visiteur m
"""
ANIMALS = """
cat chat m; dog chien m; bird oiseau m; horse cheval m; mouse/mice souris f; cow vache f
rabbit lapin m; fox renard m; wolf/wolves loup m; owl *hibou/*hiboux m; goat chèvre f
bear ours m; elephant éléphant m; duck canard m; bee abeille f
turtle tortue f
"""
SURFACES = """
mat tapis m; table table f; chair chaise f; bed lit m; roof toit m; bench banc m
sofa canapé m; bridge pont m; boat bateau m
"""
THINGS = """
key clé f; car voiture f; bicycle vélo m; clock horloge f; box boîte f; bag sac m
lamp lampe f; umbrella parapluie m; mirror miroir m; computer ordinateur m; ball ballon m
ring bague f; knife/knives couteau m
guitar guitare f; candle bougie f
gift cadeau m; flower fleur f; machine machine f; ticket billet m
"""
CLOTHES = """
hat chapeau m; coat manteau m; shirt chemise f; dress robe f; scarf/scarves écharpe f
glove gant m; skirt jupe f
"""
TEXTS = """
book livre m; letter lettre f; paper article m; poem poème m
story histoire f; novel roman m; submission soumission f; essay essai m
newspaper journal m; message message m
"""
FOODS = """
cake gâteau m; apple pomme f; pear poire f; egg œuf m; carrot carotte f
bean *haricot m; tomato tomate f; orange orange f
lemon citron m; strawberry fraise f; salad salade f; omelet omelette f
"""
STUFFS = """
bread/- pain m; meat/- viande f; rice/- riz m; cheese/- fromage m; butter/- beurre m
honey/- miel m; soup/- soupe f; fish/- poisson m; chocolate/- chocolat m; ham/- jambon m
"""
DRINKS = """
water/- eau f; coffee/- café m; tea/- thé m; wine/- vin m; milk/- lait m; juice/- jus m
beer/- bière f
"""
PLACES = """
garden jardin m; house maison f; school école f; park parc m; forest forêt f
kitchen cuisine f; library bibliothèque f; church église f; museum musée m
hospital hôpital m; hotel hôtel m; station gare f; village village m; city ville f
castle château m; market marché m; office bureau m
theater théâtre m; farm ferme f; factory usine f
"""
BODIES = """
university université f; company entreprise f; committee comité m
government gouvernement m; association association f; team équipe f; academy académie f
institution institution f; organization organisation f
"""
GATHERINGS = """
conference conférence f; seminar séminaire m; symposium colloque m
"""
EVENTS = """
meeting réunion f; workshop atelier m; event événement m
festival festival/festivals m; exhibition exposition f
"""

# What one may be one of, by the class of who is: English, then the French masculine and
# feminine, "-" where there is none. Where there are both, it agrees with who is.
KINDS = {
    "H": """
teachers professeurs professeures; students étudiants étudiantes; experts experts expertes
researchers chercheurs chercheuses; neighbors voisins voisines; farmers fermiers fermières
writers écrivains écrivaines; lawyers avocats avocates; engineers ingénieurs ingénieures
judges juges juges; nurses infirmiers infirmières; painters peintres peintres
bakers boulangers boulangères; soldiers soldats soldates; heroes héros héroïnes
dancers danseurs danseuses; singers chanteurs chanteuses
""",
    "O": """
institutions - institutions; organizations - organisations
""",
    "C": """
venues - tribunes; events événements -
""",
}

# one letter a class; the rules speak of nouns by these letters
CLASSES = {
    "H": PEOPLE,
    "D": LEADERS,
    "A": ANIMALS,
    "U": SURFACES,
    "T": THINGS,
    "W": CLOTHES,
    "R": TEXTS,
    "F": FOODS,
    "M": STUFFS,
    "L": DRINKS,
    "P": PLACES,
    "O": BODIES,
    "C": GATHERINGS,
    "V": EVENTS,
}


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun in both languages; ``plural`` is empty for what is not counted."""

    singular: str
    plural: str
    french: str
    french_plural: str
    female: bool


def entries(table: str) -> list[str]:
    """The entries of a table: lines and semicolons part them."""
    return [entry for line in table.strip().splitlines() for entry in line.split("; ")]


def _noun(entry: str) -> Noun:
    english, french, gender = entry.split()
    one, _, many = english.partition("/")
    un, _, des = french.replace("*", "").partition("/")
    plural_form = "" if many == "-" else many or add_s(one)
    return Noun(one, plural_form, un, des or plural(un), gender == "f")


NOUNS: dict[str, tuple[Noun, ...]] = {
    letter: tuple(_noun(entry) for entry in entries(table)) for letter, table in CLASSES.items()
}


def _aspirated() -> frozenset[str]:
    """The French forms before which nothing elides, from the starred entries."""
    starred = [_noun(e) for table in CLASSES.values() for e in entries(table) if "*" in e]
    forms = [form for noun in starred for form in (noun.french, noun.french_plural)]
    return frozenset([*forms, "huit"])


ASPIRATED = _aspirated()
"""French forms before which nothing elides."""
