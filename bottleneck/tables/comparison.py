"""An experiment's arms, and an arm and its baseline bucket by bucket, as paired estimates."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import BucketScores
from ..results.bundle import Counts, Results
from ..results.folders import damaged
from ..results.schema import SENTENCES, SETTING_COLUMNS
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import Estimate, draw, estimate
from ..settings.concerns import Buckets, ScoringSettings
from ..settings.errors import UserError, counted
from ..settings.run import RunSettings
from ..settings.sweep import LONGER
from .selection import as_condition, list_values

NONE, UNIFORM = "none", "uniform"
SIZE, TEXT = "context_size", "corpus_fingerprint"
MOST_POINTS = 20
"""So many seeds of an arm are listed one by one."""
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


def declared(bundle: Results) -> pd.DataFrame:
    """The bundle's runs, a row each, as declared; a ``UserError`` unless of one experiment."""
    names = list(bundle.runs["experiment"].unique())
    if len(names) > 1:
        raise UserError(
            f"the results hold several experiments ({list_values(bundle.runs['experiment'])}): "
            f"choose with `--where experiment={as_condition(names[0])}`"
        )
    if names == [""]:
        raise UserError(
            "these runs belong to no experiment: run the command that trained them again, which "
            "keeps what is finished"
        )
    return bundle.runs.drop_duplicates("run")


@dataclass(frozen=True, eq=False)
class Pair:
    """An arm and the arm without attention that it is compared with: the seeds that both have."""

    none: pd.DataFrame
    attention: pd.DataFrame


def pairs(runs: pd.DataFrame) -> list[Pair]:
    """Each arm with attention and its baseline without, as they are declared."""
    arms = {str(name): rows for name, rows in runs.groupby("arm", sort=False)}
    result = []
    for rows in arms.values():
        base = arms.get(rows["baseline"].iloc[0], runs[:0])
        if set(base["attention"]) == {NONE} and NONE not in set(rows["attention"]):
            both = common_seeds(base, rows)
            result += [Pair(*both)] if len(both[0]) else []
    return result


def usual(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs but for those of twice the training, unless there are no others."""
    shorter = runs[~runs["arm"].str.endswith(LONGER)]
    return shorter if len(shorter) else runs


def compare(bundle: Results, *, alone: bool = False) -> Comparison:
    """Compare the experiment's one arm with attention with its baseline.

    With ``alone`` there may be one without attention and none with it, or several. Raises
    ``UserError`` where it is not clear which arms are meant, or they differ in more than attention.
    """
    runs = usual(declared(bundle))
    known, without = pairs(runs), runs[runs["attention"] == NONE]
    if len(known) == 1:
        return paired(bundle, known[0])
    if alone and without["arm"].nunique() == 1:
        return paired(bundle, Pair(without, runs[:0]))
    kind = "several arms with attention" if known else "no arm with attention of its seeds"
    missing = len(bundle.unfinished())
    way = f"; {missing} more did not end, `bottleneck runs` lists them" if missing else ""
    raise UserError(
        f"this table compares an arm without attention with {kind}: there are "
        f"{list_values(runs['arm'])}; choose two with `--where arm=NAME`{way}"
    )


def compare_sizes(bundle: Results) -> list[Comparison]:
    """The same at each context size that was run without attention, smallest first.

    Attention may be missing. Nothing else may vary, but for widths that follow the context in every
    run: a curve over context sizes is not to be one over something else as well.
    """
    runs = usual(declared(bundle))
    none, known = runs[runs["attention"] == NONE], pairs(runs)
    if none.empty:
        raise UserError(f"no arm without attention: there are {list_values(runs['arm'])}")
    check_alike(none, {SIZE, *following_widths(none)})
    result = []
    for size in sorted(set(none[SIZE])):
        here = [pair for pair in known if pair.none[SIZE].iloc[0] == size]
        if len(here) > 1:
            raise UserError(
                f"several arms with attention at context size {size}: choose with `--where "
                f"attention={NONE},{here[0].attention['attention'].iloc[0]}`"
            )
        alone = Pair(none[none[SIZE] == size], runs[:0])
        result.append(paired(bundle, here[0] if here else alone))
    return result


def check_alike(runs: pd.DataFrame, free: Collection[str] = ()) -> None:
    """A ``UserError`` where runs of one table differ in a setting or text outside ``free``."""
    for column in (*SETTING_COLUMNS, TEXT):
        if column not in ("seed", *free) and runs[column].nunique(dropna=False) > 1:
            values = runs[column].sort_values(na_position="last")
            common = as_condition(Counter(values).most_common(1)[0][0])
            raise UserError(
                f"the results hold several values of {column} ({list_values(values)}), this table "
                f"takes one: choose with `--where {column}={common}`"
            )


def following_widths(runs: pd.DataFrame) -> set[str]:
    """Columns of widths that equal the context size in every run, and so vary with it."""
    return {name for name in WIDTHS if (runs[name] == runs[SIZE]).all()}


def paired(bundle: Results, pair: Pair) -> Comparison:
    """The arms of a pair with their scores."""
    runs = pd.concat([pair.none, pair.attention])
    check_alike(runs, {"attention"})
    return Comparison(
        settings=bundle.settings(pair.none["run"].iloc[0]),
        none=arm_of(bundle, pair.none),
        attention=arm_of(bundle, pair.attention) if len(pair.attention) else None,
        runs=runs,
    )


def common_seeds(*arms: pd.DataFrame) -> Sequence[pd.DataFrame]:
    """The runs of the seeds that all arms have."""
    common = set.intersection(*(set(arm["seed"]) for arm in arms))
    return [arm[arm["seed"].isin(common)] for arm in arms]


def arm_of(bundle: Results, runs: pd.DataFrame) -> Arm:
    """The runs of one arm with their scores; a ``UserError`` where a run's counts are missing.

    Runs that differ in more than their seed, as of two folders that were merged, are one, too.
    """
    check_alike(runs)
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


def describe(runs: pd.DataFrame) -> str:
    """``4 runs: none, additive, seed 1, 2``."""
    runs = runs.drop_duplicates("run")
    return runs_text(zip(runs["arm"], runs["seed"], strict=True))


def runs_text(runs: Iterable[tuple[str, int]]) -> str:
    """The same of runs by arm and seed; arms with the same seeds share them. Empty for none.

    Names with commas are in quotes.
    """
    seeds: dict[str, list[int]] = {}
    for arm, seed in runs:
        seeds.setdefault(arm, []).append(int(seed))
    shared: dict[tuple[int, ...], list[str]] = {}
    for arm, numbers in seeds.items():
        name = repr(arm) if "," in arm else arm
        shared.setdefault(tuple(sorted(set(numbers))), []).append(name)
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
