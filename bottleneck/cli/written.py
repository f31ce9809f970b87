"""``bottleneck export --all``: tables, figures, claims and the page as files beside the results."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..settings.text import counted
from .console import say

if TYPE_CHECKING:
    from ..report.written import Written


def write_all(folder: Path) -> None:
    """Write out a results folder and those inside it, and say what was made."""
    from ..report.written import CONTENTS
    from ..results.inside import results_inside
    from ..results.study_files import tables
    from ..tables.decided import holds_results

    _refuse_store(folder)
    own = [folder] if holds_results(folder) or tables(folder) else []
    for place in [*own, *results_inside(folder)]:
        say(f"{place}: {told(write_part(place))} ({CONTENTS})")
    say(finish(folder))


def _refuse_store(folder: Path) -> None:
    """Nothing is written among the folders of runs."""
    from ..results.folders import STORE
    from ..results.found import find_runs
    from ..settings.errors import UsageError

    if find_runs(folder).any and not (folder / STORE).is_dir():
        raise UsageError(
            f"{str(folder)!r} is a store of runs: name the folder that it is in, where the tables "
            "and figures are to be"
        )


def write_part(folder: Path) -> "Written":
    """Bring a folder's bundle up to date, and write its tables and figures."""
    from ..report.written import write_out
    from ..runs.gathered import gather

    gather(folder, {})
    return write_out(folder)


def told(written: "Written") -> str:
    """``3 tables, 4 figures, 2 left out``."""
    parts = [counted(len(written.tables), "table"), counted(len(written.figures), "figure")]
    lacking = len(written.left_out) + len(written.unmeasured)
    return ", ".join([*parts, *([f"{lacking} left out"] if lacking else [])])


def finish(folder: Path) -> str:
    """Write the claims and the page; in words what they are."""
    from ..report.written import CLAIMS, REPORT, write_end

    summary, size = write_end(folder)
    return f"{folder}: {CLAIMS}.md, {CLAIMS}.csv; {REPORT}, {size / 1e6:.2f} MB; {summary}"
