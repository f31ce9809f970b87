"""Where named corpora lie on this machine: one folder each, whole or not there at all."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...settings.errors import UserError

SOURCE = "SOURCE.json"
"""Where a corpus came from, and what is in its files."""
SIDES = ("en", "fr")
"""Languages of the two files of a split, English first."""


def corpora_folder() -> Path:
    """The folder of all named corpora, in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "seq2seq-bottleneck" / "corpora"


def folder_of(name: str) -> Path:
    """The folder of one corpus."""
    return corpora_folder() / name


def side_file(folder: Path, split: str, side: str) -> Path:
    """One language of a split: ``train.en.gz``."""
    return folder / f"{split}.{side}.gz"


def read_source(name: str) -> Mapping[str, Any] | None:
    """What is recorded of a corpus, None where it is not on this machine."""
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
    if not isinstance(held, dict) or not {"pairs", "files", "sources"} <= held.keys():
        raise UserError(f"{str(path)!r} is damaged; delete its folder and fetch {name!r} again")
    return held


def split_files_of(name: str, split: str) -> tuple[str, str] | None:
    """English and French file of a split, None where the corpus has no such split.

    Raises UserError where the corpus is not on this machine.
    """
    held = read_source(name)
    if held is None:
        raise UserError(f"corpus {name!r} is not on this machine; bottleneck corpus fetch {name}")
    if split not in held["pairs"]:
        return None
    english, french = (str(side_file(folder_of(name), split, side)) for side in SIDES)
    return english, french
