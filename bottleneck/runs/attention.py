"""The attention weights behind outputs: a network's own, or references that it is made to say.

By these weights an unknown word of an output is replaced by the source word that it attends to
most: the replacement of Luong et al. (2015b, section 3.3) without its dictionary, for names and
numbers, which unknown words mostly are, are the same in both languages.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from flax import nnx
from jaxtyping import Float

from ..corpus.batches import EncodedPairs, evaluation_batches, restore
from ..corpus.vocabulary import BOS, EOS, UNK, WORDS, Tokenizer
from ..decoding.search import make_attention_weights
from ..model.translator import Weights
from ..settings.errors import UsageError
from ..settings.run import RunSettings

END = "</s>"
"""How the end token is shown."""

_reader = lru_cache(maxsize=4)(make_attention_weights)


def attention_matrices(
    graph: nnx.GraphDef, weights: Weights, encoded: EncodedPairs, reverse: bool, batch_size: int
) -> list[Float[np.ndarray, "_ _"]]:
    """Weights of every step of every pair's target, teacher-forced, end tokens included.

    Matrices are target x source. Row t holds the weights with which target token t was chosen, in
    either placement: with ``input`` they are those of s_(t-1), read before token t is known.
    Columns are in reading order though the network read the words in ``reverse``; the end token is
    the last of both.
    """
    read, batches, results = _reader(graph), evaluation_batches(encoded, batch_size), []
    for source, lengths, target, *_ in (item.batch for item in batches):
        start = np.full((len(target), 1), BOS, np.int32)
        before = np.concatenate([start, target[:, :-1]], axis=1)
        results.append(np.asarray(read(weights, source, lengths, before)))
    sizes = zip(encoded.target_lengths, encoded.source_lengths, strict=True)
    matrices = []
    for matrix, (rows, columns) in zip(restore(results, batches), sizes, strict=True):
        words = range(columns - 1)
        order = [*(reversed(words) if reverse else words), columns - 1]
        matrices.append(matrix[:rows, order].astype(np.float64))
    return matrices


def weights_behind(
    graph: nnx.GraphDef,
    weights: Weights,
    reverse: bool,
    sources: list[list[int]],
    outputs: list[list[int]],
) -> list[Float[np.ndarray, "_ _"]]:
    """``attention_matrices`` of outputs that may be empty, and then have no row."""
    encoded = EncodedPairs(sources, [ids or [EOS] for ids in outputs])
    matrices = attention_matrices(graph, weights, encoded, reverse, batch_size=64)
    return [matrix[: len(ids)] for matrix, ids in zip(matrices, outputs, strict=True)]


def check_pointing(settings: RunSettings, wish: str) -> None:
    """UsageError, which names the wish, for an arm whose weights point at no word."""
    if not settings.model.points:
        raise UsageError(
            f"{wish} needs attention weights that point at a word, and arm {settings.model.arm} "
            f"has none; take an arm with attention (model.attention, --arm) or leave {wish} out"
        )


def with_copies(
    graph: nnx.GraphDef,
    weights: Weights,
    reverse: bool,
    sources: Sequence[list[int]],
    outputs: Sequence[list[int]],
    tokens: Sequence[list[str]],
    words: Sequence[list[str]],
) -> list[list[str]]:
    """The tokens of every output, no unknown word among them.

    ``sources`` and ``outputs`` are ids as they were read and written, ``tokens`` the outputs' and
    ``words`` the sources' as they are to be copied, in reading order, without the end: that is the
    last column of the weights, and no word to copy.
    """
    copied = list(tokens)
    lacking = [place for place, ids in enumerate(outputs) if UNK in ids]
    pairs = [sources[place] for place in lacking], [outputs[place] for place in lacking]
    matrices = weights_behind(graph, weights, reverse, *pairs)
    for place, matrix in zip(lacking, matrices, strict=True):
        source = words[place]
        attended = matrix[:, : len(source)].argmax(axis=1)
        copied[place] = [
            source[attended[row]] if outputs[place][row] == UNK else token
            for row, token in enumerate(tokens[place])
        ]
    return copied


def readable(tokens: list[str], ended: bool, tokenizer: Tokenizer = WORDS) -> list[str]:
    """Tokens as a person reads them, the end token last where there is one."""
    return [*map(tokenizer.display, tokens), *([END] if ended else [])]
