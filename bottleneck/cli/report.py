"""``bottleneck report``: all results as one page that needs no network; jax not needed."""

from pathlib import Path
from typing import Annotated

import typer

from .console import say
from .results import Results, from_here, results_folder


def report(
    results: Results = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Output file.")] = Path("report.html"),
) -> None:
    """Write all results as one page, to put next to the slides."""
    from ..report.page import write_report
    from ..results.export import check_output

    check_output(out)
    size = write_report(from_here(results_folder(results)), out)
    say(f"{out}: {size / 1e6:.2f} MB")
