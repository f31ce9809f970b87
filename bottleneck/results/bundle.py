"""Reading a results bundle: checked, typed data frames; nothing here imports jax."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..settings.errors import UserError
from ..settings.names import is_name
from ..settings.run import RunSettings, parse_settings
from ..settings.sums import of_one_time
from . import schema
from .agreement import check_counted, check_settings, checked_learning, checked_runs
from .columns import setting_columns
from .counts import Counts, from_rows
from .described import AGAIN, check_all_described, check_described, check_facts
from .examples import Example, checked_examples
from .export import environment, runs_text
from .folders import (
    EXAMPLES,
    SCORES,
    SENTENCES,
    check_named,
    damaged,
    decompressed,
    read_checked,
    read_groups,
    read_json,
    read_object,
    was_written,
)
from .found import Found, find_runs
from .inside import check_one
from .learning import learning_text
from .study_files import way_back

UNREADABLE = (ValueError, TypeError, OverflowError)
"""What pandas raises where a column is not of its type."""
PRECISE: Mapping[str, Any] = (
    {} if [int(part) for part in pd.__version__.split(".")[:2]] >= [3, 1]
    else {"float_precision": "round_trip"}
)  # fmt: skip
"""What makes pandas read a float to its last digit, as from 3.1 on it does unasked."""
_NULLABLE = {"int64": "Int64", "bool": "boolean"}
_UNFINISHED_COLUMNS = {
    **dict.fromkeys(("run", "group", "status", "reason"), "str"),
    **{column: kind for column, (_, kind) in schema.SETTING_COLUMNS.items()},
}


@dataclass(frozen=True, eq=False)
class Bundle:
    """A results bundle in memory: see ``schema`` for the columns of ``runs``.

    ``sentences`` are the counts of each run's test sentences; ``chosen`` are the setting columns
    of which `where` was given several values.
    """

    folder: Path
    runs: pd.DataFrame
    sentences: Mapping[str, Counts]
    environment: Mapping[str, Any]
    chosen: frozenset[str] = frozenset()

    def settings(self, run: str) -> RunSettings:
        """The resolved settings of a run."""
        return parse_settings(self.environment["runs"][run]["settings"])

    def facts(self, run: str) -> Mapping[str, Any]:
        """What the run ran on: versions, machine, and what became of its corpus."""
        facts = self.environment["runs"][run]["environment"]
        check_facts(facts, self.folder / schema.ENVIRONMENT)
        return facts

    def unfinished(self) -> pd.DataFrame:
        """What else was in the store: run, group, status, reason, and the columns of settings.

        The latter are blank for a run that was stopped before it wrote its settings down.
        """
        blank = {name: "" for name, kind in _UNFINISHED_COLUMNS.items() if kind == "str"}
        rows = [
            {**blank, "run": run, **held, **_columns_of(held["settings"])}
            for run, held in self.environment.get("unfinished", {}).items()
        ]
        frame = pd.DataFrame(rows, columns=list(_UNFINISHED_COLUMNS))
        return frame.astype(_kinds(_UNFINISHED_COLUMNS))

    def examples(self) -> Mapping[str, Sequence[Example]]:
        """Example sentences of each of the runs, with attention weights."""
        runs, path = find_runs(self.folder).done, self.folder / schema.EXAMPLES
        if runs:
            paths = {run.name: run / EXAMPLES for run in runs}
            return {run: checked_examples(read_json(at), at, AGAIN) for run, at in paths.items()}
        held, known = read_object(path, AGAIN), set(self.runs["run"])
        return {
            run: checked_examples(each, path, AGAIN) for run, each in held.items() if run in known
        }

    def learning(self) -> pd.DataFrame:
        """The validation loss of the bundle's runs as they were trained, by length bucket.

        Columns as in ``schema.LEARNING_COLUMNS``; no rows of runs that did not log it.
        """
        runs, path = find_runs(self.folder).done, self.folder / schema.LEARNING
        if runs or not was_written(path):
            chosen = [run for run in runs if run.name in set(self.runs["run"])]
            return _parse(io.StringIO(learning_text(chosen)), schema.LEARNING_COLUMNS)
        frame = read_table(path, schema.LEARNING_COLUMNS, checked_learning)
        return frame[frame["run"].isin(self.runs["run"])].reset_index(drop=True)


def load_bundle(folder: Path) -> Bundle:
    """Read the finished runs of a store, or a bundle where there is no store.

    The store comes first, because the bundle beside it is older where a sweep was stopped. Faults
    are a ``UserError`` with the file.
    """
    found = _stored(folder)
    if found is not None:
        runs, sentences = _stored_runs(folder, found), _stored_sentences(found.done)
        check_counted(runs, sentences, {run.name: run / SENTENCES for run in found.done})
        return Bundle(folder, runs, sentences, environment(found.done, found))
    held = load_environment(folder)
    table = _runs_table(folder)
    check_all_described(table["run"], held, folder)
    check_settings(table, held["runs"], folder / schema.RUNS)
    sentences = _sentences(folder / schema.SENTENCES)
    check_counted(table, sentences, folder / schema.SENTENCES)
    return Bundle(folder, table, sentences, held)


def load_results(folder: str | Path) -> pd.DataFrame:
    """The tidy table of a bundle or a store: a row a run x bucket, columns as in ``schema``."""
    folder = Path(folder)
    found = _stored(folder)
    if found is not None:
        return _stored_runs(folder, found)
    held, runs = load_environment(folder), _runs_table(folder)
    check_all_described(runs["run"], held, folder)
    check_settings(runs, held["runs"], folder / schema.RUNS)
    return runs


def load_environment(folder: Path) -> Mapping[str, Any]:
    """The bundle's ``environment.json``, or the same from a store.

    Another version's, and that of half an export, are a ``UserError``.
    """
    found = _stored(folder)
    if found is not None:
        return environment(found.done, found)
    check_one(folder)
    held = read_json(folder / schema.ENVIRONMENT, AGAIN)
    check_described(held, folder / schema.ENVIRONMENT)
    if not of_one_time(folder, schema.FILES):
        raise UserError(
            f"{str(folder)!r} is half of an export or a merge that was stopped, half of the one "
            "before it: the same command again makes it whole"
        )
    return held


def other_versions(held: Mapping[str, Any]) -> str:
    """How many runs were left out as another version's, as a sentence; empty if none was."""
    count = held.get("other_versions", 0)
    return f"{_runs(count)} left out: made by another version of bottleneck." if count else ""


