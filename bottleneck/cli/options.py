"""Options that several commands share, and the settings they make."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..settings.run import RunSettings

Preset = Annotated[
    str, typer.Option(help="smoke, quick, lecture or paper: from seconds to a GPU's night.")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting; repeatable."),
]
CorpusName = Annotated[
    str | None, typer.Option("--corpus", help="grammar, copy, files, or a name of `corpus list`.")
]
Source = Annotated[
    str | None, typer.Option(help="Parallel text: source side, or a TSV of both. May be .gz.")
]
Target = Annotated[str | None, typer.Option(help="Parallel text: target side.")]
TestSource = Annotated[
    str | None, typer.Option(help="Test set, source side; without one it is split off.")
]
TestTarget = Annotated[str | None, typer.Option(help="Test set, target side.")]
TestSet = Annotated[
    str | None, typer.Option("--test", metavar="NAME", help="Test set of sacreBLEU, as wmt14.")
]
ReverseDirection = Annotated[
    bool, typer.Option("--reverse-direction", help="French to English; lengths are the French's.")
]
UpdatesTogether = Annotated[
    str, typer.Option(help="Updates sent as one program: a number, or auto (20 on a GPU, else 1).")
]
Threads = Annotated[
    str,
    typer.Option(help="Cores that train one run: a number, or auto (cores over runs)."),
]
Out = Annotated[Path | None, typer.Option(help="Output folder [default: results/runs/PRESET].")]


def number_or_auto(option: str, text: str) -> int | None:
    """The number that an option was given, from 1 up; None for ``auto``."""
    from ..settings.errors import UsageError

    if text == "auto":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{option} {text!r}: give a number from 1 up, or auto")
    return int(text)


def resolve_settings(
    preset: str, assignments: list[str] | None, corpus: dict[str, str | bool | None]
) -> "RunSettings":
    """Settings of a preset, then the corpus options that were given, then ``--set``."""
    from ..settings.run import override, parse_settings, preset_values

    values = preset_values(preset)
    given = {key: value for key, value in corpus.items() if value not in (None, False)}
    if "source" in given and "name" not in given:
        given["name"] = "files"
    values.setdefault("corpus", {}).update(given)
    return parse_settings(override(values, assignments or []))


def corpus_assignments(corpus: dict[str, str | bool | None]) -> list[str]:
    """The corpus options that were given, as ``--set`` would have them."""
    given = {key: value for key, value in corpus.items() if value not in (None, False)}
    return [f"corpus.{key}={'true' if value is True else value}" for key, value in given.items()]
