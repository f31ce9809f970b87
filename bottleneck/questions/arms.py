"""Runs that differ in their seed alone, and rows of a study's table for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from ..results.schema import SETTING_COLUMNS
from ..scoring.bootstrap import Estimate, Score, draw, estimate
from ..settings.buckets import Buckets
from ..settings.run import RunSettings, resolve
from ..settings.sweep import SEED, Cell, short_name, toml_word, varying
from ..tables.comparison_groups import unusual_settings
from .question import Probed, Row

ATTENTION = "model.attention"
_COLUMNS = {setting: column for column, (setting, _) in SETTING_COLUMNS.items()}


@dataclass(frozen=True, eq=False)
class Arm:
    """Runs that differ in their seed alone, by seed; ``name`` tells the arm from the others."""

    name: str
    runs: tuple[Probed, ...]

    @property
    def settings(self) -> RunSettings:
        """The settings of the first seed."""
        return self.runs[0].settings

    def row(self, measure: str, value: float, **others: Any) -> Row:
        """The mean over seeds; ``others`` are control, bucket, part, low, high, n, note.

        ``low`` and ``high`` are of the 95 % interval.
        """
        return _row(self.name, self.settings) | {"measure": measure, "value": value} | others

    def seed_row(self, run: Probed, measure: str, value: float, **others: Any) -> Row:
        """One run's own number."""
        mine = {"run": run.folder.name, "seed": run.settings.training.seed}
        return self.row(measure, value, **others) | mine

    def statistics(self, columns: Sequence[str]) -> Float[np.ndarray, "seeds sentences columns"]:
        """These columns of the probe, of every seed."""
        runs = [[run.found[name] for name in columns] for run in self.runs]
        return np.moveaxis(np.array(runs, np.float64), 1, 2)

    def rows(
        self, measure: str, score: Score, statistics: Float[np.ndarray, "seeds sentences columns"],
        *, place: int, **others: Any,
    ) -> list[Row]:  # fmt: skip
        """The mean over seeds with its interval over sentences, then one row per seed.

        ``place`` is the bucket's: its resamples are those of every other table of this bucket.
        """
        found = self.estimate(score, statistics, place)
        others = {"n": statistics.shape[1]} | others
        rows = [self.row(measure, found.value, **interval_of(found), **others)]
        alone = score(statistics.sum(axis=1))
        for run, value in zip(self.runs, alone, strict=True):
            rows.append(self.seed_row(run, measure, float(value), **others))
        return rows

    def estimate(
        self, score: Score, statistics: Float[np.ndarray, "seeds sentences columns"], place: int
    ) -> Estimate:
        """The mean over seeds with its resamples: the same sentences for every seed and arm."""
        scoring = self.settings.scoring
        weights = draw(statistics.shape[1], scoring.resamples, seed=scoring.seed, bucket=place)
        return estimate(score, statistics, weights)


def interval_of(found: Estimate) -> dict[str, float]:
    """``low`` and ``high`` of a row."""
    return {"low": found.interval.low, "high": found.interval.high}


def arms_of(probed: Sequence[Probed]) -> list[Arm]:
    """Runs by arm, seeds ascending; attention none first, of equals the nearest to the lecture.

    The claims read the first arm that they can: a run trained twice as long or with its source
    hidden may stand beside the lecture's own, and must not come before it by chance.
    """
    held: dict[RunSettings, list[Probed]] = {}
    for one in sorted(probed, key=lambda one: one.settings.training.seed):
        held.setdefault(one.settings.without_seed(), []).append(one)
    known = sorted(held, key=_order)
    return [Arm(name, tuple(held[key])) for name, key in zip(_names(known), known, strict=True)]


def _names(known: Sequence[RunSettings]) -> list[str]:
    """The attention, and in what else an arm is not as most: ``additive context_size=64``."""
    cells = [Cell("", settings) for settings in known]
    told = [name for name in varying(cells) if name != ATTENTION]
    rows = [_written(cell, told) for cell in cells]
    apart = unusual_settings(rows, _written(_lecture(), told))
    return [" ".join([cell.value(ATTENTION), *own]) for cell, own in zip(cells, apart, strict=True)]


def _written(cell: Cell, names: Sequence[str]) -> dict[str, str]:
    """Settings by their columns, which `--where` takes, in the words of a sweep file."""
    return {_COLUMNS.get(name, short_name(name)): toml_word(cell.value(name)) for name in names}


def in_buckets(run: Probed, words: Float[np.ndarray, "sentences"]) -> Iterator[tuple]:
    """Place (from 0), name and members (a mask) of each of the run's length buckets."""
    buckets = Buckets(run.settings.scoring.lower_edges)
    assigned = buckets.assign(words.astype(np.int64))
    for place, name in enumerate(buckets.names):
        yield place, name, assigned == place


def _order(settings: RunSettings) -> tuple:
    """Attention, context size, settings unlike the lecture's, updates; then anything fixed."""
    model, training = settings.model, settings.training
    shown = model.attention != "none", model.attention, model.context_size
    return *shown, _distance(settings), training.updates, settings.model_dump_json()


def _distance(settings: RunSettings) -> int:
    """In how many settings, but for seed and updates, these are not the lecture's preset."""
    return len(set(varying([Cell("", settings), _lecture()])) - {SEED, "training.updates"})


@cache
def _lecture() -> Cell:
    return Cell("", resolve("lecture"))


def _row(arm: str, settings: RunSettings) -> Row:
    return {
        "arm": arm,
        "attention": settings.model.attention,
        "placement": settings.model.placement,
        "context_size": settings.model.context_size,
        "corpus": settings.corpus.name,
        "updates": settings.training.updates,
    }
