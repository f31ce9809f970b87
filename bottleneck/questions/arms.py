"""Arms (runs that differ only in their seed), and the rows of a question's table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from ..claims.verdict import Measured
from ..scoring.bootstrap import Estimate, Number, Score, draw, estimate
from ..settings.concerns import UNSELECTIVE, bucket_members
from ..settings.run import RunSettings
from ..settings.sweep import Cell, declare

Row = dict[str, Any]
"""A row of the bundle's ``probes/NAME.csv``, with the columns ``schema.PROBE_COLUMNS``."""
Statistics = Float[np.ndarray, "seeds sentences columns"]


@dataclass(frozen=True, eq=False)
class Probed:
    """One run and what a probe found: columns of numbers or texts."""

    folder: Path
    settings: RunSettings
    found: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Arm:
    """Runs sorted by their seed; ``settings`` are those of the first."""

    name: str
    runs: tuple[Probed, ...]
    settings: RunSettings

    def row(self, measure: str, value: float | Number | Mapping[str, Any], **others: Any) -> Row:
        """The row of a number; ``others`` are bucket, part, n, ..."""
        if isinstance(value, Number):
            value = value.row()
        elif not isinstance(value, Mapping):
            value = {"value": float(value)}
        model = self.settings.model
        return {
            "arm": self.name,
            "attention": model.attention,
            "placement": model.placement,
            "context_size": model.context_size,
            "corpus": self.settings.corpus.name,
            "updates": self.settings.training.updates,
            "measure": measure,
            **others,
            **value,
        }

    def with_seeds(
        self, measure: str, mean: Number | Mapping[str, Any], by_seed: Iterable, **others: Any
    ) -> list[Row]:
        """The row of the mean over seeds, then one per seed."""
        rows = [self.row(measure, mean, **others)]
        for run, value in zip(self.runs, by_seed, strict=True):
            seed = {"run": run.folder.name, "seed": run.settings.training.seed}
            rows.append(self.row(measure, value, **others) | seed)
        return rows

    def statistics(self, columns: Sequence[str]) -> Statistics:
        """These columns of the probe, for every seed."""
        runs = [[run.found[name] for name in columns] for run in self.runs]
        return np.moveaxis(np.array(runs, np.float64), 1, 2)

    def rows(
        self, measure: str, score: Score, statistics: Statistics, *, stream: int, **others: Any
    ) -> list[Row]:
        """The mean over seeds with its interval, then one row per seed."""
        mean, by_seed = self.estimate(score, statistics, stream), score(statistics.sum(axis=1))
        return self.with_seeds(measure, mean, by_seed, **{"n": statistics.shape[1]} | others)

    def estimate(self, score: Score, statistics: Statistics, stream: int) -> Estimate:
        """The mean over seeds with its resamples; a stream has the same for every seed and arm."""
        scoring = self.settings.scoring
        weights = draw(statistics.shape[1], scoring.resamples, seed=scoring.seed, bucket=stream)
        return estimate(score, statistics, weights)


def arms_of(probed: Sequence[Probed]) -> list[Arm]:
    """The runs by arm, seeds ascending; arms by attention (none first), context size, updates."""
    seeds = sorted(probed, key=lambda run: run.settings.training.seed)
    arms = {}
    for run, cell in zip(seeds, declare([Cell("", run.settings) for run in seeds]), strict=True):
        arms.setdefault(cell.arm, []).append(run)
    return sorted(
        (Arm(name, tuple(runs), runs[0].settings) for name, runs in arms.items()),
        key=lambda arm: (
            arm.settings.model.attention != "none",
            arm.settings.model.attention,
            arm.settings.model.context_size,
            arm.settings.training.updates,
            arm.name,
        ),
    )


def by_arm(summary: Callable[[Arm], Iterable[Row]]) -> Callable[[Sequence[Probed]], list[Row]]:
    """Make ``summarise`` from a summary of one arm, if arms do not depend on each other."""
    return lambda probed: [row for arm in arms_of(probed) for row in summary(arm)]


def rows_by_bucket(
    probed: Sequence[Probed],
    scores: Iterable[tuple[str, str, Score, Sequence[str]]],
    splits: Iterable[str] = ("",),
    whole: bool = False,
) -> list[Row]:
    """The rows of scores for every arm, and every bucket that has sentences.

    ``scores`` has measures, each with its control, its score, and the columns of counts that the
    score takes. Each split is a part of the table. With ``whole``, all sentences come last, as
    bucket "".
    """
    rows = []
    for arm, split in product(arms_of(probed), splits):
        first = arm.runs[0].found
        buckets = bucket_members(first["source_words"], arm.settings.scoring.lower_edges)
        if whole:
            buckets[""] = np.arange(len(first["source_words"]))
        for stream, (bucket, inside) in enumerate(buckets.items()):
            chosen = inside[first["split"][inside] == split] if split else inside
            keys = {"stream": stream, "bucket": bucket, "part": split}
            for measure, control, score, names in scores if len(chosen) else ():
                counts = arm.statistics(names)[:, chosen]
                rows += arm.rows(measure, score, counts, control=control, **keys)
    return rows


class Estimates:
    """The means over seeds in ``probes/NAME.csv``, by measure, arm, bucket, control and part.

    ``means`` are their rows; ``buckets`` and ``arms`` are in the order of the table. ``attention``
    has each arm's attention. ``selective`` are the arms that can attend to a word;
    ``without_attention`` is the first arm without attention, or "".
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.means = frame[frame["seed"].isna()].fillna({"n": 0})
        self._rows = {
            (row.measure, row.arm, row.bucket, row.control, row.part): Measured(
                row.value, row.low, row.high, int(row.n), row.note
            )
            for row in self.means.dropna(subset="value").itertuples()
        }
        self.buckets = [*dict.fromkeys(bucket for _, _, bucket, _, _ in self._rows if bucket)]
        self.attention = dict(zip(self.means["arm"], self.means["attention"], strict=True))
        self.arms = [*self.attention]
        self.selective = [arm for arm in self.arms if self.attention[arm] not in UNSELECTIVE]
        none = (arm for arm in self.arms if self.attention[arm] == "none")
        self.without_attention = next(none, "")

    def get(
        self, measure: str, arm: str, bucket: str = "", control: str = "", part: str = ""
    ) -> Measured | None:
        """The estimate with these keys; None where there is none."""
        return self._rows.get((measure, arm, bucket, control, part))

    def by_bucket(self, measure: str, arm: str, part: str = "") -> dict[str, Measured]:
        """The estimates of a trained arm's measure, by bucket."""
        numbers = {name: self.get(measure, arm, name, part=part) for name in self.buckets}
        return {name: number for name, number in numbers.items() if number}
