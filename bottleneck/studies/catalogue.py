"""The studies by name."""

from importlib import import_module

from ..questions.question import FILES, Study, find_question
from ..results.schema import QUESTIONS
from ..settings.errors import UsageError, did_you_mean


def find_study(name: str) -> Study:
    """The study of a name; only its own module is imported. UsageError for a name that is none."""
    if name not in QUESTIONS:
        raise UsageError(f"unknown study {name!r}{did_you_mean(name, QUESTIONS)}")
    if name in FILES:
        return find_question(name)
    return import_module(f".{name}", __package__).STUDY
