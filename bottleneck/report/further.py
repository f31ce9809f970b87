"""Results folders inside that no claim rests on: side questions, real text, sweeps of one's own."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..results.bundle import Bundle
from ..results.discovery import results_inside
from ..settings.errors import DamagedError, UserError
from ..settings.sweep import experiment_names, load_sweep
from ..tables.decided import bundle_of
from ..tables.page import Page
from ..tables.pages import make_page
from .figures import Picture, of_runs

PAIR, ARMS = "vindication", "arms"
"""The table of a folder that holds one pair of arms, and of one that holds others."""
FIGURES = {PAIR: "bleu", ARMS: "arms"}
"""The figure beside each."""


@dataclass(frozen=True)
class Further:
    """A folder's runs, the table that suits them, and the sweep's question where it is one of ours.

    ``page`` is why there is no table where none can be made; then there is no figure either.
    """

    bundle: Bundle
    question: str
    page: Page | str
    picture: Picture | None = None

    @property
    def folder(self) -> Path:
        """Where the runs are."""
        return self.bundle.folder


def further(folder: Path, shown: Collection[Path]) -> Iterator[Further]:
    """All with runs directly inside a folder that are not ``shown`` elsewhere, by name."""
    ours = frozenset(experiment_names())
    for place in results_inside(folder):
        bundle = None if place in shown else bundle_of(place)
        if bundle is not None:
            asked = load_sweep(place.name).question if place.name in ours else ""
            question = f"{asked.partition('?')[0]}?" if asked else ""
            yield Further(bundle, question, *_shown(bundle))


def _shown(bundle: Bundle) -> tuple[Page | str, Picture | None]:
    reason = ""
    for name, drawn in FIGURES.items():
        try:
            page = make_page(name, bundle)
        except DamagedError:
            raise
        except UserError as error:
            reason = str(error)
        else:
            picture = of_runs(drawn, bundle)
            return page, picture if isinstance(picture, Picture) else None
    return reason, None
