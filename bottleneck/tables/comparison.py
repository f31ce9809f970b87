"""What all tables of runs stand on: two arms of a bundle, bucket by bucket, as paired estimates."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import BucketScores
from ..results.bundle import Bundle, Counts
from ..results.folders import damaged
from ..results.schema import SENTENCES, SETTING_COLUMNS
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import Estimate, draw, estimate
from ..settings.concerns import Buckets, ScoringSettings
from ..settings.errors import UserError
from ..settings.run import RunSettings
from .comparison_groups import (
    NONE,
    PAIRED,
    SIZE,
    TEXT,
    common_seeds,
    describe,
    first,
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

    Both have the same seeds. ``facts`` are what the first run ran on and what became of its corpus.
    """

    settings: RunSettings
    none: Arm
    attention: Arm | None
    facts: Mapping[str, Any]
    train_pairs: int

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
        factor = model.embedding_size / model.context_size
        return tuple(words * factor for words in self.none.source_words)

    @property
    def scores(self) -> list[BucketScores]:
        """The arms' estimates as the rules of ``claims`` take them."""
        others = self.attention.estimates if self.attention else [None] * len(self.buckets)
        rows = zip(self.buckets, self.n, self.none.estimates, others, strict=True)
        return [BucketScores(*row) for row in rows]


def compare(bundle: Bundle, *, alone: bool = False) -> Comparison:
    """Compare none with the bundle's one attention, at the fewest updates.

    ``alone`` allows for a bundle without attention. Runs of other arms, that differ in more than
    attention and updates, or that share no seed are a ``UserError``.
    """
    return _comparison(bundle, _comparable(bundle, PAIRED, alone), alone)


def compare_sizes(bundle: Bundle) -> list[Comparison]:
    """The same at each context size that was run without attention, smallest first.

    Attention may be missing. Widths are the context's own in all runs, or one in all: a curve over
    context sizes is not to be one over something else as well. Raises ``UserError`` as `compare`.
    """
    runs = _comparable(bundle, {*PAIRED, SIZE, *following_widths(listed_runs(bundle))}, alone=True)
    sizes = sorted(runs.loc[runs["attention"] == NONE, SIZE].drop_duplicates())
    return [_comparison(bundle, runs[runs[SIZE] == size], alone=True) for size in sizes]


def attentions(bundle: Bundle) -> list[str]:
    """The bundle's arms other than none."""
    return sorted(set(bundle.runs["attention"]) - {NONE})


def _comparable(bundle: Bundle, free: Collection[str], alone: bool) -> pd.DataFrame:
    """The runs of the fewest updates, if no runs differ in a setting or text outside ``free``.

    They have to be those of none and one attention, or if ``alone`` those of none.
    """
    listed = listed_runs(bundle)
    runs = listed[listed["updates"] == listed["updates"].min()]
    kinds = sorted(set(runs["attention"]))
    if NONE not in kinds or not 2 - alone <= len(kinds) <= 2:
        way = "make such results with `bottleneck reproduce`"
        if NONE in kinds and len(kinds) > 2:
            way = f"choose with `--where attention={NONE},{min({*kinds} - {NONE})}`"
        elif missing := len(bundle.unfinished()):
            way = f"{missing} more did not end, `bottleneck runs` lists them"
        raise UserError(
            f"the results hold the arms {', '.join(kinds)}: this table compares none with one "
            f"attention; {way}"
        )
    for column in (*SETTING_COLUMNS, TEXT):
        if column not in free and listed[column].nunique(dropna=False) > 1:
            values = listed[column].sort_values(na_position="last")
            common = as_condition(Counter(values).most_common(1)[0][0])
            raise UserError(
                f"the results hold several values of {column} ({list_values(values)}), this table "
                f"takes one: choose with `--where {column}={common}`"
            )
    return runs


def _comparison(bundle: Bundle, runs: pd.DataFrame, alone: bool) -> Comparison:
    """The arms of runs that differ in attention and seed alone, of the seeds that both have.

    With no seed in common none stands ``alone`` where it may.
    """
    arms = runs[runs["attention"] == NONE], runs[runs["attention"] != NONE]
    none, attention = common_seeds(*arms)
    if none.empty and (alone or arms[1].empty):
        none, attention = arms[0], arms[1][:0]
    if none.empty:
        raise UserError(f"no seed in common ({describe(runs)}): run both arms with the same seeds")
    row = first(none)
    return Comparison(
        settings=bundle.settings(row["run"]),
        none=arm_of(bundle, none),
        attention=arm_of(bundle, attention) if len(attention) else None,
        facts=bundle.facts(row["run"]),
        train_pairs=int(row["train_pairs"]),
    )


def arm_of(bundle: Bundle, runs: pd.DataFrame) -> Arm:
    """The runs of one arm with their scores; a ``UserError`` where a run's counts are missing."""
    runs = runs.sort_values("seed", kind="stable")
    scoring = bundle.settings(runs["run"].iloc[0]).scoring
    for run in runs["run"]:
        if run not in bundle.sentences:
            raise damaged(bundle.folder / SENTENCES, f"nothing of run {run}", "export it again")
    return Arm(
        name=runs["attention"].iloc[0],
        runs=tuple(runs["run"]),
        seeds=tuple(int(seed) for seed in runs["seed"]),
        parameters=int(runs["parameters"].iloc[0]),
        buckets=Buckets(scoring.lower_edges).names,
        **_scores(tuple(bundle.sentences[run] for run in runs["run"]), scoring),
    )


@lru_cache(maxsize=128)
def _scores(seeds: tuple[Counts, ...], scoring: ScoringSettings) -> dict[str, Any]:
    """The scores of an arm from its seeds' counts; kept, since several claims rest on one arm.

    The resamples of a bucket are the same for every seed and arm.
    """
    words = seeds[0].words.astype(np.int64)
    assigned = Buckets(scoring.lower_edges).assign(words)
    columns = np.stack([counts.statistics.T for counts in seeds])  # seeds, columns, sentences
    n, means, estimates, sums = [], [], [], []
    for place in range(len(scoring.lower_edges)):
        inside = np.flatnonzero(assigned == place)
        counts = np.moveaxis(columns.take(inside, axis=2), 1, 2)
        measured = Estimate(np.nan, np.full(scoring.resamples, np.nan))
        if len(inside):
            weights = draw(len(inside), scoring.resamples, seed=scoring.seed, bucket=place)
            measured = estimate(bleu, counts, weights)
        n.append(len(inside))
        means.append(float(words[inside].mean()) if len(inside) else np.nan)
        estimates.append(measured)
        sums.append(counts.sum(axis=1, dtype=np.int64))
    return {
        "n": tuple(n),
        "source_words": tuple(means),
        "estimates": tuple(estimates),
        "by_seed": np.stack([bleu(total) for total in sums], axis=1),
        "brevity": np.array([brevity_penalty(total).mean() for total in sums]),
    }


def by_bucket(values: Iterable[float], form: str = "{:.1f}") -> str:
    """The numbers of all buckets, a dash for one that there is not."""
    return " ".join("-" if np.isnan(value) else form.format(value) for value in values)
