"""The two lanes: what takes long is marked slow, and of many like cases the quick one has a few."""

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], every: int) -> list[Any]:
    """All cases, of which each ``every``-th, the first among them, is quick and the rest slow."""
    return [case if place % every == 0 else _slow(case) for place, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
