"""What all tables stand on: the two arms of a bundle, bucket by bucket, as paired estimates."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer
from numpy import ndarray

from ..claims.verdict import BucketScores
from ..results.bundle import Bundle, Counts
from ..results.folders import damaged
from ..results.schema import SENTENCES, SETTING_COLUMNS
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
    SIZE,
    TEXT,
    common_seeds,
    following_widths,
    listed_runs,
)
from .selection import as_condition, list_values


@dataclass(frozen=True, eq=False)
class Arm:
    """Runs that differ in their seed alone, shortest bucket first in every list.

    ``n`` are the buckets' test sentences and ``source_words`` their mean length. ``estimates`` are
    BLEU (0 to 100), means over seeds, and ``brevity`` the mean brevity penalty.
    """

    name: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    parameters: int
    buckets: tuple[str, ...]
    n: tuple[int, ...]
    source_words: tuple[float, ...]
    estimates: tuple[Estimate, ...]
    by_seed: Float[ndarray, "seeds buckets"]
    brevity: Float[ndarray, "buckets"]

    @property
    def longest(self) -> int:
        """Place of the longest filled bucket."""
        return max(place for place, count in enumerate(self.n) if count)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The arm without attention and, where there is one, with it, on the same test sentences.

    Both have the same seeds. ``facts`` are what the first run ran on and what became of its corpus;
    ``unpaired`` are seeds of one arm alone, which are left out; ``differences`` are those beyond
    attention that the user chose, as ``hidden_size none 257, additive 256``.
    """

    settings: RunSettings
    none: Arm
    attention: Arm | None
    facts: Mapping[str, Any]
    train_pairs: int
    unpaired: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def buckets(self) -> tuple[str, ...]:
        """Names of the length buckets."""
        return self.none.buckets

    @property
    def n(self) -> tuple[int, ...]:
        """Test sentences of each bucket."""
        return self.none.n

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that there are, none first."""
        return (self.none, self.attention) if self.attention else (self.none,)

    @property
    def compression_ratio(self) -> tuple[float, ...]:
        """Mean source words x embedding size / context size (L4); nan for an empty bucket."""
        model = self.settings.model
        return tuple(
            words * (model.embedding_size / model.context_size) for words in self.none.source_words
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
    return _comparison(bundle, _comparable(bundle, PAIRED, updates, alone), alone)


def compare_sizes(bundle: Bundle) -> list[Comparison]:
    """The same at each context size that was run without attention, smallest first.

    Attention may be missing. Widths are the context's own in all runs, or one in all: a curve over
    context sizes is not to be one over something else as well. Raises ``UserError`` as `compare`.
    """
    free = {*PAIRED, SIZE, *following_widths(listed_runs(bundle))}
    runs = _comparable(bundle, free, None, alone=True)
    sizes = sorted(runs.loc[runs["attention"] == NONE, SIZE].drop_duplicates())
    return [_comparison(bundle, runs[runs[SIZE] == size], alone=True) for size in sizes]


def attentions(bundle: Bundle) -> list[str]:
    """The bundle's arms other than none."""
    return sorted(set(bundle.runs["attention"]) - {NONE})


def _comparable(
    bundle: Bundle, free: Collection[str], updates: int | None, alone: bool
) -> pd.DataFrame:
    """The runs of so many updates, by default of the fewest, if they may stand in one table.

    That is none and one attention (``alone``: or none on its own) that differ in nothing outside
    ``free`` and were tested on the same sentences. A setting of which the user chose several values
    may differ between the arms, not within one.
    """
    listed = listed_runs(bundle)
    runs = listed[listed["updates"] == (updates or listed["updates"].min())]
    _require_arms(bundle, runs, alone)
    for column, arms in _differing(listed, free).items():
        if arms is None:
            values = listed[column].sort_values(na_position="last")
            common = as_condition(Counter(values).most_common(1)[0][0])
            raise UserError(
                f"the results hold several values of {column} ({list_values(values)}), this table "
                f"takes one: choose with `--where {column}={common}`"
            )
        if column not in bundle.chosen:
            values = ", ".join(f"{arm} {value}" for arm, value in arms.items())
            raise UserError(
                f"the arms differ in more than attention: in {column} ({values}); train them "
                "alike, or have them compared all the same with "
                f"`--where {column}={','.join(arms.values())}`"
            )
    # Sentences of other lengths would fall into other buckets, and nothing would be paired.
    first, *others = runs["run"].tolist()
    words = counts_of(bundle, first).words
    for run in others:
        if not np.array_equal(words, counts_of(bundle, run).words):
            raise UserError(
                f"runs {first} and {run} were tested on different sentences and cannot stand in "
                f"one table: choose with `--where`, if need be `--where run={first}`"
            )
    return runs


def _require_arms(bundle: Bundle, runs: pd.DataFrame, alone: bool) -> None:
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


def _differing(runs: pd.DataFrame, free: Collection[str]) -> dict[str, dict[str, str] | None]:
    """The columns outside ``free`` that vary: the value of each arm; None if some arm has more."""
    columns: dict[str, dict[str, str] | None] = {}
    for column in (*SETTING_COLUMNS, TEXT):
        if column in free or runs[column].nunique(dropna=False) < 2:
            continue
        arms = {arm: rows.drop_duplicates() for arm, rows in runs.groupby("attention")[column]}
        several = column == TEXT or any(len(values) > 1 for values in arms.values())
        values = {str(arm): as_condition(values.iloc[0]) for arm, values in arms.items()}
        columns[column] = None if several else values
    return columns


