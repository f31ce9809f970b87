"""What the shell completes: names of sweeps, presets, tables, figures, settings and the like.

Each function is asked on a press of a key: what it imports must be light.
"""

from importlib import resources
from typing import Any, get_args

BUILT_IN = ("grammar", "copy", "files")
"""Corpora that need no fetching."""


def sweeps() -> list[str]:
    """The sweeps of ``experiments/``."""
    return _experiments()


def presets() -> list[str]:
    """The presets."""
    return _experiments("presets")


def _experiments(*folders: str) -> list[str]:
    """Names of the TOML files that are installed, sorted."""
    folder = resources.files("seq2seq_bottleneck.experiments").joinpath(*folders)
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def tables() -> list[str]:
    """The tables of runs, of studies and of the benchmark."""
    from ..results.schema import BENCHMARK, STUDIES
    from ..tables.names import GOLD_TABLE, TABLES

    return [*TABLES, *STUDIES, GOLD_TABLE, BENCHMARK]


def figures() -> list[str]:
    """The figures."""
    from ..figures.names import FIGURES

    return list(FIGURES)


def studies() -> list[str]:
    """The questions."""
    from ..results.schema import ALL, BENCHMARK, STUDIES

    return [*STUDIES, BENCHMARK, ALL]


def parts() -> list[str]:
    """The parts of the whole study."""
    from ..studies.whole import PARTS, REAL

    return [part.name for part in (*PARTS, *REAL)]


def formats() -> list[str]:
    """The forms of a table."""
    from ..tables.names import FORMATS

    return list(FORMATS)


def claim_formats() -> list[str]:
    """Those of the claims."""
    return [form for form in formats() if form != "latex"]


def corpora() -> list[str]:
    """The corpora, built in and by name."""
    return [*BUILT_IN, *named_corpora()]


def named_corpora() -> list[str]:
    """The corpora that are fetched by name."""
    from ..settings.concerns import NAMED

    return list(NAMED)


def lecture_ids() -> list[str]:
    """The ids of the lecture's printed numbers."""
    from ..lecture.slides import SLIDES

    return list(SLIDES)


def columns() -> list[str]:
    """The columns of ``--where``, each with its equals sign."""
    from ..results.schema import SETTING_COLUMNS

    return [f"{name}=" for name in ("run", "group", *SETTING_COLUMNS)]


def settings() -> list[str]:
    """``SECTION.KEY=`` of every setting, and again with each of its values or with its default.

    The second one lets a shell stop behind the equals sign: behind a word that is the only one it
    puts a space.
    """
    from ..settings.run import NAMES, RunSettings

    known = RunSettings().model_dump()
    found = []
    for name, kind in NAMES.items():
        section, _, key = name.partition(".")
        values = _words(kind) or [_written(known[section][key])]
        found += [f"{name}=", *(f"{name}={value}" for value in values if value)]
    return found


def _words(kind: Any) -> list[str]:
    """The values of a setting that takes one of a few; else none."""
    if kind is bool:
        return ["true", "false"]
    return [value for value in get_args(kind) if isinstance(value, str)]


def _written(value: object) -> str:
    """A default as ``--set`` takes it; empty where the setting is not set."""
    return "" if value is None else str(value)
