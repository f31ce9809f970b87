"""What tells arms apart, in few words, in every table, verdict and legend.

A name with all that differs between any two arms of a sweep of controls fills lines; what most arms
share is left out instead.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

SIZE = "context_size"
"""Where this alone differs, every arm says it: of a scale no step is the usual one."""


def telling(rows: Sequence[Mapping[str, str]], base: Mapping[str, str]) -> list[list[str]]:
    """Of each row of settings what most do not have: ``["updates=80"]``, empty for the usual.

    Of values equally common, that of ``base`` is the usual one, else the smallest. Rows that differ
    in something are told apart.
    """
    first = rows[0] if rows else {}
    names = [name for name in first if len({row[name] for row in rows}) > 1]
    if names == [SIZE]:
        return [[f"{SIZE}={row[SIZE]}"] for row in rows]
    usual = {name: _usual([row[name] for row in rows], base[name]) for name in names}
    return [[f"{name}={row[name]}" for name in names if row[name] != usual[name]] for row in rows]


def _usual(values: Sequence[str], base: str) -> str:
    """The most common; shorter texts are the smaller numbers."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value != base, len(value), value))
