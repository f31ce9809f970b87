"""The commands that measure the page's numbers again, and those that show what is measured."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..results.bundle import Bundle
from ..results.found import find_runs
from ..results.probes import probe_file
from ..results.schema import BENCHMARK, STUDIES
from ..results.study_files import GOLD as GOLD_NUMBERS
from ..results.study_files import rests_on
from ..tables.commands import GOLD as GOLD_STUDY
from ..tables.controlled import only
from ..tables.decided import Decision
from ..tables.names import GOLD_TABLE, TABLES
from .further import Further
from .questions import Shown
from .read import SLIDES_TABLES, Read
from .training import LECTURE, Training, into, training

KNOWN = frozenset({*TABLES, *STUDIES, GOLD_TABLE, BENCHMARK})
"""What `bottleneck table` prints."""


@dataclass(frozen=True)
class Ways:
    """Commands in the order in which they can be run; ``measure`` may take hours, ``show`` not."""

    measure: tuple[str, ...] = ()
    show: tuple[str, ...] = ()


def quoted(folder: Path) -> str:
    """A folder as a shell takes it."""
    return shlex.quote(str(folder))


def of_tables(held: Read) -> Ways:
    """What trains the runs of the two tables again, prints these and draws their figure."""
    lacking = [one.command for one in held.decisions[:SLIDES_TABLES] if one.command]
    if held.pair is None:
        return Ways(tuple(dict.fromkeys(lacking)))
    where = quoted(held.pair.folder)
    names = ["failure-pattern", "vindication"][: len(held.pages)]
    trained = training(held.pair)
    return Ways(
        tuple(dict.fromkeys([*([trained.command] if trained else []), *lacking])),
        (
            *(f"bottleneck table {name} --results {where}" for name in names),
            f"bottleneck plot bleu --results {where} -o bleu.svg",
        ),
    )


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
    """What trains a sweep that no claim rests on, and prints its table."""
    trained = training(one.bundle)
    measure = (trained.command,) if trained else ()
    if isinstance(one.page, str):
        return Ways(measure)
    return Ways(measure, (f"bottleneck table {one.page.name} --results {quoted(one.folder)}",))


def _measuring(decision: Decision, shown: Shown, bundle: Bundle | None) -> Iterator[str]:
    """The commands behind the numbers, in the order in which they can be run.

    A study is put to the runs where they lie; without them to others that are trained first.
    """
    claim, folder = decision.claim, decision.folder
    gold = shown.tabled == (GOLD_TABLE,)
    study = f"bottleneck {GOLD_STUDY if gold else claim.command}"
    if claim.makes == "bench":  # into the folder itself it would take the place of what is shown
        yield study
    elif not claim.study:
        trained = training(bundle) if bundle else None
        yield (trained or _made(decision)).command
    elif find_runs(folder).any:
        yield f"{study} --results {quoted(folder)}"
    elif bundle and (trained := _studied(bundle, GOLD_NUMBERS if gold else claim.study)):
        yield trained.command
        yield f"{study} --results {quoted(trained.folder)}"
    elif not gold:  # it trains its own
        yield study


def _made(decision: Decision) -> Training:
    """The claim's own command, in the folder that decides it where that can take runs."""
    words = decision.claim.command.split()
    return into(decision.folder, words[1] if words[0] == "sweep" else LECTURE, words)


def _studied(bundle: Bundle, study: str) -> Training | None:
    """What trains those of the runs that a study was put to, or else all of them."""
    asked = bundle.runs[bundle.runs["run"].isin(rests_on(probe_file(bundle.folder, study)))]
    return (training(only(bundle, asked)) if len(asked) else None) or training(bundle)
