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
CorpusName = Annotated[str | None, typer.Option("--corpus", help="grammar, copy or files.")]
Source = Annotated[
    str | None, typer.Option(help="Parallel text: source side, or a TSV of both. May be .gz.")
]
Target = Annotated[str | None, typer.Option(help="Parallel text: target side.")]
TestSource = Annotated[
    str | None, typer.Option(help="Test set, source side; without one it is split off.")
]
TestTarget = Annotated[str | None, typer.Option(help="Test set, target side.")]
Out = Annotated[Path | None, typer.Option(help="Output folder [default: results/runs/PRESET].")]


def resolve_settings(
    preset: str, assignments: list[str] | None, corpus: dict[str, str | None]
) -> "RunSettings":
    """Settings of a preset, then the corpus options that were given, then ``--set``."""
    from ..settings.run import override, parse_settings, preset_values

    values = preset_values(preset)
    given = {key: value for key, value in corpus.items() if value is not None}
    if "source" in given and "name" not in given:
        given["name"] = "files"
    values.setdefault("corpus", {}).update(given)
    return parse_settings(override(values, assignments or []))
