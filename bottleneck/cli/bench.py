"""``bottleneck bench``: what a training step costs, in time and memory (C9)."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..results.schema import BENCHMARK
from ..settings.errors import counted
from .console import errors, output, say
from .options import MOST_THREADS, Form, Quiet
from .reproduce import DEFAULT_OUT

if TYPE_CHECKING:
    from ..bench.grid import Arm, Point
    from ..bench.measure import Listener

OUT = DEFAULT_OUT / "bench"
REPEATS, QUICK_REPEATS = 5, 3
INTERRUPTED = 130


def bench(
    out: Annotated[Path, typer.Option(help="Output folder.")] = OUT,
    vary: Annotated[
        str,
        typer.Option(
            metavar="NAME[=N,N..],..",
            help="What to vary: length, context, batch, vocabulary; with your own sizes: "
            "length=10,100.",
        ),
    ] = "length,context,batch,vocabulary",
    arms: Annotated[
        str | None,
        typer.Option(
            metavar="ARM,..",
            help="Attentions; add -output for Luong's placement "
            "[default: none, additive, dot, dot-output].",
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Number of timed groups of steps [default: 5].")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few sizes: 2 to 6 minutes.")] = False,
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="XLA threads.")] = 1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the points and measure nothing.")
    ] = False,
    results: Annotated[
        Path | None, typer.Option(help="Print the results in this folder and measure nothing.")
    ] = None,
    quiet: Quiet = False,
    form: Form = "rich",
) -> None:
    """Measure time and memory of a training step."""
    from ..bench import grid
    from ..tables.page import check_format

    check_format(form)
    if results is not None:
        print_costs(results, form)
        return
    default = grid.QUICK_ARMS if quick else grid.DEFAULT_ARMS
    chosen = grid.parse_arms(",".join(default) if arms is None else arms)
    points = grid.points(grid.parse_variation(vary, grid.QUICK if quick else grid.DEFAULT))
    repeats = repeats or (QUICK_REPEATS if quick else REPEATS)
    if dry_run:
        _print_plan(points, chosen)
        return
    _measure(points, chosen, repeats, threads, out, quiet)
    print_costs(out, form)
    say(f"Written to {out / 'probes'}: cost.csv, cost_exponents.csv", err=True)


def print_costs(folder: Path, form: str, details: bool = False) -> None:
    """The tables of a folder; as CSV what was measured alone, as JSON a list of both."""
    from ..tables.cost import cost_pages, load_cost

    pages = cost_pages(*load_cost(folder))
    if form == "rich":
        for page in pages:
            page.print(output(), details)
            say()
        return
    texts = [page.render(form) for page in pages]
    if form == "csv":
        say(texts[0], nl=False)
    elif form == "json":
        say(f"[{','.join(texts)}]")
    else:
        say("\n".join(texts), nl=False)


def show_costs(
    command: str, results: Path | None, form: str, options: Mapping[str, Any], details: bool = False
) -> None:
    """The benchmark's tables (C9) for a command of runs.

    ``options`` are those of it that choose runs, with their values, empty where they were not
    given: one that was is a ``UsageError``.
    """
    from ..settings.errors import UsageError

    given = [name for name, value in options.items() if value]
    if given:
        raise UsageError(
            f"{command} {BENCHMARK} is of no runs, so that there is nothing to choose or train: "
            f"no {', no '.join(given)}; `bottleneck bench` takes what is to be varied"
        )
    print_costs(results or OUT, form, details)


def _print_plan(points: "Sequence[Point]", arms: "Sequence[Arm]") -> None:
    """The points, a line each, and the arms."""
    from ..tables.render import print_prose

    names = ", ".join(arm.name for arm in arms)
    line = f"{counted(len(points), 'point')} x {counted(len(arms), 'arm')} ({names})"
    print_prose(output(), [*(point.name for point in points), line])


def _measure(
    points: "Sequence[Point]",
    arms: "Sequence[Arm]",
    repeats: int,
    threads: int,
    out: Path,
    quiet: bool,
) -> None:
    """Measure all points and write both files; an interrupt writes nothing."""
    from ..bench.measure import measure, write
    from ..settings.atomic import check_writable, remove_empty, topmost_missing
    from ..settings.errors import UserError

    made = topmost_missing(out)
    check_writable(out)
    try:
        with shown(len(points), quiet) as listener:
            rows = measure(points, arms, repeats, threads, listener)
        write(out, rows)
    except KeyboardInterrupt:
        stopped = UserError(
            "interrupted; what was measured so far is not kept: start again, with --quick for few "
            "sizes"
        )
        stopped.exit_code = INTERRUPTED
        raise stopped from None
    finally:
        if made is not None:
            remove_empty(made)


@contextmanager
def shown(points: int, quiet: bool) -> "Iterator[Listener]":
    """A listener that shows how far the benchmark is: a line that changes, or a line a point."""
    console = errors()
    if quiet:
        yield lambda _point, _event: None
    elif console.is_terminal:
        with console.status("starting") as status:
            yield Told(points, live=status.update).listen
    else:
        yield Told(points, done=lambda line: say(line, err=True)).listen


class Told:
    """Events as lines: ``live`` gets one for each, ``done`` one for each point that has ended."""

    def __init__(
        self,
        points: int,
        live: Callable[[str], None] | None = None,
        done: Callable[[str], None] | None = None,
    ):
        self.points, self.live, self.done = points, live, done
        self.ended = 0
        self.start = time.monotonic()

    def listen(self, point: "Point", event: dict[str, Any]) -> None:
        """Take in one event of a point."""
        if event["phase"] == "ended":
            self.ended += 1
            if self.done:
                self.done(f"{point.name}: {_steps(event['rows'])} ({self.standing()})")
        elif self.live:
            self.live(f"{point.name}: {_phase(event)} ({self.standing()})")

    def standing(self) -> str:
        """``5 of 19 points, about 2:10 to go``."""
        from .progress import clock

        text = f"{self.ended} of {self.points} points"
        if not 0 < self.ended < self.points:
            return text
        left = (time.monotonic() - self.start) / self.ended * (self.points - self.ended)
        return f"{text}, about {clock(left)} to go"


def _phase(event: dict[str, Any]) -> str:
    """``compiled dot``, ``round 3``."""
    what = event.get("arm", event.get("round"))
    return event["phase"] if what is None else f"{event['phase']} {what}"


def _steps(rows: Sequence[dict[str, Any]]) -> str:
    """``none 12.3 ms, dot 14.5 ms``; of an arm that failed the reason."""
    told = [
        f"{row['arm']} {row['reason']}" if row["seconds"] is None
        else f"{row['arm']} {1e3 * row['seconds']:,.1f} ms"
        for row in rows
    ]  # fmt: skip
    return ", ".join(told)
