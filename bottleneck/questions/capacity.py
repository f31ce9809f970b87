"""C2, C12: how many words does a context hold, by its size and the amount of training?

Words survive as in `survival`, without the share by chance: (r - c) / (1 - c). A capacity is the
length up to which 90 % or 50 % of the words survive, or a bound on it. More training may add to it,
so the true capacity is "at least" this.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf, isinf, isnan, nan
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..scoring.bootstrap import Estimate, ratio_of_sums
from ..settings.errors import UserError
from ..settings.sweep import Cell, varying
from ..tables.render import beyond
from .arms import Arm, Estimates, Measured, Probed, Row, arms_of
from .censored import ENDS, Censored, percentiles, text, unbounded
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject
from .survival import source_words

FEWEST = 20
"""Fewest sentences of a point on the curve: neighbouring lengths with fewer share a point."""
SHARES = {"90 %": 0.9, "50 %": 0.5}
COUNTS = ("kept", "kept_by_chance", "words")
"""The probe's columns: words kept, words kept by chance, and all words."""
SIZE, MOST_ADDED = 256, 0.1
"""The lecture's context size, and the most that twice the updates may add, as a share."""
RULE = (
    "The number is the sentence length up to which half of the words survive beyond chance, "
    f"without attention, in {SIZE} numbers (or else the largest context), on `copy` if runs were "
    "trained on it. Held if it grows with the context size (95 % interval of the exponent above 0) "
    f"and twice the updates add less than {MOST_ADDED:.0%} to it (upper end of the interval). Not "
    "held if it does not grow, or if twice the updates add an amount whose interval is above 0 and "
    f"which is {MOST_ADDED:.0%} of the length or more. Partly otherwise. Not measured with fewer "
    "than two context sizes whose length is within the tested ones, or without runs trained twice "
    "as long."
)


def probe(subject: Subject) -> Columns:
    """One row per test sentence: its point on the curve, and its words as in `COUNTS`."""
    subject.tell("looking for the words")
    lengths = np.array([pair.words for pair in subject.corpus.test], np.int64)
    points = points_of(lengths)
    words = source_words(subject, points).dropna(subset="survived").assign(words=1.0)
    sums = words.groupby("sentence")[["survived", "by_chance", "words"]].sum()
    sums = sums.reindex(range(len(lengths)), fill_value=0.0).set_axis(COUNTS, axis=1)
    return {"source_words": lengths, "point": points, **sums}


