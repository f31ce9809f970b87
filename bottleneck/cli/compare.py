"""``bottleneck compare``: two systems on one test set, by sentence length."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Form
from .score import MOST_RESAMPLES, Edges, Resamples, Seed, scoring_settings, show

KINDS = "the folder of a run, or a file with one translation per line."


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help=f"One system: {KINDS}")],
    b: Annotated[Path, typer.Argument(metavar="B", help=f"The other system: {KINDS}")],
    references: Annotated[
        Path | None, typer.Option(help="Reference translations, one per line. Required for a file.")
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="Source sentences, one per line. Required for a file.")
    ] = None,
    edges: Edges = "5,11,21,31,41",
    resamples: Resamples = 1000,
    trials: Annotated[
        int,
        typer.Option(min=1, max=MOST_RESAMPLES, help="Trials of approximate randomisation."),
    ] = 10_000,
    seed: Seed = 1,
    form: Form = "rich",
) -> None:
    """Test the difference of two systems by sentence length.

    The difference is that of B minus A.
    """
    from ..scoring.paired import Resampling
    from ..tables.outputs import read_systems
    from ..tables.page import check_format
    from ..tables.paired import paired_page

    check_format(form)
    scoring = scoring_settings(edges, resamples, seed)
    systems = read_systems(a, b, references, sources)
    how = Resampling(resamples, trials, seed)
    show(paired_page(*systems, scoring.lower_edges, how), form)
