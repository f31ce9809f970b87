"""The closed classes, names, adverbs and set phrases.

A phrase is written English|French, each French form followed by the places of the English tokens
that it stands for: "last week|la:1 semaine:1 dernière:0".
"""

WOMEN = """
mary marie; anna anna; sophie sophie; julia julie; alice alice; emma emma
claire claire; helen hélène; catherine catherine; margaret marguerite
"""
MEN = """
john jean; peter pierre; paul paul; james jacques; andrew andré; stephen étienne; louis louis
henry henri; martin martin; thomas thomas
"""
CITIES = """
paris paris; london londres; rome rome; berlin berlin; lisbon lisbonne; geneva genève
brussels bruxelles; vienna vienne; athens athènes; venice venise; montreal montréal
"""

# the four French forms by gender and number, each of one or more words
SINGULAR_DETERMINERS = """
the le,la,les,les; this ce~,cette,ces,ces; my mon,ma,mes,mes; your ton,ta,tes,tes
his son,sa,ses,ses; our notre,notre,nos,nos; their leur,leur,leurs,leurs
"""
PLURAL_DETERMINERS = """
the le,la,les,les; these ce~,cette,ces,ces; my mon,ma,mes,mes; your ton,ta,tes,tes
his son,sa,ses,ses; our notre,notre,nos,nos; their leur,leur,leurs,leurs
"""
NUMERALS = """
two deux; three trois; four quatre; five cinq; six six; seven sept; eight huit; nine neuf
ten dix; twelve douze; twenty vingt
"""
QUANTITIES = """
several plusieurs; many beaucoup+de; some quelques
"""

# English, form, place in the conjugation, place in a tuple of forms
SUBJECTS = {
    "I": "i je 0 0",
    "Third": "he il 2 0; she elle 2 1",
    "It": "it il 2 0",
    "Other": "you tu 1 0; we nous 3 2; they ils 5 2",
}
DIRECT_NEAR = "me me 0; you te 0; us nous 2"
DIRECT_FAR = "him le~ 0; her la 1; them les~ 2"
DIRECT_THING = "it le~ 0; them les~ 2"
INDIRECT_NEAR = "me me 0; you te 0; us nous 0"
INDIRECT_FAR = "him lui 0; her lui 0; them leur 0"

FREQUENCIES = """
often|souvent:0; always|toujours:0; sometimes|parfois:0; rarely|rarement:0
"""
MANNERS = """
quickly|rapidement:0; quietly|doucement:0; slowly|lentement:0; calmly|calmement:0
noisily|bruyamment:0; carefully|prudemment:0
"""
SPOTS = """
here|ici:0; outside|dehors:0
"""
DEGREES = """
very|très:0; really|vraiment:0
"""
PREDICATE_DEGREES = """
very|très:0; really|vraiment:0; too|trop:0; quite|assez:0
"""
ATTITUDES = """
however|cependant:0; unfortunately|malheureusement:0; fortunately|heureusement:0
finally|enfin:0; suddenly|soudain:0; indeed|en:0 effet:0; luckily|par:0 chance:0
"""

_HOURS = """
in the morning|le:0,1 matin:2; in the evening|le:0,1 soir:2
in the afternoon|le:0,1 après-midi:2; at night|la:0 nuit:1
"""
_DAYS = """
on monday|lundi:0,1; on tuesday|mardi:0,1; on wednesday|mercredi:0,1; on thursday|jeudi:0,1
on friday|vendredi:0,1; on saturday|samedi:0,1; on sunday|dimanche:0,1
"""
_MONTHS = """
in january|en:0 janvier:1; in april|en:0 avril:1; in june|en:0 juin:1; in july|en:0 juillet:1
in august|en:0 août:1; in october|en:0 octobre:1; in december|en:0 décembre:1
"""
_PRESENT = """
today|aujourd'hui:0; now|maintenant:0; every day|chaque:0 jour:1; every week|chaque:0 semaine:1
every year|chaque:0 année:1; every month|chaque:0 mois:1
"""
_PAST = """
yesterday|hier:0; last night|hier:0 soir:1; last week|la:1 semaine:1 dernière:0
last year|la:1 année:1 dernière:0; last month|le:1 mois:1 dernier:0
"""
_FUTURE = """
tomorrow|demain:0; soon|bientôt:0; next week|la:1 semaine:1 prochaine:0
next year|la:1 année:1 prochaine:0; next month|le:1 mois:1 prochain:0
"""
TIMES = {
    "present": (_HOURS, _PRESENT),
    "past": (_HOURS, _DAYS, _MONTHS, _PAST),
    "future": (_HOURS, _DAYS, _MONTHS, _FUTURE),
}

