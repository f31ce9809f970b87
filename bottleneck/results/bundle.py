"""Reading results, of a store of runs or of a bundle, as typed data frames; jax is not needed."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Integer
from numpy import ndarray

from ..settings.errors import UsageError, UserError, plain
from ..settings.files import is_name, of_one_time
from ..settings.run import RunSettings, parse_settings, without_retired
from . import schema
from .discovery import StoredRuns, check_one, find_runs
from .folders import (
    ENVIRONMENT,
    EXAMPLES,
    LOG,
    SCORES,
    SENTENCES,
    SETTINGS,
    check_named,
    damaged,
    read_checked,
    read_groups,
    read_object,
    read_settings,
    read_status,
    was_written,
)
from .probes import way_back

AGAIN = "export it again"
UNREADABLE = (ValueError, TypeError, OverflowError, LookupError, AttributeError, OSError)
"""What is raised where a file has not the form that is read."""
PRECISE: Mapping[str, Any] = (
    {} if [int(part) for part in pd.__version__.split(".")[:2]] >= [3, 1]
    else {"float_precision": "round_trip"}
)  # fmt: skip
"""What makes pandas before 3.1 read a float to its last digit."""
_SETTING_KINDS = {column: kind for column, (_, kind) in schema.SETTING_COLUMNS.items()}

Example = Mapping[str, Any]
"""``sentence`` (its place in the test set), ``source`` and ``hypothesis`` (tokens), ``reference``
(a text), and ``weights``: one row per token of the hypothesis, one column per source token."""


@dataclass(frozen=True, eq=False)
class Counts:
    """A run's test sentences in their order: words of the source, and the statistics of BLEU."""

    words: Integer[ndarray, "sentences"]
    statistics: Integer[ndarray, "sentences 10"]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Results in memory: see ``schema`` for the columns of ``runs``.

    ``sentences`` are the counts of each run's test sentences; ``stored`` are the run folders by
    name, none where a bundle was read.
    """

    folder: Path
    runs: pd.DataFrame
    sentences: Mapping[str, Counts]
    environment: Mapping[str, Any]
    stored: Mapping[str, Path] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The runs in their order."""
        return list(self.runs["run"].unique())

    def settings(self, run: str) -> RunSettings:
        """The resolved settings of a run."""
        return parse_settings(self.environment["runs"][run]["settings"])

    def facts(self, run: str) -> Mapping[str, Any]:
        """What the run ran on: versions, machine, and what became of its corpus."""
        return self.environment["runs"][run]["environment"]

    def unfinished(self) -> pd.DataFrame:
        """What else was in the store: run, group, status, reason, and the columns of settings.

        The latter are blank for a run that was stopped before it wrote its settings down.
        """
        kinds = dict.fromkeys(("run", "group", "status", "reason"), "str") | _SETTING_KINDS
        blank = {name: "" for name, kind in kinds.items() if kind == "str"}
        rows = []
        for run, known in self.environment.get("unfinished", {}).items():
            settings = known["settings"]
            columns = {} if settings is None else setting_columns(parse_settings(settings))
            rows.append(blank | {"run": run} | known | columns)
        return _frame(rows, kinds)

    def examples(self) -> Mapping[str, Sequence[Example]]:
        """Example sentences of each of the runs, with attention weights."""
        return dict(self.iterate_examples())

    def iterate_examples(self) -> Iterator[tuple[str, Sequence[Example]]]:
        """The same, of a store a run at a time: those of thousands of runs fill a memory."""
        if self.stored:
            for run in self.names:
                yield run, read_object(self.stored[run] / EXAMPLES, kind=list)
            return
        examples = read_object(self.folder / schema.EXAMPLES, AGAIN)
        yield from ((run, examples[run]) for run in self.names if run in examples)

    def learning(self) -> pd.DataFrame:
        """The validation loss of the bundle's runs as they were trained, by length bucket.

        Columns as in ``schema.LEARNING_COLUMNS``; no rows of runs that did not log it.
        """
        if self.stored:
            rows = [row for run in self.names for row in learning_rows(self.stored[run])]
            return _frame(rows, schema.LEARNING_COLUMNS)
        frame = read_table(self.folder / schema.LEARNING, schema.LEARNING_COLUMNS)
        return frame[frame["run"].isin(self.names)].reset_index(drop=True)


