"""``bottleneck export`` and ``bottleneck table``: results as files and tables, jax not needed."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..results.schema import BENCHMARK
from ..settings.errors import counted
from .bench import print_benchmark
from .console import print_names, say, show
from .listing import table_lines, tables
from .options import Details, Form, Where
from .reproduce import DEFAULT_OUT

Results = Annotated[
    Path | None,
    typer.Option(help="A folder of results [default: the latest]."),
]


def export(
    results: Results = None,
    where: Where = None,
    bundle: Annotated[
        Path | None, typer.Option(help="Write all results as a bundle into this folder.")
    ] = None,
    without_text: Annotated[
        bool,
        typer.Option(
            "--without-text", help="Leave every sentence of the corpus out of the bundle."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Write the CSV to this file.")
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Write every table and figure, the claims and the page next to the results.",
        ),
    ] = False,
) -> None:
    """Print the tidy CSV, or write all tables and figures."""
    from ..results.bundle import load_bundle, tidy_csv
    from ..settings.atomic import write_text
    from ..tables.selection import where as narrowed

    if everything:
        others = {"--where": where, "--bundle": bundle, "-o": out}
        _write_all(results, others | {"--without-text": without_text})
        return
    _check_written(out, bundle, without_text)
    folder = results_folder(results)
    chosen = narrowed(load_bundle(folder, sentences=False), where or [])
    if bundle is not None:
        _write_bundle(folder, set(chosen.runs["run"]), bundle, not without_text)
    elif out is not None:
        write_text(out, tidy_csv(chosen.runs))
        say(f"Written to {out}: {counted(len(chosen.runs), 'row')}", err=True)
    else:
        say(tidy_csv(chosen.runs), nl=False)
    say_what_is_left_out(chosen.environment)


def _write_all(results: Path | None, others: Mapping[str, object]) -> None:
    """Write out a folder and those inside it in their place; other options have no say in it."""
    from ..report.export_all import CLAIMS, CONTENTS, REPORT, write_end, write_out
    from ..results.discovery import find_runs, results_inside
    from ..results.folders import STORE
    from ..results.probes import tables as measured
    from ..runs.sweep import gather
    from ..settings.atomic import check_place
    from ..settings.errors import UsageError
    from ..tables.decided import holds_results

    if given := [name for name, value in others.items() if value]:
        raise UsageError(f"--all writes all of the results beside them: leave {given[0]} out")
    folder = from_here(results_folder(results))
    check_place(folder)
    if find_runs(folder).any and not (folder / STORE).is_dir():
        raise UsageError(
            f"{str(folder)!r} is a store of runs: name the folder that it is in, where the tables "
            "and figures are to be"
        )
    places = [folder] if holds_results(folder) or measured(folder) else []
    for place in (*places, *results_inside(folder)):
        gather(place, {})
        written = write_out(place)
        parts = [counted(len(written.tables), "table"), counted(len(written.figures), "figure")]
        if written.missing:
            parts.append(f"{len(written.missing)} left out")
        say(f"{place}: {', '.join(parts)} ({CONTENTS})")
    summary, size = write_end(folder)
    say(f"{folder}: {CLAIMS}.md, {CLAIMS}.csv; {REPORT}, {size / 1e6:.2f} MB; {summary}")


def _check_written(out: Path | None, bundle: Path | None, without_text: bool) -> None:
    """Refuse what cannot be written, or makes no sense, before anything is read."""
    from ..results.export import check_output
    from ..settings.atomic import check_place
    from ..settings.errors import UsageError

    if out is not None and bundle is not None:
        raise UsageError("-o names a file for the CSV, which --bundle writes too: give one of them")
    if without_text and bundle is None:
        raise UsageError("--without-text is of a bundle: name its folder with --bundle")
    if out is not None:
        check_output(out)
    if bundle is not None:
        check_place(bundle)


def _write_bundle(folder: Path, chosen: set[str], bundle: Path, text: bool) -> None:
    from ..results.discovery import finished_runs
    from ..results.export import check_bundle, write_bundle
    from ..results.folders import read_groups
    from ..settings.errors import UserError

    runs = [run for run in finished_runs(folder) if run.name in chosen]
    if not runs:
        raise UserError(
            f"{str(folder)!r} holds no finished run, and a bundle is made from these: name the "
            "folder of a store with --results"
        )
    check = partial(check_bundle, bundle, {run.name for run in runs}, runs[0].parent)
    check()  # before anything is made there
    lacking = write_bundle(runs, bundle, read_groups(folder), text, check)
    say(f"Written to {bundle}: {counted(len(runs), 'run')}", err=True)
    if lacking:
        say(
            f"Not in it, for they rest on runs that are left out: {', '.join(lacking)} "
            "(`bottleneck study` with the same --where measures the chosen ones alone)",
            err=True,
        )


def say_what_is_left_out(held: Mapping[str, Any]) -> None:
    """What the store has and the tidy table has not, a line each."""
    from ..results.bundle import other_versions, without_result

    for line in filter(None, (other_versions(held), without_result(held))):
        say(line, err=True)


def table(
    name: Annotated[
        str,
        typer.Argument(help="Which table. Without a name, list them.", autocompletion=tables),
    ] = "",
    results: Results = None,
    form: Form = "rich",
    where: Where = None,
    details: Details = False,
) -> None:
    """Print a table of finished runs and its verdicts."""
    if not name:
        print_names(table_lines())
        return
    from ..results.bundle import load_bundle
    from ..tables.page import check_format
    from ..tables.pages import check_name, make_page
    from ..tables.selection import where as narrowed

    check_name(name)
    check_format(form)
    if name == BENCHMARK:
        print_benchmark(results, form, {"--where": where}, details)
        return
    bundle = narrowed(load_bundle(results_folder(results)), where or [])
    show(make_page(name, bundle), form, details)


def from_here(folder: Path) -> Path:
    """A folder by its path from the working one where it lies in it: as files may name it."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def told_folder(folder: Path, results: Path | None) -> str:
    """A folder of `results_folder`, and where nobody named it, how to name another."""
    return f"{folder}{'' if results is not None else ' (the latest; --results names others)'}"


def results_folder(results: Path | None) -> Path:
    """The folder that was named, else the one written last."""
    from ..results.discovery import latest_output
    from ..results.folders import check_named

    if results is None:
        return latest_output(DEFAULT_OUT)
    check_named(results)
    return results
