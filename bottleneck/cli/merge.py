"""``bottleneck merge``: results of several machines, or several people, as one."""

from pathlib import Path
from typing import Annotated

import typer

from ..settings.errors import counted
from .console import say


def merge(
    folders: Annotated[list[Path], typer.Argument(help="Folders of results.")],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Write the bundle of all runs into this folder.")
    ],
) -> None:
    """Merge the results of several machines or people."""
    from ..results.export import write_merged
    from ..results.folders import check_named
    from ..results.probes import tables
    from ..settings.atomic import check_place

    for folder in folders:
        check_named(folder)
    check_place(out)
    merged = write_merged(folders, out)
    say(f"Written to {out}: {counted(merged.runs, 'run')}")
    if merged.again:
        again = "1 run is" if merged.again == 1 else f"{merged.again} runs are"
        say(f"{again} in several folders: kept as the first of them has it", err=True)
    if merged.differing:
        named = ", ".join(merged.differing)
        say(f"With other scores in a later one, so that order decides: {named}", err=True)
    if any(tables(folder) for folder in folders):
        say("Not in it: what studies measured, which has means over the runs of a folder", err=True)