def learning_rows(run: Path) -> list[dict[str, Any]]:
    """One row per validation x bucket of a run's log; an unreadable log is a ``UserError``."""
    path = run / LOG
    if not was_written(path):
        return []
    try:
        reports = map(json.loads, read_checked(path).decode().splitlines())
        return [
            {
                "run": run.name,
                "update": report["update"],
                "bucket": bucket,
                "sentences": sums["sentences"],
                "tokens": sums["tokens"],
                "loss": sums["nats"] / sums["tokens"] if sums["tokens"] else None,
                "standard_error": sums["standard_error"],
            }
            for report in reports
            for bucket, sums in (report.get("valid_buckets") or {}).items()
        ]
    except UNREADABLE as error:
        raise damaged(path, error) from None


def load_bundle(folder: Path, sentences: bool = True) -> Bundle:
    """Read the finished runs of a store, or a bundle where there is no store.

    The store comes first, because the bundle in the same folder is older where a sweep was stopped.
    The counts of sentences are most of the work: without ``sentences`` there are none. Faults are a
    ``UserError`` with the file.
    """
    check_named(folder)
    runs = find_runs(folder)
    if runs.done:
        return bundle_of_runs(folder, runs, read_groups(folder), sentences)
    if runs.any:
        others = len(runs.other_versions)
        way = "only the version that made them reads them: train them again, into another folder"
        goes_on = "`bottleneck runs` lists them, the command that began them continues"
        raise UserError(
            f"{str(folder)!r} holds no finished run ({len(runs.unfinished)} not done, {others} of "
            f"another version): {way if others else goes_on}"
        )
    environment, table = _environment(folder), read_table(folder / schema.RUNS, schema.RUN_COLUMNS)
    names, described = set(table["run"]), set(environment["runs"])
    if unknown := sorted(names - described):
        reason = f"it does not describe run {unknown[0]}"
        raise damaged(folder / schema.ENVIRONMENT, reason, AGAIN)
    if lost := sorted(described - names):
        raise damaged(folder / schema.RUNS, f"it has no rows of run {lost[0]}", AGAIN)
    counts = {}
    if sentences:
        columns = {"run": "str"} | schema.COUNTED_COLUMNS
        by_run = read_table(folder / schema.SENTENCES, columns).groupby("run", sort=False)
        counts = {str(run): _counts(rows) for run, rows in by_run}
    return Bundle(folder, table, counts, environment)


def load_results(folder: str | Path) -> pd.DataFrame:
    """The tidy table of a bundle or a store: one row per run x bucket, columns as in ``schema``."""
    return load_bundle(Path(folder), sentences=False).runs


def bundle_of_runs(
    folder: Path, runs: StoredRuns, groups: Mapping[str, str], sentences: bool = True
) -> Bundle:
    """The finished runs of a store as a bundle; ``groups`` by run."""
    counts = {}
    if sentences:
        counts = {
            run.name: _counts(read_table(run / SENTENCES, schema.COUNTED_COLUMNS))
            for run in runs.done
        }
    environment = {
        "schema": schema.VERSION,
        "runs": {
            run.name: {"settings": settings, "environment": facts}
            for run, (settings, facts) in runs.described.items()
        },
        "unfinished": {run.name: _unfinished(run, groups) for run in runs.unfinished},
        "other_versions": len(runs.other_versions),
    }
    stored = {run.name: run for run in runs.done}
    return Bundle(folder, _runs_of_store(runs, groups), counts, environment, stored)


def _runs_of_store(runs: StoredRuns, groups: Mapping[str, str]) -> pd.DataFrame:
    """The tidy table of finished runs, in their order.

    What the settings say is in them alone; what the scores of an older run lack is blank.
    """
    kinds = {"run": "str", **_SETTING_KINDS, "group": "str", "corpus_fingerprint": "str"}
    measured = {name: kind for name, kind in schema.RUN_COLUMNS.items() if name not in kinds}
    blank = {name: "" if kind == "str" else None for name, kind in measured.items()}
    scores, rows = [], []
    for run, (settings, facts) in runs.described.items():
        try:
            columns = setting_columns(parse_settings(settings))
        except UsageError as error:
            raise damaged(run / SETTINGS, error) from None
        texts = {"group": groups.get(run.name), "corpus_fingerprint": facts.get("fingerprint")}
        texts = {name: plain(text or "") for name, text in texts.items()}
        rows.append({"run": run.name} | columns | texts)
        frame = read_table(run / SCORES, measured, blank)
        frame.insert(0, "run", run.name)
        scores.append(frame)
    merged = pd.concat(scores).merge(_frame(rows, kinds), on="run", validate="many_to_one")
    return merged[list(schema.RUN_COLUMNS)]


def _unfinished(run: Path, groups: Mapping[str, str]) -> dict[str, Any]:
    """How a run stands that is not done, and which it is; of a traceback the last line."""
    status, settings = read_status(run), run / SETTINGS
    lines = str(status.get("reason", "")).strip().splitlines()
    return {
        "status": str(status.get("status", "")),
        "reason": lines[-1].strip() if lines else "",
        "group": str(groups.get(run.name, "")),
        "settings": read_object(settings) if settings.is_file() else None,
    }


