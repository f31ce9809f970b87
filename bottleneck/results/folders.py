"""Folders of runs and of results: what a folder is, what it holds, and its files.

A run's folder has ``status.json``, ``settings.json``, ``environment.json`` and the vocabularies,
while it is trained ``checkpoint.safetensors``, then ``log.jsonl``, ``weights.safetensors``,
``hypotheses.jsonl``, ``sentences.csv``, ``scores.csv`` and ``examples.json``. An output folder has
its runs in `STORE`, next to it ``experiments.json``, and the bundle (`schema`).

Reading a file checks it against ``SHA256SUMS`` of its folder (of a run: once it has ended, and not
its status). It is an error if a listed file is missing.
"""

import gzip
import json
import re
import shlex
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ..settings.errors import FileError, UsageError, UserError
from ..settings.files import listed_digests, read_sums
from ..settings.run import SCHEMA_VERSION, RunSettings, parse_settings

STORE = "runs"
"""Folder of the run folders, inside an output folder."""
REPLACED = ""  # in place of an experiment's name: runs that later runs replaced
SHIPPED = Path(__file__).parents[1] / "pair"
"""The output folder of the trained pair that comes with the package; see the README in it."""
ENDED = ("done", "diverged")
"""Statuses of a run that is not trained again; ``SHA256SUMS`` lists its files."""
WRITTEN = "name one that `bottleneck reproduce` or `bottleneck sweep` wrote"


# What a folder is.


def is_run(folder: Path) -> bool:
    """Whether this is the folder of one run, even if files are missing."""
    return (folder / "status.json").exists() or was_written(folder / "settings.json")


def is_bundle(folder: Path) -> bool:
    """Whether there is a bundle in a folder, or a part of one."""
    marks = ("runs.csv", "sentences.csv.gz", "examples.json.gz")
    return any(was_written(folder / name) for name in marks)


def runs_in(folder: Path) -> list[Path]:
    """The runs of an output folder or a store by name, even without a status; or the run itself."""
    if is_run(folder):
        return [folder]
    store = folder / STORE if (folder / STORE).is_dir() else folder
    return sorted(path for path in store.glob("[!.]*") if path.is_dir() and is_run(path))


def tables(folder: Path) -> list[Path]:
    """The studies' tables of a folder by name, including listed ones that are missing."""
    listed = (folder / name for name in read_sums(folder) or ())
    probes = folder / "probes"
    lost = (path for path in listed if path.parent == probes and path.suffix == ".csv")
    return sorted({*probes.glob("*.csv"), *lost})


def results_inside(folder: Path, itself: bool = False) -> list[Path]:
    """The folders directly inside a folder that have a bundle, a study's table or a finished run.

    They come by name, without the folder's store; with ``itself``, the folder first if it has one.
    """
    places = [folder] if itself else []
    for path in sorted(folder.glob("*/")):
        is_store = path.name == STORE and any(map(is_run, path.glob("[!.]*")))
        if not (is_store or is_run(path)):
            places.append(path)
    return [path for path in places if is_bundle(path) or tables(path) or find_runs(path).done]


def latest_output(results: Path, otherwise: Path | None = None) -> Path:
    """The output folder under ``results`` that was written last; ``otherwise`` if there is none."""
    bundles = sorted(results.glob("*/runs.csv"), key=lambda path: path.stat().st_mtime)
    if not bundles and otherwise is None:
        raise UserError(
            f"no finished run in {str(results)!r}; run `bottleneck reproduce` first, "
            "or name one with --results DIR"
        )
    return bundles[-1].parent if bundles else otherwise


def check_named(folder: Path) -> None:
    """Raise a ``UserError`` for a file, or for one run of a store."""
    if not folder.is_dir() and (folder.exists() or folder.is_symlink()):
        raise UserError(f"{str(folder)!r} is not a folder: {WRITTEN}")
    if is_run(folder):
        store = folder.resolve().parent
        results = store.parent if store.name == STORE else store
        raise UserError(f"{str(folder)!r} is one run: name its store, {str(results)!r}")


def check_one(folder: Path) -> None:
    """Raise a ``UserError`` if the folder is missing, or has several folders of results."""
    if not folder.is_dir():
        raise UserError(f"no folder {str(folder)!r}: {WRITTEN}")
    if not (is_bundle(folder) or runs_in(folder)) and (inside := results_inside(folder)):
        names = ", ".join(path.name for path in inside)
        raise UserError(f"{str(folder)!r} holds folders of results ({names}): name one of them")


def check_trainable(folder: Path) -> None:
    """Raise a ``UserError`` for a bundle without its run folders, which has no weights."""
    if is_bundle(folder) and not runs_in(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders: name the folder where its runs "
            "were trained, or train them into a new folder"
        )


