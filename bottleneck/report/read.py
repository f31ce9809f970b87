"""What the page is made of, read from a bundle once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..claims.registry import CLAIMS
from ..results.bundle import Bundle
from ..results.discovery import results_inside
from ..results.study_files import tables
from ..settings.errors import UserError
from ..tables.comparison_groups import alone, listed_runs, pairs
from ..tables.controlled import only
from ..tables.decided import Decision, bundle_of, decide_results, holds_results
from ..tables.page import Page
from ..tables.pages import make_page, slide_pages
from .explorer import Explored, explored
from .figures import Picture, of_runs
from .further import Further, further
from .questions import Shown, Source, shown

SLIDES_TABLES = sum(claim.id.startswith("L-") for claim in CLAIMS)
"""How many claims, the first ones, are of the two tables."""


@dataclass(frozen=True)
class Read:
    """``pair`` are the runs of the slides' tables, None without any; ``pages`` those tables.

    ``bundles`` are the folder's own, if it has one, and those inside it. ``shown`` has what stands
    with each claim behind the first `SLIDES_TABLES`, ``further`` the sweeps that no claim is asked
    of.
    """

    folder: Path
    bundles: list[Bundle]
    pair: Bundle | None
    decisions: list[Decision]
    pages: list[Page]
    figure: Picture | str | None
    shown: list[Shown]
    further: list[Further]
    explored: Explored | None


def read(folder: Path) -> Read:
    """All of it. A folder without results, or with damaged ones, is a ``UserError``."""
    if not (holds_results(folder) or tables(folder) or results_inside(folder)):
        raise UserError(
            f"no results in {str(folder)!r}: name a folder that `bottleneck reproduce`, "
            "`bottleneck sweep` or `bottleneck bench` wrote"
        )
    decisions = decide_results(folder)
    places = dict.fromkeys([folder, *(each.folder for each in decisions)])
    sources = {place: _source(place) for place in places}
    pair = next(
        filter(None, (sources[each.folder].pair for each in decisions[:SLIDES_TABLES])), None
    )
    others = list(further(folder, sources))
    own = (source.bundle for source in sources.values())
    return Read(
        folder=folder,
        bundles=[*filter(None, own), *(one.bundle for one in others)],
        pair=pair,
        decisions=decisions,
        pages=_slide_pages(pair) if pair else [],
        figure=of_runs("bleu", pair) if pair else None,
        shown=list(_shown(decisions[SLIDES_TABLES:], sources)),
        further=others,
        explored=explored(pair) if pair else None,
    )


def _source(folder: Path) -> Source:
    bundle = bundle_of(folder)
    return Source(folder, bundle, _pair(bundle) if bundle else None)


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


def _shown(decisions: Sequence[Decision], sources: Mapping[Path, Source]) -> Iterator[Shown]:
    """What stands with each claim; a figure or table that two share stands with the first."""
    seen: dict[tuple[Path, str], str] = {}
    for decision in decisions:
        place = decision.folder
        here = {name: claim for (folder, name), claim in seen.items() if folder == place}
        held = shown(decision, sources[place], here)
        seen |= {(place, name): decision.claim.id for name in (*held.drawn, *held.tabled)}
        yield held
