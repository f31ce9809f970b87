"""French nouns and adjectives: their forms by gender and number.

A form's place in a tuple of four is ``gender + 2 * plural``: masculine, feminine, masculine
plural, feminine plural. A trailing "~" marks a form that ``sandhi`` still has to settle.
"""

Forms = tuple[str, str, str, str]

# masculine, feminine, masculine plural; the feminine plural adds an s
_IRREGULAR = {
    "beau": "beau belle beaux",
    "nouveau": "nouveau nouvelle nouveaux",
    "vieux": "vieux vieille vieux",
    "blanc": "blanc blanche blancs",
    "frais": "frais fraîche frais",
    "long": "long longue longs",
    "doux": "doux douce doux",
    "gentil": "gentil gentille gentils",
    "gros": "gros grosse gros",
    "bon": "bon bonne bons",
    "secret": "secret secrète secrets",
}
_SETTLED_LATER = {"beau": "beau~", "nouveau": "nouveau~", "vieux": "vieux~"}


def plural(word: str) -> str:
    """The regular plural of a noun or of a masculine adjective."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + ("x" if word.endswith(("eau", "eu")) and word != "bleu" else "s")


def feminine(word: str) -> str:
    """The regular feminine of an adjective."""
    if word.endswith("e"):
        return word
    for ending, replacement in (("eux", "euse"), ("er", "ère"), ("if", "ive")):
        if word.endswith(ending):
            return word[: -len(ending)] + replacement
    if word.endswith(("en", "el")):
        return word + word[-1] + "e"
    return word + "e"


def adjective(word: str) -> Forms:
    """The four forms of an adjective from its masculine."""
    if word in _IRREGULAR:
        masculine, female, many = _IRREGULAR[word].split()
        return masculine, female, many, female + "s"
    return word, feminine(word), plural(word), feminine(word) + "s"


def before_noun(forms: Forms) -> Forms:
    """The forms of an adjective that stands before its noun: beau may become bel."""
    return (_SETTLED_LATER.get(forms[0], forms[0]), *forms[1:])


def participle(word: str) -> Forms:
    """The four forms of a past participle: a form in s takes no second one."""
    stem = word.replace("û", "u")  # dû, but due
    return word, stem + "e", stem if stem.endswith("s") else stem + "s", stem + "es"
