"""The results bundle: which files, which columns, which types. Version 8.

- ``runs.csv``: one row per run x bucket, tidy; ``run,experiment,bucket`` is a key.
- ``sentences.csv.gz``: one row per run x test sentence: the words of the source and the counts of
  which every BLEU, its bucket and its interval are a sum (`COUNTED`). A run's own ``sentences.csv``
  has chrF's counts as well (`CHRF_COLUMNS`), whether the hypothesis ``ended``, the reference's
  tokens, and its loss ``nll`` in nats, end token included.
- ``examples.json.gz``: sentences with references, hypotheses and attention weights of each run.
- ``environment.json``: the version; ``runs``: for each run its settings and what it ran on, with
  the ``command`` line that made it where that is known; ``unfinished``: the status of what else was
  in the store; how many finished runs were left out: ``other_versions``, of
  other versions of the program, and ``replaced``, by later runs of their arms.
- ``SHA256SUMS``: a digest of each file here and under ``probes/``, as `sha256sum -c` reads it. A
  run's folder has its own.
- ``probes/NAME.csv``: the numbers of a study of `STUDIES`, in long form (`PROBE_COLUMNS`); and the
  benchmark's ``probes/cost.csv``, whose columns are in `questions.cost`.

Types are pandas' own names. ``int64`` and ``bool`` columns may have blanks (a bucket without
sentences, a setting that is not set); they are read as ``Int64`` and ``boolean``. Names are never
what pandas takes for a blank. A spreadsheet must be told that runs and buckets (5-10) are text.
"""

VERSION = 8

RUNS = "runs.csv"
SENTENCES = "sentences.csv.gz"
EXAMPLES = "examples.json.gz"
ENVIRONMENT = "environment.json"
FILES = (RUNS, SENTENCES, EXAMPLES, ENVIRONMENT)
"""Of one time: what an export writes together."""


def _typed(*columns: tuple[str, str]) -> dict[str, str]:
    """The types of columns by their names, from types and the names of each."""
    return {name: kind for kind, names in columns for name in names.split()}


_SETTINGS = _typed(
    ("str", "model.attention"),
    ("int64", "model.context_size training.seed"),
    ("str", "model.placement model.cell"),
    ("int64", "model.embedding_size hidden_size=model.hidden attention_size=model.attention_width"),
    ("int64", "model.layers"),
    ("bool", "model.residual"),
    ("float64", "model.dropout"),
    ("bool", "model.tied_output"),
    ("bool", "model.bidirectional model.reverse_source"),
    ("str", "model.initial_state corpus=corpus.name"),
    ("int64", "corpus.joined train_max_words=corpus.longest_trained"),
    ("float64", "training.teacher_forcing"),
    ("int64", "training.updates"),
    ("str", "training.optimizer"),
    ("float64", "training.learning_rate training.final_learning_rate"),
    ("int64", "training.warmup_updates"),
    ("float64", "training.clip_norm"),
    ("int64", "training.batch_size training.batch_tokens training.shapes"),
    ("float64", "training.label_smoothing training.average_last"),
    ("int64", "training.validations corpus_seed=corpus.seed"),
    ("int64", "asked_train_pairs=corpus.train_pairs asked_valid_pairs=corpus.valid_pairs"),
    ("int64", "asked_test_pairs=corpus.test_pairs"),
    ("str", "corpus.lengths"),
    ("int64", "corpus.min_words corpus.max_words corpus.test_min_words corpus.test_max_words"),
    ("str", "corpus.lexicon"),
    ("int64", "corpus.copy_words"),
    ("str", "test_set=corpus.test"),
    ("bool", "corpus.reverse_direction"),
    ("str", "corpus.tokens"),
    ("int64", "corpus.source_vocabulary corpus.target_vocabulary"),
    ("bool", "corpus.lowercase"),
    ("int64", "decoding.beam_size"),
    ("float64", "decoding.length_penalty decoding.cap_factor"),
    ("int64", "decoding.cap_extra"),
    ("bool", "decoding.copy_unknown"),
    ("str", "scoring.edges"),
    ("int64", "scoring.resamples scoring_seed=scoring.seed"),
    ("str", "scoring.tokenize"),
)
SETTING_COLUMNS: dict[str, tuple[str, str]] = {
    item.partition("=")[0].rpartition(".")[2]: (item.rpartition("=")[2], kind)
    for item, kind in _SETTINGS.items()
}
"""Columns that repeat a run's settings: which setting, and its type.

That is every setting but the names of the user's files: ``corpus_fingerprint`` says what the text
is. Sizes that follow the context where they are not set (``hidden_size``, ``attention_size``) and
``train_max_words`` are as the run has them. ``asked_..._pairs`` are the settings, ``train_pairs``
is what there was; ``test_set`` is blank but for a test set given by name.
"""

