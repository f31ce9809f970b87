"""``bottleneck bench``: what a training step costs, in time and memory (C9)."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..results.schema import BENCHMARK
from ..settings.errors import counted
from .console import print_pages, say
from .options import MOST_THREADS, Form, Quiet
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    from ..bench.measure import Points, Row, Sizes

OUT = DEFAULT_OUT / "bench"
REPEATS, QUICK_REPEATS = 5, 3


def bench(
    out: Annotated[Path, typer.Option(help="Output folder.")] = OUT,
    vary: Annotated[
        str,
        typer.Option(
            metavar="NAME[=N,N..],..",
            help="length, context, batch, vocabulary; with sizes of your own: length=10,100.",
        ),
    ] = "length,context,batch,vocabulary",
    arms: Annotated[
        str | None,
        typer.Option(
            metavar="ARM,..",
            help="Attentions, with -output for Luong's placement "
            "[default: none, additive, dot, dot-output].",
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Groups of steps that are timed [default: 5].")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few sizes: in a few minutes.")] = False,
    threads: Annotated[
        int, typer.Option(min=1, max=MOST_THREADS, help="Threads of XLA on one device.")
    ] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the points and stop.")] = False,
    quiet: Quiet = False,
    form: Form = "rich",
) -> None:
    """Measure the cost of a training step by length, context, batch."""
    from ..bench import measure
    from ..tables.page import check_format

    check_format(form)
    default = measure.QUICK_ARMS if quick else measure.DEFAULT_ARMS
    chosen = measure.parse_arms(default if arms is None else arms)
    variation = measure.QUICK if quick else measure.DEFAULT
    points = measure.points(measure.parse_variation(vary, variation))
    if dry_run:
        say("\n".join(sizes.name for sizes in points))
        arms = f"{counted(len(chosen), 'arm')} ({', '.join(chosen)})"
        say(f"{counted(len(points), 'point')} x {arms}")
        return
    repeats = repeats or (QUICK_REPEATS if quick else REPEATS)
    _measure(points, chosen, repeats, threads, out, quiet)
    print_benchmark(out, form, {})
    say(f"Written to {out / 'probes' / f'{BENCHMARK}.csv'}", err=True)


def print_benchmark(
    results: Path | None, form: str, options: Mapping[str, Any], details: bool = False
) -> None:
    """The benchmark's tables (C9) of a folder.

    ``options`` are those that choose or train runs, with their values: one that was given is a
    ``UsageError``.
    """
    from ..settings.errors import UsageError
    from ..tables.pages import study_pages

    if given := [name for name, value in options.items() if value]:
        raise UsageError(
            f"{BENCHMARK} is about no runs that {given[0]} could choose or train: `bottleneck "
            "bench` has options for what it measures"
        )
    print_pages(study_pages(BENCHMARK, results or OUT), form, details)


def _measure(
    points: "Points", arms: Sequence[str], repeats: int, threads: int, out: Path,
    quiet: bool,
) -> None:  # fmt: skip
    """Measure all points and write the file; an interrupt writes nothing."""
    from ..bench.measure import measure, write
    from ..settings.files import check_writable, remove_empty, topmost_missing
    from .progress import clock

    created, start, done = topmost_missing(out), time.monotonic(), []
    check_writable(out)

    def listener(sizes: "Sizes", rows: "Sequence[Row]") -> None:
        done.append(sizes)
        left = (time.monotonic() - start) / len(done) * (len(points) - len(done))
        steps = ", ".join(
            f"{row['arm']} " + (row["reason"] or f"{1e3 * row['seconds']:,.1f} ms") for row in rows
        )
        if not quiet:
            status = f"{len(done)} of {len(points)} points, about {clock(left)} left"
            say(f"{sizes.name}: {steps} ({status})", err=True)

    try:
        write(out, measure(points, arms, repeats, threads, listener))
    finally:
        if created is not None:
            remove_empty(created)
