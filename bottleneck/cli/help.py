"""How help is laid out: plain lines in panels by task, nothing cut, names and texts aligned.

Typer's own panels are boxes drawn by rich, which takes longer to import than the rest of ``--help``
and cuts what it has no room for; ``rich_help_panel`` names our panels as it names Typer's.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

RUN, LOOK, ASK, TEXT = (
    "Run the story",
    "Look at results",
    "Ask a question",
    "Text",
)
"""Panels of the commands."""
SETTINGS, CORPUS, WORK = "Settings", TEXT, "How it runs"
"""Panels of options, where there are many."""
OPTIONS = "Options"
"""The panel of all other options."""

NAME_WIDTH = 28
"""Columns of a name at most; what is longer has its text on the next line."""
EVERYTHING = 1_000
"""Columns that no summary needs."""

Rows = list[tuple[str, str]]


class Command(TyperCommand):
    """A command whose options are listed by panel."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments first, then each panel in the order of its first option, then the others."""
        write_panels(formatter, parameter_panels(self.get_params(ctx), ctx))


class Commands(TyperGroup):
    """A group of commands, listed by panel."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands first: they are what help is asked for."""
        self.format_commands(ctx, formatter)
        write_panels(formatter, parameter_panels(self.get_params(ctx), ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A line a command, in the order in which they are declared within each panel."""
        panels: dict[str, Rows] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                panel = getattr(command, "rich_help_panel", None) or "Commands"
                panels.setdefault(panel, []).append((name, command.get_short_help_str(EVERYTHING)))
        write_panels(formatter, panels)


def parameter_panels(parameters: Iterable[Any], context: Any) -> dict[str, Rows]:
    """Names and texts of all parameters that help shows, by panel."""
    panels: dict[str, Rows] = {"Arguments": []}
    others: Rows = []
    for parameter in parameters:
        row = parameter.get_help_record(context)
        if row is None:
            continue
        if parameter.param_type_name == "argument":
            panels["Arguments"].append(row)
        elif panel := getattr(parameter, "rich_help_panel", None):
            panels.setdefault(panel, []).append(row)
        else:
            others.append(row)
    return panels | {OPTIONS: others}


def write_panels(formatter: Any, panels: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Panels one under the other, their texts beginning in one column."""
    names = [name for rows in panels.values() for name, _ in rows]
    width = max((len(name) for name in names if len(name) <= NAME_WIDTH), default=0)
    for title, rows in panels.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows], width)
