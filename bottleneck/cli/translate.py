"""``bottleneck translate``: a sentence through the trained arms."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import output
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    from ..runs.translate import TrainedRun


def translate(
    sentence: Annotated[str, typer.Argument(help="An English sentence.")],
    run: Annotated[
        Path | None,
        typer.Option(help="Folder of a run or reproduction [default: latest in results/runs]."),
    ] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Beam size, 1 for greedy [default: the run's own].")
    ] = None,
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Show the attention weights behind each word.")
    ] = False,
) -> None:
    """Translate a sentence with the latest runs, every arm there is."""
    from dataclasses import replace

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
        if beam is not None:
            decoding = {"beam_size": beam}
            trained = replace(trained, settings=trained.settings.changed(decoding=decoding))
        typer.echo(f"{name:<{width}}  {trained.translate([sentence])[0]}")
        if alignment:
            _show_weights(trained, sentence)
    if unknown:
        typer.echo(f"not in the training vocabulary: {', '.join(unknown)}", err=True)


def _show_weights(trained: "TrainedRun", sentence: str) -> None:
    """A heatmap: the output's words down, the source's across."""
    from ..runs.attention import translate_attended
    from ..tables.heatmap import LEGEND, heatmap

    if trained.settings.model.attention == "none":
        typer.echo("  (reads the last state alone: there are no weights to show)\n")
        return
    found = translate_attended(trained, sentence, trained.settings.decoding)
    lines = heatmap(found.source, found.output, found.weights, output().width)
    typer.echo("\n".join(["", *lines, "", LEGEND, ""]))
