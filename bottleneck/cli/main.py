"""The command ``bottleneck``: its subcommands, its version, its errors and exit codes.

Heavy libraries are imported inside commands, so that ``--help`` answers at once.
"""

import logging
import os
import shlex
import signal
import sys
import threading
import time
from typing import Annotated, Any

import typer
from typer import Option

from .. import __version__
from ..settings.machine import NUMBERS, mendable
from . import results, train, translate
from .console import say

interrupted_at = -60.0
"""When a signal last asked the command to stop (``time.monotonic``)."""

app = typer.Typer(
    name="bottleneck",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would double the time of `--help`
)
for command in (  # in the order of `--help`
    *(translate.translate, translate.lecture),
    *(train.reproduce, train.sweep, train.settings),
    *(results.table, results.plot, results.export),
    *(results.study, results.score, train.corpus),
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def options(version: Annotated[bool, Option("--version", help="Print and exit.")] = False) -> None:
    """Measure the bottleneck of translation through one fixed vector, with and without attention.

    Try `translate "the black cat sat on the mat"` (at once, with a trained pair that comes with the
    package), `lecture` (recomputes the slides' numbers in seconds), then `reproduce` (measures the
    two tables in 10 to 20 minutes).
    """
    if version:
        typer.echo(f"bottleneck {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command; an error that the user can fix is one line on stderr, no traceback."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # ignored under `nohup`
            signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no messages about its cache
    os.environ.pop("SOURCE_DATE_EPOCH", None)  # figures have no date
    line = shlex.join(["bottleneck", *sys.argv[1:]]).encode(errors="replace").decode()
    # Workers record the command line.
    os.environ.update({"MPLBACKEND": "agg", "BOTTLENECK_COMMAND": line} | NUMBERS)
    if sys.stdout is None:  # the caller closed it (`>&-`): printing fails, as on a full disk
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    sys.stdout.reconfigure(errors="replace")  # for characters that the terminal cannot show
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code or _fail(error)
    os._exit(code)  # at once, so that no signal interrupts Python's exit


def run(arguments: list[str]) -> int:
    """Run with these arguments and return the exit code: 0, 1, 2 (usage) or 130 (interrupted)."""
    former = {  # commands of the first edition, and what they are called now
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
    for words in (" ".join(arguments[:count]) for count in (1, 2)):
        if words in former:
            return _fail(f"{words} is now `bottleneck {former[words]}`", 2)
    try:
        code = app(arguments or ["--help"], prog_name="bottleneck", standalone_mode=False) or 0
        if code != 130:  # Typer may return this code itself
            return code
    except (KeyboardInterrupt, typer.Abort):
        pass
    except OSError as error:
        return _fail(error)
    except Exception as error:
        if interrupted_at < 0:  # otherwise jax may have turned the interrupt into this error
            if known := mendable(error):
                return _fail(str(known), known.exit_code)
            # Typer's usage errors, whose class depends on its version.
            if hasattr(error, "format_message"):
                context, message = getattr(error, "ctx", None), error.format_message()
                see = f" (see `{context.command_path} --help`)" if context else ""
                return _fail(f"{message.replace('Value error, ', '')}{see}", 2)
            raise
    resumed = arguments[:1] and arguments[0] in ("reproduce", "sweep", "study")
    more = "; the same command continues from where it stopped" if resumed else ""
    return _fail(f"interrupted{more}", 130)


def _interrupt(_number: int, _frame: object) -> None:
    """Raise ``KeyboardInterrupt``, but not again within 20 s, while runs are being saved."""
    global interrupted_at
    if time.monotonic() - interrupted_at > 20:
        interrupted_at = time.monotonic()
        raise KeyboardInterrupt


def _interrupt_again(lost: Any) -> None:
    """Send SIGINT again after half a second if Python lost it, as in one of JAX's callbacks."""
    global interrupted_at
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    interrupted_at = -60.0
    again = threading.main_thread().ident, signal.SIGINT
    threading.Timer(0.5, signal.pthread_kill, again).start()


def _fail(error: str | OSError, code: int = 1) -> int:
    """Print one line on stderr; return the exit code (0 if `| head` closed the output early)."""
    if isinstance(error, BrokenPipeError):
        return 0
    if isinstance(error, OSError):
        error = f"{repr(error.filename) if error.filename else 'the output'}: {error.strerror}"
    say(f"bottleneck: {' '.join(error.split())}", err=True)
    return code
