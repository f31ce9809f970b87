"""English forms: plurals, verb endings, and a or an."""

_VOWELS = "aeiou"
_HISSING = ("s", "x", "z", "ch", "sh", "o")
_SILENT_H = ("honest", "hour")
_SPOKEN_YOU = ("university", "universities", "useful")


def add_s(word: str) -> str:
    """The plural of a noun, or the third person of a verb."""
    if word.endswith(_HISSING):
        return word + "es"
    if word[-1] == "y" and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def add_ed(word: str) -> str:
    """The regular past."""
    if word.endswith("e"):
        return word + "d"
    if word[-1] == "y" and word[-2] not in _VOWELS:
        return word[:-1] + "ied"
    return word + "ed"


def add_ing(word: str) -> str:
    """The gerund, for verbs that do not double their consonant."""
    return (word[:-1] if word.endswith("e") else word) + "ing"


def takes_an(word: str) -> bool:
    """Whether the indefinite article before this word is "an"."""
    if word in _SPOKEN_YOU:
        return False
    return word[0] in _VOWELS or word in _SILENT_H


def fix_articles(tokens: list[str]) -> None:
    """Turn "a" into "an" where the next word asks for it, in place."""
    place = -1
    for _ in range(tokens.count("a")):
        place = tokens.index("a", place + 1)
        if takes_an(tokens[place + 1]):
            tokens[place] = "an"
