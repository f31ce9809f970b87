"""What all tables stand on: the two arms of a bundle, bucket by bucket, as paired estimates."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, Integer
from numpy import ndarray

from ..claims.verdict import BucketScores
from ..results.bundle import Bundle, Counts
from ..results.folders import damaged
from ..results.schema import SENTENCES
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import Estimate, draw, estimate
from ..settings.buckets import Buckets
from ..settings.concerns import ScoringSettings
from ..settings.errors import UserError, counted
from ..settings.run import RunSettings
from .comparison_groups import (
    MOST_POINTS,
    NONE,
    PAIRED,
    differences,
    following,
    require_alike,
    require_distinct_seeds,
)

KEPT = 128
"""How many arms' scores are kept."""


@dataclass(frozen=True, eq=False)
class Arm:
    """One attention type: its runs (a seed each), shortest bucket first in every list.

    ``estimates`` are BLEU (0 to 100), means over seeds, and ``brevity`` the mean brevity penalty.
    """

    name: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    parameters: int
    estimates: tuple[Estimate, ...]
    by_seed: Float[ndarray, "seeds buckets"]
    brevity: Float[ndarray, "buckets"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """The arm without attention and, where there is one, with it, on the same test sentences.

    Both have the same seeds. ``source_words`` is each bucket's mean; ``facts`` are what the first
    run ran on and what became of its corpus; ``unpaired`` are seeds of one arm alone, which are
    left out; ``differences`` are those beyond attention that the user chose.
    """

    settings: RunSettings
    buckets: tuple[str, ...]
    n: tuple[int, ...]
    source_words: tuple[float, ...]
    none: Arm
    attention: Arm | None
    facts: Mapping[str, Any]
    train_pairs: int
    unpaired: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that there are, none first."""
        return (self.none, self.attention) if self.attention else (self.none,)

    @property
    def compression_ratio(self) -> tuple[float, ...]:
        """Mean source words x embedding size / context size (L4); nan for an empty bucket."""
        model = self.settings.model
        return tuple(
            words * (model.embedding_size / model.context_size) for words in self.source_words
        )

    @property
    def scores(self) -> list[BucketScores]:
        """The arms' estimates as the rules of ``claims`` take them."""
        others = self.attention.estimates if self.attention else [None] * len(self.buckets)
        rows = zip(self.buckets, self.n, self.none.estimates, others, strict=True)
        return [BucketScores(*row) for row in rows]


def compare(bundle: Bundle, updates: int | None = None, *, alone: bool = False) -> Comparison:
    """Compare none with the bundle's one attention, at ``updates`` (default: the fewest).

    ``alone`` allows for a bundle without attention. Runs of other arms, that differ in more than
    attention and updates, or that share no seed are a ``UserError``.
    """
    listed = bundle.runs.drop_duplicates("run")
    runs = _trained(listed, updates)
    _require_arms(bundle, runs, alone)
    require_alike(bundle, listed)
    _require_one_test_set(bundle, runs)
    return _comparison(bundle, runs, alone)


def compare_sizes(bundle: Bundle) -> list[Comparison]:
    """The same at each context size that was run without attention, smallest first.

    Attention may be missing. Widths are the context's own in all runs, or one in all: a curve over
    context sizes is not to be one over something else as well. Raises ``UserError`` as `compare`.
    """
    listed = bundle.runs.drop_duplicates("run")
    runs = _trained(listed, None)
    _require_arms(bundle, runs, alone=True)
    require_alike(bundle, listed, {*PAIRED, "context_size", *following(listed)})
    _require_one_test_set(bundle, runs)
    sizes = sorted(runs.loc[runs["attention"] == NONE, "context_size"].drop_duplicates())
    return [_comparison(bundle, runs[runs["context_size"] == size], alone=True) for size in sizes]


def attentions(bundle: Bundle) -> list[str]:
    """The bundle's arms other than none."""
    return sorted(set(bundle.runs["attention"]) - {NONE})


def _trained(runs: pd.DataFrame, updates: int | None) -> pd.DataFrame:
    """The runs of so many updates, by default of the fewest."""
    return runs[runs["updates"] == (updates or runs["updates"].min())]


def _require_arms(bundle: Bundle, runs: pd.DataFrame, alone: bool) -> None:
    """None and one attention must be there; ``alone``: or none on its own."""
    kinds = sorted(set(runs["attention"]))
    if NONE in kinds and (len(kinds) == 2 or (alone and len(kinds) == 1)):
        return
    way = "make such results with `bottleneck reproduce`"
    if NONE in kinds and len(kinds) > 2:
        other = next(kind for kind in kinds if kind != NONE)
        way = f"choose with `--where attention={NONE},{other}`"
    elif missing := len(bundle.unfinished()):
        way = f"{missing} more did not end, `bottleneck runs` lists them"
    raise UserError(
        f"the results hold the arms {', '.join(kinds)}: this table compares none with one "
        f"attention; {way}"
    )


def _require_one_test_set(bundle: Bundle, runs: pd.DataFrame) -> None:
    """Sentences of other lengths would fall into other buckets, and nothing would be paired."""
    first, *others = runs["run"].tolist()
    words = source_words(bundle, first)
    for run in others:
        if not np.array_equal(words, counts_of(bundle, run).words):
            raise UserError(
                f"runs {first} and {run} were tested on different sentences and cannot stand in "
                f"one table: choose with `--where`, if need be `--where run={first}`"
            )


def _comparison(bundle: Bundle, runs: pd.DataFrame, alone: bool) -> Comparison:
    """The arms of runs that differ in attention and seed alone, of the seeds that both have."""
    without, rest, unpaired = _paired(runs, alone)
    first = without.iloc[0]
    settings = bundle.settings(first["run"])
    buckets = Buckets(settings.scoring.lower_edges)
    words = source_words(bundle, first["run"])
    assigned = buckets.assign(words)
    arms = [arm_of(bundle, rows, first["run"], settings) for rows in (without, rest) if len(rows)]
    held = [words[assigned == place] for place in range(len(buckets.names))]
    return Comparison(
        settings=settings,
        buckets=buckets.names,
        n=tuple(len(lengths) for lengths in held),
        source_words=tuple(float(x.mean()) if len(x) else np.nan for x in held),
        none=arms[0],
        attention=arms[1] if arms[1:] else None,
        facts=bundle.facts(first["run"]),
        train_pairs=int(first["train_pairs"]),
        unpaired=unpaired,
        differences=differences(runs),
    )


def _paired(runs: pd.DataFrame, alone: bool) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Both arms' runs of common seeds, and the others by name; a gain pairs seed with seed.

    With no seed in common none stands ``alone`` where it may.
    """
    without, rest = runs[runs["attention"] == NONE], runs[runs["attention"] != NONE]
    common = set(without["seed"]) & set(rest["seed"])
    if rest.empty or (alone and not common):
        return without, rest[:0], tuple(_named(rest))
    if not common:
        raise UserError(
            f"{', '.join(_named(runs))} have no seed in common: run both arms with the same seeds"
        )
    kept, others = runs[runs["seed"].isin(common)], runs[~runs["seed"].isin(common)]
    arms = kept["attention"] == NONE
    return kept[arms], kept[~arms], tuple(_named(others))


def _named(runs: pd.DataFrame) -> list[str]:
    """``none seed 2`` of each run."""
    rows = runs.sort_values(["attention", "seed"])
    return [f"{row.attention} seed {row.seed}" for row in rows.itertuples()]


def source_words(bundle: Bundle, run: str) -> Int[ndarray, "sentences"]:
    """Length of each test sentence in words."""
    return counts_of(bundle, run).words.astype(np.int64)


def counts_of(bundle: Bundle, run: str) -> Counts:
    """The counts of a run's test sentences, in the order of the test set.

    A ``UserError`` where the bundle has none of them.
    """
    held = bundle.sentences.get(run)
    if held is None:
        raise damaged(bundle.folder / SENTENCES, f"nothing of run {run}", "export it again")
    return held


def arm_of(bundle: Bundle, runs: pd.DataFrame, bucketed: str, settings: RunSettings) -> Arm:
    """Mean over seeds of the corpus BLEU of each bucket, with its resamples.

    Buckets are those of the sentences of the run ``bucketed``.
    """
    require_distinct_seeds(runs)
    runs = runs.sort_values("seed")
    held = tuple(counts_of(bundle, run) for run in runs["run"])
    words = counts_of(bundle, bucketed)
    if np.array_equal(words.words, held[0].words):  # whichever run was named, what is kept serves
        words = held[0]
    estimates, by_seed, brevity = _scores(held, words, settings.scoring)
    return Arm(
        name=runs["attention"].iloc[0],
        runs=tuple(runs["run"]),
        seeds=tuple(int(seed) for seed in runs["seed"]),
        parameters=int(runs["parameters"].iloc[0]),
        estimates=estimates,
        by_seed=by_seed,
        brevity=brevity,
    )


Scores = tuple[tuple[Estimate, ...], Float[ndarray, "seeds buckets"], Float[ndarray, "buckets"]]
"""The estimates of an arm, BLEU by seed, and brevity penalties."""


@lru_cache(maxsize=KEPT)
def _scores(seeds: tuple[Counts, ...], bucketed: Counts, scoring: ScoringSettings) -> Scores:
    """The scores of an arm's seeds; kept, for several claims rest on the same arms."""
    assigned = Buckets(scoring.lower_edges).assign(bucketed.words.astype(np.int64))
    columns = np.stack([held.statistics.T for held in seeds])  # seeds, columns, sentences
    inside = [np.flatnonzero(assigned == place) for place in range(len(scoring.lower_edges))]
    held = [np.moveaxis(columns.take(places, axis=2), 1, 2) for places in inside]
    sums = [counts.sum(axis=1, dtype=np.int64) for counts in held]
    return (
        tuple(_estimate(counts, place, scoring) for place, counts in enumerate(held)),
        np.stack([bleu(each) for each in sums], axis=1),
        np.array([brevity_penalty(each).mean() for each in sums]),
    )


def _estimate(
    counts: Integer[ndarray, "seeds sentences 10"], place: int, scoring: ScoringSettings
) -> Estimate:
    """One bucket; the same resamples for every seed and arm."""
    if counts.shape[1] == 0:
        return Estimate(np.nan, np.full(scoring.resamples, np.nan))
    weights = draw(counts.shape[1], scoring.resamples, seed=scoring.seed, bucket=place)
    return estimate(bleu, counts, weights)


def seed_points(arm: Arm) -> list[str]:
    """BLEU by bucket as text: of each seed (seeds are points), or of many what they lie between.

    And their standard deviation, if there are several.
    """
    seeds = len(arm.seeds)
    if seeds > MOST_POINTS:
        shares = zip(("lowest", "median", "highest"), (0.0, 0.5, 1.0), strict=True)
        points = [
            f"{name} of {counted(seeds, 'seed')}: {_listed(np.quantile(arm.by_seed, at, axis=0))}"
            for name, at in shares
        ]
    else:
        rows = zip(arm.seeds, arm.by_seed, strict=True)
        points = [f"seed {seed}: {_listed(row)}" for seed, row in rows]
    if seeds > 1:
        deviations = arm.by_seed.std(axis=0, ddof=1)
        points.append(f"standard deviation over {counted(seeds, 'seed')}: {_listed(deviations)}")
    return points


def _listed(values: Float[ndarray, "buckets"]) -> str:
    return " ".join("-" if np.isnan(value) else f"{value:.1f}" for value in values)
