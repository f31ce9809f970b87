"""The figures by name; apart from what draws them, so that the names can be had at once."""

from ..results.schema import BENCHMARK, STUDIES

OF_RUNS = ("bleu", "compression", "context-length", "learning", "attention")
"""The figures of runs; each study, and the benchmark, has one beside them."""

FIGURES = (*OF_RUNS, *STUDIES, BENCHMARK)
