"""The arms of an experiment with their scores, and pairs of an arm and its baseline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from ..claims.rules import Bucket, Row
from ..results.bundle import Counts, Results
from ..results.schema import SETTING_COLUMNS
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import draw, estimate
from ..settings.concerns import ScoringSettings, bucket_members
from ..settings.errors import UserError, counted
from ..settings.sweep import LONGER
from .selection import as_condition, list_values

NONE, UNIFORM = "none", "uniform"
SIZE, TEXT = "context_size", "corpus_fingerprint"
SAME = [name for name in (*SETTING_COLUMNS, TEXT) if name != "seed"]
"""Columns that have one value per arm."""


@dataclass(frozen=True, eq=False)
class Arm:
    """Runs that differ only in their seed, one per row, and their scores, shortest bucket first."""

    name: str
    attention: str
    runs: pd.DataFrame
    buckets: tuple[Bucket, ...]

    @property
    def longest(self) -> int:
        """The index of the longest filled bucket."""
        return max(index for index, bucket in enumerate(self.buckets) if bucket.n)


Pair = tuple[Arm, Arm | None]
"""The arm without attention and, if there is one, the arm with it: same seeds and sentences."""


@lru_cache(maxsize=8)
def declared(bundle: Results) -> pd.DataFrame:
    """The bundle's runs, one per row; refused if of several experiments or if an arm is mixed."""
    names = list(bundle.runs["experiment"].unique())
    if len(names) > 1:
        raise UserError(
            f"the results hold several experiments ({list_values(bundle.runs['experiment'])}): "
            f"choose with `--where experiment={as_condition(names[0])}`"
        )
    runs = bundle.runs.drop_duplicates("run")
    for _, arm in runs.groupby("arm", sort=False):
        check_alike(arm, SAME)
    return runs


def of_experiment(bundle: Results, home: str) -> Results:
    """The runs of one experiment: of ``home`` if the bundle has it, else of its first."""
    names = bundle.runs["experiment"]
    chosen = home if home in set(names) else names.iloc[0]
    return replace(bundle, runs=bundle.runs[names == chosen])


