"""The whole study as data: its parts in order, each a sweep or the benchmark, in a folder.

A part's folder is named after its sweep, by which a claim finds the numbers that decide it
(`claims.registry.Claim.home`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..corpus.named.places import read_source
from ..results.folders import read_settings
from ..results.found import finished_runs
from ..results.schema import PROBES, STUDIES
from ..results.study_files import rests_on
from ..settings.concerns import NAMED
from ..settings.errors import UsageError, UserError
from ..settings.run import RunSettings
from .catalogue import find_study
from .kept import is_kept
from .study import Study


@dataclass(frozen=True)
class Part:
    """One folder of the study: a sweep of experiments/, and what its runs are asked.

    ``sweep`` is empty for the benchmark. ``seeds`` are the runs of each cell, ``corpus`` a named
    one in the place of the sweep's own. ``side``: a question beside the lecture's own.
    """

    name: str
    sweep: str = ""
    seeds: int = 1
    studies: tuple[str, ...] = ()
    corpus: str = ""
    side: bool = False


CAPACITY = "capacity"
PAIR = tuple(name for name in STUDIES if name != CAPACITY)
"""What the lecture asks of a pair of arms: all but what has runs of its own."""
STUDIED = 3
"""Seeds of an arm, the first ones, that the studies are put to, which take as long as training."""
SIDE = ("training_length", "attention_types", "context_is_hidden", "cells", "teacher_forcing")
"""Sweeps whose questions are beside the lecture's own: one seed each."""
REAL_SEEDS: Mapping[str, int] = {"canada-laws": 2, "multi30k": 1}
"""Of the named corpora that come first; every other has one."""

PARTS = (
    Part("vindication", "vindication", 5, PAIR),  # the failure pattern is its first arm
    Part("context_size", "context_size", 3),
    Part("controls", "controls", 3),
    Part(CAPACITY, CAPACITY, 3, (CAPACITY,)),
    Part("bench"),
    *(Part(name, name, side=True) for name in SIDE),
)
"""The parts that need nothing fetched."""
REAL = tuple(
    Part(f"real_{name}", "real_vindication", REAL_SEEDS.get(name, 1), corpus=name)
    for name in dict.fromkeys((*REAL_SEEDS, *NAMED))
)
"""The parts on real text, of which those are run whose corpus has been fetched."""


def parts_named(names: Sequence[str]) -> list[Part]:
    """The parts of these names, in their order; a ``UsageError`` where there is none of a name."""
    known = {part.name: part for part in (*PARTS, *REAL)}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"no part {unknown[0]!r}: there are {', '.join(known)}")
    return [part for name, part in known.items() if name in names]


def first_seeds(held: Iterable[RunSettings]) -> list[int]:
    """The seeds whose runs the studies are put to."""
    return sorted({settings.training.seed for settings in held})[:STUDIED]


def asked_runs(study: Study, folder: Path) -> list[Path]:
    """The finished runs that a study is put to: of the first seeds those that it can measure."""
    held = {run: read_settings(run) for run in finished_runs(folder)}
    first = first_seeds(held.values())
    return [run for run, each in held.items() if study.suits(each) and each.training.seed in first]


def is_here(part: Part) -> bool:
    """Whether the part's text is on this machine; one that is damaged is, and will be told."""
    try:
        return not part.corpus or read_source(part.corpus) is not None
    except UserError:
        return True


def studies_left(studies: Sequence[str], folder: Path) -> list[str]:
    """The studies that have yet to be put to finished runs of a folder, or to all of them."""
    return [name for name in studies if not _is_put(name, folder)]


def _is_put(name: str, folder: Path) -> bool:
    """Whether a study has measured every run that it is put to, and its table rests on these."""
    study, table = find_study(name), folder / PROBES / f"{name}.csv"
    runs = asked_runs(study, folder)
    if not runs or not table.is_file() or not all(is_kept(run, study) for run in runs):
        return False
    return rests_on(table) >= {run.name for run in runs}