def without_result(held: Mapping[str, Any]) -> str:
    """How many runs of the store are not done, as a sentence; empty if all are."""
    count = len(held.get("unfinished", {}))
    where = "`bottleneck runs` lists them, where they were made."
    return f"{_runs(count)} without a result: {where}" if count else ""


def _runs(count: int) -> str:
    return "1 run is" if count == 1 else f"{count} runs are"


def signatures(runs: pd.DataFrame) -> list[str]:
    """SacreBLEU's signatures as they were recorded when these rows of ``runs`` were scored.

    They say with which tokens and which version sentences were counted: a table of these counts
    prints them, and not that of the sacreBLEU that happens to be installed where it is printed.
    """
    return sorted(set(runs["signature"]) - {""})


def tidy_csv(runs: pd.DataFrame) -> str:
    """The tidy table as CSV: every digit, blanks where there is nothing, Unix line ends."""
    return runs.to_csv(index=False, lineterminator="\n")


def _stored(folder: Path) -> Found | None:
    """The runs where the folder is a store or has one, of which some are done; None where not."""
    check_named(folder)
    found = find_runs(folder)
    if found.any and not found.done:
        others = len(found.other_versions)
        way = "what another version made, it alone reads: train anew, into another folder"
        goes_on = "`bottleneck runs` lists them, the command that began them goes on"
        raise UserError(
            f"{str(folder)!r} holds no finished run ({len(found.unfinished)} not done, {others} of "
            f"another version): {way if others else goes_on}"
        )
    return found if found.done else None