def usual(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs without those of twice the training, unless there are no others."""
    shorter = runs[~runs["arm"].str.endswith(LONGER)]
    return shorter if len(shorter) else runs


def pairs(runs: pd.DataFrame) -> list[Sequence[pd.DataFrame]]:
    """Pairs of a baseline and an arm with attention, on common seeds; uniform weights last."""
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


def compare(bundle: Results, *, alone: bool = False) -> Pair:
    """The first arm with attention, and its baseline; ``alone``: or else the first arm without."""
    runs = declared(bundle)
    candidates, none = pairs(runs), usual(runs[runs["attention"] == NONE])
    if alone and len(none):
        candidates.append((none[none["arm"] == none["arm"].iloc[0]], runs[:0]))
    if not candidates:
        others = "; ".join([list_values(runs["arm"]), *bundle.left_out()])
        raise UserError(
            "this table compares an arm with attention and its baseline without, on the same "
            f"seeds; the finished arms are {others}"
        )
    return paired(bundle, *candidates[0])


def compare_sizes(bundle: Results, *, together: bool = False) -> list[Pair]:
    """At each context size, smallest first, the first arm without attention, and its pair if any.

    Arms differ only in the size and in widths that equal it (``together``: both widths or none).
    """
    runs = declared(bundle)
    none = usual(runs[runs["attention"] == NONE])
    if none.empty:
        raise UserError(f"no arm without attention: there are {list_values(runs['arm'])}")
    equal = none[["hidden_size", "attention_size"]].eq(none[SIZE], axis=0).all()
    widths = [] if together and not equal.all() else equal.index[equal]
    codes = none[[name for name in SAME if name not in (SIZE, *widths)]].map(as_condition)
    none, candidates = none[(codes == codes.iloc[0]).all(axis=1)], pairs(runs)
    result = []
    for _, rows in none.groupby(SIZE):
        same = (pair for pair in candidates if set(pair[0]["run"]) <= set(rows["run"]))
        result.append(paired(bundle, *next(same, (rows, runs[:0]))))
    return result


def paired(bundle: Results, none: pd.DataFrame, attention: pd.DataFrame) -> Pair:
    """The two arms of these runs; the second may have no runs."""
    check_alike(pd.concat([none, attention]), [name for name in SAME if name != "attention"])
    return arm_of(bundle, none), arm_of(bundle, attention) if len(attention) else None


def check_alike(runs: pd.DataFrame, columns: Sequence[str]) -> None:
    """A ``UserError`` if runs differ in one of these columns, as merged folders may by mistake."""
    for column in columns:
        if runs[column].nunique(dropna=False) > 1:
            common = as_condition(runs[column].mode(dropna=False).iloc[0])
            raise UserError(
                f"the results hold several values of {column} ({list_values(runs[column])}), but "
                f"this table takes one: choose with `--where {column}={common}`"
            )


def every_arm(bundle: Results) -> list[Arm]:
    """All arms of the experiment, in declared order, scored in the same buckets."""
    runs = declared(bundle)
    check_alike(runs, ["edges"])
    return [arm_of(bundle, rows) for _, rows in runs.groupby("arm", sort=False)]


def arm_of(bundle: Results, runs: pd.DataFrame) -> Arm:
    """The arm of these runs, with its scores."""
    runs = runs.sort_values("seed", kind="stable")
    first = runs.iloc[0]
    counts = tuple(bundle.sentences[run] for run in runs["run"])
    scoring = bundle.settings(first["run"]).scoring
    buckets = _scores(counts, scoring, int(first["embedding_size"]), int(first[SIZE]))
    return Arm(first["arm"], first["attention"], runs, buckets)


@lru_cache(maxsize=128)
def _scores(
    seeds: tuple[Counts, ...], scoring: ScoringSettings, embedding_size: int, context_size: int
) -> tuple[Bucket, ...]:
    """The scores of an arm from its seeds' counts; all arms have a bucket's same resamples."""
    words = seeds[0].words.astype(np.int64)
    statistics = np.stack([counts.statistics.T for counts in seeds])  # seeds, columns, sentences
    buckets = []
    for index, (name, inside) in enumerate(bucket_members(words, scoring.lower_edges).items()):
        counts = np.moveaxis(statistics.take(inside, axis=2), 1, 2)
        sums = counts.sum(axis=1, dtype=np.int64)
        weights = draw(len(inside), scoring.resamples, seed=scoring.seed, bucket=index)
        mean = float(words[inside].mean()) if len(inside) else np.nan
        ratio = mean * (embedding_size / context_size)
        scores = estimate(bleu, counts, weights), bleu(sums), float(brevity_penalty(sums).mean())
        buckets.append(Bucket(name, len(inside), mean, context_size, ratio, *scores))
    return tuple(buckets)


def rows_of(*arms: Arm | None) -> list[Row]:
    """The buckets of up to three arms, as the rules of ``claims`` read them."""
    return [Row(*buckets) for buckets in zip(*(arm.buckets for arm in arms if arm), strict=True)]


def describe(runs: pd.DataFrame) -> str:
    """``4 runs: none, additive, seeds 1, 2``; empty without runs. Names with commas are quoted."""
    runs = runs.drop_duplicates("run")
    arms = [repr(arm) if "," in arm else arm for arm in runs["arm"].unique()]
    texts = [*arms, _seeds_text(runs["seed"])]
    return f"{counted(len(runs), 'run')}: {', '.join(texts)}" if arms else ""


def what_was_run(rows: pd.DataFrame) -> str:
    """As ``grammar; context 256; 2,000 updates; seeds 1, 2``, of runs or of a study's rows."""
    corpora = rows["corpus"].astype("object")
    if "lexicon" in rows:
        small = (corpora == "grammar") & (rows["lexicon"] == "small")
        corpora = corpora.mask(small, "grammar (small lexicon)")
    parts = [", ".join(sorted(set(corpora)))]
    heads = {"train_pairs": "{} training pairs", SIZE: "context {}", "updates": "{} updates"}
    for name in filter(rows.__contains__, heads):
        numbers = sorted(set(rows[name].dropna().astype(int)))
        parts.append(heads[name].format(", ".join(f"{number:,}" for number in numbers)))
    parts += [_seeds_text(rows["seed"])] if rows["seed"].notna().any() else []
    return "; ".join(parts)


def _seeds_text(seeds: pd.Series) -> str:
    numbers = sorted(set(seeds.dropna().astype(int)))
    return f"seed{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
