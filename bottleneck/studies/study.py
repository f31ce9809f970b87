"""What a study is: a question, a probe of one run, and how the runs' answers become one table.

A probe is costly and looks at one run; what it finds is kept in the run's own folder. Summing up
is cheap and sees all runs, so that arms and seeds are resampled together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..settings.run import RunSettings
from .subject import Subject

Columns = Mapping[str, Any]
"""Columns of one length, by name: what a probe found, as ``probes/NAME.csv`` of a run's folder."""
Row = dict[str, Any]
"""One number of ``probes/NAME.csv`` of the bundle, by ``schema.PROBE_COLUMNS``."""
Tell = Callable[[str], None]
"""Told in a few words what a probe is at."""


@dataclass(frozen=True, eq=False)
class Probed:
    """One run and what a probe found: columns of numbers (float64) or texts (str)."""

    folder: Path
    settings: RunSettings
    found: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Study:
    """A question of the lecture.

    ``version`` rises when the probe measures something else, so that old findings are measured
    anew. ``ids`` are the claims and slides that it is about. ``sweep`` names the runs that answer
    the question, a file of experiments/; with ``own_runs`` these have a folder of their own, for no
    other study looks at them. ``suits`` says whether a run can be probed at all.
    """

    name: str
    ids: tuple[str, ...]
    question: str
    version: int
    sweep: str
    probe: Callable[[Subject, Tell], Columns]
    summarise: Callable[[Sequence[Probed]], list[Row]]
    suits: Callable[[RunSettings], bool] = lambda _: True
    own_runs: bool = False