def _environment(folder: Path) -> Mapping[str, Any]:
    """A bundle's ``environment.json``; another version's, or half an export, is a ``UserError``."""
    check_one(folder)
    path = folder / schema.ENVIRONMENT
    environment = read_object(path, AGAIN)
    if environment.get("schema") not in schema.READABLE:
        raise UserError(
            f"{str(folder)!r} has results of schema {environment.get('schema')}, this program "
            f"reads {' and '.join(map(str, schema.READABLE))}; use the version of bottleneck that "
            "wrote them"
        )
    if not of_one_time(folder, schema.FILES):
        raise UserError(
            f"{str(folder)!r} is incomplete: an export or a merge was stopped between two files; "
            "run the same command again"
        )
    for known in (*environment["runs"].values(), *environment.get("unfinished", {}).values()):
        try:
            without_retired(known["settings"])
        except UsageError as error:
            raise UserError(f"{str(path)!r}: {error}") from None
    return environment


def _counts(rows: pd.DataFrame) -> Counts:
    """The rows of a run, put in order, as small numbers, which nobody may change."""
    numbers = rows.sort_values("sentence")[list(schema.COUNTED[1:])].to_numpy().T
    small = numbers.astype(np.min_scalar_type(numbers.max(initial=0)), order="C")
    small.flags.writeable = False
    return Counts(small[0], small[1:].T)


def setting_columns(settings: RunSettings) -> dict[str, Any]:
    """Value by column; where a setting is not set, a blank text or None for other types."""
    columns = {}
    for column, (place, kind) in schema.SETTING_COLUMNS.items():
        concern, _, name = place.partition(".")
        value = getattr(getattr(settings, concern), name)
        columns[column] = plain(value or "") if kind == "str" else value
    return columns


def columns_known(run: Path) -> dict[str, Any]:
    """What the settings and the corpus of a run say that is not done, as far as it has files."""
    known: dict[str, Any] = {}
    with suppress(UserError):
        known |= setting_columns(read_settings(run))
        known["corpus_fingerprint"] = read_object(run / ENVIRONMENT).get("fingerprint", "")
    return known


def other_versions(environment: Mapping[str, Any]) -> str:
    """How many runs were left out as another version's, as a sentence; empty if none was."""
    count = environment.get("other_versions", 0)
    return f"{_runs(count)} left out: made by another version of bottleneck." if count else ""


def without_result(environment: Mapping[str, Any]) -> str:
    """How many runs of the store are not done, as a sentence; empty if all are."""
    count = len(environment.get("unfinished", {}))
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


def tidy_csv(table: pd.DataFrame) -> str:
    """A table as CSV: every digit, blanks where there is nothing, Unix line ends."""
    return table.to_csv(index=False, lineterminator="\n")


def read_table(
    path: Path, columns: Mapping[str, str], lacking: Mapping[str, Any] = schema.ADDED
) -> pd.DataFrame:
    """Read a CSV file of the bundle, or of a run, with the documented columns and types.

    Blanks are missing values, but of texts. Columns of ``lacking`` have these values where an older
    file has no such column. A fault is a ``UserError`` with the file.
    """
    way, kinds = way_back(path) if path.parent.name == schema.PROBES else AGAIN, _kinds(columns)
    try:
        with np.errstate(invalid="ignore"):  # a float in the place of a whole number is an error
            frame = pd.read_csv(
                io.BytesIO(read_checked(path, way)),
                dtype=kinds,
                usecols=lambda name: name in columns,
                keep_default_na=False,
                na_values={name: [""] for name, kind in columns.items() if kind != "str"},
                **PRECISE,
            )
        for name in (lacking.keys() & columns.keys()).difference(frame.columns):
            frame[name] = pd.Series(lacking[name], index=frame.index, dtype=kinds[name])
        frame = frame[list(columns)]
    except UNREADABLE as error:
        raise damaged(path, error, way) from None
    for run in frame["run"].unique() if "run" in frame else ():
        if run and not is_name(run):  # folders are looked up by it
            raise damaged(path, f"{run!r} is not the name of a run", way)
    return frame


def _frame(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    """A table of these columns and types."""
    return pd.DataFrame(rows, columns=list(columns), dtype=object).astype(_kinds(columns))


def _kinds(columns: Mapping[str, str]) -> dict[str, str]:
    """Types as read: whole numbers and truths may be missing."""
    nullable = {"int64": "Int64", "bool": "boolean"}
    return {name: nullable.get(kind, kind) for name, kind in columns.items()}
