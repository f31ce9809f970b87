"""Options that several commands share, and the settings they make."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .listing import presets

if TYPE_CHECKING:
    from ..settings.run import RunSettings

Preset = Annotated[
    str,
    typer.Option(
        help="smoke, quick, lecture, capacity, real or paper: from seconds to a night on a GPU.",
        autocompletion=presets,
    ),
]
OtherPreset = Annotated[
    str | None,
    typer.Option(help="Use this preset in place of the file's.", autocompletion=presets),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SECTION.KEY=VALUE",
        help="Change one setting. Can be repeated.",
    ),
]
CorpusName = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        help="grammar, copy, files, or a name from `corpus list`.",
    ),
]
Source = Annotated[
    str | None,
    typer.Option(help="Parallel text: the source side, or a TSV with both. May be .gz."),
]
Target = Annotated[str | None, typer.Option(help="Parallel text: the target side.")]
TestSource = Annotated[
    str | None,
    typer.Option(help="Test set, source side [default: split off from the text]."),
]
TestTarget = Annotated[str | None, typer.Option(help="Test set, target side.")]
TestSet = Annotated[
    str | None,
    typer.Option(
        "--test",
        metavar="NAME",
        help="Test on this corpus (a name from `corpus list`).",
    ),
]
ReverseDirection = Annotated[
    bool,
    typer.Option(
        "--reverse-direction",
        help="Translate French to English. Lengths are then those of the French.",
    ),
]
MOST_THREADS = 1_024
"""Of one run: more than machines have cores, and few enough to be started."""
Threads = Annotated[
    str,
    typer.Option(
        help="Cores per run: a number, or auto (cores divided by runs).",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, max=9_999, help="How many runs go at once [default: one per core]."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=VALUE", help="Use only these runs. Can be repeated."),
]
Form = Annotated[
    str,
    typer.Option("--format", help="Output format: rich, csv, markdown, latex or json."),
]
Details = Annotated[
    bool,
    typer.Option("--details", help="Print the rules, the schedule and the rest, too."),
]
OneRunOrMore = Annotated[
    Path | None,
    typer.Option(
        "--results",
        "--run",
        help="A results folder, or the folder of one run [default: the latest].",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress.")]
Out = Annotated[Path | None, typer.Option(help="Output folder [default: results/runs/PRESET].")]


def check_sentence(sentence: str) -> None:
    """Refuse a sentence of nothing, and bytes that the shell handed on and nobody can print.

    Raises UsageError.
    """
    from ..settings.errors import UsageError

    if not sentence.strip():
        raise UsageError("the sentence is empty; write it in quotes")
    try:
        sentence.encode()
    except UnicodeEncodeError:
        raise UsageError("the sentence is not UTF-8; write it in UTF-8") from None


def number_or_auto(option: str, text: str, most: int = 999_999) -> int | None:
    """The number that an option was given, from 1 up; None for ``auto``, else a ``UsageError``."""
    from ..settings.errors import UsageError, quoted

    if text == "auto":
        return None
    if not text.isdecimal() or len(text) > 6 or not 1 <= int(text) <= most:
        raise UsageError(f"{option} {quoted(text)}: give a number from 1 to {most:,}, or auto")
    return int(text)


def resolve_settings(
    preset: str, assignments: list[str] | None, corpus: dict[str, str | bool | None]
) -> "RunSettings":
    """Settings of a preset, then the corpus options that were given, then ``--set``."""
    from ..settings.run import override, parse_settings, preset_values

    values = preset_values(preset)
    values.setdefault("corpus", {}).update(_given(corpus))
    return parse_settings(override(values, assignments or []))


def corpus_settings(corpus: dict[str, str | bool | None]) -> dict[str, str | bool]:
    """The corpus options that were given, by the full names of their settings."""
    return {f"corpus.{key}": value for key, value in _given(corpus).items()}


def _given(corpus: dict[str, str | bool | None]) -> dict[str, str | bool]:
    """The options that were given; a text without a corpus is ``files``."""
    given = {key: value for key, value in corpus.items() if value not in (None, False)}
    return {"name": "files"} | given if "source" in given else given
