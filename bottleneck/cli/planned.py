"""What a sweep would do: what its cells cost on this machine, and which of them are done."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .console import say
from .runs import standing

if TYPE_CHECKING:
    from ..runs.estimate import Estimate
    from ..runs.store import RunFolder
    from ..settings.concerns import CorpusSettings
    from ..settings.grid import Cell


MANY = 100
"""Models of a sweep, above which its plan is a matter of minutes."""


class Text(NamedTuple):
    """Of a corpus: words known, and mean tokens of a training sentence, of each side; its hash."""

    vocabulary: tuple[int, int]
    mean_lengths: tuple[float, float]
    fingerprint: str


class Texts:
    """What is known of the corpora of cells; each is made or read once, and not kept."""

    def __init__(self) -> None:
        self._known: dict[tuple[CorpusSettings, tuple[int, ...]], Text] = {}

    def of(self, cell: "Cell") -> Text:
        """The text of a cell."""
        place = cell.settings.corpus, cell.settings.scoring.lower_edges
        if place not in self._known:
            self._known[place] = _text(*place)
        return self._known[place]


def _text(settings: "CorpusSettings", edges: tuple[int, ...]) -> Text:
    from statistics import fmean

    from ..corpus.corpus import load_corpus

    corpus = load_corpus(settings, edges)
    ours, theirs = corpus.source_vocabulary, corpus.target_vocabulary
    sources = fmean(len(ours.pieces(pair.source)) + 1 for pair in corpus.train)
    targets = fmean(len(theirs.pieces(pair.target)) + 1 for pair in corpus.train)
    return Text((len(ours), len(theirs)), (sources, targets), corpus.fingerprint)


def estimated(
    cells: "Sequence[Cell]", texts: Texts, width: int, rate: float | None = None
) -> "Estimate":
    """What the cells cost, ``width`` at once, by the text of the first of them.

    ``rate`` is the machine's; measured, which takes seconds and a process, where none is given.
    """
    from ..runs.estimate import estimate

    first = texts.of(cells[0])
    settings = [cell.settings for cell in cells]
    kinds = len({each.model for each in settings})
    if kinds > MANY:
        say(f"the parameters of {kinds:,} models are counted, some a second", err=True)
    return estimate(settings, first.vocabulary, first.mean_lengths, width, rate)


def statuses(cells: "Sequence[Cell]", folder: Path, texts: Texts) -> list[str]:
    """How each cell's run stands in the store: ``done``, ``stopped``, ...; ``-`` if not begun.

    Which run is a cell's depends on the text, which is looked at where there are runs at all.
    """
    from ..results.folders import STORE
    from ..runs.store import RunFolder, run_folders

    store = folder / STORE
    if not run_folders(store):
        return ["-"] * len(cells)
    runs = [cell.settings.identity(texts.of(cell).fingerprint) for cell in cells]
    return [_status(RunFolder(store, run)) for run in runs]


def _status(folder: "RunFolder") -> str:
    status = standing(folder)
    return "-" if status == "missing" else status


def seconds_left(estimate: "Estimate", found: Sequence[str]) -> float:
    """Time by the clock until the cells that have not ended have; a stopped run counts as whole."""
    from ..runs.estimate import wall_seconds
    from ..runs.store import ENDED

    costs = zip(found, estimate.costs, strict=True)
    return wall_seconds(
        [cost.seconds for status, cost in costs if status not in ENDED], estimate.jobs
    )
