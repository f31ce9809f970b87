"""What trained arms say to the slides' sentences (L17, L-SHORT), as their runs hand it in."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

Likely = tuple[tuple[str, float], ...]
"""Words and their probabilities."""


@dataclass(frozen=True)
class DecoderStep:
    """The word before it, the likeliest next words, and the slide's own where not among these.

    Probabilities are 0 to 1, over all that an output may hold.
    """

    before: str
    likeliest: Likely
    others: Likely = ()


@dataclass(frozen=True)
class ArmSteps:
    """An arm's first decoder steps (L17), fewer where it ended; ``run`` is the run's folder name.

    ``untold`` are words without a token of their own: the run's vocabulary has them not at all, or
    in pieces.
    """

    arm: str
    run: str
    steps: tuple[DecoderStep, ...]
    translation: str
    untold: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArmOutputs:
    """An arm's translations of L-SHORT's sentences, in the slide's order."""

    arm: str
    run: str
    outputs: tuple[str, ...]
    untold: tuple[str, ...] = ()


def same_words(a: str, b: str) -> bool:
    """Whether two texts differ at most in case, spaces, the apostrophe's sign and a final stop."""
    return _folded(a) == _folded(b)


def _folded(text: str) -> list[str]:
    plain = unicodedata.normalize("NFC", text).casefold().replace("\u2019", "'")
    return plain.rstrip(" .!?").split()


def as_printed(
    arms: Sequence[ArmOutputs], pairs: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Each arm, and how many of its outputs are the slide's: ``("none", "1 of 5")``."""
    targets = [target for _, target in pairs]
    return [
        (arm.arm, f"{sum(map(same_words, arm.outputs, targets))} of {len(targets)}") for arm in arms
    ]


def untold(arms: Sequence[ArmSteps | ArmOutputs]) -> tuple[str, ...]:
    """A line for each set of words that some arms have no token for."""
    held: dict[tuple[str, ...], list[str]] = {}
    for arm in arms:
        if arm.untold:
            held.setdefault(arm.untold, []).append(arm.arm)
    return tuple(
        f"Without a token for {', '.join(words)}: {', '.join(names)}."
        for words, names in held.items()
    )
