"""The attention weights behind given outputs: a network's own, or references it is made to say."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from flax import nnx
from jaxtyping import Float

from ..corpus.batches import EncodedPairs, encode_pairs, evaluation_batches, restore
from ..corpus.pair import SentencePair
from ..corpus.tokens import plain, tokenize
from ..decoding.search import AttentionWeights, make_attention_weights, make_search
from ..model.translator import Weights
from ..settings.concerns import DecodingSettings
from ..settings.symbols import BOS, EOS
from .translate import TrainedRun

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
    batches = evaluation_batches(encoded, batch_size)
    read = _reader(graph)
    found = [_of_batch(read, weights, *held.batch[:3]) for held in batches]
    lengths = zip(encoded.target_lengths, encoded.source_lengths, strict=True)
    return [
        matrix[:rows, :columns][:, _order(columns - 1, reverse)].astype(np.float64)
        for matrix, (rows, columns) in zip(restore(found, batches), lengths, strict=True)
    ]


def _of_batch(
    read: AttentionWeights,
    weights: Weights,
    source: np.ndarray,
    lengths: np.ndarray,
    target: np.ndarray,
) -> np.ndarray:
    """Weights (batch, target, source), given the words before each."""
    start = np.full((len(target), 1), BOS, np.int32)
    inputs = np.concatenate([start, target[:, :-1]], axis=1)
    return np.asarray(read(weights, source, lengths, inputs))


def _order(words: int, reverse: bool) -> list[int]:
    """Columns that put a reversed source back into reading order, its end token last."""
    places = list(range(words))
    return [*(reversed(places) if reverse else places), words]


class Attended(NamedTuple):
    """A translation and what it was read from: words as a person reads them, ends included."""

    source: list[str]
    output: list[str]
    weights: Float[np.ndarray, "output source"]


def translate_attended(trained: TrainedRun, sentence: str, decoding: DecodingSettings) -> Attended:
    """Translate the user's sentence by this search, with the weights behind every output token.

    An output that ran into the cap has no end token, and so no row for one.
    """
    pair = SentencePair(trained.prepare(sentence), "")
    vocabularies = trained.source_vocabulary, trained.target_vocabulary
    reverse = trained.settings.model.reverse_source
    encoded = encode_pairs([pair], *vocabularies, reverse)
    (held,) = evaluation_batches(encoded, 1)
    search = make_search(trained.graph, decoding)
    found = search(trained.weights, held.batch.source, held.batch.source_lengths)
    ids = np.asarray(found.tokens)[0, : int(found.lengths[0])].tolist()
    said = EncodedPairs(encoded.source, [ids or [EOS]])
    (weights,) = attention_matrices(trained.graph, trained.weights, said, reverse, 1)
    output = [END if word == EOS else plain(vocabularies[1].tokens[word]) for word in ids]
    source = [*map(plain, tokenize(pair.source)), END]
    return Attended(source, output, weights[: len(output)])
