"""Evaluate a trained run on its test set: write translations, counts, scores and examples."""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
from flax import nnx

from ..corpus.batches import encode_pairs, evaluation_batches
from ..corpus.corpus import Corpus, share
from ..corpus.drawing import note
from ..corpus.grammar import LECTURE_SENTENCES, english_french
from ..corpus.vocabulary import EOS, tokenizer_advice
from ..decoding.search import caps
from ..model.parts import Stack, parts_of
from ..results.bundle import tidy_csv
from ..results.folders import json_text
from ..results.schema import BLEU_COLUMNS
from ..scoring import bleu
from ..scoring.bootstrap import draw, estimate, ratio_of_sums
from ..settings.concerns import bucket_members
from ..settings.files import write_file
from ..settings.run import RunSettings
from ..training.loop import Trained
from ..training.step import make_sentence_losses
from .translate import BATCH, TrainedRun


def scoring_notes(corpus: Corpus, settings: RunSettings) -> list[str]:
    """Notes on the test set's references, for readers of the scores."""
    vocabularies, notes = (corpus.source_vocabulary, corpus.target_vocabulary), []
    encoded = encode_pairs(corpus.test, *vocabularies)
    source, target = (np.array(list(map(len, side))) for side in encoded)
    limits = np.array(caps(int(source.max()), settings.decoding))
    longer = int((target > limits[source]).sum())
    way = "decoding.cap_factor and decoding.cap_extra raise the cap"
    note(notes, longer, "test reference", f"longer than the cap of its output ({way})")
    references = [pair.target for pair in corpus.test]
    option = "--set scoring.tokenize="
    return notes + tokenizer_advice(references, settings.scoring.tokenize, option)


def evaluate(
    graph: nnx.GraphDef, trained: Trained, settings: RunSettings, corpus: Corpus, folder: Path
) -> None:
    """Translate and score the test set with the weights that training kept; write the results."""
    source, target = corpus.source_vocabulary, corpus.target_vocabulary
    run = TrainedRun(settings, source, target, graph, trained.weights)
    encoded = run.encode(corpus.test)
    batches = evaluation_batches(encoded, BATCH)
    outputs, _, texts = run.decode(batches)
    # Each core of the process computes a part of a batch.
    losses = make_sentence_losses(graph, Stack(1, parts_of(BATCH)))
    references = [pair.target for pair in corpus.test]
    columns = {
        "sentence": range(len(texts)),
        "source": [pair.source for pair in corpus.test],
        "reference": references,
        "hypothesis": texts,
        "source_words": [pair.words for pair in corpus.test],
        "nll": np.float32(losses(trained.weights, batches)),  # as computed
        "target_tokens": list(map(len, encoded.target)),
        "ended": [EOS in ids for ids in outputs],
    }
    counts = bleu.bleu_statistics(texts, references, tokenize=settings.scoring.tokenize)
    sentences = pd.DataFrame(columns | dict(zip(BLEU_COLUMNS, counts.T, strict=True)))
    spelled = ["source", "reference", "hypothesis"]
    write_file(folder / "sentences.csv", tidy_csv(sentences.drop(columns=spelled)))
    # These are the same for every bucket of the run.
    epoch = sum(len(target.numbers(pair.target)) + 1 for pair in corpus.train)  # with end tokens
    facts = {
        "train_pairs": len(corpus.train),
        "best_update": trained.best_update,
        "epochs": round(trained.target_tokens / max(1, epoch), 3),
        "train_loss": trained.log[-1].loss,
        "valid_loss": trained.valid_loss,
        "train_tokens": trained.target_tokens,
        "parameters": sum(leaf.size for leaf in jax.tree.leaves(trained.weights)),
        "train_seconds": round(trained.seconds, 3),
        "train_tokens_per_second": round(trained.target_tokens / max(trained.seconds, 1e-9), 1),
    }
    words = sentences["source_words"].to_numpy()
    members = list(bucket_members(words, settings.scoring.lower_edges).values())
    rows = [
        facts | row | {"near_copies": share(corpus.near_copies[place] for place in places)}
        for row, places in zip(bucket_rows(sentences, settings), members, strict=True)
    ]
    write_file(folder / "scores.csv", tidy_csv(pd.DataFrame(rows, dtype=object)))
    lines = [
        f"{json.dumps(row, ensure_ascii=False)}\n"
        for row in sentences[["sentence", *spelled]].to_dict("records")
    ]
    write_file(folder / "hypotheses.jsonl", "".join(lines))
    # The lecture's sentences, with numbers below 0, and two of each bucket.
    pairs, examples = {}, []
    if settings.corpus.name == "grammar":
        lecture = map(english_french(settings.corpus.lexicon).parse, LECTURE_SENTENCES)
        pairs = dict(enumerate(lecture, -len(LECTURE_SENTENCES)))
    pairs |= {place: corpus.test[place] for places in members for place in places[:2].tolist()}
    translations = run.translations([pair.source for pair in pairs.values()], attended=True)
    for (number, pair), item in zip(pairs.items(), translations, strict=True):
        example = {"sentence": number, "source": item.source, "reference": pair.target}
        weights = item.weights.round(3).tolist()
        examples.append(example | {"hypothesis": item.output, "weights": weights})
    write_file(folder / "examples.json", json_text(examples))


def bucket_rows(sentences: pd.DataFrame, settings: RunSettings) -> list[dict[str, Any]]:
    """One row per bucket: n, compression ratio, scores with interval, and what explains them.

    ``sentences`` have `BLEU_COLUMNS`, the n-gram counts from which BLEU is computed.
    """
    model, scoring, rows = settings.model, settings.scoring, []
    members = bucket_members(sentences["source_words"].to_numpy(), scoring.lower_edges)
    for bucket, (name, places) in enumerate(members.items()):
        n = len(places)
        rows.append({"bucket": name, "n": n})
        if n == 0:
            continue
        inside = sentences.iloc[places]
        words = float(inside["source_words"].mean())
        counts = inside[[*BLEU_COLUMNS]].to_numpy()
        nll = inside["nll"].to_numpy().sum(dtype=np.float64)
        weights = draw(n, scoring.resamples, seed=scoring.seed, bucket=bucket)
        measured = estimate(bleu.bleu, counts[None], weights)
        sums = counts.sum(axis=0)
        rows[-1] |= {
            "source_words": words,
            "compression_ratio": words * model.embedding_size / model.context_size,
            "bleu": measured.value,
            "bleu_low": measured.low,
            "bleu_high": measured.high,
            "brevity_penalty": float(bleu.brevity_penalty(sums)),
            "length_ratio": float(ratio_of_sums(sums[:2])),
            **{f"precision_{k}": float(p) for k, p in enumerate(bleu.precisions(sums), start=1)},
            "chrf": bleu.chrf(inside["hypothesis"].to_list(), inside["reference"].to_list()),
            "nll_per_token": float(nll / inside["target_tokens"].sum()),
            "reference_tokens": int(inside["reference_tokens"].sum()),
            "empty": int((inside["hypothesis_tokens"] == 0).sum()),
            "unfinished": int((~inside["ended"]).sum()),
            "signature": bleu.bleu_signature(scoring.tokenize),
        }
    return rows
