"""Text for people: counts with their nouns, and control characters spelled out."""

import re

_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but for tab and line end
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks of direction
    "\u2028\u2029\ufff9-\ufffb"  # separators of lines, notes between lines
    "\ud800-\udfff"  # halves of pairs: bytes of a file's name that are no text
    "\U000e0000-\U000e007f]"  # tags, which are never seen
)


def plain(text: str) -> str:
    """The text with characters that a terminal obeys as Python writes them: ``\\x1b``, ``\\u202e``.

    File names, words of a corpus, translations and settings come from files that somebody else
    wrote: an escape sequence clears the screen, and marks of direction reorder a line.
    """
    return _ACTING.sub(lambda match: repr(match.group())[1:-1], text)


def counted(count: int, noun: str) -> str:
    """``1 cell``, ``12 cells``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
