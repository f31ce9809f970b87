"""Test sets that sacreBLEU knows by name, such as wmt14; it keeps them in a cache of its own.

Loading never goes to the network: fetching is a command of its own.
"""

import logging
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...settings.concerns import NAMED
from ...settings.errors import UsageError, UserError, did_you_mean
from .archives import BROKEN
from .download import TIMEOUT

FORTH, BACK = "en-fr", "fr-en"


def known_test_sets() -> list[str]:
    """Names of the sets with English and French, sorted."""
    from sacrebleu import DATASETS

    return sorted(name for name, held in DATASETS.items() if FORTH in held.langpairs)


def test_set_files(name: str, reverse: bool) -> tuple[str, str]:
    """English and French file of a test set, as made for a direction; of many references the first.

    Raises UsageError for a name that sacreBLEU does not know, UserError where it is not here.
    """
    dataset = _dataset(name)
    pair = BACK if reverse and BACK in dataset.langpairs else FORTH
    source, reference = _paths(dataset, pair)
    if not (source.is_file() and reference.is_file()):
        raise UserError(
            f"test set {name!r} is not on this machine; `bottleneck corpus fetch {name}` brings it"
        )
    ours, theirs = (reference, source) if pair == BACK else (source, reference)
    return str(ours), str(theirs)


def fetch_test_set(name: str) -> Path:
    """Have sacreBLEU bring a test set; returns its folder. Raises UserError in one line."""
    dataset = _dataset(name)
    folder = _paths(dataset, FORTH)[0].parent
    was_there, before = folder.exists(), _files_of(folder)
    try:
        with _quietly():
            for pair in (FORTH, BACK):
                if pair in dataset.langpairs:
                    dataset.get_files(pair)
    except BaseException as error:
        if type(error).__module__.startswith("portalocker"):  # sacreBLEU waited for a minute
            raise UserError(
                f"test set {name!r} is being fetched by another process; try again later"
            ) from None
        _undo(folder, was_there, before)
        raise _explained(name, folder if was_there else None, error) from None
    return folder


def _files_of(folder: Path) -> dict[Path, int]:
    """The files of a test set, not of those below it, and when each was last written to (ns)."""
    paths = (*folder.glob("*"), *(folder / "raw").rglob("*"))
    return {path: path.stat().st_mtime_ns for path in paths if path.is_file()}


def _undo(folder: Path, was_there: bool, before: dict[Path, int]) -> None:
    """Delete what was written since: sacreBLEU would take a half file for a whole one."""
    if not was_there:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for path, written in _files_of(folder).items():
        if before.get(path) != written:
            path.unlink(missing_ok=True)


def _dataset(name: str) -> Any:
    """sacreBLEU's own object for a test set."""
    from sacrebleu import DATASETS

    known = known_test_sets()
    if name not in known:
        raise UsageError(f"unknown test set {name!r}{did_you_mean(name, (*known, *NAMED))}")
    return DATASETS[name]


def _paths(dataset: Any, pair: str) -> tuple[Path, Path]:
    """Where sacreBLEU has the source and the first reference, there or not."""
    fields = dataset.fieldnames(pair)
    reference = next(field for field in fields if field.startswith("ref"))
    source, target = (dataset._get_txt_file_path(pair, field) for field in ("src", reference))
    return Path(source), Path(target)


@contextmanager
def _quietly() -> Iterator[None]:
    """Its messages unsaid, its waiting for a silent host limited."""
    log = logging.getLogger("sacrebleu")
    level, timeout = log.level, socket.getdefaulttimeout()
    log.setLevel(logging.CRITICAL)
    socket.setdefaulttimeout(TIMEOUT)
    try:
        yield
    finally:
        log.setLevel(level)
        socket.setdefaulttimeout(timeout)


def _explained(name: str, old: Path | None, error: BaseException) -> BaseException:
    """One line for what can go wrong; what the user did not cause is passed on.

    ``old`` is the folder that was there before, and may hold what hinders.
    """
    from http.client import HTTPException

    if isinstance(error, SystemExit):  # sacreBLEU's way to say that a file is another one
        why = "what came is not the known file"
    elif isinstance(error, (OSError, HTTPException, *BROKEN)):
        why = str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)
    else:
        return error
    hint = f" If it is, delete {str(old)!r}, then try again" if old else " Try again later"
    return UserError(f"test set {name!r} cannot be fetched ({why}); is this machine online?{hint}")
