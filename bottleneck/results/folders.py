"""Folders of runs and of results: what a folder is, what it holds, and its files.

Every file is read against the checksum in its folder's ``SHA256SUMS``. A file that is listed there
and missing was lost: whoever needs it says so, and nobody goes on as if it had never been made.

The studies' tables, ``probes/NAME.csv``, travel with a bundle. A study's table has means over its
runs, so that it is there for all of them or not at all. The benchmark's table rests on no run.
"""

import csv
import gzip
import io
import json
import os
import shlex
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..settings.errors import DamagedError, UsageError, UserError
from ..settings.files import SUMS, digest_of, read_sums
from ..settings.run import SCHEMA_VERSION, RunSettings, parse_settings
from . import schema
from .schema import BENCHMARK, GOLD, PROBES, STUDIES

STORE = "runs"
"""Folder of the run folders, inside an output folder."""
EXPERIMENTS = "experiments.json"
"""What each experiment calls its runs, beside the store."""
REPLACED = ""  # in the place of an experiment's name: runs that later ones replaced
Experiments = dict[str, dict[str, Sequence[str]]]
"""By experiment and run: the run's arm and the arm that it is compared with, in their order."""

# Files of a run's folder.
STATUS = "status.json"
SETTINGS = "settings.json"
ENVIRONMENT = "environment.json"
LOG = "log.jsonl"
WEIGHTS = "weights.safetensors"
CHECKPOINT = "checkpoint.safetensors"
HYPOTHESES = "hypotheses.jsonl"
SENTENCES = "sentences.csv"
SCORES = "scores.csv"
EXAMPLES = "examples.json"

SHIPPED = Path(__file__).parents[1] / "pair"
"""The output folder of the trained pair that comes with the package; see the README in it."""
ENDED = ("done", "diverged")
"""Statuses of a run that is left as it is; its files are listed in ``SHA256SUMS``."""
WRITTEN = "name one that `bottleneck reproduce` or `bottleneck sweep` wrote"
COMMANDS = {study: f"study {study}" for study in STUDIES} | {
    GOLD: "study alignment --gold FILE --source FILE --target FILE",
    BENCHMARK: "study cost",
}
"""The words of the command that makes a study's table, without the folder."""
TEXT_COLUMNS = ("source", "reference", "hypothesis")
"""What a line of ``hypotheses.jsonl`` has of a test sentence, besides its number."""


# What a folder is.


def is_run(folder: Path) -> bool:
    """Whether this is the folder of one run, whatever it has lost."""
    both = (folder / SETTINGS).is_file() and (folder / ENVIRONMENT).is_file()
    return both or os.path.lexists(folder / STATUS) or SETTINGS in (read_sums(folder) or ())


def is_bundle(folder: Path) -> bool:
    """Whether there is a bundle in a folder, or some of one."""
    marks = (schema.RUNS, schema.SENTENCES, schema.EXAMPLES)
    return any(was_written(folder / name) for name in marks)


def without_runs(folder: Path) -> bool:
    """Whether this is a bundle away from its run folders, as a merged or a committed one is."""
    return is_bundle(folder) and not runs_in(store_of(folder))


def store_of(folder: Path) -> Path:
    """The store of an output folder, or the folder itself where it is the store."""
    return folder / STORE if (folder / STORE).is_dir() else folder


def runs_in(store: Path) -> list[Path]:
    """The run folders of a store by name, those that lost their status among them."""
    try:
        folders = sorted(path for path in store.iterdir() if os.path.isdir(path))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [path for path in folders if not path.name.startswith(".") and is_run(path)]


def tables(folder: Path) -> list[Path]:
    """The studies' tables of a folder by name, those that are lost and still listed among them."""
    listed = (folder / name for name in read_sums(folder) or ())
    lost = (path for path in listed if path.parent == folder / PROBES and path.suffix == ".csv")
    return sorted({*(folder / PROBES).glob("*.csv"), *lost})


def results_inside(folder: Path) -> list[Path]:
    """The folders with results directly inside a folder, by name, but for its own store."""
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return [
        path
        for path in inside
        if not (path.name == STORE and runs_in(path))
        and not is_run(path)
        and (is_bundle(path) or tables(path) or finished_runs(path))
    ]


def latest_output(results: Path, otherwise: Path | None = None) -> Path:
    """The output folder under ``results`` that was written last, or ``otherwise`` without any.

    A ``UserError`` where there is neither.
    """
    bundles = list(results.glob(f"*/{schema.RUNS}"))
    if bundles:
        return max(bundles, key=lambda path: path.stat().st_mtime).parent
    if otherwise is None:
        raise UserError(
            f"no finished run in {str(results)!r}; run `bottleneck reproduce` first, "
            "or name one with --results DIR"
        )
    return otherwise


