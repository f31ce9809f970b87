"""The figures by name; apart from what draws them, so that the names can be had at once."""

from ..results.schema import BENCHMARK, STUDIES
from ..tables.names import GOLD_TABLE

OF_RUNS = ("bleu", "arms", "compression", "context-length", "learning", "attention")
"""The figures of runs; each study, the user's own gold links and the benchmark have one, too."""

FIGURES = (*OF_RUNS, *STUDIES, GOLD_TABLE, BENCHMARK)
