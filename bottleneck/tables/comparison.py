"""The runs that a table takes (``--where``): their arms with scores, paired with a baseline."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from ..claims.rules import Bucket, Row
from ..claims.verdict import READ_FROM
from ..results.bundle import Counts, Results
from ..results.schema import RUN_COLUMNS, SETTING_COLUMNS
from ..scoring.bleu import bleu, brevity_penalty
from ..scoring.bootstrap import draw, estimate
from ..settings.concerns import ScoringSettings, bucket_members
from ..settings.errors import UsageError, UserError, did_you_mean
from ..settings.sweep import LONGER

NONE = "none"
SAME = [name for name in (*SETTING_COLUMNS, "corpus_fingerprint") if name != "seed"]
"""Columns that have one value per arm."""


@dataclass(frozen=True, eq=False)
class Arm:
    """Runs that differ only in their seed, one per row, and their scores, shortest bucket first.

    ``longest`` is the longest bucket with sentences; ``readable`` are those with enough sentences
    for a rule, or all filled ones if fewer than two have.
    """

    name: str
    attention: str
    runs: pd.DataFrame
    buckets: tuple[Bucket, ...]
    longest: Bucket
    readable: Sequence[Bucket]


Pair = tuple[Arm, Arm | None]
"""The arm without attention and, if there is one, the arm with it: same seeds and sentences."""


def where(bundle: Results, conditions: Sequence[str]) -> Results:
    """The bundle's runs that meet every ``column=value``; values of one column are alternatives.

    A column may also be named as a setting (``model.context_size``). If no run is left, a
    ``UserError`` lists the values. A condition that cannot be read is a ``UsageError``.
    """
    columns = ("run", "experiment", "arm", "corpus_fingerprint", *SETTING_COLUMNS)
    settings = {
        name: column
        for column, (place, _) in SETTING_COLUMNS.items()
        for name in (f"{place.partition('.')[0]}.{column}", place)
    }
    runs, chosen = bundle.runs, {}
    for condition in conditions:
        name, _, text = (part.strip() for part in condition.partition("="))
        values = [part.strip() for part in text.split(",")]
        if not (name and all(values)):
            raise UsageError(f"--where {condition!r}: write column=value, such as attention=none")
        column = settings.get(name, name)
        if column not in columns:
            raise UsageError(f"--where: unknown column {name!r}{did_you_mean(name, columns)}")
        if text in set(runs[column].map(as_condition)):  # commas and all
            values = [text]
        elif RUN_COLUMNS[column] != "str":
            # Numbers and booleans as `as_condition` writes them.
            for place, value in enumerate(values):
                values[place] = value.lower()
                with suppress(ValueError):
                    values[place] = as_condition(float(value))
        chosen.setdefault(column, []).extend(values)
    for column, values in chosen.items():
        written = runs[column].map(as_condition)
        if lacking := [value for value in values if value not in set(written)]:
            names = list_values(runs[column])
            raise UserError(f"no run with {column}={','.join(lacking)}; there are {names}")
        runs = runs[written.isin(values)]
    return replace(bundle, runs=runs)


def list_values(values: pd.Series) -> str:
    """The distinct values in order, as conditions write them; in quotes if they have commas."""
    distinct = values.drop_duplicates()
    texts = map(as_condition, [*sorted(distinct.dropna()), *distinct[distinct.isna()]])
    return ", ".join(repr(text) if "," in text else text for text in texts)


def as_condition(value: Any) -> str:
    """A value as a condition writes it; ``none`` for a setting that is not set."""
    if pd.isna(value) or value == "":
        return "none"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value).lower() if pd.api.types.is_bool(value) else str(value)


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
    return sorted(result, key=lambda pair: pair[1]["attention"].iloc[0] == "uniform")


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
    equal = none[["hidden_size", "attention_size"]].eq(none["context_size"], axis=0).all()
    widths = [] if together and not equal.all() else equal.index[equal]
    others = [name for name in SAME if name not in ("context_size", *widths)]
    codes = none[others].map(as_condition)
    none, candidates = none[(codes == codes.iloc[0]).all(axis=1)], pairs(runs)
    result = []
    for _, rows in none.groupby("context_size"):
        same = (pair for pair in candidates if set(pair[0]["run"]) <= set(rows["run"]))
        result.append(paired(bundle, *next(same, (rows, runs[:0]))))
    return result


def paired(bundle: Results, none: pd.DataFrame, attention: pd.DataFrame) -> Pair:
    """The two arms of these runs; the second may have no runs."""
    check_alike(pd.concat([none, attention]), [name for name in SAME if name != "attention"])
    arms = arms_of(bundle, *(runs for runs in (none, attention) if len(runs)))
    return arms[0], arms[1] if len(attention) else None


def check_alike(runs: pd.DataFrame, columns: Sequence[str]) -> None:
    """A ``UserError`` if runs differ in one of these columns, as merged folders may by mistake."""
    for column in columns:
        if runs[column].nunique(dropna=False) > 1:
            common = as_condition(runs[column].mode(dropna=False).iloc[0])
            raise UserError(
                f"the results hold several values of {column} ({list_values(runs[column])}), but "
                f"this table takes one: choose with `--where {column}={common}`"
            )


def arms_of(bundle: Results, *parts: pd.DataFrame) -> list[Arm]:
    """The arms of these runs with their scores; by default all arms, in declared order."""
    if not parts:
        runs = declared(bundle)
        check_alike(runs, ["edges"])  # the same buckets for all
        parts = tuple(rows for _, rows in runs.groupby("arm", sort=False))
    arms = []
    for part in parts:
        runs = part.sort_values("seed", kind="stable")
        first = runs.iloc[0]
        counts = tuple(bundle.sentences[run] for run in runs["run"])
        scoring = bundle.settings(first["run"]).scoring
        sizes = int(first["embedding_size"]), int(first["context_size"])
        buckets = _scores(counts, scoring, *sizes)
        filled = [bucket for bucket in buckets if bucket.n]
        large = [bucket for bucket in filled if bucket.n >= READ_FROM]
        readable, longest = large if len(large) > 1 else filled, (filled or buckets)[-1]
        arms.append(Arm(first["arm"], first["attention"], runs, buckets, longest, readable))
    return arms


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
    buckets = zip(*(arm.buckets for arm in arms if arm), strict=True)
    return [Row(row[0].name, *row) for row in buckets]


def what_was_run(rows: pd.DataFrame) -> str:
    """As ``grammar; context 256; 2,000 updates; seeds 1, 2``, of runs or of a study's rows."""
    corpora = rows["corpus"].astype("object")
    if "lexicon" in rows:
        small = (corpora == "grammar") & (rows["lexicon"] == "small")
        corpora = corpora.mask(small, "grammar (small lexicon)")
    parts = [", ".join(sorted(set(corpora)))]
    heads = {
        "train_pairs": "{} training pairs",
        "context_size": "context {}",
        "updates": "{} updates",
    }
    for name in filter(rows.__contains__, heads):
        numbers = sorted(set(rows[name].dropna().astype(int)))
        parts.append(heads[name].format(", ".join(f"{number:,}" for number in numbers)))
    if seeds := sorted(set(rows["seed"].dropna().astype(int))):
        parts.append(f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}")
    return "; ".join(parts)
