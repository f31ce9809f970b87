"""``bottleneck export`` and ``bottleneck table``: results as files and tables, jax not needed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .console import output
from .reproduce import DEFAULT_OUT

Results = Annotated[
    Path | None,
    typer.Option(help="A results bundle, a sweep's folder or a store [default: the latest]."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN=VALUE", help="Only these runs; repeatable."),
]


def export(
    results: Results = None,
    bundle: Annotated[
        Path | None, typer.Option(help="Write the whole results bundle into this folder.")
    ] = None,
) -> None:
    """Print the one tidy CSV, a row a run and bucket; or write the whole bundle."""
    from ..results.bundle import load_environment, load_results, tidy_csv

    folder = results_folder(results)
    if bundle is None:
        typer.echo(tidy_csv(load_results(folder)), nl=False)
    else:
        _write_bundle(folder, bundle)
    _say_what_is_left_out(load_environment(folder))


def _write_bundle(folder: Path, bundle: Path) -> None:
    from ..results.export import write_bundle
    from ..results.folders import finished_runs, read_groups
    from ..settings.errors import UserError

    runs = finished_runs(folder)
    if not runs:
        raise UserError(f"{str(folder)!r} holds no finished run; a bundle is made from a store")
    write_bundle(runs, bundle, read_groups(folder))
    typer.echo(f"Written to {bundle}: {len(runs)} runs", err=True)


def _say_what_is_left_out(held: Mapping[str, Any]) -> None:
    """What the store has and the tidy table has not, a line each."""
    from ..results.bundle import other_versions, without_result

    for line in filter(None, (other_versions(held), without_result(held))):
        typer.echo(line, err=True)


def table(
    name: Annotated[
        str, typer.Argument(help="failure-pattern, vindication, context-size or compression.")
    ],
    results: Results = None,
    form: Annotated[
        str, typer.Option("--format", help="rich, csv, markdown, latex or json.")
    ] = "rich",
    where: Where = None,
) -> None:
    """Print one table of finished results, with its verdicts and caption."""
    from ..results.bundle import load_bundle
    from ..tables.pages import make_page, print_page, render
    from ..tables.selection import where as narrowed

    bundle = narrowed(load_bundle(results_folder(results)), where or [])
    page = make_page(name, bundle)
    if form != "rich":
        typer.echo(render(page, form), nl=False)
        return
    print_page(page, output())


def results_folder(results: Path | None) -> Path:
    """The folder that was named, else the one written last."""
    from ..runs.stored import latest_output

    return latest_output(DEFAULT_OUT) if results is None else results
