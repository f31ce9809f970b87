"""Results of runs as typed data frames, read from run folders or bundles, without jax."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Integer
from numpy import ndarray

from ..settings.errors import UserError, counted, plain
from ..settings.files import read_sums
from ..settings.run import RunSettings, parse_settings
from . import folders, schema

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Counts:
    """A run's test sentences in their order: source words, and statistics of BLEU."""

    words: Integer[ndarray, "sentences"]
    statistics: Integer[ndarray, "sentences 10"]


@dataclass(frozen=True, eq=False)
class Results:
    """Results in memory; ``schema`` describes ``environment`` and the columns of ``runs``.

    ``sources`` has the folder of each run's examples: the run's folder, or that of a bundle.
    """

    folder: Path
    runs: pd.DataFrame
    sentences: Mapping[str, Counts]
    environment: Mapping[str, Any]
    sources: Mapping[str, Path]

    @classmethod
    def open(cls, path: str | Path, sentences: bool = True) -> "Results":
        """Read a run, a store, an output folder, a bundle, or a folder of any of these.

        A store is read rather than its bundle, which is older if a sweep was stopped. Without
        ``sentences``, which take most of the time, their counts are not read.
        """
        folder = Path(path)
        stored = folders.find_runs(folder)
        if stored.done:
            return cls.of_runs(folder, stored, sentences)
        if stored.unfinished:
            raise UserError(
                f"{str(folder)!r} holds no finished run ({len(stored.unfinished)} not done): "
                "`bottleneck table runs` lists them; repeat their command to continue"
            )
        if not folders.is_bundle(folder):
            inside = [cls.find(place, sentences) for place in folders.results_inside(folder)]
            if parts := [part for part in inside if part]:
                return cls.merged(folder, parts)
            folders.check_one(folder)
            raise UserError(f"no results in folder {str(folder)!r}: {folders.WRITTEN}")
        environment = folders.read_object(folder / "environment.json")
        if environment.get("schema") != schema.VERSION:
            raise UserError(
                f"{str(folder)!r} has results of schema {environment.get('schema')}, this program "
                f"reads {schema.VERSION}; use the version of bottleneck that wrote them"
            )
        ages = set()  # of files with two digests: an export replaced them, or was killed
        for name, digests in (read_sums(folder) or {}).items():
            if name in schema.FILES and len(digests) > 1 and (folder / name).is_file():
                digest = sha256((folder / name).read_bytes()).hexdigest()
                if digest in digests:
                    ages.add("new" if digest == digests[-1] else digests.index(digest))
        if len(ages) > 1:
            raise UserError(
                f"{str(folder)!r} is incomplete: an export or a merge was stopped between two "
                "files; run the same command again"
            )
        table, counts = read_table(folder / "runs.csv", schema.RUN_COLUMNS), {}
        if sentences:
            columns = {"run": "str"} | schema.COUNTED
            rows = read_table(folder / "sentences.csv.gz", columns)
            counts = {str(run): _counts(part) for run, part in rows.groupby("run", sort=False)}
        return cls(folder, table, counts, environment, dict.fromkeys(table["run"], folder))

    @classmethod
    def find(cls, folder: Path, sentences: bool = True) -> "Results | None":
        """The finished runs or the bundle of a folder itself; None if it has neither."""
        filled = folders.find_runs(folder).done or folders.is_bundle(folder)
        return cls.open(folder, sentences) if filled else None

    @classmethod
    def of_runs(cls, folder: Path, stored: folders.StoredRuns, sentences: bool = True) -> "Results":
        """The finished runs of a store, in the order of ``experiments.json``, others last."""
        store = next(iter(stored.done)).resolve().parent
        members = [
            [*map(plain, (run, experiment, *names))]
            for experiment, runs in folders.read_experiments(store).items()
            for run, names in runs.items()
        ]
        declared = {run for run, *_ in members}
        members += [[run.name, "", "", ""] for run in stored.done if run.name not in declared]
        rows, counts = [], {}
        for run, known in stored.done.items():
            settings = folders.read_settings(run)
            fingerprint = known["environment"].get("fingerprint") or ""
            row = {"run": run.name, "corpus_fingerprint": plain(fingerprint)}
            for column, (place, kind) in schema.SETTING_COLUMNS.items():
                value = settings.value(place)  # not set: an empty text, or None for other types
                row[column] = plain(value or "") if kind == "str" else value
            rows.append(row)
            if sentences:
                counts[run.name] = _counts(read_table(run / "sentences.csv", schema.COUNTED))
        described = pd.DataFrame(rows, dtype=object)
        described = described.astype({name: schema.RUN_COLUMNS[name] for name in described})
        others = {*described, *schema.MEMBER}
        measured = {name: kind for name, kind in schema.RUN_COLUMNS.items() if name not in others}
        scores = [
            read_table(run / "scores.csv", measured).assign(run=run.name) for run in stored.done
        ]
        table = pd.concat(scores).merge(described, on="run", validate="many_to_one")
        members = pd.DataFrame(members, columns=["run", *schema.MEMBER], dtype="str")
        table = members.merge(table, on="run")[list(schema.RUN_COLUMNS)]
        environment = {
            "schema": schema.VERSION,
            "runs": {run.name: known for run, known in stored.done.items()},
            "unfinished": {run.name: status for run, status in stored.unfinished.items()},
            "replaced": stored.replaced,
        }
        sources = {run.name: run for run in stored.done}
        return cls(folder, table, counts, environment, sources)

    @classmethod
    def merged(cls, folder: Path, parts: Sequence["Results"]) -> "Results":
        """All runs of several results as those of one folder; a shared run comes from the first."""
        rows = pd.concat([part.runs for part in parts])
        members = rows[["run", *schema.MEMBER]].drop_duplicates()
        rows = rows.drop(columns=[*schema.MEMBER]).drop_duplicates(["run", "bucket"])
        table = members.merge(rows, on="run")[list(schema.RUN_COLUMNS)]
        counts, sources, described, unfinished = {}, {}, {}, {}
        for part in reversed(parts):
            counts |= part.sentences
            sources |= part.sources
            described |= part.environment["runs"]
            unfinished |= part.environment["unfinished"]
        environment = {
            "schema": schema.VERSION,
            "runs": described,
            # What one folder has not done, another may have.
            "unfinished": {run: item for run, item in unfinished.items() if run not in described},
            "replaced": sum(part.environment.get("replaced", 0) for part in parts),
        }
        return cls(folder, table, counts, environment, sources)

    def __repr__(self) -> str:
        return f"<results in {str(self.folder)!r}: {counted(len(self.names), 'run')}>"

    @property
    def names(self) -> list[str]:
        """The runs in their order."""
        return list(self.runs["run"].unique())

    def settings(self, run: str) -> RunSettings:
        """The resolved settings of a run."""
        return parse_settings(self.environment["runs"][run]["settings"])

    def left_out(self) -> list[str]:
        """A phrase on runs that were replaced, and one on runs without a result."""
        counts = {
            "left out, replaced by later runs of the same arms": self.environment.get("replaced"),
            "without a result (`bottleneck table runs`)": len(self.environment["unfinished"]),
        }
        return [f"{counted(count, 'run')} {words}" for words, count in counts.items() if count]

    def examples(self) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
        """Example sentences of each run, one run at a time to save memory.

        ``sentence`` is its place in the test set, below 0 for one of the lecture's; ``source`` and
        ``hypothesis`` are tokens, ``reference`` is a text. ``weights`` have a row per token of the
        hypothesis, and a column per source token.
        """
        of_bundle = cache(folders.read_object)
        for run in self.names:
            source = self.sources[run]
            if folders.is_run(source):
                yield run, folders.read_object(source / "examples.json")
            elif run in (examples := of_bundle(source / "examples.json.gz")):
                yield run, examples[run]

    def table(self, name: str, like_slide: bool = False) -> pd.DataFrame:
        """A table of `bottleneck table`, each interval in ``NAME_low`` and ``NAME_high``.

        With ``like_slide`` it has the slide's columns. ``attrs`` has its ``title`` and ``caption``.
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
        """Every claim of the lecture with its verdict and the reason, as in `table claims`."""
        claims = import_module("...tables.claims", __name__)
        return claims.claims_page(claims.decide_all(self.folder)).frame


def _counts(rows: pd.DataFrame) -> Counts:
    """The rows of a run in order, as a read-only array of a small type."""
    _, *counted = schema.COUNTED
    numbers = rows.sort_values("sentence")[counted].to_numpy().T
    small = numbers.astype(np.min_scalar_type(numbers.max(initial=0)), order="C")
    small.flags.writeable = False
    return Counts(small[0], small[1:].T)


def load_probe(folder: Path, study: str) -> pd.DataFrame:
    """The numbers of a study in a folder of results; without them a UserError."""
    if path := folders.probe_file(folder, study):
        return read_table(path, schema.PROBE_COLUMNS)
    folders.check_one(folder)
    command = study.replace("-gold", " --gold FILE --source FILE --target FILE")
    raise UserError(
        f"{str(folder)!r} has no numbers of study {study}: `bottleneck study {command} "
        "--results DIR` measures them in a folder of trained runs"
    )


def tidy_csv(table: pd.DataFrame) -> str:
    """A table as CSV: all digits, and blanks for missing values."""
    return table.to_csv(index=False, lineterminator="\n")


def read_table(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read these columns of a CSV file, by type; blanks are missing values, except in texts."""
    # A float in the place of a whole number is an error.
    with folders.reading(path), np.errstate(invalid="ignore"):
        frame = pd.read_csv(
            io.BytesIO(folders.read_checked(path)),
            dtype=columns,
            usecols=lambda name: name in columns,
            keep_default_na=False,
            na_values={name: [""] for name, kind in columns.items() if kind != "str"},
        )
        return frame[list(columns)]
