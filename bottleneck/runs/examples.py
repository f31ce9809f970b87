"""A few test sentences of every length, with the attention behind each output."""

from typing import Any

import numpy as np
from flax import nnx
from jaxtyping import Float

from ..corpus.batches import encode_pairs, evaluation_batches, restore
from ..corpus.corpus import Corpus
from ..corpus.pair import SentencePair
from ..corpus.tokens import detokenize, plain, tokenize
from ..decoding.search import make_attention_weights
from ..model.translator import Weights
from ..scoring.buckets import Buckets
from ..settings.run import RunSettings
from ..settings.symbols import BOS

PER_BUCKET = 2
END = "</s>"


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
    outputs: list[list[str]],
) -> list[dict[str, Any]]:
    """Source, reference, hypothesis and weights (hypothesis x source) of the chosen sentences."""
    places = choose(corpus, settings)
    pairs = [SentencePair(corpus.test[p].source, detokenize(outputs[p])) for p in places]
    matrices = attended(graph, weights, settings, corpus, pairs)
    return [
        {
            "sentence": place,
            "source": readable(tokenize(pair.source)),
            "reference": corpus.test[place].target,
            "hypothesis": readable(tokenize(pair.target)),
            "weights": matrix.round(3).tolist(),
        }
        for place, pair, matrix in zip(places, pairs, matrices, strict=True)
    ]


def readable(tokens: list[str]) -> list[str]:
    """Words as a person reads them, the end token last."""
    return [*(plain(token) for token in tokens), END]


def attended(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    pairs: list[SentencePair],
) -> list[Float[np.ndarray, "target source"]]:
    """The attention weights behind each pair's target, in reading order, end tokens included."""
    reverse = settings.model.reverse_source
    encoded = encode_pairs(pairs, corpus.source_vocabulary, corpus.target_vocabulary, reverse)
    (batch,) = evaluation_batches(encoded, len(pairs), groups=1)
    inputs = np.concatenate(
        [np.full((len(pairs), 1), BOS, np.int32), batch.batch.target[:, :-1]], axis=1
    )
    read = make_attention_weights(graph)
    matrices = np.asarray(read(weights, batch.batch.source, batch.batch.source_lengths, inputs))
    lengths = zip(encoded.target_lengths, encoded.source_lengths, strict=True)
    ordered = restore([matrices], [batch])
    return [
        matrix[:rows, :columns][:, _order(columns - 1, reverse)].astype(np.float64)
        for matrix, (rows, columns) in zip(ordered, lengths, strict=True)
    ]


def _order(words: int, reverse: bool) -> list[int]:
    """Columns that put a reversed source back into reading order, its end token last."""
    places = list(range(words))
    return [*(reversed(places) if reverse else places), words]
