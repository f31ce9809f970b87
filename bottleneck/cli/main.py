"""The command ``bottleneck``: its groups, its version, and how every error reaches the user.

Heavy libraries are imported inside commands, so that ``--help`` answers at once.
"""

import sys
from typing import Annotated

import typer

from .. import __version__
from . import corpus, reproduce, results, runs, sweep, translate

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
app.command()(results.export)
app.add_typer(runs.app, name="runs")
app.command()(translate.translate)
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
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run with these arguments and return the exit code: 0, 1, 2 (usage) or 130 (interrupted)."""
    from ..settings.errors import UserError

    try:
        return app(arguments, prog_name="bottleneck", standalone_mode=False) or 0
    except UserError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted; the same command goes on from where it stopped", 130)
    except BrokenPipeError:
        # Whoever read our output has enough (`| head`); nothing more can be printed there.
        sys.stdout = None  # type: ignore[assignment]
        return 0
    except Exception as error:
        # Typer's own usage errors, under whatever class this version of it raises.
        if not hasattr(error, "format_message"):
            raise
        return _fail(error.format_message(), getattr(error, "exit_code", 2))


def _fail(message: str, code: int) -> int:
    """One plain line on stderr."""
    line = " ".join(message.split())
    print(f"bottleneck: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
