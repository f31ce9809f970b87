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

SETTING_COLUMNS: dict[str, tuple[str, str]] = {
    "attention": ("model.attention", "str"),
    "context_size": ("model.context_size", "int64"),
    "seed": ("training.seed", "int64"),
    "placement": ("model.placement", "str"),
    "cell": ("model.cell", "str"),
    "embedding_size": ("model.embedding_size", "int64"),
    "hidden_size": ("model.hidden", "int64"),
    "layers": ("model.layers", "int64"),
    "dropout": ("model.dropout", "float64"),
    "bidirectional": ("model.bidirectional", "bool"),
    "reverse_source": ("model.reverse_source", "bool"),
    "initial_state": ("model.initial_state", "str"),
    "beam_size": ("decoding.beam_size", "int64"),
    "corpus": ("corpus.name", "str"),
    "joined": ("corpus.joined", "int64"),
    "train_max_words": ("corpus.longest_trained", "int64"),
    "teacher_forcing": ("training.teacher_forcing", "float64"),
    "updates": ("training.updates", "int64"),
}
"""Columns that repeat a run's settings: which setting, and its type."""

RUN_COLUMNS: dict[str, str] = {
    "run": "str",
    **{name: SETTING_COLUMNS[name][1] for name in ("attention", "context_size", "seed")},
    "bucket": "str",
    "n": "int64",
    "compression_ratio": "float64",
    "bleu": "float64",
    "bleu_low": "float64",
    "bleu_high": "float64",
    "brevity_penalty": "float64",
    "length_ratio": "float64",
    **{f"precision_{order}": "float64" for order in range(1, 5)},
    "chrf": "float64",
    "nll_per_token": "float64",
    "source_words": "float64",
    "reference_tokens": "int64",
    "empty": "int64",
    "unfinished": "int64",
    **{name: kind for name, (_, kind) in SETTING_COLUMNS.items()},
    "train_pairs": "int64",
    "best_update": "int64",
    "epochs": "float64",
    "train_loss": "float64",
    "valid_loss": "float64",
    "train_tokens": "int64",
    "parameters": "int64",
    "train_seconds": "float64",
    "train_tokens_per_second": "float64",
    "group": "str",
    "signature": "str",
}
"""Columns of ``runs.csv`` in order. Scores are 0-100, losses nats a target token; empty = none.

``group`` is the name of the sweep's group that the run belongs to, blank outside of groups.
"""

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
