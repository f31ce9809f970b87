"""What both tables stand on: the two arms of a bundle, bucket by bucket, as paired estimates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..claims.verdict import BucketScores
from ..results.bundle import Bundle
from ..results.schema import BLEU_COLUMNS
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import Estimate, draw, estimate
from ..scoring.buckets import Buckets
from ..scoring.spread import spread
from ..settings.errors import UserError
from ..settings.run import RunSettings

NONE = "none"


@dataclass(frozen=True, eq=False)
class Arm:
    """One attention type: its runs (a seed each), shortest bucket first in every list."""

    name: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    parameters: int
    estimates: tuple[Estimate, ...]
    by_seed: Float[ndarray, "seeds buckets"]
    brevity: Float[ndarray, "buckets"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The arm without attention and the one with it, on the same test sentences.

    ``facts`` are what the first run ran on and what became of its corpus.
    """

    settings: RunSettings
    buckets: tuple[str, ...]
    n: tuple[int, ...]
    compression_ratio: tuple[float, ...]
    none: Arm
    attention: Arm
    facts: Mapping[str, Any]

    @property
    def scores(self) -> list[BucketScores]:
        """The arms' estimates as the rules of ``claims`` take them."""
        rows = zip(self.buckets, self.n, self.none.estimates, self.attention.estimates, strict=True)
        return [BucketScores(*row) for row in rows]


def compare(bundle: Bundle, updates: int | None = None) -> Comparison:
    """Compare none with the bundle's one attention, at ``updates`` (default: the fewest)."""
    runs = bundle.runs.drop_duplicates("run")
    chosen = runs[runs["updates"] == (updates or runs["updates"].min())]
    attention = _other_arm(chosen)
    settings = bundle.settings(chosen["run"].iloc[0])
    buckets = Buckets(settings.scoring.lower_edges)
    none_runs = chosen[chosen["attention"] == NONE]
    first = bundle.sentences[bundle.sentences["run"] == none_runs["run"].iloc[0]]
    words = first["source_words"].to_numpy(dtype=np.int64)
    assigned = buckets.assign(words)
    arms = [
        _arm(bundle, chosen[chosen["attention"] == name], assigned, settings)
        for name in (NONE, attention)
    ]
    counts = [int((assigned == place).sum()) for place in range(len(buckets.names))]
    ratio = settings.model.embedding_size / settings.model.context_size
    ratios = [
        float(words[assigned == place].mean()) * ratio if count else np.nan
        for place, count in enumerate(counts)
    ]
    return Comparison(
        settings=settings,
        buckets=buckets.names,
        n=tuple(counts),
        compression_ratio=tuple(ratios),
        none=arms[0],
        attention=arms[1],
        facts=bundle.facts(chosen["run"].iloc[0]),
    )


def _other_arm(runs: pd.DataFrame) -> str:
    """The one attention beside none; both must be there."""
    kinds = sorted(set(runs["attention"]))
    if len(kinds) != 2 or NONE not in kinds:
        raise UserError(
            f"the results hold the arms {', '.join(kinds)}: this table compares none with one "
            "attention; make such results with `bottleneck reproduce`"
        )
    return next(kind for kind in kinds if kind != NONE)


def _arm(
    bundle: Bundle, runs: pd.DataFrame, assigned: Int[ndarray, "sentences"], settings: RunSettings
) -> Arm:
    """Mean over seeds of the corpus BLEU of each bucket, with its resamples."""
    runs = runs.sort_values("seed")
    statistics = np.stack([_statistics(bundle, run) for run in runs["run"]])
    places = range(len(settings.scoring.lower_edges))
    held = [statistics[:, assigned == place] for place in places]
    return Arm(
        name=runs["attention"].iloc[0],
        runs=tuple(runs["run"]),
        seeds=tuple(int(seed) for seed in runs["seed"]),
        parameters=int(runs["parameters"].iloc[0]),
        estimates=tuple(_estimate(counts, place, settings) for place, counts in enumerate(held)),
        by_seed=np.stack([bleu(counts.sum(axis=1)) for counts in held], axis=1),
        brevity=np.array([brevity_penalty(counts.sum(axis=1)).mean() for counts in held]),
    )


def _statistics(bundle: Bundle, run: str) -> Int[ndarray, "sentences 10"]:
    rows = bundle.sentences[bundle.sentences["run"] == run].sort_values("sentence")
    return rows[list(BLEU_COLUMNS)].to_numpy(dtype=np.int64)


def _estimate(
    counts: Int[ndarray, "seeds sentences 10"], place: int, settings: RunSettings
) -> Estimate:
    """One bucket; the same resamples for every seed and arm."""
    scoring = settings.scoring
    if counts.shape[1] == 0:
        return Estimate(np.nan, np.full(scoring.resamples, np.nan))
    weights = draw(counts.shape[1], scoring.resamples, seed=scoring.seed, bucket=place)
    return estimate(bleu, counts, weights)


def seed_points(arm: Arm) -> list[str]:
    """Each seed's BLEU by bucket, as text (seeds are points), and their deviation if several."""
    points = [
        f"seed {seed}: {_listed(row)}" for seed, row in zip(arm.seeds, arm.by_seed, strict=True)
    ]
    if len(points) > 1:
        deviations = np.array([spread(column).sd for column in arm.by_seed.T])
        points.append(f"standard deviation over {len(points)} seeds: {_listed(deviations)}")
    return points


def _listed(values: Float[ndarray, "buckets"]) -> str:
    return " ".join("-" if np.isnan(value) else f"{value:.1f}" for value in values)
