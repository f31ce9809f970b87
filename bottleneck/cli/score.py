"""``bottleneck score`` and ``bottleneck compare``: output of any systems, by sentence length."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..settings.errors import UsageError
from .console import show
from .options import Form

if TYPE_CHECKING:
    from ..settings.concerns import ScoringSettings

MOST_RESAMPLES = 10_000_000
"""The bound of scoring.resamples, written out: settings are slow to import."""
KINDS = "the folder of a run, or a file with one translation per line."
Edges = Annotated[str, Option(help="Lower edges of the length buckets, in source words.")]
Resamples = Annotated[int, Option(min=1, max=MOST_RESAMPLES, help="Number of bootstrap resamples.")]
Seed = Annotated[int, Option(min=0, max=2**63 - 1, help="Seed for resampling.")]


def score(
    hypotheses: Annotated[
        Path, Option(help="Translations, detokenised, one per line. May be .gz.")
    ],
    references: Annotated[Path, Option(help="Reference translations, one per line.")],
    sources: Annotated[Path, Option(help="Source sentences, one per line.")],
    edges: Edges = "5,11,21,31,41",
    resamples: Resamples = 1000,
    seed: Seed = 1,
    form: Form = "rich",
) -> None:
    """Print BLEU by sentence length for the output of any system."""
    from ..tables.score import read_files, score_page

    scoring = _scoring(edges, resamples, seed)
    show([score_page(read_files(hypotheses, references, sources), scoring)], form)


def compare(
    a: Annotated[Path, Argument(metavar="A", help=f"One system: {KINDS}")],
    b: Annotated[Path, Argument(metavar="B", help=f"The other system: {KINDS}")],
    references: Annotated[
        Path | None, Option(help="Reference translations, one per line. Required for a file.")
    ] = None,
    sources: Annotated[
        Path | None, Option(help="Source sentences, one per line. Required for a file.")
    ] = None,
    edges: Edges = "5,11,21,31,41",
    resamples: Resamples = 1000,
    trials: Annotated[
        int, Option(min=1, max=MOST_RESAMPLES, help="Trials of approximate randomisation.")
    ] = 10_000,
    seed: Seed = 1,
    form: Form = "rich",
) -> None:
    """Test the difference of two systems by sentence length.

    The difference is that of B minus A.
    """
    from ..scoring.bootstrap import Resampling
    from ..tables.score import paired_page, read_systems

    scoring = _scoring(edges, resamples, seed)
    systems = read_systems(a, b, references, sources)
    how = Resampling(resamples, trials, seed)
    show([paired_page(*systems, scoring.lower_edges, how)], form)


def _scoring(edges: str, resamples: int, seed: int) -> "ScoringSettings":
    from ..settings.run import parse_settings

    values = {"edges": edges, "resamples": resamples, "seed": seed}
    try:
        return parse_settings({"scoring": values}).scoring
    except UsageError:
        raise UsageError(
            f"--edges {edges!r}: give two or more ascending whole numbers above 0 with commas, "
            "such as 5,11,21"
        ) from None