def _comparison(bundle: Bundle, runs: pd.DataFrame, alone: bool) -> Comparison:
    """The arms of runs that differ in attention and seed alone, of the seeds that both have.

    With no seed in common none stands ``alone`` where it may.
    """
    arms = runs[runs["attention"] == NONE], runs[runs["attention"] != NONE]
    none, attention = common_seeds(*arms)
    if none.empty and (alone or arms[1].empty):
        none, attention = arms[0], arms[1][:0]
    if none.empty:
        raise UserError(
            f"{', '.join(_named(runs))} have no seed in common: run both arms with the same seeds"
        )
    first = none.iloc[0]
    settings = bundle.settings(first["run"])
    paired = runs["run"].isin([*none["run"], *attention["run"]])
    differing = _differing(runs, PAIRED).items()
    return Comparison(
        settings=settings,
        none=arm_of(bundle, none, settings),
        attention=arm_of(bundle, attention, settings) if len(attention) else None,
        facts=bundle.facts(first["run"]),
        train_pairs=int(first["train_pairs"]),
        unpaired=tuple(_named(runs[~paired])),
        differences=tuple(
            f"{column} {', '.join(f'{arm} {value}' for arm, value in values.items())}"
            for column, values in differing
            if values
        ),
    )


def _named(runs: pd.DataFrame) -> list[str]:
    """``none seed 2`` of each run."""
    rows = runs.sort_values(["attention", "seed"])
    return [f"{row.attention} seed {row.seed}" for row in rows.itertuples()]


def counts_of(bundle: Bundle, run: str) -> Counts:
    """The counts of a run's test sentences, in the order of the test set.

    A ``UserError`` where the bundle has none of them.
    """
    counts = bundle.sentences.get(run)
    if counts is None:
        raise damaged(bundle.folder / SENTENCES, f"nothing of run {run}", "export it again")
    return counts


def arm_of(bundle: Bundle, runs: pd.DataFrame, settings: RunSettings | None = None) -> Arm:
    """Mean over seeds of the corpus BLEU of each bucket, with its resamples.

    Scored by ``settings``, those of the first run if there are none. Two runs of one seed are a
    ``UserError``.
    """
    runs = runs.sort_values("seed", kind="stable")
    same = runs[runs["seed"].duplicated(keep=False)]
    if len(same):
        example, other = same["run"].iloc[:2]
        raise UserError(
            f"runs {example} and {other} are one arm and seed of this table: choose with "
            f"`--where run={example}`"
        )
    scoring = (settings or bundle.settings(runs["run"].iloc[0])).scoring
    counts = tuple(counts_of(bundle, run) for run in runs["run"])
    words, assigned = counts[0].words.astype(np.int64), _assigned(counts[0], scoring)
    inside = [words[assigned == place] for place in range(len(scoring.lower_edges))]
    estimates, by_seed, brevity = _scores(counts, scoring)
    return Arm(
        name=runs["attention"].iloc[0],
        runs=tuple(runs["run"]),
        seeds=tuple(int(seed) for seed in runs["seed"]),
        parameters=int(runs["parameters"].iloc[0]),
        buckets=Buckets(scoring.lower_edges).names,
        n=tuple(len(lengths) for lengths in inside),
        source_words=tuple(float(x.mean()) if len(x) else np.nan for x in inside),
        estimates=estimates,
        by_seed=by_seed,
        brevity=brevity,
    )


def _assigned(counts: Counts, scoring: ScoringSettings) -> Integer[ndarray, "sentences"]:
    """The place of each sentence's bucket."""
    return Buckets(scoring.lower_edges).assign(counts.words.astype(np.int64))


@lru_cache(maxsize=128)
def _scores(
    seeds: tuple[Counts, ...], scoring: ScoringSettings
) -> tuple[tuple[Estimate, ...], Float[ndarray, "seeds buckets"], Float[ndarray, "buckets"]]:
    """The estimates of an arm, BLEU by seed, and brevity penalties.

    Kept, since several claims rest on the same arms.
    """
    assigned = _assigned(seeds[0], scoring)
    columns = np.stack([counts.statistics.T for counts in seeds])  # seeds, columns, sentences
    inside = [np.flatnonzero(assigned == place) for place in range(len(scoring.lower_edges))]
    buckets = [np.moveaxis(columns.take(places, axis=2), 1, 2) for places in inside]
    sums = [counts.sum(axis=1, dtype=np.int64) for counts in buckets]
    return (
        tuple(_estimate(counts, place, scoring) for place, counts in enumerate(buckets)),
        np.stack([bleu(total) for total in sums], axis=1),
        np.array([brevity_penalty(total).mean() for total in sums]),
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
        quantiles = np.quantile(arm.by_seed, (0.0, 0.5, 1.0), axis=0)
        ends = zip(("lowest", "median", "highest"), quantiles, strict=True)
        points = {f"{name} of {counted(seeds, 'seed')}": values for name, values in ends}
    else:
        points = dict(zip((f"seed {seed}" for seed in arm.seeds), arm.by_seed, strict=True))
    if seeds > 1:
        deviation = arm.by_seed.std(axis=0, ddof=1)
        points[f"standard deviation over {counted(seeds, 'seed')}"] = deviation
    return [f"{name}: {by_bucket(values)}" for name, values in points.items()]


def by_bucket(values: Iterable[float], form: str = "{:.1f}") -> str:
    """The numbers of all buckets, a dash for one that there is not."""
    return " ".join("-" if np.isnan(value) else form.format(value) for value in values)
