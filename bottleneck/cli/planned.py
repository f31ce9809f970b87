"""What a sweep would do: its cells' parameters and disk, and which of them are done."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .runs import standing

if TYPE_CHECKING:
    from ..runs.store import RunFolder
    from ..settings.concerns import CorpusSettings
    from ..settings.grid import Cell


SENTENCE_BYTES = 620
"""A test sentence in a run's folder: its translation and its counts."""
TEXT_BYTES = 180_000
"""The rest of a run's text: examples, log, vocabularies, settings."""


class Text(NamedTuple):
    """Of a corpus: words known of each side, and its hash."""

    vocabulary: tuple[int, int]
    fingerprint: str


class Cost(NamedTuple):
    """What one run trains, and what it leaves on disk."""

    parameters: int
    disk_bytes: int


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
    from ..corpus.corpus import load_corpus

    corpus = load_corpus(settings, edges)
    vocabulary = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    return Text(vocabulary, corpus.fingerprint)


def costs(cells: "Sequence[Cell]", texts: Texts) -> list[Cost]:
    """What each cell costs."""
    from ..model.translator import parameters_of

    found = []
    for cell in cells:
        parameters = parameters_of(cell.settings.model, texts.of(cell).vocabulary)
        text = TEXT_BYTES + SENTENCE_BYTES * cell.settings.corpus.test_pairs
        found.append(Cost(parameters, 4 * parameters + text))
    return found


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
