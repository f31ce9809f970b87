"""The studies by name."""

from importlib import import_module

from ..questions.question import FILES, Study, find_question
from ..results.schema import BENCHMARK, STUDIES
from ..settings.errors import UsageError, did_you_mean

COST_QUESTION = "Does attention's cost grow with Tx x Ty? Measured by `bottleneck bench`."
"""Of the study of no runs (C9), `BENCHMARK`."""


def find_study(name: str) -> Study:
    """The study of a name; only its own module is imported. UsageError for a name that is none."""
    if name not in STUDIES:
        raise UsageError(f"unknown study {name!r}{did_you_mean(name, (*STUDIES, BENCHMARK))}")
    if name in FILES:
        return find_question(name)
    return import_module(f".{name}", __package__).STUDY