def _stored_runs(folder: Path, found: Found) -> pd.DataFrame:
    groups = read_groups(folder)
    try:
        text = runs_text(found.done, groups, found.described)
        return checked_runs(_parse(io.StringIO(text), schema.RUN_COLUMNS))
    except UNREADABLE as error:
        if len(found.done) > 1:  # which it is, is told of one
            for run in found.done:
                _stored_runs(folder, replace(found, done=(run,)))
        raise damaged(found.done[0] / SCORES, error) from None


def _runs_table(folder: Path) -> pd.DataFrame:
    """``runs.csv`` of a bundle."""
    frame = read_table(folder / schema.RUNS, schema.RUN_COLUMNS)
    try:
        return checked_runs(frame)
    except ValueError as error:
        raise damaged(folder / schema.RUNS, error, AGAIN) from None


def _stored_sentences(runs: Sequence[Path]) -> dict[str, Counts]:
    """The counts of every run's sentences."""
    columns = dict.fromkeys(schema.COUNTED, "int64")
    return {run.name: _counts(read_table(run / SENTENCES, columns), run / SENTENCES)
            for run in runs}  # fmt: skip


def _sentences(path: Path) -> dict[str, Counts]:
    """The same of a bundle's ``sentences.csv.gz``."""
    runs = read_table(path, schema.COUNTED_COLUMNS).groupby("run", sort=False)
    return {str(run): _counts(rows, path) for run, rows in runs}


def _counts(rows: pd.DataFrame, path: Path) -> Counts:
    try:
        return from_rows(rows[list(schema.COUNTED)].to_numpy(dtype=np.int64))
    except ValueError as error:
        raise damaged(path, error, AGAIN) from None


def _columns_of(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if settings is None else setting_columns(parse_settings(settings))


def read_table(
    path: Path,
    columns: Mapping[str, str],
    check: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows,
) -> pd.DataFrame:
    """Read a CSV file of the bundle, or of a run; ``check`` raises ValueError where rows cannot be.

    A fault is a ``UserError`` with the file.
    """
    probe = path.parent.name == schema.PROBES
    way = way_back(path) if probe else AGAIN
    try:
        content = decompressed(path, read_checked(path, way))
        return check(_with_named_runs(_parse(io.BytesIO(content), columns)))
    except (*UNREADABLE, OSError, KeyError) as error:
        raise damaged(path, error, way) from None


def _with_named_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """The same; ``ValueError`` where a run's name is none, for folders are looked up by it."""
    runs = frame["run"].unique() if "run" in frame else ()
    if strange := [run for run in runs if run and not is_name(run)]:
        raise ValueError(f"{strange[0]!r} is not the name of a run")
    return frame


def _parse(source: io.BytesIO | io.StringIO, columns: Mapping[str, str]) -> pd.DataFrame:
    """CSV with the documented columns and types; blanks are missing values, but of texts.

    What an older bundle lacks is as its runs had it (`schema.ADDED`).
    """
    kinds, blank = _kinds(columns), {name: [""] for name, kind in columns.items() if kind != "str"}
    with np.errstate(invalid="ignore"):  # a float where a whole number is to be: told as a fault
        frame = pd.read_csv(source, dtype=kinds, keep_default_na=False, na_values=blank, **PRECISE)
    for name, value in schema.ADDED.items():
        if name in columns and name not in frame:
            frame[name] = pd.Series(value, index=frame.index, dtype=kinds[name])
    return frame[list(columns)]


def _kinds(columns: Mapping[str, str]) -> dict[str, str]:
    """Types as read: whole numbers and truths that may be missing."""
    return {name: _NULLABLE.get(kind, kind) for name, kind in columns.items()}
