"""Results of runs as typed data frames, read from wherever they lie; jax is not needed."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Integer
from numpy import ndarray

from ..settings.errors import UserError, plain
from ..settings.files import of_one_time
from ..settings.run import RunSettings, parse_settings
from ..settings.sweep import Member
from . import schema
from .folders import (
    COMMANDS,
    EXAMPLES,
    SCORES,
    SENTENCES,
    StoredRuns,
    check_one,
    damaged,
    find_runs,
    has_probe,
    is_bundle,
    is_run,
    probe_file,
    read_checked,
    read_experiments,
    read_object,
    read_settings,
    read_status,
    results_inside,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETTING_KINDS = {column: kind for column, (_, kind) in schema.SETTING_COLUMNS.items()}

Example = Mapping[str, Any]
"""``sentence`` (its place in the test set, below 0 for one of the lecture's own), ``source`` and
``hypothesis`` (tokens), ``reference`` (a text), and ``weights``: one row per token of the
hypothesis, one column per source token."""


@dataclass(frozen=True, eq=False)
class Counts:
    """A run's test sentences in their order: words of the source, and the statistics of BLEU."""

    words: Integer[ndarray, "sentences"]
    statistics: Integer[ndarray, "sentences 10"]


@dataclass(frozen=True, eq=False)
class Results:
    """Results in memory: see ``schema`` for ``environment`` and for the columns of ``runs``.

    ``sentences`` are the counts of each run's test sentences. ``sources`` are by run the folder of
    its examples, which are read when they are wanted: its own, or that of a bundle.
    """

    folder: Path
    runs: pd.DataFrame
    sentences: Mapping[str, Counts]
    environment: Mapping[str, Any]
    sources: Mapping[str, Path]

    @classmethod
    def open(cls, path: str | Path, sentences: bool = True) -> "Results":
        """Read a run, a store, an output folder, a bundle, or a folder of any of these.

        A store comes before the bundle beside it, which is older where a sweep was stopped. The
        counts of sentences are most of the work: without ``sentences`` there are none. What is
        missing or damaged is a ``UserError`` with the file.
        """
        folder = Path(path)
        stored = find_runs(folder)
        if stored.done:
            return cls.of_runs(folder, stored, sentences)
        if stored.any:
            raise UserError(
                f"{str(folder)!r} holds no finished run ({len(stored.unfinished)} not done, "
                f"{len(stored.other_versions)} of another version): `bottleneck table runs` lists "
                "them, the command that began them continues"
            )
        if not is_bundle(folder):
            inside = [place for place in results_inside(folder) if holds_results(place)]
            if inside:
                return cls.merged(folder, [cls.open(place, sentences) for place in inside])
            check_one(folder)
        environment = _environment(folder)
        table, counts = read_table(folder / schema.RUNS, schema.RUN_COLUMNS), {}
        if sentences:
            rows = read_table(folder / schema.SENTENCES, {"run": "str"} | schema.COUNTED)
            counts = {str(run): _counts(part) for run, part in rows.groupby("run", sort=False)}
        parts = {schema.ENVIRONMENT: environment["runs"]}
        for name, runs in (parts | ({schema.SENTENCES: counts} if sentences else {})).items():
            if set(runs) != set(table["run"]):
                raise damaged(folder / name, f"its runs are not those of {schema.RUNS}")
        return cls(folder, table, counts, environment, dict.fromkeys(table["run"], folder))

    @classmethod
    def find(cls, folder: Path) -> "Results | None":
        """The runs or the bundle of a folder itself; None where it has neither."""
        return cls.open(folder) if holds_results(folder) else None

    @classmethod
    def of_runs(cls, folder: Path, stored: StoredRuns, sentences: bool = True) -> "Results":
        """The finished runs of a store, in the order of the experiments beside the store.

        What the settings say is in them alone. Of a run that is not done the environment has its
        status.
        """
        store = next(iter(stored.done)).resolve().parent
        members = [
            dict(zip(("run", *Member._fields), map(plain, (run, experiment, *names)), strict=True))
            for experiment, runs in read_experiments(store).items()
            for run, names in runs.items()
        ]
        kinds = {"run": "str", **_SETTING_KINDS, "corpus_fingerprint": "str"}
        skipped = {*kinds, *Member._fields}
        measured = {name: kind for name, kind in schema.RUN_COLUMNS.items() if name not in skipped}
        scores, rows, counts = [], [], {}
        for run, known in stored.done.items():
            text = {"corpus_fingerprint": plain(known["environment"].get("fingerprint") or "")}
            rows.append({"run": run.name} | setting_columns(read_settings(run)) | text)
            scores.append(read_table(run / SCORES, measured, may_lack=True))
            scores[-1].insert(0, "run", run.name)
            if sentences:
                counts[run.name] = _counts(read_table(run / SENTENCES, schema.COUNTED))
        table = pd.concat(scores).merge(_frame(rows, kinds), on="run", validate="many_to_one")
        columns = ["run", *Member._fields]
        table = _with_members(table, pd.DataFrame(members, columns=columns, dtype=str))
        environment = {
            "schema": schema.VERSION,
            "runs": {run.name: known for run, known in stored.done.items()},
            "unfinished": {run.name: read_status(run)["status"] for run in stored.unfinished},
            "other_versions": len(stored.other_versions),
            "replaced": len(stored.replaced),
        }
        sources = {run.name: run for run in stored.done}
        return cls(folder, table, counts, environment, sources)

    @classmethod
    def merged(cls, folder: Path, parts: Sequence["Results"]) -> "Results":
        """All runs of several results as those of one folder; the first that has a run gives it.

        Runs are the same where their names are, which are hashes of settings and data.
        """
        frames, members, counts, sources, described, unfinished = [], [], {}, {}, {}, {}
        for part in parts:
            members.append(part.runs[["run", *Member._fields]])
            table = part.runs.drop(columns=[*Member._fields]).drop_duplicates(["run", "bucket"])
            frames.append(table[~table["run"].isin(sources)])
            counts = {**part.sentences, **counts}
            sources = {**part.sources, **sources}
            described = part.environment["runs"] | described
            # What one folder has not done, another may have.
            unfinished = part.environment.get("unfinished", {}) | unfinished
        environment = {
            "schema": schema.VERSION,
            "runs": described,
            "unfinished": {run: known for run, known in unfinished.items() if run not in described},
            "other_versions": sum(part.environment.get("other_versions", 0) for part in parts),
            "replaced": sum(part.environment.get("replaced", 0) for part in parts),
        }
        table = _with_members(pd.concat(frames), pd.concat(members).drop_duplicates())
        return cls(folder, table, counts, environment, sources)

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

    def left_out(self) -> list[str]:
        """A sentence each for runs of another version, those replaced, and those not done."""
        known = self.environment
        counts = {
            "left out: made by another version of bottleneck.": known.get("other_versions", 0),
            "left out: replaced by later runs of the same arms.": known.get("replaced", 0),
            "without a result (`bottleneck table runs` lists them).": len(
                known.get("unfinished", ())
            ),
        }
        return [
            f"{'1 run is' if count == 1 else f'{count} runs are'} {words}"
            for words, count in counts.items()
            if count
        ]

    def examples(self) -> Iterator[tuple[str, Sequence[Example]]]:
        """Example sentences with attention weights, a run at a time: all would fill a memory."""
        of_bundle = cache(read_object)
        for run in self.names:
            source = self.sources[run]
            if is_run(source):
                yield run, read_object(source / EXAMPLES)
            elif run in (examples := of_bundle(source / schema.EXAMPLES)):
                yield run, examples[run]

    def table(self, name: str, like_slide: bool = False) -> pd.DataFrame:
        """A table of `bottleneck table`, each interval in ``NAME_low`` and ``NAME_high``.

        ``like_slide``: as text, in the slide's own columns, as a notebook shows it. ``attrs`` have
        its ``title`` and its ``caption``.
        """
        page = import_module("...tables.pages", __name__).make_page(name, self, like_slide)
        table = page.frame.set_axis([""] * len(page.frame)) if like_slide else page.frame
        table.attrs = {"title": page.title, "caption": "\n".join(page.caption)}
        return table

    def plot(self, name: str) -> "Figure":
        """A figure of `bottleneck plot`, which a notebook shows."""
        figures = import_module("...figures.registry", __name__)
        figure, _ = figures.make_figure(name, self.folder, bundle=self)
        figure._repr_png_ = lambda: figures.image(figure, ".png")
        return figure

    def verdicts(self) -> pd.DataFrame:
        """Every claim of the lecture with its verdict and the reason, as of `table claims`."""
        claims = import_module("...tables.claims", __name__)
        return claims.claims_page(claims.decide_results(self.folder)).frame


def holds_results(folder: Path) -> bool:
    """Whether there are finished runs in a folder itself, or a bundle of them."""
    return bool(find_runs(folder).done) or is_bundle(folder)


def _environment(folder: Path) -> Mapping[str, Any]:
    """A bundle's ``environment.json``; another version's, or half an export, is a ``UserError``."""
    environment = read_object(folder / schema.ENVIRONMENT)
    if environment.get("schema") != schema.VERSION:
        raise UserError(
            f"{str(folder)!r} has results of schema {environment.get('schema')}, this program "
            f"reads {schema.VERSION}; use the version of bottleneck that wrote them"
        )
    if not of_one_time(folder, schema.FILES):
        raise UserError(
            f"{str(folder)!r} is incomplete: an export or a merge was stopped between two files; "
            "run the same command again"
        )
    return environment


def _with_members(table: pd.DataFrame, members: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs in the order of ``members`` (run and the fields of `Member`), others last."""
    rest = table[["run"]][~table["run"].isin(members["run"])].drop_duplicates()
    members = pd.concat([members, rest]).fillna("").astype("str")
    return members.merge(table, on="run")[list(schema.RUN_COLUMNS)]


def _counts(rows: pd.DataFrame) -> Counts:
    """The rows of a run, put in order, as small numbers, which nobody may change."""
    _, *counted = schema.COUNTED
    numbers = rows.sort_values("sentence")[counted].to_numpy().T
    small = numbers.astype(np.min_scalar_type(numbers.max(initial=0)), order="C")
    small.flags.writeable = False
    return Counts(small[0], small[1:].T)


def load_probe(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a study, columns as in ``schema.PROBE_COLUMNS``; without them a UserError."""
    if has_probe(folder, study):
        return read_table(probe_file(folder, study), schema.PROBE_COLUMNS)
    check_one(folder)
    what = "gold set of your own" if study == schema.GOLD else f"{study} study"
    command = f"bottleneck {COMMANDS[study]} --results DIR"
    raise UserError(
        f"no {what} in {str(folder)!r}: `{command}` measures it, where the runs were trained"
    )


def setting_columns(settings: RunSettings) -> dict[str, Any]:
    """Value by column; where a setting is not set, a blank text or None for other types."""
    columns = {}
    for column, (place, kind) in schema.SETTING_COLUMNS.items():
        concern, _, name = place.partition(".")
        value = getattr(getattr(settings, concern), name)
        columns[column] = plain(value or "") if kind == "str" else value
    return columns


def tidy_csv(table: pd.DataFrame) -> str:
    """A table as CSV: every digit, blanks where there is nothing, Unix line ends."""
    return table.to_csv(index=False, lineterminator="\n")


def read_table(path: Path, columns: Mapping[str, str], may_lack: bool = False) -> pd.DataFrame:
    """Read a CSV file of the bundle, or of a run, with the documented columns and types.

    Blanks are missing values, but of texts; so are columns that it ``may_lack``. What earlier
    versions did not write has the value that it had (`schema.LATER_COLUMNS`).
    """
    kinds = _kinds(columns)
    try:
        with np.errstate(invalid="ignore"):  # a float in the place of a whole number is an error
            frame = pd.read_csv(
                io.BytesIO(read_checked(path)),
                dtype=kinds,
                usecols=lambda name: name in columns,
                keep_default_na=False,
                na_values={name: [""] for name, kind in columns.items() if kind != "str"},
            )
        for name in columns if may_lack else schema.LATER_COLUMNS.keys() & columns.keys():
            if name not in frame:
                blank = schema.LATER_COLUMNS.get(name, "" if columns[name] == "str" else None)
                frame[name] = pd.Series(blank, index=frame.index, dtype=kinds[name])
        frame = frame[list(columns)]
    except (ValueError, TypeError, OverflowError, LookupError, OSError) as error:
        raise damaged(path, error) from None
    return frame


def _frame(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    """A table of these columns and types."""
    return pd.DataFrame(rows, columns=list(columns), dtype=object).astype(_kinds(columns))


def _kinds(columns: Mapping[str, str]) -> dict[str, str]:
    """Types as read: whole numbers and truths may be missing."""
    nullable = {"int64": "Int64", "bool": "boolean"}
    return {name: nullable.get(kind, kind) for name, kind in columns.items()}
