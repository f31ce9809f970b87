"""The command ``bottleneck``: its groups, its version, and how every error reaches the user.

Heavy libraries are imported inside commands, so that ``--help`` answers at once.
"""

import gc
import logging
import os
import sys
from errno import ENOENT
from typing import Annotated, Any

import typer

from .. import __version__
from . import (
    bench,
    claims,
    compare,
    corpus,
    diagnose,
    lecture,
    merge,
    plot,
    report,
    reproduce,
    results,
    runs,
    score,
    study,
    sweep,
    translate,
)
from .console import say
from .greeting import GREETING
from .help import ASK, LOOK, RUN, TEXT, Command, Commands
from .stopping import listen

INTERRUPTED = 130
LONGEST = 2_000
"""Characters of an error: what was given may be longer, and its beginning and end tell it."""
OF_SENTENCES = ("diagnose", "translate", "plot")
"""Commands that take a sentence: without quotes its words are arguments too many."""
RESUMED = ("reproduce", "sweep", "study")
"""Commands that, stopped, go on from where they were."""
READING = ("table", "claims", "export")
"""Commands that read results and end: what they hold is in use until then, and to have the
collector look for more takes a tenth of their time."""
FOLDERS = {"--results": "--out", "--out": "--results"}
"""A folder is written into by one name and read from by the other: the right one for the wrong."""
COMPLETING = "_BOTTLENECK_COMPLETE"
"""Set by a shell that asks, without arguments, how a line goes on."""

PANELS = {
    RUN: (reproduce.reproduce, sweep.sweep, lecture.lecture),
    LOOK: (
        results.table,
        claims.claims,
        plot.plot,
        report.report,
        results.export,
        merge.merge,
        runs.runs,
    ),
    ASK: (study.study, diagnose.diagnose, translate.translate, bench.bench),
    TEXT: (score.score, compare.compare),
}
"""The commands by task, as ``--help`` lists them."""

app = typer.Typer(
    name="bottleneck",
    cls=Commands,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # `help` says why
)
for panel, functions in PANELS.items():
    for function in functions:
        app.command(cls=Command, rich_help_panel=panel)(function)
app.add_typer(corpus.app, name="corpus", rich_help_panel=TEXT)


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
    from ..settings.devices import NUMBERS

    listen()
    # Without a cache it works as well, and has lines of its own to say so. It writes files alone
    # here, without a date: a notebook's backend, which may not be there, is not asked for.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    os.environ["MPLBACKEND"] = "agg"
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    os.environ.update(NUMBERS)
    if sys.argv[1:] and sys.argv[1] in READING:
        gc.disable()
    if sys.stdout is None:  # closed by our caller (`>&-`): what is printed fails, as on a full disk
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if hasattr(sys.stdout, "reconfigure"):  # not a notebook's
        sys.stdout.reconfigure(errors="replace")  # a sign that the terminal lacks is no failure
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        # The buffer cannot be written now nor at exit, where Python would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or _unwritten(error)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run with these arguments and return the exit code: 0, 1, 2 (usage) or 130 (interrupted)."""
    from ..settings.devices import mendable
    from ..settings.errors import UserError

    try:
        if not arguments and COMPLETING not in os.environ:
            typer.echo(GREETING, nl=False)
            return 0
        code = app(arguments, prog_name="bottleneck", standalone_mode=False) or 0
    except UserError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        return _unwritten(error)
    except Exception as error:
        if known := mendable(error):
            return _fail(str(known), known.exit_code)
        # Typer's own usage errors, under whatever class this version of it raises.
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            return 0
        return _fail(_usage(error), getattr(error, "exit_code", 2))
    if code == INTERRUPTED:  # Typer may turn the interrupt into its code itself
        resumed = arguments[:1] and arguments[0] in RESUMED and "--dry-run" not in arguments
        goes_on = "; the same command goes on from where it stopped" if resumed else ""
        return _fail(f"interrupted{goes_on}", code)
    return code


def _usage(error: Exception) -> str:
    """What Typer has to say of the command line, and where to read how it is written."""
    told = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    if context and context.info_name in OF_SENTENCES and "unexpected extra argument" in told:
        told = f"{told}: write a sentence in quotes"
    wrong = getattr(error, "option_name", "")
    if context and FOLDERS.get(wrong) in _options(context):
        told = f"No such option: {wrong}: this command's folder is named by {FOLDERS[wrong]}"
    return f"{told} (see `{context.command_path} --help`)" if context else told


def _options(context: Any) -> set[str]:
    """All options of a command, by their names; of the class that Typer's version has."""
    return {name for option in context.command.params for name in option.opts}


def _unwritten(error: OSError) -> int:
    """A file or the output that failed; whoever closed our output early (`| head`) knows."""
    if isinstance(error, BrokenPipeError):
        return 0
    if error.errno == ENOENT and not error.filename:  # tempfile's, when no folder will do
        told, found, _ = str(error.strerror).partition(" found in ")
        way = "make room in one, or name one in TMPDIR"
        gone = "the folder in which the command is run is gone: change into another"
        return _fail(f"{told}: {way}" if found else gone, 1)
    what = f"{error.filename!r}" if error.filename else "the output"
    way = "; check its rights" if isinstance(error, PermissionError) else ""
    return _fail(f"{what}: {error.strerror}{way}", 1)


def _fail(message: str, code: int) -> int:
    """One plain line on stderr."""
    line = " ".join(message.split())
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"
    say(f"bottleneck: {line}", err=True)
    return code


if __name__ == "__main__":
    main()
