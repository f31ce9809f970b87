"""Unknown words of an output, each replaced by the source word that it looked at most.

The replacement of Luong et al. (2015b, section 3.3) without its dictionary: names and numbers,
which unknown words mostly are, are the same in both languages.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flax import nnx
from jaxtyping import Float

from ..corpus.vocabulary import UNK
from ..model.translator import Weights
from ..settings.errors import UsageError
from ..settings.run import RunSettings
from .attention import weights_behind


def check_pointing(settings: RunSettings, wish: str) -> None:
    """UsageError, which names the wish, for an arm whose weights point at no word."""
    if settings.model.points:
        return
    raise UsageError(
        f"{wish} needs attention weights that point at a word, and arm {settings.model.arm} has "
        f"none; take an arm with attention (model.attention, --arm) or leave {wish} out"
    )


class Said(NamedTuple):
    """An output: ids of its source (as it was read) and its own, and both as tokens.

    ``words`` are the source's as they are to be copied, in reading order, without the end.
    """

    source: list[int]
    output: list[int]
    tokens: list[str]
    words: list[str]


def with_copies(
    graph: nnx.GraphDef, weights: Weights, reverse: bool, said: Sequence[Said]
) -> list[list[str]]:
    """The tokens of every output, no unknown word among them."""
    held = [each for each in said if UNK in each.output]
    pairs = [each.source for each in held], [each.output for each in held]
    matrices = iter(weights_behind(graph, weights, reverse, *pairs))
    return [copied(each, next(matrices)) if UNK in each.output else each.tokens for each in said]


def copied(said: Said, weights: Float[np.ndarray, "output source"]) -> list[str]:
    """The output's tokens; the source's end token, the last column, is no word to copy."""
    looked_at = weights[:, : len(said.words)].argmax(axis=1).tolist()
    return [
        said.words[looked_at[place]] if said.output[place] == UNK else token
        for place, token in enumerate(said.tokens)
    ]
