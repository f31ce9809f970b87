"""``bottleneck claims``: the end of the study, every claim of the lecture with its verdict."""

from shlex import quote
from typing import Annotated

import typer

from .console import output, say
from .options import Where
from .results import Results, results_folder, say_what_is_left_out


def claims(
    results: Results = None,
    where: Where = None,
    form: Annotated[
        str,
        typer.Option("--format", help="Output format: rich, csv, markdown or json."),
    ] = "rich",
) -> None:
    """Decide the lecture's claims, or say what would decide them."""
    from ..results.discovery import find_runs
    from ..settings.errors import UserError
    from ..tables.claims import check_format, print_claims, render
    from ..tables.decided import bundle_of, decide_results

    check_format(form)
    folder = results_folder(results)
    if not folder.is_dir():
        raise UserError(
            f"{str(folder)!r} is not a folder: name one that `bottleneck reproduce` or "
            "`bottleneck sweep` wrote"
        )
    bundle = bundle_of(folder)
    decisions = decide_results(folder, where or [], bundle)
    if form != "rich":
        say(render(decisions, form), nl=False)
    else:
        print_claims(decisions, output())
    if bundle is not None:
        say_what_is_left_out(bundle.environment)
    elif not any(each.measured for each in decisions):
        way = "name a folder that `bottleneck reproduce` or `bottleneck sweep` wrote"
        if find_runs(folder).any or not any(folder.iterdir()):
            way = f"`bottleneck reproduce --out {quote(str(folder))}` makes some there"
        say(f"{str(folder)!r} holds no results: {way}", err=True)
