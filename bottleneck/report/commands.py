"""The commands that give the page's numbers again."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..results.bundle import Bundle
from ..results.folders import find_runs, without_runs
from ..results.schema import STUDIES
from ..settings.run import preset_names, resolve
from ..tables.commands import GOLD as GOLD_STUDY
from ..tables.comparison import NONE
from ..tables.decided import Decision
from ..tables.names import GOLD_TABLE, TABLES
from .further import Further
from .questions import Shown
from .read import SLIDES_TABLES, Read

APART = frozenset({"model.attention", "training.seed"})
"""Settings that the runs of two arms and several seeds do not share."""
KNOWN = frozenset({*TABLES, *STUDIES, GOLD_TABLE})
"""What `bottleneck table` prints."""
ATTENTION = "additive"
"""What `bottleneck reproduce` compares with none unless it is told otherwise."""


def quoted(folder: Path) -> str:
    """A folder as a shell takes it."""
    return shlex.quote(str(folder))


def of_tables(held: Read) -> list[str]:
    """What trains the runs of the two tables again, prints these and draws their figure."""
    lacking = [one.command for one in held.decisions[:SLIDES_TABLES] if one.command]
    if held.pair is None:
        return list(dict.fromkeys(lacking))
    where = quoted(held.pair.folder)
    names = ["failure-pattern", "vindication"][: len(held.pages)]
    return [
        *filter(None, [of_runs(held.pair, held.pair.folder)]),
        *(f"bottleneck table {name} --results {where}" for name in names),
        f"bottleneck plot bleu --results {where} -o bleu.svg",
        *dict.fromkeys(lacking),
    ]


def of_claim(decision: Decision, shown: Shown) -> list[str]:
    """What measures a claim, then what prints its tables and draws its figures again."""
    where = quoted(decision.folder)
    return [
        *([decision.command] if decision.command else _measuring(decision, shown)),
        *(f"bottleneck table {name} --results {where}" for name in shown.tabled if name in KNOWN),
        *(f"bottleneck plot {name} --results {where} -o {name}.svg" for name in shown.drawn),
    ]


def of_further(one: Further) -> list[str]:
    """What prints the table of a sweep that no claim rests on."""
    if isinstance(one.page, str):
        return []
    return [f"bottleneck table {one.page.name} --results {quoted(one.folder)}"]


def _measuring(decision: Decision, shown: Shown) -> Iterator[str]:
    """The command behind the numbers; a bundle away from its store has none that names it."""
    claim, folder = decision.claim, decision.folder
    if not claim.study:
        words = [] if without_runs(folder) else ["--out", str(folder)]
        yield shlex.join(["bottleneck", *claim.command.split(), *words])
    elif find_runs(folder).any:
        study = GOLD_STUDY if shown.tabled == (GOLD_TABLE,) else claim.command
        yield f"bottleneck {study} --results {quoted(folder)}"


def of_runs(bundle: Bundle, folder: Path) -> str | None:
    """The command that trains the runs of a bundle of one or two arms again, into the folder.

    Into the default one where this has none of its run folders: it would be refused. None where no
    flags say so: other seeds than 1, 2, ..., or a preset's value that is not set.
    """
    rows = bundle.runs.drop_duplicates("run")
    settings = _flat(bundle.settings(rows["run"].iloc[0]).model_dump())
    apart = {name: _apart(settings, name) for name in preset_names()}
    preset = min(apart, key=lambda name: (len(apart[name]), name))
    changes = apart[preset]
    others = sorted(set(rows["attention"]) - {NONE, ATTENTION})
    if len(others) == 1:
        changes = {"model.attention": others[0]} | changes
    seeds = sorted(int(seed) for seed in set(rows["seed"]))
    if None in changes.values() or seeds != list(range(1, len(seeds) + 1)):
        return None
    words = ["bottleneck", "reproduce", "--preset", preset]
    for name, value in changes.items():
        words += ["--set", f"{name}={_written(value)}"]
    if len(seeds) > 1:
        words += ["--seeds", str(len(seeds))]
    if not without_runs(folder):
        words += ["--out", str(folder)]
    return shlex.join(words)


def _apart(settings: Mapping[str, Any], preset: str) -> dict[str, Any]:
    """In what settings differ from a preset."""
    known = _flat(resolve(preset).model_dump())
    return {
        name: value
        for name, value in settings.items()
        if name not in APART and value != known[name]
    }


def _flat(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """``section.key`` and value."""
    return {
        f"{section}.{key}": value
        for section, fields in settings.items()
        for key, value in fields.items()
    }


def _written(value: Any) -> str:
    """A value as ``--set`` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
