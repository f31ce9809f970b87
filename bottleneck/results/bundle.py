"""Reading a results bundle: checked, typed data frames; nothing here imports jax."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..settings.errors import UserError
from ..settings.run import RunSettings, parse_settings
from .schema import (
    ENVIRONMENT,
    EXAMPLES,
    RUN_COLUMNS,
    RUNS,
    SENTENCE_COLUMNS,
    SENTENCES,
    VERSION,
)

_NULLABLE = {"int64": "Int64", "bool": "boolean"}


@dataclass(frozen=True, eq=False)
class Bundle:
    """A results bundle in memory: see ``schema`` for its columns."""

    folder: Path
    runs: pd.DataFrame
    sentences: pd.DataFrame
    environment: Mapping[str, Any]

    def settings(self, run: str) -> RunSettings:
        """The resolved settings of a run."""
        return parse_settings(self.environment["runs"][run]["settings"])

    def facts(self, run: str) -> Mapping[str, Any]:
        """What the run ran on: versions, machine, and what became of its corpus."""
        return self.environment["runs"][run]["environment"]

    def examples(self) -> Mapping[str, Any]:
        """Example sentences of each run, with attention weights."""
        return read_json(self.folder / EXAMPLES)


def load_bundle(folder: Path) -> Bundle:
    """Read a bundle; a missing, damaged or newer one is a ``UserError`` that names the file."""
    environment = read_json(folder / ENVIRONMENT)
    if environment.get("schema") != VERSION:
        raise UserError(
            f"{str(folder)!r} has results of schema {environment.get('schema')}, this program "
            f"reads {VERSION}; use the version of bottleneck that wrote them"
        )
    return Bundle(
        folder,
        _read_table(folder / RUNS, RUN_COLUMNS),
        _read_table(folder / SENTENCES, SENTENCE_COLUMNS),
        environment,
    )


def read_json(path: Path) -> Any:
    """Read one JSON file of a bundle or a run."""
    try:
        return json.loads(path.read_text(encoding="utf8"))
    except FileNotFoundError:
        raise UserError(
            f"no {path.name} in {str(path.parent)!r}: name a folder that `bottleneck reproduce` "
            "wrote"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"{str(path)!r} cannot be read ({error}); make it again") from None


def _read_table(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read a CSV file with the documented columns and types; blanks are missing values."""
    kinds = {name: _NULLABLE.get(kind, kind) for name, kind in columns.items()}
    try:
        return pd.read_csv(path, dtype=kinds, keep_default_na=False, na_values=[""])[list(columns)]
    except FileNotFoundError:
        raise UserError(f"no {path.name} in {str(path.parent)!r}: it is no whole bundle") from None
    except (OSError, EOFError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{str(path)!r} cannot be read ({reason}); export it again") from None
