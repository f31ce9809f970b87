"""How probable each source length is when sentences are drawn; lengths in words."""

from collections.abc import Callable
from math import fsum
from typing import Literal

from ..settings.buckets import span_label
from ..settings.errors import UserError

LengthKind = Literal["buckets", "uniform", "natural"]


def length_groups(min_words: int, max_words: int, edges: tuple[int, ...]) -> tuple[range, ...]:
    """The lengths from min to max cut at the bucket edges: one range a filled bucket.

    What lies below the first edge is a group of its own; groups without a length are left out.
    """
    starts = sorted({1, *edges})
    stops = [*starts[1:], max_words + 1]
    groups = (
        range(max(start, min_words), min(stop, max_words + 1))
        for start, stop in zip(starts, stops, strict=True)
    )
    return tuple(group for group in groups if group)


def length_probabilities(
    kind: LengthKind,
    min_words: int,
    max_words: int,
    edges: tuple[int, ...],
    weight: Callable[[int], float],
) -> dict[int, float]:
    """Probability of each length from min to max that can be drawn at all (weight above 0).

    ``buckets`` gives every group of ``length_groups`` equal mass, evenly over its lengths;
    ``uniform`` every length equal mass; ``natural`` mass in proportion to ``weight``. Raises
    UserError where no length can be drawn.
    """
    weights = {words: weight(words) for words in range(min_words, max_words + 1)}
    drawable = {words: float(mass) for words, mass in weights.items() if mass > 0}
    if not drawable:
        raise UserError(
            f"no sentence of {span_label(min_words, max_words)} words can be drawn; "
            "change corpus.min_words or corpus.max_words"
        )
    if kind == "uniform":
        drawable = dict.fromkeys(drawable, 1.0)
    elif kind == "buckets":
        drawable = _even_groups(drawable, length_groups(min_words, max_words, edges))
    total = fsum(drawable.values())
    return {words: mass / total for words, mass in drawable.items()}


def _even_groups(drawable: dict[int, float], groups: tuple[range, ...]) -> dict[int, float]:
    """Mass 1 a group, evenly over those of its lengths that can be drawn."""
    filled = ([words for words in group if words in drawable] for group in groups)
    return {words: 1 / len(group) for group in filled for words in group}


def shares(count: int, masses: list[float]) -> list[int]:
    """Split a count in proportion to masses, by largest remainder; ties go to the first.

    The parts add up to ``count``, and equal masses get equal parts wherever they can.
    """
    total = fsum(masses)
    exact = [count * mass / total for mass in masses]
    parts = [int(part + 1e-9) for part in exact]
    # Rounded, so that the last bit of a sum cannot decide who is first.
    by_remainder = sorted(
        range(len(masses)), key=lambda place: round(parts[place] - exact[place], 6)
    )
    for place in by_remainder[: count - sum(parts)]:
        parts[place] += 1
    return parts