LATER_COLUMNS = {"tokenize": "13a"}
"""Columns that earlier bundles of this version lack, and what their runs have in them."""

RUN_COLUMNS: dict[str, str] = {
    **_typed(
        ("str", "run attention"),
        ("int64", "context_size seed"),
        ("str", "bucket"),
        ("int64", "n"),
        ("float64", "compression_ratio bleu bleu_low bleu_high brevity_penalty length_ratio"),
        ("float64", "precision_1 precision_2 precision_3 precision_4 chrf nll_per_token"),
        ("float64", "source_words"),
        ("int64", "reference_tokens empty unfinished"),
        ("float64", "near_copies"),
    ),
    **{name: kind for name, (_, kind) in SETTING_COLUMNS.items()},
    **_typed(
        ("str", "corpus_fingerprint"),
        ("int64", "train_pairs best_update"),
        ("float64", "epochs train_loss valid_loss"),
        ("int64", "train_tokens parameters"),
        ("float64", "train_seconds train_tokens_per_second"),
        ("str", "experiment arm baseline signature"),
    ),
}
"""Columns of ``runs.csv`` in order. Scores are 0-100, losses nats per target token; empty = none.

``near_copies`` is the share, from 0 to 1, of the bucket's source 5-grams (word tokens) that the
training side has. ``experiment`` names the sweep that declared the run, ``arm`` is the run's arm in
it, and ``baseline`` the arm that this is compared with, blank where there is none. Rows are in the
order in which the sweep declares them; a run that several experiments share has rows in each.
"""

BLEU_COLUMNS = (
    *("hypothesis_tokens", "reference_tokens"),
    *(f"{count}_{order}" for count in ("correct", "total") for order in range(1, 5)),
)
CHRF_COLUMNS = (
    *("chars_hypothesis", "chars_reference"),
    *(f"chars_matched_{order}" for order in range(1, 7)),
)
"""What chrF counts of a sentence, white space left out: characters, and n-grams in both texts."""

COUNTED = dict.fromkeys(("sentence", "source_words", *BLEU_COLUMNS), "i8")
"""Behind ``run`` the columns of ``sentences.csv.gz``, as numpy's types, without blanks."""

# What commands print and draw, by name.

STUDIES: tuple[str, ...] = (
    *("survival", "dimensions", "information", "capacity", "alignment"),
    *("gradients", "length", "fit", "embeddings", "reading"),
)
"""The studies in the lecture's order, each a question of `questions/` put to finished runs."""
GOLD = "alignment_gold"
GOLD_TABLE = "alignment-gold"
"""The numbers and the table of the study ``alignment`` put to gold links of the user's own."""
BENCHMARK = "cost"
"""The question whose numbers `bottleneck study cost` measures."""
QUESTIONS = (*STUDIES, BENCHMARK)
TABLES = ("failure-pattern", "vindication", "context-size", "compression", "arms")
"""The tables of runs; each of `QUESTIONS` has one, too."""
ALL_TABLES = (*TABLES, *QUESTIONS, GOLD_TABLE)
ENDINGS = {".csv": "csv", ".md": "markdown", ".tex": "latex", ".json": "json", ".html": "html"}
"""The form of a table's file, by its ending."""
FORMATS = ("rich", *ENDINGS.values())
FIGURES_OF_RUNS = ("bleu", "arms", "compression", "attention")
FIGURES = (*FIGURES_OF_RUNS, *STUDIES, GOLD_TABLE, BENCHMARK)

PROBES = "probes"
"""Folder of the studies' tables; in a run's folder of what was measured on it."""

PROBE_COLUMNS: dict[str, str] = _typed(
    ("str", "run arm attention placement"),
    ("int64", "context_size"),
    ("str", "corpus"),
    ("int64", "updates seed"),
    ("str", "control bucket part measure"),
    ("float64", "value low high"),
    ("int64", "n"),
    ("str", "note"),
)
"""Columns of ``probes/NAME.csv``: one row per number.

``arm`` tells runs apart that differ in more than their seed. A row with a ``seed`` is one run's
number; where it is blank, so is ``run``, and the number is the mean over seeds, with its 95 %
interval over test sentences where it has one. ``control`` is blank for what was trained (else
``untrained``, ``diagonal``, ...); ``bucket`` is blank where all lengths are meant, ``part`` where
there is but one (else a word class, a distance, ...). ``n`` counts what was averaged over.
"""
