"""The results bundle: which files, which columns, which types. Version 1.

- ``runs.csv``: a row a run x bucket, tidy; ``run,attention,context_size,seed,bucket`` is a key.
- ``sentences.csv.gz``: a row a run x test sentence: the counts from which every score, bucket and
  interval is a sum.
- ``examples.json``: sentences with references, hypotheses and attention weights of each run.
- ``environment.json``: schema, versions, machine, and for each run its settings and notes.
"""

VERSION = 1

RUNS = "runs.csv"
SENTENCES = "sentences.csv.gz"
EXAMPLES = "examples.json"
ENVIRONMENT = "environment.json"

RUN_COLUMNS: dict[str, str] = {
    "run": "str",
    "attention": "str",
    "context_size": "int64",
    "seed": "int64",
    "bucket": "str",
    "n": "int64",
    "compression_ratio": "float64",
    "bleu": "float64",
    "bleu_low": "float64",
    "bleu_high": "float64",
    "brevity_penalty": "float64",
    "length_ratio": "float64",
    "precision_1": "float64",
    "precision_2": "float64",
    "precision_3": "float64",
    "precision_4": "float64",
    "chrf": "float64",
    "nll_per_token": "float64",
    "source_words": "float64",
    "reference_tokens": "int64",
    "empty": "int64",
    "unfinished": "int64",
    "placement": "str",
    "cell": "str",
    "embedding_size": "int64",
    "hidden_size": "int64",
    "layers": "int64",
    "bidirectional": "bool",
    "reverse_source": "bool",
    "beam_size": "int64",
    "corpus": "str",
    "train_pairs": "int64",
    "updates": "int64",
    "best_update": "int64",
    "valid_loss": "float64",
    "train_tokens": "int64",
    "parameters": "int64",
    "train_seconds": "float64",
    "train_tokens_per_second": "float64",
    "signature": "str",
}
"""Columns of ``runs.csv`` in order. Scores are 0-100, losses nats a target token; empty = none."""

BLEU_COLUMNS = (
    "hypothesis_tokens",
    "reference_tokens",
    *(f"correct_{order}" for order in range(1, 5)),
    *(f"total_{order}" for order in range(1, 5)),
)
CHRF_COLUMNS = tuple(
    f"chars_{what}_{order}"
    for order in range(1, 7)
    for what in ("hypothesis", "reference", "matched")
)

SENTENCE_COLUMNS: dict[str, str] = {
    "run": "str",
    "sentence": "int64",
    "source_words": "int64",
    "nll": "float64",
    "target_tokens": "int64",
    "ended": "bool",
    **dict.fromkeys(BLEU_COLUMNS, "int64"),
    **dict.fromkeys(CHRF_COLUMNS, "int64"),
}
"""Columns of ``sentences.csv.gz``: ``nll`` in nats of the whole reference, end token included."""
