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
from . import corpus, results, study, train, translate
from .console import say

INTERRUPTED = 130
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
COMMANDS = (
    *(translate.translate, translate.lecture),
    *(train.reproduce, train.sweep, train.settings),
    *(results.table, results.plot, results.export),
    *(study.study, results.score, corpus.corpus),
)
"""The commands by task: try it, run the story, look at results, ask a question, score text."""
FORMER = {
    "claims": "table claims",
    "runs": "table runs",
    "report": "export -o report.html",
    "merge": "export --results DIR --results DIR --bundle DIR",
    "bench": "study cost",
    "compare": "score SYSTEM OTHER",
    "diagnose": "translate --diagnose",
    "corpus list": "corpus",
    "corpus fetch": "corpus NAME --fetch",
    "corpus show": "corpus NAME",
    "corpus describe": "corpus NAME",
}
"""What the commands of the first edition are called now."""
stopped_by = 0
"""The signal that asked us to stop, once there was one."""

app = typer.Typer(
    name="bottleneck",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # to import rich would double the time of `--help`
)
for command in COMMANDS:
    app.command()(command)


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

    Try `translate "the black cat sat on the mat"` (at once, with a trained pair that comes with the
    package), `lecture` (recomputes the slides' numbers in seconds), then `reproduce` (measures the
    two tables in 10 to 20 minutes).
    """


def main() -> None:
    """Run the command; an error the user can mend is one line on stderr, never a traceback."""
    for number in STOPS:
        if signal.getsignal(number) != signal.SIG_IGN:  # as our caller may have us do (`nohup`)
            signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    # matplotlib writes files alone: it says nothing of its cache, needs no notebook, no date.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    line = shlex.join(["bottleneck", *sys.argv[1:]]).encode(errors="replace").decode()
    os.environ.update({"MPLBACKEND": "agg", COMMAND: line} | NUMBERS)  # workers store the line
    if sys.stdout is None:  # closed by our caller (`>&-`): what is printed fails, as on a full disk
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if hasattr(sys.stdout, "reconfigure"):  # not a notebook's
        sys.stdout.reconfigure(errors="replace")  # a sign that the terminal lacks is no failure
    code = run(sys.argv[1:])
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)  # what is sent again or late breaks into no ending
    # Under `-m`, Python ends by SIGINT if an interrupt ever broke off an import, even if it was
    # caught. Running any text, even an empty one, resets that.
    exec("")  # noqa: S102
    try:
        sys.stdout.flush()
    except OSError as error:
        # The buffer cannot be written now nor at exit, where Python would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or _fail_at(error)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run with these arguments and return the exit code: 0, 1, 2 (usage) or 130 (interrupted)."""
    for words in (" ".join(arguments[:count]) for count in (1, 2)):
        if words in FORMER:
            return _fail(f"{words} is now `bottleneck {FORMER[words]}`", 2)
    try:
        code = app(arguments, prog_name="bottleneck", standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except OSError as error:
        return _fail_at(error)
    except Exception as error:
        if stopped_by:
            code = INTERRUPTED  # jax may make another error of the interrupt
        elif known := mendable(error):
            return _fail(str(known), known.exit_code)
        # Typer's own usage errors, under whatever class this version of it raises.
        elif not hasattr(error, "format_message"):
            raise
        elif type(error).__name__ == "NoArgsIsHelpError":
            return run([*arguments, "--help"])
        else:
            return _fail(_usage(error), getattr(error, "exit_code", 2))
    if code != INTERRUPTED:  # which Typer may return itself
        return code
    resumed = arguments[:1] and arguments[0] in ("reproduce", "sweep", "study")
    more = "; the same command goes on from where it stopped" if resumed else ""
    return _fail(f"interrupted{more}", INTERRUPTED)


def _interrupt(number: int, _frame: object) -> None:
    """Raise ``KeyboardInterrupt``, once: a second would break into what writes the runs down."""
    global stopped_by
    if not stopped_by:
        stopped_by = number
        raise KeyboardInterrupt


def _interrupt_again(lost: Any) -> None:
    """Send a signal again, half a second later, if its interrupt was raised where nothing can be.

    Such a place is a callback of jax's, and this function: hence the time, on a busy machine too.
    """
    global stopped_by
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    again = (threading.main_thread().ident, stopped_by or signal.SIGINT)
    stopped_by = 0
    threading.Timer(0.5, signal.pthread_kill, again).start()


def _usage(error: Exception) -> str:
    """What Typer has to say of the command line, and where to read how it is written."""
    message = error.format_message().replace("Value error, ", "")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    names = {name for option in context.command.params for name in (option.name, *option.opts)}
    if "sentence" in names and "unexpected extra argument" in message:
        message = f"{message}: write a sentence in quotes"
    # A folder is written into by one name and read from by the other.
    wrong = getattr(error, "option_name", "")
    right = {"--results": "--out", "--out": "--results"}.get(wrong)
    if wrong == "--hypotheses":
        message = "--hypotheses is gone: write the file alone, as in `bottleneck score system.fr`"
    if right in names:
        message = f"No such option: {wrong}: this command's folder is named by {right}"
    return f"{message} (see `{context.command_path} --help`)"


def _fail_at(error: OSError) -> int:
    """A file or the output that failed; whoever closed our output early (`| head`) knows."""
    if isinstance(error, BrokenPipeError):
        return 0
    what = repr(error.filename) if error.filename else "the output"
    if error.errno == ENOENT and not error.filename:  # of the working folder, or tempfile's
        what = "the working folder or TMPDIR"
    return _fail(f"{what}: {error.strerror}", 1)


def _fail(message: str, code: int) -> int:
    """One plain line on stderr."""
    say(f"bottleneck: {' '.join(message.split())}", err=True)
    return code


if __name__ == "__main__":
    main()
