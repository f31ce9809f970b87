"""An experiment's arms, and an arm and its baseline bucket by bucket, as paired estimates."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import BucketScores
from ..results.bundle import Counts, Results
from ..results.schema import SETTING_COLUMNS
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import Estimate, draw, estimate
from ..settings.concerns import ScoringSettings, bucket_labels, bucket_of
from ..settings.errors import UserError, counted
from ..settings.run import RunSettings
from ..settings.sweep import LONGER
from .selection import as_condition, list_values

NONE, UNIFORM = "none", "uniform"
SIZE, TEXT = "context_size", "corpus_fingerprint"
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


@lru_cache(maxsize=8)
def declared(bundle: Results) -> pd.DataFrame:
    """The bundle's runs, a row each, as declared; checked once.

    A ``UserError`` unless they are of one experiment, and an arm's runs differ in the seed alone.
    """
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
    runs = bundle.runs.drop_duplicates("run")
    for _, arm in runs.groupby("arm", sort=False):
        check_alike(arm)
    return runs


def of_experiment(bundle: Results, home: str) -> Results:
    """The runs of one experiment alone: of ``home`` if the bundle has it, else of its first."""
    names = bundle.runs["experiment"]
    chosen = names == min(names.unique(), key=lambda name: name != home)
    return bundle if chosen.all() else replace(bundle, runs=bundle.runs[chosen])


def usual(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs but for those of twice the training, unless there are no others."""
    shorter = runs[~runs["arm"].str.endswith(LONGER)]
    return shorter if len(shorter) else runs


def pairs(runs: pd.DataFrame) -> list[Sequence[pd.DataFrame]]:
    """Each baseline without attention and its arm with it, as they are declared.

    Both with the seeds that both have; arms whose weights are learned come first.
    """
    arms = {str(name): rows for name, rows in usual(runs).groupby("arm", sort=False)}
    result = []
    for rows in arms.values():
        base = arms.get(rows["baseline"].iloc[0], runs[:0])
        if set(base["attention"]) == {NONE} and NONE not in set(rows["attention"]):
            both = common_seeds(base, rows)
            result += [both] if len(both[0]) else []
    return sorted(result, key=lambda pair: pair[1]["attention"].iloc[0] == UNIFORM)


def common_seeds(*arms: pd.DataFrame) -> Sequence[pd.DataFrame]:
    """The runs of the seeds that all arms have."""
    common = set.intersection(*(set(arm["seed"]) for arm in arms))
    return [arm[arm["seed"].isin(common)] for arm in arms]


def compare(bundle: Results, *, alone: bool = False) -> Comparison:
    """Compare the experiment's first arm with attention with its baseline.

    Where there is none, with ``alone`` the first arm without attention, else a ``UserError``.
    """
    runs = declared(bundle)
    known, none = pairs(runs), usual(runs[runs["attention"] == NONE])
    if not known and alone and len(none):
        known = [(none[none["arm"] == none["arm"].iloc[0]], runs[:0])]
    if not known:
        raise UserError(
            "this table compares an arm with attention with its baseline without, of one seed: "
            f"there are {list_values(runs['arm'])}"
        )
    return paired(bundle, *known[0])


def compare_sizes(bundle: Results, *, together: bool = False) -> list[Comparison]:
    """The same at each context size that was run without attention, smallest first.

    Of the first arm without attention and those that differ from it in the context size alone, and
    in widths that always equal it (``together``: both or none): a curve over sizes is of nothing
    else. Attention may be missing.
    """
    runs = declared(bundle)
    none = usual(runs[runs["attention"] == NONE])
    if none.empty:
        raise UserError(f"no arm without attention: there are {list_values(runs['arm'])}")
    widths = [name for name in WIDTHS if (none[name] == none[SIZE]).all()]
    widths = [] if together and len(widths) < len(WIDTHS) else widths
    fixed = [name for name in (*SETTING_COLUMNS, TEXT) if name not in ("seed", SIZE, *widths)]
    codes = none[fixed].map(as_condition)
    none, known = none[(codes == codes.iloc[0]).all(axis=1)], pairs(runs)
    result = []
    for _, rows in none.groupby(SIZE):
        same = (pair for pair in known if set(pair[0]["run"]) <= set(rows["run"]))
        result.append(paired(bundle, *next(same, (rows, runs[:0]))))
    return result


