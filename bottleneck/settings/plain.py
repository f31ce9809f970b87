"""Text of others as it may be shown: a sign that would act, rather than be seen, is spelled.

File names, words of a corpus, translations and settings come from files that somebody else wrote. A
terminal obeys control signs (an escape sequence clears it, or types for the user), and marks of
direction let a line read as another one.
"""

import re

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but for tab and line end
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks of direction
    "\u2028\u2029\ufff9-\ufffb"  # separators of lines, notes between lines
    "\ud800-\udfff"  # halves of pairs: bytes of a file's name that are no text
    "\U000e0000-\U000e007f]"  # tags, which are never seen
)


def plain(text: str) -> str:
    """The text with such signs as Python writes them: ``\\x1b``, ``\\u202e``; the rest as it is."""
    return _ACTING.sub(_spelled, text)


def _spelled(found: re.Match[str]) -> str:
    return repr(found.group())[1:-1]
