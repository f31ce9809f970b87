"""``bottleneck export`` and ``bottleneck table``: results as files and tables, jax not needed."""

from pathlib import Path
from typing import Annotated

import typer

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
    folder = results_folder(results)
    if bundle is None:
        from ..results.bundle import load_results
        from ..results.frames import tidy_csv

        typer.echo(tidy_csv(load_results(folder)), nl=False)
        return
    from ..results.export import write_bundle
    from ..results.folders import finished_runs, read_groups
    from ..settings.errors import UserError

    runs = finished_runs(folder)
    if not runs:
        raise UserError(f"{str(folder)!r} holds no finished run; a bundle is made from a store")
    write_bundle(runs, bundle, read_groups(folder))
    typer.echo(f"Written to {bundle}: {len(runs)} runs", err=True)


def results_folder(results: Path | None) -> Path:
    """The folder that was named, else the one written last."""
    from ..runs.stored import latest_output

    return latest_output(DEFAULT_OUT) if results is None else results
