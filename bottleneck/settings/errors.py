"""Errors that a user can cause, each a line that says what to do; helpers for messages."""

import re
from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """An error that the user can fix: the command prints only the message, and exits with 1."""

    exit_code = 1


class UsageError(UserError):
    """A wrong flag, preset or setting: the command exits with 2."""

    exit_code = 2


class FileError(UserError):
    """A file that cannot be read or written; a report must not leave it out and continue."""


def unwritten(path: object, error: OSError) -> FileError:
    """The error for a file that cannot be written, with advice."""
    return FileError(
        f"cannot write {str(path)!r} ({error.strerror}); free space, check the folder's "
        "permissions, or choose another path"
    )


def quoted(value: object) -> str:
    """A value as Python writes it, cut after 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}... ({len(text):,} characters)"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the nearest known name, else the list of them, if short."""
    known = list(known)
    if nearest := get_close_matches(name, known, n=1, cutoff=0.5):
        return f"; did you mean {nearest[0]!r}?"
    return f"; known names: {', '.join(sorted(known))}" if len(known) < 30 else ""


def plain(text: str) -> str:
    """Escape characters that a terminal acts on, as Python writes them: ``\\x1b``."""
    acting = (  # control characters, text direction, line separators, surrogates, tags
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
        "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
    )
    return re.sub(acting, lambda match: repr(match.group())[1:-1], text)


def counted(count: int, noun: str) -> str:
    """A count and its noun: ``1 run``, ``12 runs``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
