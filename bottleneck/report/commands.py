"""The command lines that made the page's numbers, and those that show what is measured."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..results.bundle import Bundle
from ..results.found import find_runs
from ..results.schema import QUESTIONS
from ..tables.decided import Decision
from ..tables.names import GOLD_STUDY, GOLD_TABLE, TABLES
from .further import Further
from .questions import Shown
from .read import SLIDES_TABLES, Read

KNOWN = frozenset({*TABLES, *QUESTIONS, GOLD_TABLE})
"""What `bottleneck table` prints."""


@dataclass(frozen=True)
class Ways:
    """Commands in the order in which they can be run; ``measure`` may take hours, ``show`` not."""

    measure: tuple[str, ...] = ()
    show: tuple[str, ...] = ()


def quoted(folder: Path) -> str:
    """A folder as a shell takes it."""
    return shlex.quote(str(folder))


def made(bundle: Bundle | None) -> tuple[str, ...]:
    """The command lines that made the runs of a bundle; older runs have none stored."""
    if bundle is None:
        return ()
    lines = (bundle.facts(run).get("command") for run in bundle.runs["run"].unique())
    return tuple(dict.fromkeys(str(line) for line in lines if line))


def of_tables(held: Read) -> Ways:
    """What made the runs of the two tables, prints these and draws their figure."""
    lacking = [one.command for one in held.decisions[:SLIDES_TABLES] if one.command]
    measure = tuple(dict.fromkeys([*made(held.pair), *lacking]))
    if held.pair is None:
        return Ways(measure)
    where = quoted(held.pair.folder)
    names = ["failure-pattern", "vindication"][: len(held.pages)]
    tables = (f"bottleneck table {name} --results {where}" for name in names)
    return Ways(measure, (*tables, f"bottleneck plot bleu --results {where} -o bleu.svg"))


def of_claim(decision: Decision, shown: Shown, bundle: Bundle | None) -> Ways:
    """What measures a claim, and what prints its tables and draws its figures.

    Those that stand with another claim as well; ``bundle`` are the runs of the claim's folder.
    """
    where = quoted(decision.folder)
    tabled, drawn = (*shown.tabled, *shown.seen), (*shown.drawn, *shown.seen)
    return Ways(
        (decision.command,) if decision.command else tuple(_measuring(decision, shown, bundle)),
        (
            *(f"bottleneck table {name} --results {where}" for name in tabled if name in KNOWN),
            *(f"bottleneck plot {name} --results {where} -o {name}.svg" for name in drawn),
        ),
    )


def of_further(one: Further) -> Ways:
    """What made a sweep that no claim rests on, and prints its table."""
    if isinstance(one.page, str):
        return Ways(made(one.bundle))
    shows = f"bottleneck table {one.page.name} --results {quoted(one.folder)}"
    return Ways(made(one.bundle), (shows,))


def _measuring(decision: Decision, shown: Shown, bundle: Bundle | None) -> Iterator[str]:
    """What made the runs of a claim, then the study that is put to them where they lie."""
    claim = decision.claim
    if claim.makes == "bench":  # into the folder itself it would take the place of what is shown
        yield "bottleneck bench"
        return
    yield from made(bundle)
    if claim.study and find_runs(decision.folder).any:
        study = GOLD_STUDY if shown.tabled == (GOLD_TABLE,) else claim.command
        yield f"bottleneck {study} --results {quoted(decision.folder)}"
