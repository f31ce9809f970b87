"""Where named corpora lie on this machine: one folder each, whole or not there at all."""

import json
from collections.abc import Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

from ...settings.errors import UserError
from ...settings.machine import cache_root
from ...settings.names import is_name

NOTHING_KEPT = (
    "nothing was kept: the host may have changed the file, so try later or take another corpus "
    "of `bottleneck corpus list`"
)
"""What becomes of a download that is not as it should be, and the way out."""

SOURCE = "SOURCE.json"
"""Where a corpus came from, and what is in its files."""
SIDES = ("en", "fr")
"""Languages of the two files of a split, English first."""
_RECORDED = {
    **dict.fromkeys(("name", "licence", "citation", "fetched"), str),
    **dict.fromkeys(("pairs", "left_out", "files"), dict),
    "sources": list,
}


def corpora_folder() -> Path:
    """The folder of all named corpora, in the user's cache; a UserError where there is none."""
    root = cache_root()
    if root is None:
        raise UserError("your home folder is not known: name one for corpora, XDG_CACHE_HOME=DIR")
    return root / "corpora"


def folder_of(name: str) -> Path:
    """The folder of one corpus."""
    return corpora_folder() / name


def side_file(folder: Path, split: str, side: str) -> Path:
    """One language of a split: ``train.en.gz``."""
    return folder / f"{split}.{side}.gz"


def read_source(name: str) -> Mapping[str, Any] | None:
    """What is recorded of a corpus, None where it is not on this machine.

    Raises UserError where the record is damaged or cannot be read.
    """
    if cache_root() is None:
        return None
    path = folder_of(name) / SOURCE
    try:
        held = json.loads(path.read_text(encoding="utf8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UserError(
            f"{str(path)!r} cannot be read ({error.strerror}); check its rights"
        ) from None
    except ValueError:
        held = None
    if not _is_record(held):
        raise UserError(f"{str(path)!r} is damaged; delete its folder and fetch {name!r} again")
    return held


def _is_record(held: object) -> bool:
    """Whether this is what a fetch writes down."""
    return (
        isinstance(held, dict)
        and "limit" in held
        and all(isinstance(held.get(key), kind) for key, kind in _RECORDED.items())
        and all(map(is_name, held["files"]))
    )


def intact(path: Path, held: Mapping[str, Any]) -> bool:
    """Whether a file of a corpus is there as it was written."""
    return path.is_file() and sha256_of(path) == held["files"].get(path.name)


def sha256_of(path: Path) -> str:
    """The hash of a file, in hex digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def split_files_of(name: str, split: str) -> tuple[str, str] | None:
    """English and French file of a split, None where the corpus has no such split.

    Raises UserError where the corpus is not on this machine, or these files are not as they were
    fetched.
    """
    held = read_source(name)
    if held is None:
        raise UserError(
            f"corpus {name!r} is not on this machine; `bottleneck corpus fetch {name}` brings it"
        )
    if split not in held["pairs"]:
        return None
    english, french = (side_file(folder_of(name), split, side) for side in SIDES)
    for path in (english, french):
        if not intact(path, held):
            raise UserError(
                f"{str(path)!r} is missing or is not as it was fetched; "
                f"`bottleneck corpus fetch {name}` brings it anew"
            )
    return str(english), str(french)
