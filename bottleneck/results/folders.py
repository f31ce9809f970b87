"""Run folders and results folders: what a folder is, and its files, each read against its checksum.

A file that the folder's ``SHA256SUMS`` lists and that is not there was lost: whoever needs it says
so, and nobody goes on as if it had never been made.
"""

import csv
import gzip
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from ..settings.errors import DamagedError, UsageError, UserError
from ..settings.files import SUMS, digest_of, read_sums
from ..settings.run import RunSettings, parse_settings
from .schema import MARKS, PROBES

STORE = "runs"
"""Folder of the run folders, inside an output folder."""
GROUPS = "groups.json"
"""Which group of its sweep each run belongs to, beside the store."""

# Files of a run's folder.
STATUS = "status.json"
SETTINGS = "settings.json"
ENVIRONMENT = "environment.json"
LOG = "log.jsonl"
WEIGHTS = "weights.safetensors"
CHECKPOINT = "checkpoint.safetensors"
SOURCE_VOCABULARY = "source.vocabulary"
TARGET_VOCABULARY = "target.vocabulary"
HYPOTHESES = "hypotheses.jsonl"
SENTENCES = "sentences.csv"
SCORES = "scores.csv"
EXAMPLES = "examples.json"

ENDED = ("done", "diverged")
"""Statuses of a run that is left as it is; its files are listed in ``SHA256SUMS``."""
AGAIN = "make it again"
WRITTEN = "name one that `bottleneck reproduce` or `bottleneck sweep` wrote"


def is_run(folder: Path) -> bool:
    """Whether this is the folder of one run, whatever it has lost."""
    marked = (folder / STATUS).is_file() or (folder / SETTINGS).is_file()
    return marked or SETTINGS in (read_sums(folder) or ())


def is_lost(run: Path) -> bool:
    """Whether a folder has the marks of a run and no status, which each run gets before all else.

    The marks are looked for first: a run that another process puts here meanwhile has a status.
    """
    both = (run / SETTINGS).is_file() and (run / ENVIRONMENT).is_file()
    marked = both or SETTINGS in (read_sums(run) or ())
    return marked and not (run / STATUS).exists()


def is_bundle(folder: Path) -> bool:
    """Whether there is a bundle in a folder, or some of one."""
    return any(was_written(folder / name) for name in MARKS)


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
    runs = [path for path in folders if not path.name.startswith(".")]
    return [run for run in runs if os.path.lexists(run / STATUS) or is_lost(run)]


def check_named(folder: Path) -> None:
    """A ``UserError`` where what was named as results cannot be: no folder, or a run of a store."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(f"{str(folder)!r} is not a folder: {WRITTEN}")
    if is_run(folder):
        store = _output_folder(folder.resolve().parent)
        raise UserError(f"{str(folder)!r} is one run: name its store, {store!r}")


def check_trainable(folder: Path) -> None:
    """A bundle without its run folders is a ``UserError``: new runs would take its place."""
    if without_runs(folder):
        raise UserError(
            f"{str(folder)!r} is a bundle without its run folders, whose numbers new runs would "
            "take the place of: name another folder with --out"
        )


def damaged(path: Path, reason: object, otherwise: str = AGAIN) -> DamagedError:
    """The error of a file that cannot be read, with the way out; of a run, to take it away."""
    if isinstance(reason, PermissionError):  # what is in it may be whole
        otherwise = "check its rights"
    elif is_run(path.parent):
        otherwise = f"delete the run with {removal(path.parent)} and train it again"
    words = (getattr(reason, "strerror", None) or str(reason)).splitlines()
    reason = words[0] if words else type(reason).__name__
    return DamagedError(f"{str(path)!r} cannot be read ({reason}); {otherwise}")


def removal(run: Path) -> str:
    """The command that deletes a run; by the names that its folders have elsewhere, too."""
    run = run if run.name not in ("", "..") else run.resolve()
    return f"`bottleneck runs {run.name} --remove --results {_output_folder(run.parent)}`"


def _output_folder(store: Path) -> str:
    """A store as a person names it: by the output folder that it is in."""
    return str(store.parent if store.name == STORE else store)


def listed_as(path: Path) -> tuple[Path, str]:
    """The folder whose sums list a file, and the name that they list it by."""
    folder = path.parent
    if folder.name == PROBES and not (folder / SUMS).exists():
        return folder.parent, f"{PROBES}/{path.name}"
    return folder, path.name


def was_written(path: Path) -> bool:
    """Whether there is a file of a run or a results folder, or its sums say that there was."""
    folder, name = listed_as(path)
    return os.path.lexists(path) or name in (read_sums(folder) or ())


def read_checked(path: Path, otherwise: str = AGAIN) -> bytes:
    """What a file of a run or a results folder holds, unpacked where its name ends in ``.gz``.

    Every reader of such files reads them with this. What does not match the folder's ``SHA256SUMS``
    is a UserError; ``otherwise`` is the way out where the file is not of a run. An OSError where
    there is no file.
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
        raise damaged(path, fault, otherwise)
    try:
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (EOFError, OSError, zlib.error) as error:
        raise damaged(path, error, otherwise) from None


