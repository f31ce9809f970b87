"""Which runs of a bundle belong together, and two arms bucket by bucket, as paired estimates.

A group are runs that have the same settings and text, but for the columns that a table or a claim
is about. Of several groups the one nearest to preset `lecture` comes first.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import BucketScores
from ..results.bundle import Bundle, Counts, setting_columns
from ..results.folders import damaged
from ..results.schema import SENTENCES, SETTING_COLUMNS
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import Estimate, draw, estimate
from ..settings.concerns import Buckets, ScoringSettings
from ..settings.errors import UserError, counted
from ..settings.run import RunSettings, resolve
from .selection import as_condition, list_values

NONE, UNIFORM = "none", "uniform"
SIZE, TEXT = "context_size", "corpus_fingerprint"
MOST_POINTS = 20
"""So many seeds of an arm are listed one by one."""
PAIRED = frozenset({"attention", "seed", "updates"})
"""Columns in which the runs of one comparison may differ; of the updates it takes the fewest."""
WIDTHS = ("hidden_size", "attention_size")
"""Columns of the sizes that follow the context if they are not set."""


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

    Both have the same seeds. ``runs`` has one row per run of both.
    """

    settings: RunSettings
    none: Arm
    attention: Arm | None
    runs: pd.DataFrame

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
        none = self.none
        others = self.attention.estimates if self.attention else [None] * len(none.buckets)
        rows = zip(none.buckets, none.n, none.estimates, others, strict=True)
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
    runs = _comparable(bundle, {*PAIRED, SIZE, *following_widths(bundle.runs)}, alone=True)
    sizes = sorted(runs.loc[runs["attention"] == NONE, SIZE].drop_duplicates())
    return [_comparison(bundle, runs[runs[SIZE] == size], alone=True) for size in sizes]


