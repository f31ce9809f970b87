"""Files of thousands of runs asked for before they are read, for a disk that has them to fetch."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

from ..settings.sums import SUMS
from .folders import ENVIRONMENT, SCORES, SENTENCES, SETTINGS, STATUS, store_of

PASSES = ((STATUS, SETTINGS, ENVIRONMENT, SUMS, SCORES), (SENTENCES,))
"""What is read of every run, and of every run again."""


def read_ahead(folder: Path) -> None:
    """Have the system fetch what is read of a store's runs, beside what is done with it.

    A disk answers many questions at once, and a reader asks one after the other. Nothing is read
    here, and what fails is left to the reader to tell. Where the system cannot be asked, nothing
    is done.
    """
    if hasattr(os, "posix_fadvise"):
        store = str(store_of(folder))
        with suppress(RuntimeError):  # no thread to be had
            for names in PASSES:
                Thread(target=_ask, args=(store, names), daemon=True).start()


def _ask(store: str, names: Sequence[str]) -> None:
    with suppress(OSError, ValueError):
        for run in sorted(os.listdir(store)):
            for name in names:
                _ask_for(f"{store}/{run}/{name}")


def _ask_for(path: str) -> None:
    with suppress(OSError):
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe in its place would wait
        try:
            os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_WILLNEED)
        finally:
            os.close(opened)
