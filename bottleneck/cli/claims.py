"""``bottleneck claims``: the end of the study, every claim of the lecture with its verdict."""

from typing import Annotated

import typer

from .console import output
from .results import Results, Where, results_folder, say_what_is_left_out


def claims(
    results: Results = None,
    where: Where = None,
    form: Annotated[str, typer.Option("--format", help="rich, csv, markdown or json.")] = "rich",
) -> None:
    """Decide the lecture's claims from finished results, or say what would decide them."""
    from ..results.bundle import load_environment
    from ..settings.errors import UserError
    from ..tables.claims import check_format, print_claims, render
    from ..tables.decided import decide_results, holds_results

    check_format(form)
    folder = results_folder(results)
    if not folder.is_dir():
        raise UserError(f"no folder {str(folder)!r}: name one that a command of bottleneck wrote")
    decisions = decide_results(folder, where or [])
    if form != "rich":
        typer.echo(render(decisions, form), nl=False)
    else:
        print_claims(decisions, output())
    if holds_results(folder):
        say_what_is_left_out(load_environment(folder))
