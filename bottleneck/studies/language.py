"""What each test sentence has in bits without its source: exact, or under a stand-in."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from ..probes.information import to_bits
from ..questions.arms import Arm
from ..questions.question import Probed
from ..settings.run import RunSettings

Bits = Float[np.ndarray, "seeds sentences"]
"""Bits a sentence."""

# An arm that cannot point at words cannot copy them either.
NO_ATTENTION = {
    "model": {"attention": "none"},
    "training": {"seed": 0},
    "decoding": {"copy_unknown": False},
}


@dataclass(frozen=True, eq=False)
class Language:
    """Bits of each test sentence without its source, and which sentences count.

    ``kind`` says whose they are: ``exact``, or ``hidden`` for a translator's with its source
    hidden; ``unknown`` where there are none.
    """

    kind: str
    bits: Float[np.ndarray, "sentences"]
    counted: Bool[np.ndarray, "sentences"]


def language_of(arm: Arm, hidden: Sequence[Probed]) -> Language:
    """The exact bits where they are known, else those of the arm's hidden-source translators.

    Of the exact ones only sentences count whose every word is in both vocabularies: "unknown" is
    cheaper to tell than the word that it stands for.
    """
    found = arm.runs[0].found
    exact = found["bits"]
    if not np.isnan(exact).any():
        return Language("exact", exact, found["unknown"] == 0)
    twins = twins_of(arm, hidden)
    everything = np.ones(len(exact), dtype=bool)
    if not twins:
        return Language("unknown", np.full(len(exact), np.nan), everything)
    return Language("hidden", np.mean(in_bits(twins, "nll"), axis=0), everything)


def twins_of(arm: Arm, hidden: Sequence[Probed]) -> list[Probed]:
    """Translators that differ from the arm's in hiding the source, but for seed and attention.

    A hidden source makes all attentions one: they read nothing.
    """
    alike = without_attention(arm).changed(model={"source": "hidden"})
    return [run for run in hidden if run.settings.changed(**NO_ATTENTION) == alike]


def without_attention(arm: Arm) -> RunSettings:
    """The settings of an arm's counterpart without attention, whatever the seed."""
    return arm.settings.changed(**NO_ATTENTION)


def in_bits(runs: Sequence[Probed], column: str) -> Bits:
    """A column of nats a sentence, in bits."""
    return to_bits(np.stack([run.found[column] for run in runs]))