# The files of a folder, each read against its checksum.


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn an error in the block into a ``FileError`` for this file, with advice."""
    try:
        yield
    except (
        OSError, ValueError, TypeError, LookupError, OverflowError, EOFError, zlib.error, UsageError
    ) as error:  # fmt: skip
        run, delete = path.parent, "delete it and its line in SHA256SUMS"
        if isinstance(error, PermissionError):  # its content may be intact
            way = "check its permissions"
        elif path.is_relative_to(SHIPPED):
            way = "install the package again"
        elif is_run(run):
            way = f"delete the run with `rm -r {shlex.quote(str(run))}` and train it again"
        elif path.name == "experiments.json":
            way = f"{delete}: the sweep's command writes it again"
        elif run.name == "probes":
            study = re.split("[-_]", path.stem)[0]
            again = f"bottleneck study {study} --results {shlex.quote(str(run.parent))}"
            way = f"make it again with `{again}`, or {delete}"
        else:
            way = "export it again"
        words = str(getattr(error, "strerror", None) or error).partition("\n")[0]
        raise FileError(f"{str(path)!r} cannot be read ({words}); {way}") from None


def was_written(path: Path) -> bool:
    """Whether a file is there, or the sums of its folder say that it was."""
    return path.exists() or bool(listed_digests(path))


def read_checked(path: Path) -> bytes:
    """A file's content, unpacked if it is ``.gz``; it must match its checksum (`reading`)."""
    run = path.parent
    with reading(path):
        for _ in range(3):  # a writer may replace file and sums between two reads
            content, digests = path.read_bytes(), listed_digests(path)
            if digests is None:
                under_way = is_run(run) and read_status(run).get("status") not in ENDED
                fault = "" if under_way else "its folder has no SHA256SUMS"
            elif not digests:
                fault = "SHA256SUMS does not list it"
            else:
                digest = sha256(content).hexdigest()
                fault = "" if digest in digests else "it does not match its checksum"
            if not fault:
                return gzip.decompress(content) if path.suffix == ".gz" else content
        raise ValueError(fault)


def read_object(path: Path) -> Any:
    """Read a JSON file of a bundle or a run."""
    with reading(path):
        return json.loads(read_checked(path))


def json_text(values: Any) -> str:
    """JSON for people, one value per line."""
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


def read_settings(run: Path) -> RunSettings:
    """The settings of a run; a ``UserError`` if they cannot be read."""
    path = run / "settings.json"
    with reading(path):
        return parse_settings(read_object(path))


def read_status(run: Path) -> dict[str, Any]:
    """A run's ``status.json``, which has no checksum; empty if there is none."""
    path = run / "status.json"
    with reading(path):
        return json.loads(path.read_bytes()) if path.exists() else {}


def read_experiments(folder: Path) -> dict[str, dict[str, Sequence[str]]]:
    """By experiment and run, in order: the run's arm, and the arm that it is compared with."""
    whole = folder.resolve()
    for place in (whole, whole.parent) if whole.name == STORE else (whole,):
        if was_written(place / "experiments.json"):
            return read_object(place / "experiments.json")
    return {}


def read_texts(run: Path) -> dict[str, list[str]]:
    """``source``, ``reference`` and ``hypothesis`` of a finished run's test sentences, in order."""
    path = run / "hypotheses.jsonl"
    if not was_written(path):
        raise UserError(
            f"{str(run)!r} has no hypotheses.jsonl: the run did not end; "
            "repeat its command to continue"
        )
    with reading(path):
        # Not splitlines: it also splits at other characters, which a text may have.
        lines = read_checked(path).decode().removesuffix("\n").split("\n")
        rows = [json.loads(line) for line in lines]
        return {name: [row[name] for row in rows] for name in ("source", "reference", "hypothesis")}


# The runs of a store.


class StoredRuns(NamedTuple):
    """The runs of a store: finished ones as a bundle describes them, others with their status.

    ``replaced`` counts the finished ones that later runs replaced (`runs.sweep.declare_runs`).
    """

    done: Mapping[Path, Mapping[str, Any]]
    unfinished: Mapping[Path, str]
    replaced: int


def find_runs(folder: Path) -> StoredRuns:
    """The runs of an output folder, of a store, or of one run's folder."""
    done, order, unfinished = {}, {}, {}
    for run in runs_in(folder):
        status = read_status(run).get("status")
        if status is None:
            with reading(run / "status.json"):
                raise ValueError("it is missing")
        path = run / "environment.json"
        # A run may have stopped before it wrote its version.
        environment = read_object(path) if status == "done" or path.is_file() else None
        if environment is not None and environment.get("schema") != SCHEMA_VERSION:
            unfinished[run] = "of another version"
        elif status != "done":
            unfinished[run] = status
        else:
            settings = read_object(run / "settings.json")
            model, seed = settings["model"], settings["training"]["seed"]
            order[run] = model["attention"], model["context_size"], seed, run.name
            done[run] = {"settings": settings, "environment": environment}
    runs = sorted(done, key=order.__getitem__)
    names = read_experiments(folder).get(REPLACED, {}) if done else {}
    current = [run for run in runs if run.name not in names] or runs
    replaced = len(runs) - len(current)
    return StoredRuns({run: done[run] for run in current}, unfinished, replaced)


def arms(folder: Path) -> dict[str, Path]:
    """Run folders by attention: one run, or the first seed of the latest comparison."""
    if is_run(folder):
        return {read_settings(folder).model.attention: folder}
    check_one(folder)
    done = find_runs(folder).done
    if not done:
        raise UserError(f"{str(folder)!r} holds no finished run of this version: {WRITTEN}")
    others = {}  # the text, and all settings but attention and seed
    for run, known in done.items():
        settings = known["settings"]
        model = settings["model"] | {"attention": None}
        training = settings["training"] | {"seed": None}
        text = known["environment"].get("fingerprint")
        others[run] = settings | {"model": model, "training": training, "text": text}
    latest = max(others, key=lambda run: (run / "status.json").stat().st_mtime)
    chosen: dict[str, Path] = {}
    for run, known in done.items():
        if others[run] == others[latest]:
            chosen.setdefault(known["settings"]["model"]["attention"], run)
    return chosen


def probe_file(folder: Path, study: str) -> Path | None:
    """The file of a study's numbers in a folder; None if it was never written."""
    path = folder / "probes" / f"{study}.csv"
    return path if was_written(path) else None
