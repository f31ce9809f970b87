"""``bottleneck translate``: a sentence through the trained arms."""

from pathlib import Path
from typing import Annotated

import typer

from .reproduce import DEFAULT_OUT


def translate(
    sentence: Annotated[str, typer.Argument(help="An English sentence.")],
    run: Annotated[
        Path | None,
        typer.Option(help="Folder of a run or reproduction [default: latest in results/runs]."),
    ] = None,
) -> None:
    """Translate a sentence with the latest runs, every arm there is."""
    from ..runs.environment import use_cache
    from ..runs.stored import arms, latest_output
    from ..runs.translate import load_run
    from ..settings.errors import UsageError

    if not sentence.strip():
        raise UsageError("the sentence is empty; write it in quotes")
    found = arms(run if run is not None else latest_output(DEFAULT_OUT))
    use_cache()
    width = max(len(name) for name in found)
    unknown: list[str] = []
    for name, folder in sorted(found.items(), reverse=True):
        trained = load_run(folder)
        unknown = trained.unknown(sentence)
        typer.echo(f"{name:<{width}}  {trained.translate([sentence])[0]}")
    if unknown:
        typer.echo(f"not in the training vocabulary: {', '.join(unknown)}", err=True)
