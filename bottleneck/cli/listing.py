"""The names that a command can be given, and a line of text on each table and figure."""

from ..results.schema import BENCHMARK, QUESTIONS
from ..tables.names import FIGURES, GOLD_TABLE, TABLES

OF_RUNS = {
    "failure-pattern": "BLEU without attention by sentence length (L-FAIL).",
    "vindication": "No attention against attention by sentence length (L-VIND).",
    "context-size": "BLEU by context size and sentence length; several sizes (C2).",
    "compression": "BLEU without attention by compression ratio (C1).",
    "arms": "BLEU of every arm of a sweep by sentence length (C10, C12).",
    "bleu": "BLEU by sentence length, one line per arm (L-FAIL, L-VIND).",
    "context-length": "BLEU by context size and sentence length, as a map (C2).",
    "learning": "Validation loss by length bucket and update.",
    "attention": "Attention weights of an example, or of --sentence.",
}
"""Tables and figures of the runs themselves."""
MEASURED = {
    "survival": "Which source words reach the output, by class (C3, L-LOST).",
    "dimensions": "How many of the context's dimensions are in use (C4, L14).",
    "information": "Bits of the source that reach the decoder (C5, C6, L9).",
    "capacity": "How many words each context size holds (C2, C12).",
    "alignment": "Attention weights against gold links, with baselines (C7).",
    "gradients": "How far back the gradient of a loss reaches (C8).",
    "length": "Outputs too short, empty or looping, by length (C11).",
    "fit": "Training sentences against test sentences, by length (C12).",
    "embeddings": "Whether words of one class or gender are close together (C13).",
    "reading": "Which words a probe reads from the encoder's state (C14).",
    "alignment-gold": "Attention weights against your own gold links, --gold (C7).",
    BENCHMARK: "The cost of a step, measured by `bottleneck bench` (C9).",
}
"""What a study of that name, or the benchmark, is to measure first."""


def sweeps() -> list[str]:
    """The sweeps of ``experiments/``."""
    from ..settings.sweep import experiment_names

    return experiment_names()


def presets() -> list[str]:
    """The presets."""
    from ..settings.run import preset_names

    return preset_names()


def tables() -> list[str]:
    """The tables of runs, of studies and of the benchmark."""
    return [*TABLES, *QUESTIONS, GOLD_TABLE]


def figures() -> list[str]:
    """The figures."""
    return list(FIGURES)


def studies() -> list[str]:
    """The questions."""
    return list(QUESTIONS)


def table_lines() -> dict[str, str]:
    """Each table with its line."""
    return {name: (OF_RUNS | MEASURED)[name] for name in tables()}


def figure_lines() -> dict[str, str]:
    """Each figure with its line."""
    return {name: (OF_RUNS | MEASURED)[name] for name in figures()}
