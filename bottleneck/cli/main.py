"""The command ``bottleneck``: its groups, its version, and how every error reaches the user.

Heavy libraries are imported inside commands, so that ``--help`` answers at once.
"""

import logging
import os
import shlex
import signal
import sys
import threading
from errno import ENOENT
from typing import Annotated, Any

import typer
from typer import Option

from .. import __version__
from ..settings.machine import COMMAND, NUMBERS, mendable
from . import bench, corpus, lecture, results, runs, score, study, train, translate
from .console import say

INTERRUPTED = 130
RESUMED = ("reproduce", "sweep", "study")
"""Commands that, stopped, go on from where they were."""
FOLDERS = {"--results": "--out", "--out": "--results"}
"""A folder is written into by one name and read from by the other: the right one for the wrong."""

COMMANDS = (
    *(train.reproduce, train.sweep, lecture.lecture),
    *(results.table, results.claims, results.plot, results.report, results.export),
    *(results.merge, runs.runs),
    *(study.study, translate.diagnose, translate.translate, bench.bench),
    *(score.score, score.compare),
)
"""The commands by task: run the story, look at results, ask a question, score text."""

app = typer.Typer(
    name="bottleneck",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # to import rich would double the time of `--help`
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(corpus.app, name="corpus")


def _print_version(wanted: bool | None) -> None:
    if wanted:
        typer.echo(f"bottleneck {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool | None,
        Option("--version", callback=_print_version, is_eager=True, help="Print and exit."),
    ] = None,
) -> None:
    """Measure the bottleneck of translation through one fixed vector, with and without attention.

    Try `lecture` (recomputes the slides' numbers in seconds), `reproduce` (measures the two tables
    in 5 to 10 minutes), then `translate "the black cat sat on the mat"`.
    """


def main() -> None:
    """Run the command; an error the user can mend is one line on stderr, never a traceback."""
    _listen()
    # matplotlib writes files alone here: it says nothing of its cache, needs no notebook, no date.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    line = shlex.join(["bottleneck", *sys.argv[1:]]).encode(errors="replace").decode()
    os.environ.update({"MPLBACKEND": "agg", COMMAND: line} | NUMBERS)  # workers store the line
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
        code = code or _fail_at(error)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run with these arguments and return the exit code: 0, 1, 2 (usage) or 130 (interrupted)."""
    try:
        code = app(arguments, prog_name="bottleneck", standalone_mode=False) or 0
        # Typer may turn the interrupt into its code itself.
        return _interrupted(arguments) if code == INTERRUPTED else code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except OSError as error:
        return _fail_at(error)
    except Exception as error:
        if _ignore in map(signal.getsignal, _stop_signals()):
            return _interrupted(arguments)  # jax may make another error of the interrupt
        if known := mendable(error):
            return _fail(str(known), known.exit_code)
        # Typer's own usage errors, under whatever class this version of it raises.
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            return run([*arguments, "--help"])
        return _fail(_usage(error), getattr(error, "exit_code", 2))


def _listen() -> None:
    """From now on a signal to stop is an interrupt like Ctrl-C, of the main thread."""
    for stop in _stop_signals():
        signal.signal(stop, _interrupt)
    sys.unraisablehook = _swallowed


def _stop_signals() -> list[int]:
    """The signals that ask us to stop, but for those that our caller has us ignore (`nohup`)."""
    known = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [stop for stop in known if signal.getsignal(stop) != signal.SIG_IGN]


def _interrupt(*_: object) -> None:
    """Raise ``KeyboardInterrupt``, once: a second would break into what writes the runs down."""
    for stop in _stop_signals():
        signal.signal(stop, _ignore)
    raise KeyboardInterrupt


def _ignore(*_: object) -> None:
    """Go on with stopping. (No process that we start inherits this, as it would SIG_IGN.)"""


def _swallowed(lost: Any) -> None:
    """Send an interrupt again, a moment later, that was raised where nothing can be.

    Such a place is a callback of jax's.
    """
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    _listen()
    again = (threading.main_thread().ident, _stop_signals()[0])
    threading.Timer(0.05, signal.pthread_kill, again).start()


def _interrupted(arguments: list[str]) -> int:
    """Say that the command was interrupted, and whether it can be given again to go on."""
    resumed = arguments[:1] and arguments[0] in RESUMED and "--dry-run" not in arguments
    goes_on = "; the same command goes on from where it stopped" if resumed else ""
    return _fail(f"interrupted{goes_on}", INTERRUPTED)


def _usage(error: Exception) -> str:
    """What Typer has to say of the command line, and where to read how it is written."""
    message = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    names = {name for option in context.command.params for name in (option.name, *option.opts)}
    if "sentence" in names and "unexpected extra argument" in message:
        message = f"{message}: write a sentence in quotes"
    wrong = getattr(error, "option_name", "")
    if FOLDERS.get(wrong) in names:
        message = f"No such option: {wrong}: this command's folder is named by {FOLDERS[wrong]}"
    return f"{message} (see `{context.command_path} --help`)"


def _fail_at(error: OSError) -> int:
    """A file or the output that failed; whoever closed our output early (`| head`) knows."""
    if isinstance(error, BrokenPipeError):
        return 0
    what = repr(error.filename) if error.filename else "the output"
    way = "; check its rights" if isinstance(error, PermissionError) else ""
    if error.errno == ENOENT and not error.filename:  # of the working folder, or tempfile's
        what, way = "a folder", "; change into one that is there, or name one with room in TMPDIR"
    return _fail(f"{what}: {error.strerror}{way}", 1)


def _fail(message: str, code: int) -> int:
    """One plain line on stderr."""
    say(f"bottleneck: {' '.join(message.split())}", err=True)
    return code


if __name__ == "__main__":
    main()
