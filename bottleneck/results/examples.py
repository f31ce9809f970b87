"""The example sentences of a run, as results have them, checked: pages and figures are of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .folders import damaged

Example = Mapping[str, Any]
"""``sentence`` (its place in the test set), ``source`` and ``hypothesis`` (tokens), ``reference``
(a text), and ``weights``, a row a token of the hypothesis, a column a token of the source."""


def checked_examples(held: Any, path: Path, otherwise: str) -> Sequence[Example]:
    """The examples of one run; what they cannot be is a ``UserError`` with the file."""
    if not isinstance(held, list) or not all(map(_is_example, held)):
        raise damaged(path, "not every example has sentence, words and weights", otherwise)
    return held


def _is_example(held: Any) -> bool:
    if not isinstance(held, dict):
        return False
    source, hypothesis = held.get("source"), held.get("hypothesis")
    return (
        type(held.get("sentence")) is int
        and held["sentence"] >= 0
        and _is_text(held.get("reference"))
        and _are_words(source)
        and len(source) > 0
        and _are_words(hypothesis)
        and _are_weights(held.get("weights"), len(hypothesis), len(source))
    )


def _are_words(held: Any) -> bool:
    return isinstance(held, list) and all(map(_is_text, held))


def _is_text(held: Any) -> bool:
    """Whether it is text of which UTF-8 can be made."""
    return isinstance(held, str) and not any("\ud800" <= sign <= "\udfff" for sign in held)


def _are_weights(held: Any, rows: int, columns: int) -> bool:
    return (
        isinstance(held, list)
        and len(held) == rows
        and all(isinstance(row, list) and len(row) == columns for row in held)
        and all(
            type(weight) in (int, float) and 0 <= weight <= 1.001 for row in held for weight in row
        )
    )