def _comparable(bundle: Bundle, free: Collection[str], alone: bool) -> pd.DataFrame:
    """The runs of the fewest updates, if no runs differ in a setting or text outside ``free``.

    They have to be those of none and one attention, or if ``alone`` those of none.
    """
    listed = bundle.runs.drop_duplicates("run")
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
    return Comparison(
        settings=bundle.settings(none["run"].iloc[0]),
        none=arm_of(bundle, none),
        attention=arm_of(bundle, attention) if len(attention) else None,
        runs=pd.concat([none, attention]),
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


@dataclass(frozen=True, eq=False)
class Pair:
    """Two arms that differ in attention alone: one row per run, of the seeds that both have.

    ``group`` are all runs of both arms, of any updates.
    """

    none: pd.DataFrame
    attention: pd.DataFrame
    group: pd.DataFrame


def pairs(runs: pd.DataFrame) -> list[Pair]:
    """None with each attention, closest to the lecture's settings first."""
    result = []
    for group in groups(runs, PAIRED):
        for name in sorted(set(group["attention"]) - {NONE, UNIFORM}):
            both = group[group["attention"].isin([NONE, name])]
            for _, subset in both.groupby("updates"):
                without = subset["attention"] == NONE
                arms = common_seeds(subset[without], subset[~without])
                result += [Pair(*arms, both)] if len(arms[0]) else []
    return sorted(result, key=lambda pair: rank(pair.attention))


def common_seeds(*arms: pd.DataFrame) -> Sequence[pd.DataFrame]:
    """The runs of the seeds that all arms have."""
    common = set.intersection(*(set(arm["seed"]) for arm in arms))
    return [arm[arm["seed"].isin(common)] for arm in arms]


def groups(runs: pd.DataFrame, free: Collection[str]) -> list[pd.DataFrame]:
    """Runs that have the same settings outside ``free`` and the same text, in the order of `rank`.

    With the seed alone as ``free`` these are the arms.
    """
    distance = pd.Series(0, index=runs.index)
    for name, value in _lecture().items():
        if name not in ("seed", "updates"):
            distance += runs[name].map(as_condition) != value
    runs = runs.assign(distance=distance)
    columns = [name for name in (*SETTING_COLUMNS, TEXT) if name not in free]
    codes = [pd.factorize(runs[name], use_na_sentinel=False)[0] for name in columns]
    places: dict[tuple, list[int]] = {}
    for place, key in enumerate(zip(*codes, strict=True)):
        places.setdefault(key, []).append(place)
    return sorted((runs.iloc[rows] for rows in places.values()), key=rank)


def rank(group: pd.DataFrame) -> tuple[int, int, int, int]:
    """What puts groups in order, the least first.

    That is in how many settings other than seed and updates its first run differs from the
    lecture's preset, the largest context, the fewest updates, the most seeds.
    """
    distance, size, updates = (int(group[name].iloc[0]) for name in ("distance", SIZE, "updates"))
    return distance, -size, updates, -group["seed"].nunique()


@cache
def _lecture() -> dict[str, str]:
    """The settings of preset ``lecture``, as they are written in conditions."""
    settings = setting_columns(resolve("lecture"))
    return {name: as_condition(value) for name, value in settings.items()}


def following_widths(runs: pd.DataFrame) -> frozenset[str]:
    """Columns of widths that equal the context size in every run, and so vary with it."""
    return frozenset(name for name in WIDTHS if (runs[name] == runs[SIZE]).all())


def varied(runs: pd.DataFrame) -> list[str]:
    """The settings, except attention and seed, that distinguish arms."""
    ignored = {"attention", "seed", *following_widths(runs)}
    return [
        name
        for name in SETTING_COLUMNS
        if name not in ignored and runs[name].nunique(dropna=False) > 1
    ]


def arm_names(runs: pd.DataFrame) -> list[str]:
    """A name per row: ``none updates=4000``, the settings that most arms do not share."""
    rows = runs[["attention", *varied(runs)]].map(as_condition).to_dict("records")
    names = [row.pop("attention") for row in rows]
    unusual = unusual_settings(rows, _lecture())
    return [" ".join([name, *more]) for name, more in zip(names, unusual, strict=True)]


def unusual_settings(rows: Sequence[Mapping[str, str]], base: Mapping[str, str]) -> list[list[str]]:
    """For each row of settings those that most rows do not share: ``["updates=80"]``.

    Of values equally common, that of ``base`` is the usual one, else the smallest. Rows that differ
    have different lists. If context sizes alone differ, every row has its own.
    """
    names = [name for name in (rows[0] if rows else {}) if len({row[name] for row in rows}) > 1]
    if names == [SIZE]:
        return [[f"{SIZE}={row[SIZE]}"] for row in rows]
    usual = {}
    for name in names:
        counts = Counter(row[name] for row in rows)
        # A shorter text is a smaller number.
        order = [(-counts[text], text != base[name], len(text), text) for text in counts]
        usual[name] = min(order)[-1]
    return [[f"{name}={row[name]}" for name in names if row[name] != usual[name]] for row in rows]


def describe(runs: pd.DataFrame) -> str:
    """``4 runs: none, additive, seed 1, 2``, with what else distinguishes the arms."""
    runs = runs.drop_duplicates("run")
    return runs_text(zip(arm_names(runs), runs["seed"], strict=True))


def runs_text(runs: Iterable[tuple[str, int]]) -> str:
    """The same of runs by arm and seed; arms with the same seeds share them. Empty for none."""
    seeds: dict[str, list[int]] = {}
    for arm, seed in runs:
        seeds.setdefault(arm, []).append(int(seed))
    shared: dict[tuple[int, ...], list[str]] = {}
    for arm, numbers in seeds.items():
        shared.setdefault(tuple(sorted(set(numbers))), []).append(arm)
    arms = "; ".join(f"{', '.join(names)}, {seeds_text(key)}" for key, names in shared.items())
    return f"{counted(sum(map(len, seeds.values())), 'run')}: {arms}" if seeds else ""


def seeds_text(seeds: Sequence[int]) -> str:
    """``seed 1, 2``; of many, in order, ``24 seeds from 1 to 25``."""
    if len(seeds) <= MOST_POINTS:
        return f"seed {', '.join(map(str, seeds))}"
    return f"{counted(len(seeds), 'seed')} from {seeds[0]} to {seeds[-1]}"


def what_was_run(rows: pd.DataFrame) -> str:
    """``grammar; context 256; 2,000 updates; seed 1, 2``, of runs or of the rows of a study."""
    corpora = rows["corpus"].astype("object")
    if "lexicon" in rows:
        small = (rows["corpus"] == "grammar") & (rows["lexicon"] == "small")
        corpora = corpora.mask(small, "grammar (small lexicon)")
    parts = [", ".join(sorted(set(corpora)))]
    heads = {"train_pairs": "{} training pairs", SIZE: "context {}", "updates": "{} updates"}
    for name in filter(rows.__contains__, heads):
        numbers = sorted(set(rows[name].dropna().astype(int)))
        parts.append(heads[name].format(", ".join(f"{number:,}" for number in numbers)))
    seeds = sorted(set(rows["seed"].dropna().astype(int)))
    return "; ".join([*parts, *([seeds_text(seeds)] if seeds else [])])
