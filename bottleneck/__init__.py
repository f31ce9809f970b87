"""Measure the bottleneck of translation through one fixed vector, and what attention changes.

``seq2seq_bottleneck`` trains small English-French translators with and without attention and
prints the lecture's tables with measured numbers next to the printed ones.
"""

from pathlib import Path
from typing import Any

if __name__ == "bottleneck":
    # pandas imports any module called "bottleneck" (PyData's accelerator). With the repository
    # root on sys.path it would find this folder; it takes an ImportError as "not installed".
    raise ImportError("this folder is the package seq2seq_bottleneck, not PyData's bottleneck")

__version__ = "0.1.0"


def load(folder: str | Path) -> Any:
    """Open a run, a store, a results folder, a bundle, or a folder of results folders.

    Returns a ``results.bundle.Results``.
    """
    from .results.bundle import Results  # here, so that the command starts at once

    return Results.open(folder)