def check_named(folder: Path) -> None:
    """A ``UserError`` where a command's results cannot be: no folder, or one run of a store."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(f"{str(folder)!r} is not a folder: {WRITTEN}")
    if is_run(folder):
        store = folder.resolve().parent
        results = store.parent if store.name == STORE else store
        raise UserError(f"{str(folder)!r} is one run: name its store, {str(results)!r}")


def check_one(folder: Path) -> None:
    """Where the runs of one sweep are wanted: of several, or of a benchmark, a ``UserError``."""
    if not folder.is_dir():
        raise UserError(f"no folder {str(folder)!r}: {WRITTEN}")
    if is_bundle(folder) or find_runs(folder).any:
        return
    if inside := [path.name for path in results_inside(folder)]:
        raise UserError(
            f"{str(folder)!r} holds folders of results ({', '.join(inside)}): name one of them"
        )
    if has_probe(folder, BENCHMARK):
        raise UserError(
            f"{str(folder)!r} holds a benchmark and no runs: `bottleneck table cost` prints it, "
            "`bottleneck export --all` writes it out"
        )


def check_trainable(folder: Path) -> None:
    """A ``UserError`` for a bundle without its run folders: it has no weights, and no place."""
    if without_runs(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders: name the folder where its runs "
            "were trained, or train them into a new folder"
        )


# The files of a folder, each read against its checksum.


def damaged(path: Path, reason: object) -> DamagedError:
    """The error of a file that cannot be read, with the way out."""
    run, delete = path.parent, f"delete it and its line in {SUMS}"
    if isinstance(reason, PermissionError):  # what is in it may be whole
        way = "check its rights"
    elif path.is_relative_to(SHIPPED):
        way = "install the package again"
    elif is_run(run):
        way = f"delete the run with `rm -r {shlex.quote(str(run))}` and train it again"
    elif path.name == EXPERIMENTS:
        way = f"{delete}: the sweep's command writes it again"
    elif run.name == PROBES:
        command = COMMANDS.get(path.stem.partition("-")[0], "export --bundle DIR")
        way = f"make it again with `bottleneck {command}`, or {delete}"
    else:
        way = "export it again"
    words = (getattr(reason, "strerror", None) or str(reason)).splitlines()
    reason = words[0] if words else type(reason).__name__
    return DamagedError(f"{str(path)!r} cannot be read ({reason}); {way}")


def listed_as(path: Path) -> tuple[Path, str]:
    """The folder whose sums have a file, and its name in them."""
    folder = path.parent
    if folder.name == PROBES and not (folder / SUMS).exists():
        return folder.parent, f"{PROBES}/{path.name}"
    return folder, path.name


def was_written(path: Path) -> bool:
    """Whether there is a file of a run or a results folder, or its sums say that there was."""
    folder, name = listed_as(path)
    return os.path.lexists(path) or name in (read_sums(folder) or ())


def read_checked(path: Path) -> bytes:
    """What a file of a run or a results folder holds, unpacked where its name ends in ``.gz``.

    What does not match the folder's ``SHA256SUMS`` is `damaged`; an OSError where there is no file.
    """
    folder, name = listed_as(path)
    for _ in range(3):  # a writer may put the file and the sums in place between two reads
        content = path.read_bytes()
        sums = read_sums(folder)
        if sums is None:
            under_way = is_run(folder) and read_status(folder).get("status") not in ENDED
            fault = "" if under_way else f"its folder has no {SUMS}"
        elif name not in sums:
            fault = f"{SUMS} does not list it"
        else:
            fault = "" if digest_of(content) in sums[name] else "it does not match its checksum"
        if not fault:
            break
    else:
        raise damaged(path, fault)
    try:
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (EOFError, OSError, zlib.error) as error:
        raise damaged(path, error) from None


def read_object(path: Path) -> Any:
    """Read a JSON file of a bundle or a run."""
    try:
        return json.loads(read_checked(path))
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and not (is_run(path.parent) or was_written(path)):
            raise UserError(f"no {path.name} in folder {str(path.parent)!r}: {WRITTEN}") from None
        raise damaged(path, error) from None


def json_text(values: Any) -> str:
    """JSON as a person reads it, one value a line."""
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def read_settings(run: Path) -> RunSettings:
    """The settings of a run; a ``UserError`` where they cannot be read."""
    path = run / SETTINGS
    try:
        return parse_settings(read_object(path))
    except UsageError as error:
        raise damaged(path, error) from None


def read_status(run: Path) -> dict[str, Any]:
    """A run's ``status.json``, which no sums list; empty without one, damaged: ``UserError``."""
    path = run / STATUS
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise damaged(path, error) from None


def read_experiments(folder: Path) -> Experiments:
    """The experiments of an output folder, or of the store inside it."""
    whole = folder.resolve()
    places = (whole, whole.parent) if whole.name == STORE else (whole,)
    files = [place / EXPERIMENTS for place in places if was_written(place / EXPERIMENTS)]
    return read_object(files[0]) if files else {}