def read_object(path: Path, otherwise: str = AGAIN, kind: type = dict) -> Any:
    """Read a JSON file of a bundle or a run, which holds an object or another ``kind`` of value.

    A ``UserError`` where there is none, it cannot be read, or it holds another thing.
    """
    try:
        values = json.loads(read_checked(path, otherwise))
    except FileNotFoundError as error:
        if is_run(path.parent) or was_written(path):
            raise damaged(path, error, otherwise) from None
        raise UserError(f"no {path.name} in folder {str(path.parent)!r}: {WRITTEN}") from None
    except (OSError, ValueError) as error:
        raise damaged(path, error, otherwise) from None
    if not isinstance(values, kind):
        raise damaged(path, "no JSON object", otherwise)
    return values


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
    """The whole of a run's ``status.json``, which no sums list; empty where there is none.

    A ``UserError`` where it cannot be read.
    """
    path = run / STATUS
    try:
        status = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise damaged(path, error) from None
    known = ("running", "failed", *ENDED)
    if not isinstance(status, dict) or status.get("status") not in known:
        raise damaged(path, "it has no status")
    return status


def read_groups(folder: Path) -> dict[str, str]:
    """Group by run, of an output folder or of the store inside it; empty where nothing has one."""
    whole = folder.resolve()
    places = (whole, whole.parent) if whole.name == STORE else (whole,)
    files = [place / GROUPS for place in places if was_written(place / GROUPS)]
    way = "where it is not there, the sweep's command writes it again"
    return read_object(files[0], way) if files else {}


def run_rows(path: Path, otherwise: str = AGAIN) -> list[dict[str, str]]:
    """The rows of a CSV file by column; a fault is a ``UserError``."""
    try:
        text = read_checked(path, otherwise).decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))
    except (OSError, ValueError, csv.Error) as error:
        raise damaged(path, error, otherwise) from None


TEXT_COLUMNS = ("source", "reference", "hypothesis")
"""What a line of ``hypotheses.jsonl`` has of a test sentence, besides its number."""


class Outputs(NamedTuple):
    """Test sentences in their order: what was translated, how it should be, and how it was."""

    sources: list[str]
    references: list[str]
    hypotheses: list[str]


def read_outputs(run: Path) -> Outputs:
    """`read_texts` of a run, which must be of all test sentences that were counted."""
    outputs, counted = read_texts(run), len(run_rows(run / SENTENCES))
    if (count := len(outputs.sources)) != counted:
        reason = f"it has {count:,} sentences, {SENTENCES} has {counted:,}"
        raise damaged(run / HYPOTHESES, reason)
    return outputs


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
