"""The one reader of TOML: a file or a text in, a table out; every fault is one line.

What the format allows and no settings need is refused, for what comes behind would stumble over
it: nesting that is deeper than any table of settings, whole numbers beyond 64 bits, files of many
megabytes.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import UsageError

Table = dict[str, Any]

LARGEST = 1_000_000
"""Bytes of a file."""
DEEPEST = 8
"""Tables and lists inside each other; a group's settings with a list are the fifth."""
MOST = 2**63 - 1
"""The largest whole number that TOML promises."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_file(path: Path, otherwise: str) -> str:
    """The text of a TOML file; ``otherwise`` is what may be named in its place.

    Raises UsageError for what cannot be read, is no UTF-8 or too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a path that no system has
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"cannot read {str(path)!r} ({reason}); name a TOML file that is there{otherwise}"
        ) from None
    if len(data) > LARGEST:
        raise UsageError(f"{path}: over {LARGEST:,} bytes, too large for settings; make it shorter")
    try:
        return data.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}: not UTF-8 text (at line {line}); save the file as UTF-8"
        ) from None


def parse(text: str, place: str) -> Table:
    """The table that TOML text holds.

    Every fault is a ``UsageError``, named by ``place`` and its line or key.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{place}: not TOML: {error}; write [tables] with `key = value` lines below them"
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: {_too_much(error)}") from None
    for fault in _faults(table):
        raise UsageError(f"{place}: {fault}")
    return table


def value(text: str) -> Any:
    """One value as TOML writes it (a number, true, "quoted"); ``ValueError`` where it is none."""
    try:
        held = tomllib.loads(f"value = {text}")
    except RecursionError as error:
        raise ValueError(_too_much(error)) from None
    if held.keys() != {"value"}:  # a line of its own in the text
        raise ValueError("more than one value")
    for fault in _faults(held):
        raise ValueError(fault)
    return held["value"]


def _too_much(error: Exception) -> str:
    """What Python's own reader gives up on without a line."""
    if isinstance(error, RecursionError):
        return "lists or tables too deep inside each other; no setting needs that"
    return "a number of too many digits; write a smaller one"


def _faults(table: Table) -> Iterator[str]:
    """What is too deep or too large, by its key; without recursion, for that is what is checked."""
    held: list[tuple[str, Any, int]] = [(key, each, 1) for key, each in table.items()]
    while held:
        key, each, depth = held.pop()
        if depth > DEEPEST:
            yield f"{key!r}: {_too_much(RecursionError())}"
        elif isinstance(each, dict):
            held += [(f"{key}.{name}", inner, depth + 1) for name, inner in each.items()]
        elif isinstance(each, list):
            held += [(key, inner, depth + 1) for inner in each]
        elif isinstance(each, int) and not -MOST - 1 <= each <= MOST:
            yield f"{key!r}: a number of over 64 bits; write a smaller one"
