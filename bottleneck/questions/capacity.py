"""C2, C12: how many words does a context hold, by its size and the amount of training?

A capacity is the length up to which 90 % or 50 % of the words survive beyond chance, or a bound on
it. More training may add to it, so the true capacity is "at least" this.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf, isinf, isnan, nan

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..scoring.bootstrap import LEVEL, Estimate, ratio_of_sums
from ..settings.errors import UserError
from ..settings.sweep import Cell, varying
from .arms import Arm, Estimates, Measured, Probed, Row, arms_of
from .censored import Censored, text, unbounded
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject
from .survival import source_words

SHARES = {"90 %": 0.9, "50 %": 0.5}
SIZE, MOST_ADDED = 256, 0.1
"""The lecture's context size, and the most that twice the updates may add, as a share."""


def probe(subject: Subject) -> Columns:
    """One row per test sentence: its point on the curve, words kept, by chance, and in all."""
    subject.tell("looking for the words")
    lengths = np.array([pair.words for pair in subject.corpus.test], np.int64)
    # A point is one or more neighbouring lengths with 20 or more sentences together.
    different, counts = np.unique(lengths, return_counts=True)
    point, inside, left, points = 0, 0, len(lengths), []
    for count in counts.tolist():
        points.append(point)
        inside, left = inside + count, left - count
        if min(inside, left) >= 20:
            point, inside = point + 1, 0
    at = np.array(points, np.int64)[np.searchsorted(different, lengths)]
    words = source_words(subject, at).dropna(subset="survived").assign(words=1.0)
    sums = words.groupby("sentence")[["survived", "by_chance", "words"]].sum()
    sums = sums.reindex(range(len(lengths)), fill_value=0.0)
    sums = sums.set_axis(["kept", "kept_by_chance", "words"], axis=1)
    return {"source_words": lengths, "point": at, **sums}


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Lengths, what twice the training adds, and their growth: by corpus and attention."""
    families, rows = {}, []
    for arm in arms_of(probed):
        corpus, model = arm.settings.corpus.name, arm.settings.model
        families.setdefault((corpus, model.attention, model.placement), []).append(arm)
    for names, arms in families.items():
        varied = set(varying([Cell("", arm.settings) for arm in arms]))
        if others := sorted(varied - {"model.context_size", "training.updates", "training.seed"}):
            raise UserError(
                f"the {' '.join(names)} runs differ in {', '.join(others)}, so their capacities "
                "cannot be in one table: choose one value with `--where`"
            )
        measured = {}  # by updates and context size
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
                row = arm.row("growth", growth(by_size), part=part, context_size=None, **keys)
                rows.append(row)
    return rows


def lengths_of(arm: Arm) -> dict[str, list[Censored]]:
    """For each share, the length for the mean over seeds, then for each seed.

    It is the last length at which this share still survives, or a bound; rises are pooled.
    """
    from scipy.optimize import isotonic_regression  # slow to import

    probed = arm.runs[0].found
    statistics = arm.statistics(["kept", "kept_by_chance", "words"])
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
        last = []
        for curve in np.transpose(survival):
            falling = isotonic_regression(curve, weights=np.array(words), increasing=False).x
            reached = int((falling >= share - 1e-9).sum())  # means may differ from it by rounding
            if reached in (0, len(at)):
                last.append(inf if reached else -inf)
            else:
                around = slice(reached - 1, reached + 1)
                last.append(float(np.interp(-share, -falling[around], at[around])))
        mean, *by_seed = last[:draws]
        seeds = [Censored(value, np.array([]), at[0], at[-1]) for value in by_seed]
        measured[part] = [Censored(mean, np.array(last[draws:]), at[0], at[-1]), *seeds]
    return measured


def change(once: Censored, twice: Censored) -> Row:
    """Twice minus once, paired by resample; a bound where lengths are censored."""
    first, second = (np.append(length.value, length.draws) for length in (once, twice))
    # Bounds of the value's change, then of each resample's.
    least = np.nan_to_num(second, nan=nan, posinf=twice.highest, neginf=0.0)
    least -= np.where(first == -inf, once.lowest, first)
    most = np.where(second == -inf, twice.lowest, second)
    most -= np.nan_to_num(first, nan=nan, posinf=once.highest, neginf=0.0)
    ends = {
        "value": nan if isinf(once.value) and once.value == twice.value else least[0],
        "low": np.quantile(least[1:], (1 - LEVEL) / 2, method="lower"),
        "high": np.quantile(most[1:], (1 + LEVEL) / 2, method="higher"),
    }
    row = {name: nan if isinf(end) else float(end) for name, end in ends.items()}
    return row | {"note": "value at least" if most[0] > row["value"] else ""}


def growth(by_size: Mapping[int, Censored]) -> Row:
    """Exponent b of length = a size^b by least squares of the logarithms; nan under two sizes."""
    sizes = [size for size in sorted(by_size) if not isinf(by_size[size].value)]
    censored = ", ".join(str(size) for size in sorted(by_size) if size not in sizes)
    row = {"n": len(sizes), "note": f"censored: {censored}" if censored else ""}
    if len(sizes) < 2:
        return row | {"value": nan}
    lengths = [by_size[size] for size in sizes]
    values = np.log([length.value for length in lengths])
    draws = np.log([np.clip(length.draws, length.lowest, length.highest) for length in lengths])
    centred = np.log(sizes) - np.log(sizes).mean()
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
    rows = rows.query("corpus == @first.corpus and placement == @first.placement")
    sizes, budgets = set(rows["context_size"].dropna()), sorted(set(rows["updates"]))
    size = SIZE if SIZE in sizes else int(max(sizes))
    once = next((count for count in budgets if 2 * count in budgets), budgets[-1])
    numbers = []
    for condition in (
        f"measure == 'length' and updates == {once} and context_size == {size}",
        f"measure == 'added' and updates == {2 * once} and context_size == {size}",
        f"measure == 'growth' and updates == {once}",
    ):
        matching = rows.query(condition)[["value", "low", "high", "note"]].to_dict("records")
        numbers.append(Measured(**matching[0]) if matching else Measured(nan, nan, nan))
    half, added, exponent = numbers
    known = unbounded(half)
    because = (
        f"on {first.corpus} half of the words survive in {size} numbers in sentences of "
        f"{'' if isinf(known.value) else 'up to '}{text(half)} words after {once:,} updates"
    )
    if isinf(known.value):
        return f"the length is beyond the tested ones; {because}"
    if isnan(added.value):
        return f"no run was trained twice as long; {because}"
    because += f"; twice the updates change that by {text(added, '{:+z.1f}')}"
    if isnan(exponent.value):
        return f"fewer than two context sizes have a length within the tested ones; {because}"
    because += f"; the length grows with the context size to the power {text(exponent, '{:.2f}')}"
    most = MOST_ADDED * half.value
    grows = exponent.low > 0 and not (added.low > 0 and added.value >= most)
    measure = f"words of {first.corpus}, half of which survive in {size} numbers"
    return Judgement(grows and added.high < most, grows, [because], measure, known)


QUESTION = Question(
    name="capacity",
    question="Can 256 numbers really hold 40 words of meaning? (C2, C12)",
    title="Words that a context holds (C2, C12)",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.is_drawn,
    rules={"C2": (
        "The number is the sentence length up to which half of the words survive beyond chance, "
        f"without attention, in {SIZE} numbers (or else the largest context), on `copy` if runs "
        "were trained on it. Held if it grows with the context size (95 % interval of the exponent "
        f"above 0) and twice the updates add less than {MOST_ADDED:.0%} to it (upper end of the "
        "interval). Not held if it does not grow, or if twice the updates add an amount whose "
        f"interval is above 0 and which is {MOST_ADDED:.0%} of the length or more. Partly "
        "otherwise. Not measured with fewer than two context sizes whose length is within the "
        "tested ones, or without runs trained twice as long.",
        judge,
    )},
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
    axes=[
        Axes(f"{corpus}: {part} survive", "length, words", "context size, numbers",
             log_x=True, measure="length", by="context_size",
             # An arm per attention, and a line per number of updates, most first.
             select=lambda rows, panel=f"corpus == '{corpus}' and part == '{part}'": rows.assign(
                 arm=rows["attention"], control=rows["updates"].map("{:,.0f} updates".format)
             ).query(panel).sort_values(
                 ["arm", "updates", "context_size"], ascending=[True, False, True]
             ))
        for part, corpus in product(reversed(SHARES), ("grammar", "copy"))
    ],
)  # fmt: skip
