"""A trained run on its test set: translations, counts, scores, examples, all written down."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from flax import nnx
from jaxtyping import Int

from ..corpus.batches import (
    EncodedPairs,
    EvaluationBatch,
    encode_pairs,
    evaluation_batches,
    restore,
)
from ..corpus.corpus import Corpus, share
from ..decoding.search import make_search
from ..model.parts import on_host, parts_of
from ..model.translator import Weights, count_parameters
from ..results.bundle import tidy_csv
from ..results.folders import EXAMPLES, HYPOTHESES, SCORES, SENTENCES
from ..settings.buckets import Buckets
from ..settings.files import write_text
from ..settings.run import RunSettings
from ..training.loop import Trained, sentence_losses
from ..training.stack import Stack
from ..training.step import SentenceLosses, make_sentence_losses
from .attention import Copyable, Decoded, make_examples, with_copies
from .scores import bucket_rows, sentence_columns
from .store import RunFolder

EVALUATION_BATCH = 64


def encode(corpus: Corpus, split: str, settings: RunSettings) -> EncodedPairs:
    """Token ids of a split, the source reversed where the model wants it so."""
    return encode_pairs(
        corpus.splits[split],
        corpus.source_vocabulary,
        corpus.target_vocabulary,
        settings.model.reverse_source,
        packed=split == "train",
    )


def valid_buckets(corpus: Corpus, settings: RunSettings) -> dict[str, Int[np.ndarray, " rows"]]:
    """Of each length bucket the places of its sentences in the validation set."""
    buckets = Buckets(settings.scoring.lower_edges)
    words = np.array([pair.words for pair in corpus.valid], dtype=np.int64)
    assigned = buckets.assign(words)
    return {name: np.flatnonzero(assigned == place) for place, name in enumerate(buckets.names)}


def evaluate(
    graph: nnx.GraphDef, trained: Trained, settings: RunSettings, corpus: Corpus, folder: RunFolder
) -> None:
    """Translate and score the test set with the best weights; write what was found."""
    encoded = encode(corpus, "test", settings)
    batches = evaluation_batches(encoded, EVALUATION_BATCH)
    decoded = decode(graph, trained.weights, settings, corpus, batches)
    if settings.decoding.copy_unknown:
        texts = _copied_texts(graph, trained.weights, settings, corpus, encoded, decoded)
        decoded = decoded._replace(texts=texts)
    columns = sentence_columns(
        decoded.texts,
        [pair.target for pair in corpus.test],
        np.array([pair.words for pair in corpus.test]),
        sentence_losses(_losses(graph), trained.weights, batches),
        np.array(encoded.target_lengths),
        decoded.ended,
    )
    facts = _facts(corpus, trained)
    near = _near_copies(corpus, settings)
    rows = [facts | row for row in map(dict.__or__, bucket_rows(columns, settings), near)]
    write_text(folder.path / SENTENCES, tidy_csv(pd.DataFrame(columns)))
    write_text(folder.path / SCORES, tidy_csv(pd.DataFrame(rows, dtype=object)))
    _write_hypotheses(folder.path, corpus, decoded)
    examples = make_examples(graph, trained.weights, settings, corpus, decoded)
    folder.write_json(EXAMPLES, examples)


def _losses(graph: nnx.GraphDef) -> SentenceLosses:
    """-log P of references, every core of the process at its part of a batch."""
    return make_sentence_losses(graph, Stack(1, parts_of(EVALUATION_BATCH)))


def decode(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    batches: list[EvaluationBatch],
) -> Decoded:
    """Translate every sentence of the batches with the search that the settings name."""
    search = make_search(graph, settings.decoding)
    outputs = [search(weights, held.batch.source, held.batch.source_lengths) for held in batches]
    rows = restore([on_host(output.tokens) for output in outputs], batches)
    ended = restore([on_host(output.finished) for output in outputs], batches)
    tokens = [corpus.target_vocabulary.decode(row.tolist()) for row in rows]
    texts = [corpus.target_vocabulary.text(item) for item in tokens]
    return Decoded(tokens, texts, np.array(ended))


def _copied_texts(
    graph: nnx.GraphDef,
    weights: Weights,
    settings: RunSettings,
    corpus: Corpus,
    encoded: EncodedPairs,
    decoded: Decoded,
) -> list[str]:
    """The translations with source words in the place of unknown ones."""
    source, target = corpus.source_vocabulary, corpus.target_vocabulary
    said = [
        Copyable(ids, target.encode(tokens), tokens, source.pieces(pair.source))
        for ids, tokens, pair in zip(encoded.source, decoded.tokens, corpus.test, strict=True)
    ]
    return list(map(target.text, with_copies(graph, weights, settings.model.reverse_source, said)))


def _facts(corpus: Corpus, trained: Trained) -> dict[str, Any]:
    """What is the same for every bucket of the run, but for its settings: they have a file."""
    pieces = corpus.target_vocabulary.pieces
    epoch = sum(len(pieces(pair.target)) + 1 for pair in corpus.train)  # end tokens included
    return {
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


def _near_copies(corpus: Corpus, settings: RunSettings) -> list[dict[str, Any]]:
    """Of each bucket the share of its source 5-grams that training holds; None without any."""
    buckets = Buckets(settings.scoring.lower_edges)
    assigned = buckets.assign(np.array([pair.words for pair in corpus.test]))
    held = list(zip(corpus.near_copies, assigned.tolist(), strict=True))
    return [
        {"near_copies": share(counts for counts, place in held if place == bucket)}
        for bucket in range(len(buckets.names))
    ]


def _write_hypotheses(folder: Path, corpus: Corpus, decoded: Decoded) -> None:
    lines = [
        json.dumps(
            {
                "sentence": place,
                "source": pair.source,
                "reference": pair.target,
                "hypothesis": text,
            },
            ensure_ascii=False,
        )
        for place, (pair, text) in enumerate(zip(corpus.test, decoded.texts, strict=True))
    ]
    write_text(folder / HYPOTHESES, "".join(f"{line}\n" for line in lines))
