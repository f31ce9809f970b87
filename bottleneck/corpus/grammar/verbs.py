"""The verbs by what they take: English[/past]|French[|preposition], one frame a table.

A verb written with a second word ("look for") keeps it in every form. A "+" marks verbs that
take their object with the definite article (aimer les chats).
"""

from dataclasses import dataclass

from .conjugation import Verb, conjugate
from .english import add_ed, add_ing, add_s
from .nouns import entries

# whoever lives
_LIVES = """
sleep/slept|dormir; sit/sat|s'asseoir; run/ran|courir; swim/swam|nager; fall/fell|tomber
rest|se reposer; arrive|arriver; disappear|disparaître; hide/hid|se cacher
wait|attendre; stop/stopped|s'arrêter; wake/woke up|se réveiller
"""
# whoever lives, and nowhere: "left in paris" is not "est parti à paris", which leaves for there
_LEAVES = """
leave/left|partir
"""
# people only
_ACTS = """
laugh|rire; smile|sourire; work|travailler; sing/sang|chanter; dance|danser; cry|pleurer
"""
_GOES = """
go/went|aller|à; return|retourner|à; come/came|venir|à; walk|marcher|jusque à
"""
# people or animals, to anything one can see
_SENSES = """
see/saw|voir; find/found|trouver; watch|regarder; lose/lost|perdre; look for|chercher
photograph|photographier
"""
_HEARS = """
hear/heard|entendre; follow|suivre; wait for|attendre; listen to|écouter
"""
_MINDS = """
love|aimer+; hate|détester+; forget/forgot|oublier; recognize|reconnaître
like|apprécier+; admire|admirer+
"""
_MEETS = """
thank|remercier; invite|inviter; help|aider; meet/met|rencontrer; marry|épouser
call|appeler
"""
_HANDLES = """
buy/bought|acheter; sell/sold|vendre; break/broke|casser; carry|porter; repair|réparer
steal/stole|voler; clean|nettoyer; paint|peindre
"""
_READS = """
write/wrote|écrire; publish|publier; translate|traduire; study|étudier; finish|finir
explain|expliquer; present|présenter; share|partager; receive|recevoir
discuss|commenter
"""
_EATS = """
eat/ate|manger; taste|goûter
"""
_COOKS = """
cook|cuisiner; prepare|préparer
"""
_DRINKS = """
drink/drank|boire; pour|verser
"""
_VISITS = """
visit|visiter; cross|traverser; build/built|construire; explore|explorer
"""
_GIVES = """
give/gave|donner; show|montrer; send/sent|envoyer; lend/lent|prêter; bring/brought|apporter
offer|offrir
"""
_ANSWERS = """
answer|répondre|à; obey|obéir|à; phone|téléphoner|à; speak/spoke to|parler|à
"""
_REMEMBERS = """
remember|se souvenir|de; dream of|rêver|de; laugh at|se moquer|de
"""
_WANTS = """
want to|vouloir; try to|essayer|de; decide to|décider|de; begin/began to|commencer|à
hope to|espérer; refuse to|refuser|de; learn to|apprendre|à; promise to|promettre|de
"""
_SAYS = """
think/thought|penser; say/said|dire; know/knew|savoir; believe|croire; hope|espérer
"""
# the verbs that "for ...-ing" takes
GERUNDS = ("present", "publish", "discuss", "share")
# what institutions do
_RULES = """
accept|accepter; reject|rejeter; attract|attirer; support|soutenir; welcome|accueillir
finance|financer
"""
_ORGANIZES = """
organize|organiser; announce|annoncer; cancel|annuler
"""
_HAPPENS = """
fall/fell|tomber; disappear|disparaître; arrive|arriver; move|bouger; shine/shone|briller
"""
_MODALS = """
can/can|pouvoir; must/must|devoir
"""

FRAMES = {
    "Live": _LIVES,
    "Leave": _LEAVES,
    "Act": _ACTS,
    "Go": _GOES,
    "Sense": _SENSES,
    "Hear": _HEARS,
    "Mind": _MINDS,
    "Meet": _MEETS,
    "Handle": _HANDLES,
    "Read": _READS,
    "Eat": _EATS,
    "Cook": _COOKS,
    "Drink": _DRINKS,
    "Visit": _VISITS,
    "Give": _GIVES,
    "Answer": _ANSWERS,
    "Remember": _REMEMBERS,
    "Want": _WANTS,
    "Say": _SAYS,
    "Rule": _RULES,
    "Organize": _ORGANIZES,
    "Happen": _HAPPENS,
    "Can": _MODALS,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """An English verb's forms, each as its tokens, and the French verb."""

    base: tuple[str, ...]
    third: tuple[str, ...]
    past: tuple[str, ...]
    gerund: tuple[str, ...]
    french: Verb


def _pair(entry: str) -> Pair:
    english, french, link = (*entry.split("|"), "")[:3]
    (head, *particle) = english.split()
    base, _, past = head.partition("/")
    return Pair(
        base=(base, *particle),
        third=(base if base == past else add_s(base), *particle),
        past=(past or add_ed(base), *particle),
        gerund=(add_ing(base), *particle),
        french=conjugate(french.rstrip("+"), link, french.endswith("+")),
    )


VERBS: dict[str, tuple[Pair, ...]] = {
    frame: tuple(_pair(entry) for entry in entries(table)) for frame, table in FRAMES.items()
}