def run_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file by column; a fault is a ``UserError``."""
    try:
        text = read_checked(path).decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, error) from None


class Outputs(NamedTuple):
    """Test sentences in their order: what was translated, how it should be, and how it was."""

    sources: list[str]
    references: list[str]
    hypotheses: list[str]


def read_texts(run: Path) -> Outputs:
    """Read the hypotheses of a finished run; a fault is a `UserError` that names the file."""
    path = run / HYPOTHESES
    if not was_written(path):
        raise UserError(
            f"{str(run)!r} has no {HYPOTHESES}: the run did not end; the command that began it "
            "goes on from where it stopped"
        )
    try:
        # Not splitlines: a text may hold other signs that end a line there.
        lines = read_checked(path).decode().removesuffix("\n").split("\n")
        rows = [json.loads(line) for line in lines]
        return Outputs(*([row[name] for row in rows] for name in TEXT_COLUMNS))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(path, error) from None


# The runs of a store.


@dataclass(frozen=True)
class StoredRuns:
    """The runs of a store: done, in a fixed order, as a bundle describes them, and others."""

    done: Mapping[Path, Mapping[str, Any]]
    unfinished: tuple[Path, ...]
    other_versions: tuple[Path, ...]
    replaced: tuple[Path, ...]

    @property
    def any(self) -> bool:
        """Whether this is a store at all."""
        return bool(self.done or self.unfinished or self.other_versions)


def find_runs(folder: Path) -> StoredRuns:
    """What an output folder, a store or a run holds. Done are runs of one version, not replaced."""
    done, order, unfinished, other_versions = {}, {}, [], []
    for run in [folder] if is_run(folder) else runs_in(store_of(folder)):
        status = read_status(run).get("status")
        if status is None:
            raise damaged(run / STATUS, "it is missing")
        ended = status == "done"
        if not is_current(run):
            other_versions += [run] if ended else []
        elif ended:
            settings = read_object(run / SETTINGS)
            model, seed = settings["model"], settings["training"]["seed"]
            order[run] = model["attention"], model["context_size"], seed, run.name
            done[run] = {"settings": settings, "environment": read_object(run / ENVIRONMENT)}
        else:
            unfinished.append(run)
    ordered = {run: done[run] for run in sorted(done, key=order.__getitem__)}
    names = read_experiments(folder).get(REPLACED, {}) if done else {}
    current = {run: known for run, known in ordered.items() if run.name not in names} or ordered
    replaced = tuple(run for run in ordered if run not in current)
    return StoredRuns(current, tuple(unfinished), tuple(other_versions), replaced)


def finished_runs(folder: Path) -> list[Path]:
    """Folders of the runs that are done, of an output folder or of a store, in a fixed order."""
    return list(find_runs(folder).done)


def is_current(run: Path) -> bool:
    """Whether this version made a run, or one that was stopped before it could say which did."""
    path = run / ENVIRONMENT
    return not path.is_file() or read_object(path).get("schema") == SCHEMA_VERSION


def arms(folder: Path) -> dict[str, Path]:
    """Run folders by attention: the one run, or of an output folder the runs that ended last.

    These are arms that differ in nothing else, the first seed of each. A folder without finished
    runs, or of several sweeps, is a ``UserError``.
    """
    if (folder / SETTINGS).is_file():
        return {read_object(folder / SETTINGS)["model"]["attention"]: folder}
    check_one(folder)
    stored = find_runs(folder)
    if not stored.done and not is_bundle(folder):
        raise UserError(
            f"{str(folder)!r} holds no finished run, or was made by another version of this "
            f"program: {WRITTEN}"
        )
    runs = {run: known["settings"] for run, known in stored.done.items()}
    others = {  # the text, and what the settings say besides attention and seed
        run: known
        | {"model": known["model"] | {"attention": None}}
        | {"training": known["training"] | {"seed": None}}
        | {"text": stored.done[run]["environment"].get("fingerprint")}
        for run, known in runs.items()
    }
    latest = max(others, key=lambda run: (run / STATUS).stat().st_mtime, default=None)
    chosen: dict[str, Path] = {}
    for run, known in others.items():
        if known == others[latest]:
            chosen.setdefault(runs[run]["model"]["attention"], run)
    return chosen


# The studies' tables.


def probe_file(folder: Path, study: str) -> Path:
    """Where the numbers of a study lie."""
    return folder / PROBES / f"{study}.csv"


def has_probe(folder: Path, study: str) -> bool:
    """Whether a folder has the numbers of a study, or had them."""
    return was_written(probe_file(folder, study))


def rests_on(table: Path) -> frozenset[str]:
    """The runs whose numbers a table has; a fault is a ``UserError`` with the file."""
    return frozenset(row.get("run") or "" for row in run_rows(table)) - {""}
