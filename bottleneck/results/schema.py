"""The results bundle: which files, which columns, which types.

- ``runs.csv``: one row per run x bucket, tidy; ``run,experiment,bucket`` is a key.
- ``sentences.csv.gz``: one row per run x test sentence: the source's number of words, which gives
  the bucket, and the counts of which BLEU and its interval are computed (`COUNTED`). In a run's
  folder, ``sentences.csv`` also says whether the hypothesis ``ended``, and has the reference's
  tokens and its loss ``nll`` in nats, end token included.
- ``examples.json.gz``: sentences with references, hypotheses and attention weights of each run.
- ``environment.json``: the version; ``runs``: each run's settings and environment, with the
  ``command`` line that made it, if known; ``unfinished``: the status of the store's other runs;
  ``replaced``: how many finished runs were replaced by later ones of the same arms.
- ``SHA256SUMS``: a digest of each file here and under ``probes/``, for `sha256sum -c`. A run's
  folder has its own.
- ``probes/NAME.csv``: the numbers of a study of `QUESTIONS`, in long form (`PROBE_COLUMNS`). In a
  run's folder, ``probes/`` has what was measured on that run.

Types are pandas' own names. ``Int64`` and ``boolean`` columns may have blanks (a bucket without
sentences, a setting that is not set). In a spreadsheet, import runs and buckets (5-10) as text.
"""

VERSION = 8

FILES = ("runs.csv", "sentences.csv.gz", "examples.json.gz", "environment.json")
"""The files that an export writes together."""


def _typed(columns: str) -> dict[str, str]:
    """The types of columns by their names, from ``name:type``; without a type it is ``Int64``."""
    items = (item.partition(":") for item in columns.split())
    return {name: kind or "Int64" for name, _, kind in items}


SETTING_COLUMNS = {
    item.partition("=")[0].rpartition(".")[2]: (item.rpartition("=")[2], kind)
    for item, kind in _typed("""
model.attention:str model.context_size training.seed model.placement:str model.cell:str
model.embedding_size hidden_size=model.hidden attention_size=model.attention_width model.layers
model.dropout:float64 model.tied_output:boolean model.bidirectional:boolean
model.reverse_source:boolean model.initial_state:str corpus=corpus.name:str corpus.joined
train_max_words=corpus.longest_trained training.teacher_forcing:float64 training.updates
training.optimizer:str training.learning_rate:float64 training.final_learning_rate:float64
training.warmup_updates training.clip_norm:float64 training.batch_size training.batch_tokens
training.shapes training.label_smoothing:float64 training.average_last:float64
training.validations corpus_seed=corpus.seed asked_train_pairs=corpus.train_pairs
asked_valid_pairs=corpus.valid_pairs asked_test_pairs=corpus.test_pairs corpus.lengths:str
corpus.min_words corpus.max_words corpus.test_min_words corpus.test_max_words corpus.lexicon:str
corpus.copy_words test_set=corpus.test:str corpus.reverse_direction:boolean corpus.tokens:str
corpus.source_vocabulary corpus.target_vocabulary corpus.lowercase:boolean decoding.beam_size
decoding.length_penalty:float64 decoding.cap_factor:float64 decoding.cap_extra
scoring.edges:str scoring.resamples scoring_seed=scoring.seed
scoring.tokenize:str
""").items()
}
"""Columns that repeat a run's settings: which setting, and its type.

They have every setting but the names of the user's files: ``corpus_fingerprint`` identifies the
text. ``asked_..._pairs`` are the settings, ``train_pairs`` is the number of pairs there were.
"""

RUN_COLUMNS = {
    **_typed("""
    run:str attention:str context_size seed bucket:str n compression_ratio:float64 bleu:float64
    bleu_low:float64 bleu_high:float64 brevity_penalty:float64 length_ratio:float64
    precision_1:float64 precision_2:float64 precision_3:float64 precision_4:float64 chrf:float64
    nll_per_token:float64 source_words:float64 reference_tokens empty unfinished
    near_copies:float64
    """),
    **{name: kind for name, (_, kind) in SETTING_COLUMNS.items()},
    **_typed("""
    corpus_fingerprint:str train_pairs best_update epochs:float64 train_loss:float64
    valid_loss:float64 train_tokens parameters train_seconds:float64
    train_tokens_per_second:float64 experiment:str arm:str baseline:str signature:str
    """),
}
"""Columns of ``runs.csv`` in order. Scores are 0-100, losses nats per target token; blank: missing.

``near_copies`` is the share, from 0 to 1, of the bucket's source 5-grams (word tokens) that
training has. ``experiment`` names the sweep that declared the run, and ``baseline`` the arm
that its ``arm`` is compared with. A run that several experiments share has rows in each.
"""

MEMBER = ("experiment", "arm", "baseline")
"""Columns of ``runs.csv`` with an experiment of the run, and the run's arm and baseline in it."""

BLEU_COLUMNS = (
    "hypothesis_tokens",
    "reference_tokens",
    *(f"{count}_{order}" for count in ("correct", "total") for order in range(1, 5)),
)
COUNTED = dict.fromkeys(("sentence", "source_words", *BLEU_COLUMNS), "i8")
"""The columns of ``sentences.csv.gz`` after ``run``, as numpy's types, without blanks."""

# What commands print and draw, by name.

STUDIES = (
    *("survival", "dimensions", "information", "capacity", "alignment"),
    *("gradients", "length", "fit", "embeddings", "reading"),
)
"""The studies in the lecture's order; each asks a question of `questions/` of finished runs."""
GOLD = "alignment-gold"
"""The question ``alignment`` for the user's own gold links."""
BENCHMARK = "cost"
"""The question that uses no trained runs: `bottleneck study cost` measures its numbers."""
QUESTIONS = (*STUDIES, BENCHMARK)
TABLES = ("failure-pattern", "vindication", "context-size", "compression", "arms")
"""The tables of runs; each of `QUESTIONS` has one, too."""
ALL_TABLES = (*TABLES, *QUESTIONS, GOLD)
ENDINGS = {".csv": "csv", ".md": "markdown", ".tex": "latex", ".json": "json", ".html": "html"}
"""The format of a table's file, by its ending."""
FIGURES_OF_RUNS = ("bleu", "arms", "compression", "learning", "attention")
FIGURES = (*FIGURES_OF_RUNS, *STUDIES, GOLD, BENCHMARK)

PROBE_COLUMNS = _typed("""
run:str arm:str attention:str placement:str context_size corpus:str updates seed control:str
bucket:str part:str measure:str value:float64 low:float64 high:float64 n note:str
""")
"""Columns of ``probes/NAME.csv``: one row per number.

Runs of one ``arm`` differ only in their seed. A row with a ``seed`` has one run's number. If it is
blank, so is ``run``, and the number is the mean over seeds, with its 95 % interval over test
sentences if it has one. ``control`` is blank for trained networks (else ``untrained``,
``diagonal``, ...); ``bucket`` is blank for all lengths together, ``part`` if there is only one
(else a word class, a distance, ...). ``n`` is how many values were averaged.
"""
