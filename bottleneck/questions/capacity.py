"""C2, C12: how many words does a context of so many numbers hold after so much training?

A word survives if the words of the reference that it is linked to stand in the output (gold links).
The share by chance is taken away: (r - c) / (1 - c). A capacity is the length up to which 90 % or
50 % of the words survive, or a bound of it, after one training: an answer can only be "at least".
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..corpus.vocabulary import is_word, tokenize
from ..results.folders import read_texts
from ..scoring.bootstrap import ratio_of_sums
from ..settings.errors import UserError
from ..settings.sweep import SEED, Cell, varying
from ..tables.render import beyond
from .arms import Arm, Estimates, Measured, arms_of
from .censored import Censored, change, growth, last_lengths, text, unbounded
from .question import Axes, Columns, Judgement, Probed, Question, Row, StudyColumn, StudyTable, Tell
from .word_survival import LinkedReference, chance_survival, survival

if TYPE_CHECKING:
    from .subject import Subject

FEWEST = 20
"""Sentences of a point of the curve: neighbouring lengths with fewer are taken together."""
SHARES = {"90 %": 0.9, "50 %": 0.5}
COUNTS = ("kept", "kept_by_chance", "words")
"""The probe's columns: words kept, by chance, and in all."""
SIZE, MOST_ADDED = 256, 0.1
"""Numbers of the lecture's context, and the share of the length that twice the updates may add."""
VARIED = ("model.context_size", "training.updates", SEED)
"""Settings in which the runs of a curve may differ."""
Lengths = dict[str, list[Censored]]
RULE = (
    "The number is the length of the sentences of which half of the words survive beyond chance, "
    f"without attention, in {SIZE} numbers (else the largest context), on `copy` if it was trained "
    "on. Held if it grows with the context size (95 % interval of the exponent above 0) and twice "
    f"the updates add less than {MOST_ADDED:.0%} to it (upper end of the interval). Not held if it "
    "does not grow, or if twice the updates add an amount whose interval is above 0 and which is "
    f"{MOST_ADDED:.0%} of the length or more. Partly otherwise. Not measured without several "
    "context sizes, without runs trained twice as long, or beyond the tested lengths."
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """One row per test sentence: its point of the curve; its words kept, by chance and in all."""
    tell("looking for the words")
    pairs = subject.corpus.test
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    linked = [LinkedReference.of(pair, pair.links) for pair in pairs]
    lengths = np.array([pair.words for pair in pairs], np.int64)
    points = points_of(lengths)
    by_chance = chance_survival(linked, outputs, points, seed=subject.settings.scoring.seed)
    survived = survival(linked, outputs)
    tokens = [token for pair in pairs for token in tokenize(pair.source)]
    counted = np.array(list(map(is_word, tokens))) & ~np.isnan(survived)
    sentence = np.repeat(np.arange(len(pairs)), [item.words for item in linked])[counted]
    words = survived, by_chance, np.ones(len(tokens))
    sums = [np.bincount(sentence, column[counted], len(pairs)) for column in words]
    return {"source_words": lengths, "point": points} | dict(zip(COUNTS, sums, strict=True))


def points_of(words: Int[ndarray, "sentences"]) -> Int[ndarray, "sentences"]:
    """The point of the curve of each sentence: neighbouring lengths, `FEWEST` or more sentences."""
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
        varied = varying([Cell("", arm.settings) for arm in arms])
        if others := [name for name in varied if name not in VARIED]:
            raise UserError(
                f"the {' '.join(names)} runs differ in {', '.join(others)}, and their capacities "
                "cannot stand in one table: choose one value with `--where`"
            )
        measured: dict[float, dict[int, Lengths]] = {}
        by_size = {
            (arm.settings.training.updates, arm.settings.model.context_size): arm for arm in arms
        }
        for (updates, size), arm in sorted(by_size.items()):
            lengths, earlier = lengths_of(arm), measured.get(updates / 2, {}).get(size)
            measured.setdefault(updates, {})[size] = lengths
            for part, (mean, *seeds) in lengths.items():
                keys = {"part": part, "n": len(arm.runs[0].found["point"])}
                rows += arm.with_seeds("length", mean.row(), map(Censored.row, seeds), **keys)
                if earlier:
                    rows.append(arm.row("added", change(earlier[part][0], mean), **keys))
        for updates, sizes in measured.items():
            keys = {"arm": f"{' '.join(names)} updates={updates}", "updates": updates}
            for part in SHARES if len(sizes) > 1 else ():
                fit = growth({size: lengths[part][0] for size, lengths in sizes.items()})
                rows.append(arm.row("growth", fit, context_size=None, part=part, **keys))
    return rows


def lengths_of(arm: Arm) -> Lengths:
    """By share, the length of the mean over seeds, then that of each seed."""
    probed, statistics = arm.runs[0].found, arm.statistics(COUNTS)
    at, rows, words = [], [], []
    for point in np.unique(probed["point"]):
        inside = probed["point"] == point
        sums = statistics[:, inside]
        mean = arm.estimate(beyond_chance, sums, int(point))
        if mean.filled:
            at.append(float(probed["source_words"][inside].mean()))
            rows.append([mean.value, *beyond_chance(sums.sum(axis=1)), *mean.draws])
            words.append(probed["words"][inside].sum())
    if len(at) < 2:
        raise UserError(
            f"the {len(probed['point']):,} test sentences of the {arm.settings.corpus.name} runs "
            f"do not make two points of a curve, of {FEWEST} sentences each: train with more "
            "corpus.test_pairs"
        )
    lasts = last_lengths(np.array(at), np.array(rows).T, np.array(words), SHARES.values())
    measured, seeds = {}, 1 + len(arm.runs)
    for part, last in zip(SHARES, lasts, strict=True):
        measured[part] = [
            Censored(float(value), last[seeds:] if place == 0 else last[:0], at[0], at[-1])
            for place, value in enumerate(last[:seeds])
        ]
    return measured


def beyond_chance(sums: Float[ndarray, "*rows 3"]) -> Float[ndarray, "*rows"]:
    """(r - c) / (1 - c) of words kept, kept by chance, and in all."""
    kept, by_chance, words = np.moveaxis(sums, -1, 0)
    return ratio_of_sums(np.stack([kept - by_chance, words - by_chance], axis=-1))


def judge(estimates: Estimates) -> Judgement | str:
    """C2: 256 numbers hold so many words and no more."""
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
        found = rows.query(condition)[["value", "low", "high", "note"]].to_dict("records")
        return Measured(**found[0]) if found else Measured(math.nan, math.nan, math.nan)

    half = number(f"measure == 'length' and updates == {once} and context_size == {size}")
    added = number(f"measure == 'added' and updates == {2 * once} and context_size == {size}")
    exponent = number(f"measure == 'growth' and updates == {once}")
    because = (
        f"on {corpus} half of the words survive in {size} numbers in sentences of "
        f"{'' if beyond(half.note, 'value') else 'up to '}{text(half)} words after {once:,} updates"
    )
    if beyond(half.note, "value"):
        return f"the length is beyond the tested ones; {because}"
    if math.isnan(added.value):
        return f"no run was trained twice as long; {because}"
    because += f"; twice the updates change that by {text(added, '{:+z.1f}')}"
    if math.isnan(exponent.value):
        return f"fewer than two context sizes have a length within the tested ones; {because}"
    because += f"; the length grows with the context size to the power {text(exponent, '{:.2f}')}"
    most = MOST_ADDED * half.value
    grows = exponent.low > 0 and not (added.low > 0 and added.value >= most)
    measure = f"words of {corpus}, half of which survive in {size} numbers"
    return Judgement(grows and added.high < most, grows, [because], measure, unbounded(half))


def panel(part: str, corpus: str) -> Axes:
    """Lengths by context size; the attention is the arm, its lines the budgets, the most first."""

    def select(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows[(rows["corpus"] == corpus) & (rows["part"] == part)]
        budgets = [f"{int(updates):,} updates" for updates in rows["updates"]]
        rows = rows.assign(arm=rows["attention"], control=budgets, most=-rows["updates"])
        return rows.sort_values(["arm", "most", "context_size"], kind="stable")

    return Axes(
        f"{corpus}: {part} survive", "length", "length, words",
        x="context_size", x_label="context size, numbers", select=select, lines=None,
        log_x=True,
    )  # fmt: skip


QUESTION = Question(
    name="capacity",
    ids=("C2", "C12"),
    question="Can 256 numbers really hold 40 words of meaning?",
    title="Words that a context holds (C2, C12)",
    own_runs=True,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.is_drawn,
    rules={"C2": (RULE, judge)},
    notes=[
        "90 %, 50 %: the length in words at which this share of a sentence's words survives beyond "
        "chance after this training. > and < (in the figure triangles): beyond the tested lengths, "
        "whose end is printed. Added: what twice the updates add at 50 % (C12)."
    ],
    measures=("length", "added", "growth"),
    keys=("corpus", "attention", "placement", "updates", "context_size", "part"),
    tables=[
        StudyTable(
            "Words that survive",
            [
                *(StudyColumn(part, "length", part=part) for part in SHARES),
                StudyColumn("added\n(50 %)", "added", part="50 %"),
            ],
            ("corpus", "attention", "updates", "context"),
            lambda estimates: [
                ((row.corpus, row.attention, f"{row.updates:,}", str(row.context_size)),
                 {"arm": row.arm})
                for row in estimates.means.query("measure == 'length'").itertuples()
                if row.part == "50 %"
            ],
        )
    ],
    axes=[panel(*names) for names in product(reversed(SHARES), ("grammar", "copy"))],
)  # fmt: skip