def paired(bundle: Results, none: pd.DataFrame, attention: pd.DataFrame) -> Comparison:
    """The runs of the two arms with their scores."""
    runs = pd.concat([none, attention])
    check_alike(runs, {"attention"})
    return Comparison(
        settings=bundle.settings(none["run"].iloc[0]),
        none=arm_of(bundle, none),
        attention=arm_of(bundle, attention) if len(attention) else None,
        runs=runs,
    )


def check_alike(runs: pd.DataFrame, free: Collection[str] = ()) -> None:
    """A ``UserError`` where runs differ in a setting or text: merged folders may, by mistake."""
    for column in (*SETTING_COLUMNS, TEXT):
        if column not in ("seed", *free) and runs[column].nunique(dropna=False) > 1:
            common = as_condition(Counter(runs[column].sort_values()).most_common(1)[0][0])
            raise UserError(
                f"the results hold several values of {column} ({list_values(runs[column])}), this "
                f"table takes one: choose with `--where {column}={common}`"
            )


def arm_of(bundle: Results, runs: pd.DataFrame) -> Arm:
    """The runs of one arm with their scores."""
    runs = runs.sort_values("seed", kind="stable")
    scoring = bundle.settings(runs["run"].iloc[0]).scoring
    return Arm(
        name=runs["attention"].iloc[0],
        runs=tuple(runs["run"]),
        seeds=tuple(int(seed) for seed in runs["seed"]),
        parameters=int(runs["parameters"].iloc[0]),
        buckets=bucket_labels(scoring.lower_edges),
        **_scores(tuple(bundle.sentences[run] for run in runs["run"]), scoring),
    )


@lru_cache(maxsize=128)
def _scores(seeds: tuple[Counts, ...], scoring: ScoringSettings) -> dict[str, Any]:
    """The scores of an arm from its seeds' counts; kept, since several claims rest on one arm.

    The resamples of a bucket are the same for every seed and arm.
    """
    words = seeds[0].words.astype(np.int64)
    assigned = bucket_of(words, scoring.lower_edges)
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
    """``4 runs: none, additive, seeds 1, 2``; empty for none.

    Arms with the same seeds share them. Names with commas are in quotes.
    """
    runs = runs.drop_duplicates("run")
    shared: dict[str, list[str]] = {}
    for arm, rows in runs.groupby("arm", sort=False):
        name = repr(arm) if "," in str(arm) else str(arm)
        shared.setdefault(_seeds_text(rows["seed"]), []).append(name)
    arms = "; ".join(f"{', '.join(names)}, {seeds}" for seeds, names in shared.items())
    return f"{counted(len(runs), 'run')}: {arms}" if shared else ""


def _seeds_text(seeds: pd.Series) -> str:
    """``seeds 1, 2``."""
    known = sorted(set(seeds.dropna().astype(int)))
    return f"seed{'s' * (len(known) > 1)} {', '.join(map(str, known))}"


def what_was_run(rows: pd.DataFrame) -> str:
    """``grammar; context 256; 2,000 updates; seeds 1, 2``, of runs or of the rows of a study."""
    corpora = rows["corpus"].astype("object")
    if "lexicon" in rows:
        small = (rows["corpus"] == "grammar") & (rows["lexicon"] == "small")
        corpora = corpora.mask(small, "grammar (small lexicon)")
    parts = [", ".join(sorted(set(corpora)))]
    heads = {"train_pairs": "{} training pairs", SIZE: "context {}", "updates": "{} updates"}
    for name in filter(rows.__contains__, heads):
        numbers = sorted(set(rows[name].dropna().astype(int)))
        parts.append(heads[name].format(", ".join(f"{number:,}" for number in numbers)))
    if rows["seed"].notna().any():
        parts.append(_seeds_text(rows["seed"]))
    return "; ".join(parts)
