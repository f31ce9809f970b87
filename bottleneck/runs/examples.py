"""A few test sentences of every length, with the attention behind each output."""

from typing import Any, NamedTuple

import numpy as np
from flax import nnx
from jaxtyping import Float

from ..corpus.batches import EncodedPairs, encode_pairs
from ..corpus.corpus import Corpus
from ..corpus.pair import SentencePair
from ..corpus.tokens import WORDS, Tokenizer
from ..corpus.vocabulary import EOS
from ..model.translator import Weights
from ..settings.buckets import Buckets
from ..settings.run import RunSettings
from .attention import END, attention_matrices

PER_BUCKET = 2


class Decoded(NamedTuple):
    """The translations of a test set, in its order.

    ``texts`` are as a person reads them, and as they are scored.
    """

    tokens: list[list[str]]
    texts: list[str]
    ended: np.ndarray


def choose(corpus: Corpus, settings: RunSettings) -> list[int]:
    """The first sentences of each bucket: places in the test set."""
    buckets = Buckets(settings.scoring.lower_edges)
    assigned = buckets.assign(np.array([pair.words for pair in corpus.test]))
    return [
        int(place)
        for bucket in range(len(buckets.names))
        for place in np.flatnonzero(assigned == bucket)[:PER_BUCKET]
    ]


def make_examples(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    decoded: Decoded,
) -> list[dict[str, Any]]:
    """Source, reference, hypothesis and weights (hypothesis x source) of the chosen sentences.

    An output that was cut at its cap has no end token, and so no row for one.
    """
    places = choose(corpus, settings)
    sources = [corpus.test[place].source for place in places]
    outputs = [decoded.tokens[place] for place in places]
    matrices = attended(graph, weights, settings, corpus, sources, outputs)
    ours, theirs = corpus.source_vocabulary, corpus.target_vocabulary.tokenizer
    return [
        {
            "sentence": place,
            "source": readable(ours.pieces(corpus.test[place].source), True, ours.tokenizer),
            "reference": corpus.test[place].target,
            "hypothesis": readable(decoded.tokens[place], bool(decoded.ended[place]), theirs),
            "weights": matrix[: len(decoded.tokens[place]) + bool(decoded.ended[place])]
            .round(3)
            .tolist(),
        }
        for place, matrix in zip(places, matrices, strict=True)
    ]


def readable(tokens: list[str], ended: bool, tokenizer: Tokenizer = WORDS) -> list[str]:
    """Tokens as a person reads them, the end token last where there is one."""
    return [*map(tokenizer.display, tokens), *([END] if ended else [])]


def attended(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    sources: list[str],
    outputs: list[list[str]],
) -> list[Float[np.ndarray, "target source"]]:
    """The attention weights behind each output, in reading order, end tokens included."""
    reverse = settings.model.reverse_source
    pairs = [SentencePair(source, "") for source in sources]
    encoded = encode_pairs(pairs, corpus.source_vocabulary, corpus.target_vocabulary, reverse)
    targets = [[*corpus.target_vocabulary.encode(output), EOS] for output in outputs]
    encoded = EncodedPairs(encoded.source, targets)
    return attention_matrices(graph, weights, encoded, reverse, len(pairs))
