"""Looking at the user's own text before any run begins, so that a mistake is told once, at once."""

from ..corpus.corpus import REAL
from ..corpus.files import given_test_files, read_pairs, training_files
from ..settings.concerns import CorpusSettings


def check_text(corpus: CorpusSettings) -> None:
    """Refuse files that are not given, not there or not pairs of lines, as every run would.

    A drawn corpus has no files; those of a named one were checked when they were fetched.
    """
    if corpus.name in REAL:
        given = training_files(corpus), given_test_files(corpus)
        if corpus.name == "files":
            for files in filter(None, given):
                read_pairs(files, corpus.lowercase)
