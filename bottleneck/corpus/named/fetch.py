"""Bringing a named corpus to this machine: downloaded, unpacked, and moved into its place whole."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...settings.errors import UserError
from .catalogue import NamedCorpus
from .download import Arrived, Bar, download
from .places import (
    SIDES,
    SOURCE,
    corpora_folder,
    folder_of,
    intact,
    read_source,
    sha256_of,
    side_file,
)
from .unpacking import Built
from .writing import thin

Tell = Callable[[str], object]
MakeBar = Callable[[str], Bar | None]
"""A progress bar for a file by its name; None shows nothing."""
OLD = "old"
"""Name, in the folder aside, of what is being replaced."""


def fetch(
    corpus: NamedCorpus,
    limit: int | None = None,
    again: bool = False,
    tell: Tell = str,
    make_bar: MakeBar = lambda _: None,
) -> Mapping[str, Any]:
    """Make the corpus be on this machine; returns what its SOURCE.json holds.

    What is there whole is left as it is unless ``again`` or another ``limit`` (training pairs
    kept, evenly spread) asks for it anew. Until the last step all lies in a folder aside, so that
    a fetch that is cut off leaves what was there. Raises UserError in one line.
    """
    with _alone(corpus.name):
        _recover(corpus.name)
        held = read_source(corpus.name)
        if held is not None and not again and held["limit"] == limit and _whole(corpus, held):
            return held
        recorded = {each["url"]: each["sha256"] for each in (held or {"sources": ()})["sources"]}
        with _aside(corpus.name) as aside:
            arrived = []
            for remote in corpus.remotes:
                tell(f"{corpus.name}: {remote.url}")
                found = download(remote, aside, recorded.get(remote.url), make_bar(remote.name))
                arrived.append(found)
            tell(f"{corpus.name}: reading the text")
            built = corpus.unpack([each.path for each in arrived], _new(aside / "text"))
            made = _source(corpus, arrived, _limited(built, aside / "text", limit), limit)
            _describe(aside / "text", made)
            _put(aside / "text", folder_of(corpus.name), aside / OLD)
    return made


def _limited(built: Built, folder: Path, limit: int | None) -> Built:
    """The same with no more training pairs than ``limit``."""
    if limit is None:
        return built
    kept = thin(folder, built.pairs["train"], limit)
    return Built({**built.pairs, "train": kept}, built.left_out)


def _source(
    corpus: NamedCorpus, arrived: list[Arrived], built: Built, limit: int | None
) -> dict[str, Any]:
    """What SOURCE.json says, without the hashes of the text files."""
    vouched = {remote.url: remote.sha256 is not None for remote in corpus.remotes}
    return {
        "name": corpus.name,
        "text": corpus.text,
        "licence": corpus.licence,
        "citation": corpus.citation,
        "fetched": datetime.now(UTC).date().isoformat(),
        "sources": [
            {"url": each.url, "sha256": each.sha256, "known": vouched[each.url]} for each in arrived
        ],
        "pairs": dict(built.pairs),
        "left_out": dict(built.left_out),
        "limit": limit,
    }


def _describe(folder: Path, made: dict[str, Any]) -> None:
    """Add the hashes of the text files, and write it all beside them."""
    paths = [side_file(folder, split, side) for split in made["pairs"] for side in SIDES]
    made["files"] = {path.name: sha256_of(path) for path in paths}
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    (folder / SOURCE).write_text(text, encoding="utf8")


def _whole(corpus: NamedCorpus, held: Mapping[str, Any]) -> bool:
    """Whether all files of the corpus are there as they were written."""
    return all(intact(folder_of(corpus.name) / name, held) for name in held["files"])


def _new(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _put(made: Path, place: Path, old: Path) -> None:
    """Move a whole folder to its place, in two renames where there is an old one."""
    if not place.exists():
        made.rename(place)
        return
    try:
        place.rename(old)
        made.rename(place)
    except BaseException:
        if not place.exists():
            old.rename(place)
        raise


def _recover(name: str) -> None:
    """Clear up after a process that was killed; what it had moved aside goes back to its place."""
    aside = _aside_folder(name)
    if (aside / OLD).is_dir() and not folder_of(name).exists():
        (aside / OLD).rename(folder_of(name))
    shutil.rmtree(aside, ignore_errors=True)


def _aside_folder(name: str) -> Path:
    return corpora_folder() / f".{name}.part"


@contextmanager
def _aside(name: str) -> Iterator[Path]:
    """An empty folder for what is not whole yet; with all that is in it, it goes at the end."""
    aside = _aside_folder(name)
    try:
        yield _new(aside)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Hold the corpus: two fetches of one come one after the other. Tell what the disk refuses."""
    from filelock import FileLock

    folder = corpora_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f".{name}.lock"):
            yield
    except OSError as error:
        where = error.filename or str(folder)
        raise UserError(
            f"cannot write {str(where)!r}: {error.strerror or error}; the cache folder is "
            "XDG_CACHE_HOME, else ~/.cache"
        ) from None
