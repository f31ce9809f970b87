"""French forms as they meet: elision, bel and vieil, du and aux, in one pass from the right."""

from functools import cache

from ..tokens import JOINER
from .nouns import ASPIRATED
from .rule import Item, Links

_VOWELS = frozenset("aeiouyàâéèêëîïôûœh")
_CONTRACTED = {
    ("de", "le"): "du",
    ("de", "les"): "des",
    ("à", "le"): "au",
    ("à", "les"): "aux",
}

_ELIDED = ("le", "la", "je", "ne", "me", "te", "se", "de", "que", "puisque", "jusque")

# form -> (as it stands, as it stands before a vowel). A "~" form is one that another class of
# word shares: the pronouns le and les do not contract, and a predicate beau is never bel.
_MEETING = {
    **{word: (word, f"{word[:-1]}'{JOINER}") for word in _ELIDED},
    "le~": ("le", f"l'{JOINER}"),
    "les~": ("les", "les"),
    "ma": ("ma", "mon"),
    "ta": ("ta", "ton"),
    "sa": ("sa", "son"),
    "ce~": ("ce", "cet"),
    "beau~": ("beau", "bel"),
    "nouveau~": ("nouveau", "nouvel"),
    "vieux~": ("vieux", "vieil"),
    "si~": ("si", "si"),
}


@cache
def starts_with_vowel(token: str) -> bool:
    """Whether a word before this token elides."""
    return token[0] in _VOWELS and token not in ASPIRATED


def _contract(tokens: list[str], sources: list[Links], form: str, own: Links) -> bool:
    """Merge a preposition into the article to its right, which is the last token so far."""
    merged = _CONTRACTED.get((form, tokens[-1]))
    if merged is None:
        return False
    tokens[-1] = merged
    if own != sources[-1]:
        sources[-1] = own + sources[-1]
    return True


def join(items: list[Item]) -> tuple[list[str], list[Links]]:
    """The tokens of a French sentence, and for each the source positions it stands for."""
    tokens: list[str] = []
    sources: list[Links] = []
    right, right_form = "", ""
    for form, links in reversed(items):
        if (
            form in ("de", "à")
            and right_form in ("le", "les")
            and _contract(tokens, sources, form, links)
        ):
            right = tokens[-1]
            right_form = right
            continue
        meeting = _MEETING.get(form)
        if meeting is None:
            right = form
        elif form == "si~":
            right = f"s'{JOINER}" if right in ("il", "ils") else "si"
        else:
            right = meeting[1] if right and starts_with_vowel(right) else meeting[0]
        right_form = form
        tokens.append(right)
        sources.append(links)
    tokens.reverse()
    sources.reverse()
    return tokens, sources


def text_of(tokens: list[str]) -> str:
    """The sentence of these tokens: what ``tokens.detokenize`` says, without its rare cases."""
    return " ".join(tokens).replace(" " + JOINER, "").replace(JOINER + " ", "")
