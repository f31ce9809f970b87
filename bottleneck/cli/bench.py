"""``bottleneck bench``: what a training step costs, in time and memory (C9)."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ..results.schema import BENCHMARK
from ..settings.errors import UsageError, counted
from ..settings.files import check_place
from ..settings.machine import DEFAULT_OUT
from .console import say, show
from .options import MOST_THREADS, Form, Quiet

if TYPE_CHECKING:
    from ..questions.benchmark import Row, Sizes

OUT = DEFAULT_OUT / "bench"


def bench(
    out: Annotated[Path, Option(help="Output folder.")] = OUT,
    vary: Annotated[
        str,
        Option(
            metavar="NAME[=N,N..],..",
            help="length, context, batch, vocabulary; with sizes of your own: length=10,100.",
        ),
    ] = "length,context,batch,vocabulary",
    arms: Annotated[
        str | None,
        Option(
            metavar="ARM,..",
            help="Attentions, with -output for Luong's placement "
            "[default: none, additive, dot, dot-output].",
        ),
    ] = None,
    repeats: Annotated[
        int | None, Option(min=1, help="Groups of steps that are timed [default: 5].")
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Few sizes: in a few minutes.")] = False,
    threads: Annotated[
        int, Option(min=1, max=MOST_THREADS, help="Threads of XLA on one device.")
    ] = 1,
    dry_run: Annotated[bool, Option("--dry-run", help="Print the points and stop.")] = False,
    quiet: Quiet = False,
    form: Form = "rich",
) -> None:
    """Measure the cost of a training step by length, context, batch."""
    from ..questions import benchmark
    from .progress import time_left

    names = benchmark.parse_arms(
        (benchmark.QUICK_ARMS if quick else benchmark.DEFAULT_ARMS) if arms is None else arms
    )
    variation = benchmark.QUICK if quick else benchmark.DEFAULT
    points = benchmark.points(benchmark.parse_variation(vary, variation))
    if dry_run:
        say("\n".join(sizes.name for sizes in points))
        say(f"{counted(len(points), 'point')} x {counted(len(names), 'arm')} ({', '.join(names)})")
        return
    start, done = time.monotonic(), []

    def listen(sizes: "Sizes", rows: "Sequence[Row]") -> None:
        done.append(sizes)
        left = time_left(time.monotonic() - start, len(done), len(points))
        steps = ", ".join(
            f"{row['arm']} " + (row["reason"] or f"{1e3 * row['seconds']:,.1f} ms") for row in rows
        )
        if not quiet:
            say(f"{sizes.name}: {steps} ({len(done)} of {len(points)} points{left})", err=True)

    check_place(out)
    repeats = repeats or (3 if quick else 5)
    benchmark.write(out, benchmark.measure(points, names, repeats, threads, listen))
    show_benchmark(out, form, {})
    say(f"Written to {out / 'probes' / f'{BENCHMARK}.csv'}", err=True)


def show_benchmark(
    results: Path | None, form: str, options: Mapping[str, Any], details: bool = False
) -> None:
    """Print the benchmark's tables (C9) of a folder.

    ``options`` are those that choose or train runs, with their values: one that was given is a
    ``UsageError``.
    """
    from ..tables.pages import study_pages

    if given := [name for name, value in options.items() if value]:
        raise UsageError(
            f"{BENCHMARK} is about no runs that {given[0]} could choose or train: `bottleneck "
            "bench` has options for what it measures"
        )
    show(study_pages(BENCHMARK, results or OUT), form, details)
