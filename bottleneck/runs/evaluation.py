"""A trained run on its test set: translations, counts, scores, examples, all written down."""

import json
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from flax import nnx
from numpy import ndarray

from ..corpus.batches import (
    EncodedPairs,
    EvaluationBatch,
    encode_pairs,
    evaluation_batches,
    restore,
)
from ..corpus.corpus import Corpus, share
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import EOS
from ..decoding.search import make_search
from ..model.parts import Stack, on_host, parts_of
from ..model.translator import Weights, count_parameters
from ..results.bundle import tidy_csv
from ..results.folders import EXAMPLES, HYPOTHESES, SCORES, SENTENCES
from ..settings.files import write_text
from ..settings.run import RunSettings
from ..training.loop import Trained, sentence_losses
from ..training.step import make_sentence_losses
from .attention import attention_matrices, readable, with_copies
from .scores import bucket_rows, by_bucket, sentence_columns
from .store import RunFolder

EVALUATION_BATCH = 64


def encode(corpus: Corpus, split: str, settings: RunSettings) -> EncodedPairs:
    """Token ids of a split, the source reversed where the model wants it so."""
    return encode_pairs(
        corpus.splits[split],
        corpus.source_vocabulary,
        corpus.target_vocabulary,
        settings.model.reverse_source,
    )


class Decoded(NamedTuple):
    """The translations of a test set, in its order.

    ``texts`` are as a person reads them, and as they are scored.
    """

    tokens: list[list[str]]
    texts: list[str]
    ended: ndarray


def evaluate(
    graph: nnx.GraphDef, trained: Trained, settings: RunSettings, corpus: Corpus, folder: RunFolder
) -> None:
    """Translate and score the test set with the best weights; write the results."""
    encoded = encode(corpus, "test", settings)
    batches = evaluation_batches(encoded, EVALUATION_BATCH)
    decoded = decode(graph, trained.weights, settings, corpus, batches)
    target, reverse = corpus.target_vocabulary, settings.model.reverse_source
    if settings.decoding.copy_unknown:
        outputs = [target.encode(tokens) for tokens in decoded.tokens]
        words = [corpus.source_vocabulary.pieces(pair.source) for pair in corpus.test]
        copied = with_copies(
            graph, trained.weights, reverse, encoded.source, outputs, decoded.tokens, words
        )
        decoded = decoded._replace(texts=list(map(target.text, copied)))
    # Every core of the process takes its part of a batch.
    losses = make_sentence_losses(graph, Stack(1, parts_of(EVALUATION_BATCH)))
    columns = sentence_columns(
        decoded.texts,
        [pair.target for pair in corpus.test],
        np.array([pair.words for pair in corpus.test]),
        sentence_losses(losses, trained.weights, batches),
        np.array(encoded.target_lengths),
        decoded.ended,
    )
    # What is the same for every bucket of the run, but for its settings: they have a file.
    epoch = sum(len(target.pieces(pair.target)) + 1 for pair in corpus.train)  # with end tokens
    facts = {
        "train_pairs": len(corpus.train),
        "best_update": trained.best_update,
        "epochs": round(trained.target_tokens / max(1, epoch), 3),
        "train_loss": trained.log[-1].loss,
        "valid_loss": trained.valid_loss,
        "train_tokens": trained.target_tokens,
        "parameters": count_parameters(trained.weights),
        "train_seconds": round(trained.seconds, 3),
        "train_tokens_per_second": round(trained.target_tokens / max(trained.seconds, 1e-9), 1),
    }
    inside = by_bucket(columns["source_words"], settings)
    rows = [
        facts | row | {"near_copies": share(corpus.near_copies[place] for place in places)}
        for row, places in zip(bucket_rows(columns, settings), inside.values(), strict=True)
    ]
    write_text(folder.path / SENTENCES, tidy_csv(pd.DataFrame(columns)))
    write_text(folder.path / SCORES, tidy_csv(pd.DataFrame(rows, dtype=object)))
    texts = [
        {"sentence": place, "source": pair.source, "reference": pair.target, "hypothesis": text}
        for place, (pair, text) in enumerate(zip(corpus.test, decoded.texts, strict=True))
    ]
    lines = [f"{json.dumps(row, ensure_ascii=False)}\n" for row in texts]
    write_text(folder.path / HYPOTHESES, "".join(lines))
    examples = make_examples(graph, trained.weights, settings, corpus, decoded)
    folder.write_json(EXAMPLES, examples)


def decode(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    batches: list[EvaluationBatch],
) -> Decoded:
    """Translate every sentence of the batches with the search that the settings name."""
    search = make_search(graph, settings.decoding)
    outputs = [search(weights, item.batch.source, item.batch.source_lengths) for item in batches]
    rows = restore([on_host(output.tokens) for output in outputs], batches)
    ended = restore([on_host(output.finished) for output in outputs], batches)
    tokens = [corpus.target_vocabulary.decode(row.tolist()) for row in rows]
    texts = [corpus.target_vocabulary.text(item) for item in tokens]
    return Decoded(tokens, texts, np.array(ended))


def make_examples(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    decoded: Decoded,
) -> list[dict[str, Any]]:
    """Source, reference, hypothesis and weights (hypothesis x source) of a few test sentences.

    They are the first two of each bucket. An output that was cut at its cap has no end token, and
    so no row for one.
    """
    inside = by_bucket([pair.words for pair in corpus.test], settings)
    chosen = np.concatenate([places[:2] for places in inside.values()]).tolist()
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    reverse = settings.model.reverse_source
    sources = [SentencePair(corpus.test[sentence].source, "") for sentence in chosen]
    targets = [[*vocabularies[1].encode(decoded.tokens[sentence]), EOS] for sentence in chosen]
    encoded = EncodedPairs(encode_pairs(sources, *vocabularies, reverse).source, targets)
    examples = []
    matrices = attention_matrices(graph, weights, encoded, reverse, len(chosen))
    for sentence, matrix in zip(chosen, matrices, strict=True):
        pair, tokens = corpus.test[sentence], decoded.tokens[sentence]
        ended = bool(decoded.ended[sentence])
        source = vocabularies[0].pieces(pair.source)
        example = {
            "sentence": sentence,
            "source": readable(source, True, vocabularies[0].tokenizer),
            "reference": pair.target,
            "hypothesis": readable(tokens, ended, vocabularies[1].tokenizer),
            "weights": matrix[: len(tokens) + ended].round(3).tolist(),
        }
        examples.append(example)
    return examples
