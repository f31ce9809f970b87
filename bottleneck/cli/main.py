"""The command ``bottleneck``: its groups, its version, and how every error reaches the user.

Heavy libraries are imported inside commands, so that ``--help`` answers at once.
"""

import os
import signal
import sys
from typing import Annotated

import typer

from .. import __version__
from . import (
    bench,
    claims,
    compare,
    corpus,
    diagnose,
    lecture,
    plot,
    reproduce,
    results,
    runs,
    score,
    study,
    sweep,
    translate,
)

INTERRUPTED = 130

app = typer.Typer(
    name="bottleneck",
    help="Does a fixed vector squeeze a sentence to death, and does attention bring it back?",
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(reproduce.reproduce)
app.command()(sweep.sweep)
app.command()(results.table)
app.command()(results.export)
app.command()(plot.plot)
app.command()(study.study)
app.command()(claims.claims)
app.command()(runs.runs)
app.command()(translate.translate)
app.command()(diagnose.diagnose)
app.command()(score.score)
app.command()(compare.compare)
app.command()(bench.bench)
app.command()(lecture.lecture)
app.add_typer(corpus.app, name="corpus")


def _print_version(wanted: bool | None) -> None:
    if wanted:
        typer.echo(f"bottleneck {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool | None,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and exit."),
    ] = None,
) -> None:
    """Does a fixed vector squeeze a sentence to death, and does attention bring it back?"""


def main() -> None:
    """Run the command; an error the user can mend is one line on stderr, never a traceback."""
    for stop in _stop_signals():
        signal.signal(stop, _interrupt)
    code = run(sys.argv[1:])
    try:
        if sys.stdout is not None:  # closed by our caller (`>&-`)
            sys.stdout.flush()
    except OSError as error:
        # The buffer cannot be written now nor at exit, where Python would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or _unwritten(error)
    sys.exit(code)


def _stop_signals() -> list[int]:
    """The signals that ask us to stop, but for those that our caller has us ignore (`nohup`)."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]  # Windows: no HUP
    return [stop for stop in known if signal.getsignal(stop) != signal.SIG_IGN]


def _interrupt(*_: object) -> None:
    """Being asked to stop is an interrupt like Ctrl-C: the runs keep their checkpoints.

    Once is enough: a second signal would break into what ends the runs and writes them down,
    which takes seconds.
    """
    for stop in _stop_signals():
        signal.signal(stop, _nothing)
    raise KeyboardInterrupt


def _nothing(*_: object) -> None:
    """Go on with stopping. (No process that we start inherits this, as it would SIG_IGN.)"""


def run(arguments: list[str]) -> int:
    """Run with these arguments and return the exit code: 0, 1, 2 (usage) or 130 (interrupted)."""
    from ..settings.errors import UserError

    try:
        code = app(arguments, prog_name="bottleneck", standalone_mode=False) or 0
    except UserError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        return _unwritten(error)
    except Exception as error:
        # Typer's own usage errors, under whatever class this version of it raises.
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            return 0
        return _fail(error.format_message(), getattr(error, "exit_code", 2))
    if code == INTERRUPTED:  # Typer may turn the interrupt into its code itself
        return _fail("interrupted; the same command goes on from where it stopped", code)
    return code


def _unwritten(error: OSError) -> int:
    """A file or the output that failed; whoever closed our output early (`| head`) knows."""
    if isinstance(error, BrokenPipeError):
        return 0
    what = f"{error.filename!r}" if error.filename else "the output"
    return _fail(f"{what}: {error.strerror}", 1)


def _fail(message: str, code: int) -> int:
    """One plain line on stderr."""
    line = " ".join(message.split())
    print(f"bottleneck: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
