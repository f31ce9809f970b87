"""Reading a results bundle: checked, typed data frames; nothing here imports jax."""

import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..settings.errors import UserError
from ..settings.run import RunSettings, parse_settings
from .export import environment, runs_text, sentences_text
from .folders import finished_runs, read_groups, read_json
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
        if (self.folder / EXAMPLES).is_file():
            return read_json(self.folder / EXAMPLES)
        return {run.name: read_json(run / EXAMPLES) for run in finished_runs(self.folder)}


def load_bundle(folder: Path) -> Bundle:
    """Read a bundle, or the finished runs of a store; faults are a ``UserError`` with the file."""
    if not (folder / RUNS).exists() and (runs := finished_runs(folder)):
        return _from_store(folder, runs)
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


def load_results(folder: str | Path) -> pd.DataFrame:
    """The tidy table of a bundle or a store: a row a run x bucket, columns as in ``schema``."""
    return load_bundle(Path(folder)).runs


def tidy_csv(runs: pd.DataFrame) -> str:
    """The tidy table as CSV: every digit, blanks where there is nothing, Unix line ends."""
    return runs.to_csv(index=False, lineterminator="\n")


def _from_store(folder: Path, runs: Sequence[Path]) -> Bundle:
    """The same from run folders, nothing written."""
    return Bundle(
        folder,
        _parse(io.StringIO(runs_text(runs, read_groups(folder))), RUN_COLUMNS),
        _parse(io.StringIO(sentences_text(runs)), SENTENCE_COLUMNS),
        environment(runs),
    )


def _read_table(path: Path, columns: Mapping[str, str]) -> pd.DataFrame:
    """Read a CSV file of the bundle."""
    try:
        return _parse(path, columns)
    except FileNotFoundError:
        raise UserError(f"no {path.name} in {str(path.parent)!r}: it is no whole bundle") from None
    except (OSError, EOFError, ValueError, KeyError, zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{str(path)!r} cannot be read ({reason}); export it again") from None


def _parse(source: Path | io.StringIO, columns: Mapping[str, str]) -> pd.DataFrame:
    """CSV with the documented columns and types; blanks are missing values."""
    kinds = {name: _NULLABLE.get(kind, kind) for name, kind in columns.items()}
    frame = pd.read_csv(source, dtype=kinds, keep_default_na=False, na_values=[""])
    frame = frame[list(columns)]
    texts = [name for name, kind in columns.items() if kind == "str"]
    return frame.fillna(dict.fromkeys(texts, ""))
