"""The tables and figures by name; here, so that a command has the names without what makes them."""

from ..results.schema import BENCHMARK, STUDIES

TABLES = ("failure-pattern", "vindication", "context-size", "compression", "arms")
"""The tables of runs; those of `results.schema.STUDIES` have one each beside them."""

GOLD_TABLE = "alignment-gold"
"""The table of the study ``alignment`` put to gold links of the user's own."""

FORMATS = ("rich", "csv", "markdown", "latex", "json")
"""The forms of a table; ``rich`` is the terminal's."""

FIGURES_OF_RUNS = ("bleu", "arms", "compression", "context-length", "learning", "attention")
FIGURES = (*FIGURES_OF_RUNS, *STUDIES, GOLD_TABLE, BENCHMARK)
"""The figures: of runs, of each study, of the user's own gold links and of the benchmark."""
