"""The questions in the lecture's order: verdict, numbers, figures, tables, and the way to each.

Which figures and tables belong to a claim is written here; what they show is read from the bundle
by the rooms below.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..claims.registry import Claim
from ..figures.names import OF_RUNS
from ..results.bundle import Bundle
from ..results.probes import has_probe
from ..results.schema import QUESTIONS
from ..results.study_files import GOLD
from ..settings.errors import DamagedError, UserError
from ..tables.comparison import compare_sizes
from ..tables.controlled import only
from ..tables.decided import Decision, measured_controls, measured_training
from ..tables.families import describe, listed_runs, over_sizes
from ..tables.names import GOLD_TABLE
from ..tables.page import Page
from ..tables.pages import gold_page, make_page, study_pages
from .beside import controls_grid, training_grid
from .figures import Picture, of_folder, of_runs
from .tables import Grid, grids

FIT = "fit"
FIGURES_OF: Mapping[str, Sequence[str]] = {
    "C1": ("compression", "context-length"),
    "C7": (GOLD_TABLE, "attention"),
    "C10": ("arms",),
    "C12": ("learning", FIT),
}
"""Figures of a claim beside its study's own."""
ALWAYS = frozenset({"attention", "learning"})
"""Figures of runs that say something where the claim is not decided, as those of studies do."""
TABLES_OF: Mapping[str, Sequence[str]] = {"C1": ("compression", "context-size")}
"""Tables of runs."""
STUDIED: Mapping[str, Sequence[str]] = {"C7": (GOLD_TABLE,), "C12": (FIT,)}
"""Tables of what was measured, beside the study's own."""
SLIDES: Mapping[str, Sequence[str]] = {
    "C1": ("L3", "L4", "L12"),
    "C2": ("L4", "L9"),
    "C3": ("L14", "L-LOST"),
    "C5": ("L9",),
    "C6": ("L9",),
    "C7": ("L5", "L10", "L16"),
    "C9": ("L15",),
    "C10": ("L13", "L18"),
    "C13": ("L2", "L6"),
}
"""The printed numbers that a claim has to do with."""


@dataclass(frozen=True)
class Source:
    """A results folder; ``pair`` are those of its runs that the slides' two tables are made of."""

    folder: Path
    bundle: Bundle | None
    pair: Bundle | None


@dataclass(frozen=True)
class Shown:
    """What stands with a claim beside its verdict.

    ``notes`` are captions of the tables, and why a figure or table is not there. ``drawn`` and
    ``tabled`` are the names that `bottleneck plot` and `bottleneck table` know it by. ``seen`` says
    of what else belongs to the claim with which one it stands further up.
    """

    pictures: tuple[Picture, ...]
    grids: tuple[Grid, ...]
    notes: tuple[str, ...]
    drawn: tuple[str, ...]
    tabled: tuple[str, ...]
    seen: Mapping[str, str]


def shown(decision: Decision, source: Source, seen: Mapping[str, str]) -> Shown:
    """All that a results folder has on a claim.

    ``seen`` are the names of its figures and tables that stand with an earlier claim.
    """
    claim, measured = decision.claim, decision.measured
    folder, bundle = source.folder, source.bundle
    figures = {
        name: found
        for name in _figure_names(claim, folder)
        if name not in seen and (measured or name in ALWAYS or name not in OF_RUNS)
        if (found := _figure(name, source)) is not None
    }
    names = [name for name in _table_names(claim, folder, measured) if name not in seen]
    tables = {name: _pages(name, folder, bundle) for name in names}
    pages = [page for held in tables.values() if not isinstance(held, str) for page in held]
    reasons = [held for held in (*figures.values(), *tables.values()) if isinstance(held, str)]
    return Shown(
        pictures=tuple(held for held in figures.values() if isinstance(held, Picture)),
        grids=(
            *(_of_runs(claim, bundle) if measured and bundle else ()),
            *(grid for page in pages for grid in grids(page.table, page.title)),
        ),
        notes=(*reasons, *dict.fromkeys(line for page in pages for line in page.caption)),
        drawn=tuple(name for name, held in figures.items() if isinstance(held, Picture)),
        tabled=tuple(name for name, held in tables.items() if not isinstance(held, str)),
        seen={claim.study: seen[claim.study]} if claim.study in seen else {},
    )


def _figure_names(claim: Claim, folder: Path) -> Iterator[str]:
    """Figures that there are numbers of, the study's own first."""
    for name in (claim.study, *FIGURES_OF.get(claim.id, ())):
        if name in OF_RUNS or (name and _has_numbers(name, folder)):
            yield name


def _table_names(claim: Claim, folder: Path, measured: bool) -> Iterator[str]:
    """Tables that there are numbers of."""
    own = (claim.study, *STUDIED.get(claim.id, ()))
    yield from (name for name in own if name and _has_numbers(name, folder))
    if measured:
        yield from TABLES_OF.get(claim.id, ())


def _has_numbers(name: str, folder: Path) -> bool:
    """Whether a question has numbers here."""
    return has_probe(folder, GOLD if name == GOLD_TABLE else name)


def _figure(name: str, source: Source) -> Picture | str | None:
    """A figure; in words why it cannot be drawn; None where it is of runs, and there are none."""
    if name not in OF_RUNS:
        return of_folder(name, source.folder)
    found = None
    for runs in _candidates(name, source):
        found = of_runs(name, runs) if runs else found
        if isinstance(found, Picture):
            return replace(found, runs=_compared(runs)) if name in FIGURES_OF["C1"] else found
    return found


def _candidates(name: str, source: Source) -> Iterator[Bundle | None]:
    """Of which runs a figure may be, the first that it can be drawn of.

    A bundle of several sweeps is not of one table: then those runs alone that the claim rests on.
    """
    bundle = source.bundle
    if name in FIGURES_OF["C10"]:
        yield bundle and _beside_controls(bundle)
        return
    sizes = name in FIGURES_OF["C1"]
    yield bundle if sizes else source.pair
    yield bundle and _over_sizes(bundle) if sizes else bundle


def _beside_controls(bundle: Bundle) -> Bundle | None:
    found = measured_controls(bundle)
    return None if isinstance(found, str) else only(bundle, found[1])


def _compared(bundle: Bundle) -> str:
    """The runs that are compared over context sizes, in words: those with attention among them."""
    arms = [arm for size in compare_sizes(bundle) for arm in (size.none, size.attention) if arm]
    names = {run for arm in arms for run in arm.runs}
    return describe(bundle.runs[bundle.runs["run"].isin(names)])


def _over_sizes(bundle: Bundle) -> Bundle | None:
    rows = over_sizes(listed_runs(bundle))
    return None if rows is None else only(bundle, rows)


def _pages(name: str, folder: Path, bundle: Bundle | None) -> list[Page] | str:
    """The tables of a name; in words why there are none."""
    if name == GOLD_TABLE:
        return [gold_page(folder, None if bundle is None else bundle.runs)]
    if bundle is None or name in QUESTIONS:
        return study_pages(name, folder, None if bundle is None else bundle.runs)
    for runs in filter(None, (bundle, _over_sizes(bundle))):
        try:
            return [make_page(name, runs)]
        except DamagedError:
            raise
        except UserError as error:
            reason = str(error)
    return reason


def _of_runs(claim: Claim, bundle: Bundle) -> Iterator[Grid]:
    """The numbers of a claim that the runs decide and that have no table elsewhere."""
    if claim.id == "C10" and not isinstance(controls := measured_controls(bundle), str):
        yield controls_grid(controls[0])
    if claim.id == "C12" and not isinstance(training := measured_training(bundle), str):
        yield training_grid(training[0])
