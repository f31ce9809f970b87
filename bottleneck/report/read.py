"""What the page is made of, read from a bundle once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..claims.registry import CLAIMS
from ..results.bundle import Bundle, load_bundle
from ..results.study_files import tables
from ..settings.errors import UserError
from ..tables.controlled import only
from ..tables.decided import Decision, decide, holds_results
from ..tables.families import alone, listed_runs, pairs
from ..tables.page import Page
from ..tables.pages import make_page, slide_pages
from .explorer import Explored, explored
from .figures import Picture, of_runs
from .questions import Shown, shown

SLIDES_TABLES = sum(claim.id.startswith("L-") for claim in CLAIMS)
"""How many claims, the first ones, are of the two tables."""


@dataclass(frozen=True)
class Read:
    """``pair`` are the runs of the slides' tables, None without any; ``pages`` those tables.

    ``shown`` has what stands with each claim behind the first `SLIDES_TABLES`.
    """

    folder: Path
    bundle: Bundle | None
    pair: Bundle | None
    decisions: list[Decision]
    pages: list[Page]
    figure: Picture | str | None
    shown: list[Shown]
    explored: Explored | None


def read(folder: Path) -> Read:
    """All of it. A folder without results, or with damaged ones, is a ``UserError``."""
    if not holds_results(folder) and not tables(folder):
        raise UserError(
            f"no results in {str(folder)!r}: name a folder that `bottleneck reproduce`, "
            "`bottleneck sweep` or `bottleneck bench` wrote"
        )
    bundle = load_bundle(folder) if holds_results(folder) else None
    pair = _pair(bundle) if bundle else None
    decisions = decide(folder, bundle)
    return Read(
        folder=folder,
        bundle=bundle,
        pair=pair,
        decisions=decisions,
        pages=_slide_pages(pair) if pair else [],
        figure=of_runs("bleu", pair) if pair else None,
        shown=list(_shown(decisions[SLIDES_TABLES:], folder, bundle, pair)),
        explored=explored(pair) if pair else None,
    )


def _pair(bundle: Bundle) -> Bundle | None:
    """The runs that L-FAIL and L-VIND are decided by: two arms, or none on its own."""
    runs = listed_runs(bundle)
    found = pairs(runs)
    rows = found[0].runs if found else alone(runs)
    return None if rows is None else only(bundle, rows)


def _slide_pages(pair: Bundle) -> list[Page]:
    """Both tables, or the first where there is no attention."""
    if pair.runs["attention"].nunique() > 1:
        return slide_pages(pair)
    return [make_page("failure-pattern", pair)]


def _shown(
    decisions: Sequence[Decision], folder: Path, bundle: Bundle | None, pair: Bundle | None
) -> Iterator[Shown]:
    """What stands with each claim; a figure or table that two share stands with the first."""
    seen: dict[str, str] = {}
    for decision in decisions:
        held = shown(decision, folder, bundle, pair, dict(seen))
        seen |= dict.fromkeys((*held.drawn, *held.tabled), decision.claim.id)
        yield held