PREPOSITIONS = """
in|dans:0; near|près:0 de:0; behind|derrière:0; beside|à:0 côté:0 de:0
in front of|devant:0,1,2
"""
SURFACE_PREPOSITIONS = """
on|sur:0; under|sous:0; near|près:0 de:0; behind|derrière:0; beside|à:0 côté:0 de:0
in front of|devant:0,1,2
"""

# French form | gender and number (0 to 3); "in" is en, "on" is sur with the article
TOPICS = """
machine learning|apprentissage:1 automatique:0|0; deep learning|apprentissage:1 profond:0|0
history|histoire:0|1; physics|physique:0|1; biology|biologie:0|1; chemistry|chimie:0|1
mathematics|mathématiques:0|3; philosophy|philosophie:0|1; medicine|médecine:0|1
economics|économie:0|1; linguistics|linguistique:0|1; computer science|informatique:0,1|1
geography|géographie:0|1; law|droit:0|0; psychology|psychologie:0|1; astronomy|astronomie:0|1
robotics|robotique:0|1; music|musique:0|1
"""

# which clause may follow which: (main, subordinate) tenses
CONJUNCTIONS = {
    ("present", "present"): "because when while if since whereas",
    ("present", "past"): "because since whereas",
    ("past", "past"): "because when since whereas even+though as+soon+as",
    ("future", "present"): "because if since",
    ("future", "future"): "because since whereas",
}
FRONTED = {
    ("present", "present"): "when if since while",
    ("past", "past"): "when since as+soon+as",
    ("future", "present"): "if since",
}
SUBORDINATORS = {
    "because": "because|parce:0 que:0",
    "when": "when|quand:0",
    "while": "while|pendant:0 que:0",
    "if": "if|si~:0",
    "since": "since|puisque:0",
    "whereas": "whereas|alors:0 que:0",
    "even though": "even though|même:0,1 si~:0,1",
    "as soon as": "as soon as|dès:0,1,2 que:0,1,2",
}
COORDINATORS = {"and": "and|et:0", "other": "but|mais:0; so|donc:0; then|puis:0"}
# what does not open a clause right after a coordinator: "but however", "then since"
BARRED = {"first": "", "and": "however", "other": "however finally indeed since"}

MORNINGS = """
good morning|bonjour:0,1; good afternoon|bonjour:0,1; good evening|bonsoir:0,1
good night|bonne:0 nuit:1; hello|bonjour:0; goodbye|au:0 revoir:0; thank you|merci:0,1
"""
PARTINGS = """
see you later|à:0,1 plus:2 tard:2; see you tomorrow|à:0,1 demain:2; see you soon|à:0,1 bientôt:2
see you tonight|à:0,1 ce:2 soir:2; see you on monday|à:0,1 lundi:2,3
see you on friday|à:0,1 vendredi:2,3; see you on sunday|à:0,1 dimanche:2,3
see you next week|à:0,1 la:3 semaine:3 prochaine:2
"""

# the classes of words that no table above settles
CLASSES = {
    "pronoun": "i he she it you we they me him her us them there who whom which one",
    "determiner": "the a an this these my your his our their several many some no every",
    "preposition": "in on at to of for from with near behind under beside front around up",
    "conjunction": "and but so then because when while if since whereas even though as that than",
    "auxiliary": "do does did will am is are was were be can cannot must",
    "particle": "not",
    "interjection": "hello goodbye",
    "noun": "venues world morning afternoon evening night day week month year learning science"
    " research",
    "name": "monday tuesday wednesday thursday friday saturday sunday january april june july"
    " august october december",
    "adverb": "today tonight yesterday tomorrow now later never more soon",
    "verb": "see thank",
    "adjective": "deep last next good",
}

# the genders of the nouns that stand in rules and set phrases alone
GENDERS = {
    "m": "world learning morning evening afternoon day month",
    "f": "venues science research night week year",
}
