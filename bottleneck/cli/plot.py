"""``bottleneck plot``: a figure for a slide, with its numbers beside it; jax not needed."""

from pathlib import Path
from typing import Annotated

import typer

from .results import Results, Where, results_folder


def plot(
    name: Annotated[str, typer.Argument(help="Which figure; without a name they are listed.")] = "",
    results: Results = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File, .png, .svg or .pdf [default: NAME.png]."),
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="For a dark slide.")] = False,
    where: Where = None,
) -> None:
    """Draw one figure of finished results; the numbers in it go beside it as CSV."""
    from ..figures.files import check_ending, write_figure
    from ..figures.registry import FIGURES, check_name, make_figure

    if not name:
        typer.echo("\n".join(FIGURES))
        return
    path = out or Path(f"{name}.png")
    check_name(name, where or [])
    check_ending(path)
    figure, data = make_figure(name, results_folder(results), dark=dark, where=where or [])
    numbers = write_figure(figure, data, path)
    typer.echo(f"{path}: its numbers are in {numbers}")