def points_of(words: Int[ndarray, "sentences"]) -> Int[ndarray, "sentences"]:
    """Each sentence's point on the curve: neighbouring lengths with `FEWEST` or more sentences."""
    lengths, counts = np.unique(words, return_counts=True)
    point, inside, left, points = 0, 0, len(words), []
    for count in counts.tolist():
        points.append(point)
        inside, left = inside + count, left - count
        if inside >= FEWEST and left >= FEWEST:
            point, inside = point + 1, 0
    return np.array(points, np.int64)[np.searchsorted(lengths, words)]


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Lengths, what twice the training adds, and their growth: by corpus and attention."""
    families: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms_of(probed):
        corpus, model = arm.settings.corpus.name, arm.settings.model
        families.setdefault((corpus, model.attention, model.placement), []).append(arm)
    rows: list[Row] = []
    for names, arms in families.items():
        varied = set(varying([Cell("", arm.settings) for arm in arms]))
        if others := sorted(varied - {"model.context_size", "training.updates", "training.seed"}):
            raise UserError(
                f"the {' '.join(names)} runs differ in {', '.join(others)}, so their capacities "
                "cannot be in one table: choose one value with `--where`"
            )
        measured: dict[tuple[float, int], dict[str, list[Censored]]] = {}
        for arm in sorted(arms, key=lambda arm: arm.settings.training.updates):
            updates, size = arm.settings.training.updates, arm.settings.model.context_size
            measured[updates, size] = lengths_of(arm)
            earlier = measured.get((updates / 2, size))
            for part, (mean, *seeds) in measured[updates, size].items():
                keys = {"part": part, "n": len(arm.runs[0].found["point"])}
                rows += arm.with_seeds("length", mean.row(), map(Censored.row, seeds), **keys)
                if earlier:
                    rows.append(arm.row("added", change(earlier[part][0], mean), **keys))
        for updates, part in product(sorted({updates for updates, _ in measured}), SHARES):
            by_size = {size: of[part][0] for (n, size), of in measured.items() if n == updates}
            if len(by_size) > 1:
                keys = {"arm": f"{' '.join(names)} updates={updates}", "updates": updates}
                keys |= {"context_size": None, "part": part}
                rows.append(arm.row("growth", growth(by_size), **keys))
    return rows


def lengths_of(arm: Arm) -> dict[str, list[Censored]]:
    """For each share, the length for the mean over seeds, then for each seed."""
    probed, statistics = arm.runs[0].found, arm.statistics(COUNTS)
    at, survival, words = [], [], []
    for point in np.unique(probed["point"]):
        inside = probed["point"] == point
        sums = statistics[:, inside]
        mean = arm.estimate(beyond_chance, sums, int(point))
        if mean.filled:
            at.append(float(probed["source_words"][inside].mean()))
            survival.append([mean.value, *beyond_chance(sums.sum(axis=1)), *mean.draws])
            words.append(probed["words"][inside].sum())
    if len(at) < 2:
        raise UserError("too few test sentences for a curve: train with more corpus.test_pairs")
    measured, draws = {}, 1 + len(arm.runs)
    for part, share in SHARES.items():
        last = np.array([
            last_length(np.array(at), curve, np.array(words), share)
            for curve in np.transpose(survival)
        ])  # fmt: skip
        by_seed = [Censored(float(value), last[:0], at[0], at[-1]) for value in last[1:draws]]
        measured[part] = [Censored(float(last[0]), last[draws:], at[0], at[-1]), *by_seed]
    return measured


def last_length(
    at: Float[ndarray, "points"],
    survival: Float[ndarray, "points"],
    words: Float[ndarray, "points"],
    share: float,
) -> float:
    """The last length at which this share still survives, or a bound; rises are pooled."""
    from scipy.optimize import isotonic_regression  # here, because it takes a second to import

    curve = isotonic_regression(survival, weights=words, increasing=False).x
    reached = int((curve >= share - 1e-9).sum())  # means may differ from it by rounding
    if reached in (0, len(at)):
        return inf if reached else -inf
    around = slice(reached - 1, reached + 1)
    return float(np.interp(-share, -curve[around], at[around]))


def change(once: Censored, twice: Censored) -> dict[str, Any]:
    """Twice minus once, paired by resample; a bound where lengths are censored."""
    (least, most), (once_least, once_most) = twice.bounds(), once.bounds()
    least, most = least - once_most, most - once_least
    unknown = isinf(once.value) and once.value == twice.value
    ends = nan if unknown else least[0], percentiles(least[1:])[0], percentiles(most[1:])[1]
    row = {name: nan if isinf(end) else float(end) for name, end in zip(ENDS, ends, strict=True)}
    return row | {"note": "value at least" if most[0] > row["value"] else ""}


def growth(by_size: Mapping[int, Censored]) -> dict[str, Any]:
    """Exponent b of length = a size^b by least squares of the logarithms; nan under two sizes."""
    fitted = {size: length for size, length in sorted(by_size.items()) if not isinf(length.value)}
    censored = ", ".join(str(size) for size in sorted(set(by_size) - set(fitted)))
    row = {"n": len(fitted), "note": f"censored: {censored}" if censored else ""}
    if len(fitted) < 2:
        return row | {"value": nan}
    values = np.log([length.value for length in fitted.values()])
    draws = np.log([np.clip(item.draws, item.lowest, item.highest) for item in fitted.values()])
    centred = np.log(list(fitted)) - np.log(list(fitted)).mean()
    line = centred / (centred**2).sum()
    return row | Estimate(float(line @ values), line @ draws).row()


def beyond_chance(sums: Float[ndarray, "*rows 3"]) -> Float[ndarray, "*rows"]:
    """(r - c) / (1 - c) of words kept, kept by chance, and in all."""
    kept, by_chance, words = np.moveaxis(sums, -1, 0)
    return ratio_of_sums(np.stack([kept - by_chance, words - by_chance], axis=-1))


def judge(estimates: Estimates) -> Judgement | str:
    """C2: 256 numbers hold a fixed number of words."""
    rows = estimates.means.query('attention == "none" and part == "50 %"')
    if rows.empty:
        return "no run without attention was measured"
    first = rows.sort_values("corpus", key=lambda names: names != "copy", kind="stable").iloc[0]
    corpus = first["corpus"]
    rows = rows[(rows["corpus"] == corpus) & (rows["placement"] == first["placement"])]
    sizes, budgets = set(rows["context_size"].dropna()), sorted(set(rows["updates"]))
    size = SIZE if SIZE in sizes else int(max(sizes))
    once = next((count for count in budgets if 2 * count in budgets), budgets[-1])

    def number(condition: str) -> Measured:
        matching = rows.query(condition)[["value", "low", "high", "note"]].to_dict("records")
        return Measured(**matching[0]) if matching else Measured(nan, nan, nan)

    half = number(f"measure == 'length' and updates == {once} and context_size == {size}")
    added = number(f"measure == 'added' and updates == {2 * once} and context_size == {size}")
    exponent = number(f"measure == 'growth' and updates == {once}")
    because = (
        f"on {corpus} half of the words survive in {size} numbers in sentences of "
        f"{'' if beyond(half.note, 'value') else 'up to '}{text(half)} words after {once:,} updates"
    )
    if beyond(half.note, "value"):
        return f"the length is beyond the tested ones; {because}"
    if isnan(added.value):
        return f"no run was trained twice as long; {because}"
    because += f"; twice the updates change that by {text(added, '{:+z.1f}')}"
    if isnan(exponent.value):
        return f"fewer than two context sizes have a length within the tested ones; {because}"
    because += f"; the length grows with the context size to the power {text(exponent, '{:.2f}')}"
    most = MOST_ADDED * half.value
    grows = exponent.low > 0 and not (added.low > 0 and added.value >= most)
    measure = f"words of {corpus}, half of which survive in {size} numbers"
    return Judgement(grows and added.high < most, grows, [because], measure, unbounded(half))


def panel(part: str, corpus: str) -> Axes:
    """Lengths by context size: an arm per attention, a line per number of updates, most first."""

    def select(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows[(rows["corpus"] == corpus) & (rows["part"] == part)]
        budgets = [f"{int(updates):,} updates" for updates in rows["updates"]]
        rows = rows.assign(arm=rows["attention"], control=budgets, most=-rows["updates"])
        return rows.sort_values(["arm", "most", "context_size"], kind="stable")

    return Axes(
        f"{corpus}: {part} survive", "length, words", "context size, numbers", measure="length",
        by="context_size", select=select, log_x=True,
    )  # fmt: skip


QUESTION = Question(
    name="capacity",
    question="Can 256 numbers really hold 40 words of meaning? (C2, C12)",
    title="Words that a context holds (C2, C12)",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.is_drawn,
    rules={"C2": (RULE, judge)},
    notes=[
        "90 %, 50 %: the length in words at which this share of a sentence's words survives beyond "
        "chance after this training, by the mean curve of the seeds. > and < (in the figure "
        "triangles): beyond the tested lengths, whose end is printed. Added: what twice the "
        "updates add at 50 % (C12)."
    ],
    measures=("length", "added", "growth"),
    keys=("corpus", "attention", "placement", "updates", "context_size", "part"),
    tables=[
        StudyTable("Words that survive", [
            *(StudyColumn(part, "length", part=part) for part in SHARES),
            StudyColumn("added\n(50 %)", "added", part="50 %"),
        ], heads=("corpus", "attention", "updates", "context"), lines=lambda estimates: [
            ((row.corpus, row.attention, f"{row.updates:,}", str(row.context_size)),
             {"arm": row.arm})
            for row in estimates.means.query("measure == 'length' and part == '50 %'").itertuples()
        ])
    ],
    axes=[panel(*names) for names in product(reversed(SHARES), ("grammar", "copy"))],
)  # fmt: skip
