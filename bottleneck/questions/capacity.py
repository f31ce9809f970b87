"""C2, C12: how many words does a context of so many numbers hold after so much training?

A word survives if the words of the reference that it is linked to stand in the output (gold links,
`questions.word_survival`). The share by chance, from the same outputs and other sources of the same
length, is taken away: (r - c) / (1 - c). On the copying corpus, words at their own place are
counted too: there a word says nothing about the next, so that n words in their order are exactly
n log2 V bits.

A capacity is the length up to which 90 % or 50 % of the words survive (`censored.last_lengths`), or
a bound of it. It is what one training budget reached: an answer can only be "at least".
"""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from operator import eq
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray
from rich.table import Table

from ..corpus.vocabulary import is_word, tokenize
from ..figures.plot import facts
from ..results.folders import read_texts
from ..settings.errors import UserError
from ..settings.sweep import Cell, varying
from ..tables.page import Page, beyond, caption
from ..tables.render import new_table
from .arms import Arm, Estimate, Estimates, arms_of, in_buckets
from .censored import ENDS, Censored, change, growth, last_lengths
from .question import Axes, Columns, Judgement, Probed, Question, Row, Tell
from .word_survival import (
    SHUFFLES,
    LinkedReference,
    chance_survival,
    partners,
    rates_score,
    survival,
    survival_cells,
)

if TYPE_CHECKING:
    from .subject import Subject

FEWEST = 20
"""Sentences of a point of the curve: neighbouring lengths with fewer are taken together."""
FAMILY = ["corpus", "attention", "placement"]
SHARES = {"90 %": 0.9, "50 %": 0.5}
WORDS = ("kept", "kept_by_chance", "words")
PLACES = ("in_place", "in_place_by_chance", "tokens")
"""Columns of the probe: words that survive, those by chance, and how many were counted."""
CRITERIA = {
    "": (WORDS, "corrected"),
    "_uncorrected": (WORDS, "recall"),
    "_in_place": (PLACES, "corrected"),
}
"""How the measures of a length end, and which share of which words it is the length of."""
SURVIVE = {"": "words that survive", "_in_place": "words at their own place"}
"""Those whose growth and change are measured, and which have a table and a panel."""
SIZE, ASKED, MOST_ADDED = 256, 40, 0.1
"""Numbers of the lecture's context, the words of its opening question, and the share of the length
that twice the updates may add."""
RULE = (
    "The number is the length of the sentences of which half of the words survive beyond chance, "
    f"without attention, in the context of {SIZE} numbers (else the largest), on `copy` if it was "
    "trained on; other corpora are only reported. Held if it grows with the context size (95 % "
    "interval of the exponent above 0) and twice the updates add less than "
    f"{MOST_ADDED:.0%} to it (upper end of the interval of what they add). Not held if it does not "
    "grow, or if twice the updates add an amount whose interval is above 0 and which is "
    f"{MOST_ADDED:.0%} of the length or more: then training sets the number of words. Partly if it "
    "grows and the amount is neither. Not measured without several context sizes, without runs "
    "trained twice as long, or if the length is beyond the tested ones."
)
Lengths = dict[tuple[str, str], tuple[Censored, list[Censored]]]
"""By criterion and share, the length of the mean over seeds, and that of each seed."""


def probe(subject: "Subject", tell: Tell) -> Columns:
    """One row per test sentence: its point of the curve; its words kept, by chance and in all."""
    tell("looking for the words")
    pairs = subject.corpus.test
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    linked = [LinkedReference.of(pair, pair.links) for pair in pairs]
    lengths = np.array([pair.words for pair in pairs], np.int64)
    points = points_of(lengths)
    others = partners(points, SHUFFLES, seed=subject.settings.scoring.seed)
    sources = [tokenize(pair.source) for pair in pairs]
    real = [is_word(token) for source in sources for token in source]
    sums = survival_cells(
        np.repeat(np.arange(len(pairs)), list(map(len, sources))),
        survival(linked, outputs),
        chance_survival(linked, outputs, others),
        group=np.where(real, 0, -1),
        band=np.zeros(len(real), np.int64),
        shape=(len(pairs), 1, 1),
    )

    def in_place(texts: Sequence[Sequence[str]]) -> Float[ndarray, "sentences"]:
        """How many of each reference's tokens stand at their own place in its output."""
        both = zip(linked, texts, strict=True)
        return np.array([sum(map(eq, item.reference, text)) for item, text in both], np.float64)

    by_shuffle = [in_place([outputs[other] for other in row]) for row in others]
    return {
        "source_words": lengths,
        "point": points,
        "bits": [pair.bits for pair in pairs],
        **dict(zip(WORDS, sums[:, 0, 0].T, strict=True)),
        "in_place": in_place(outputs),
        "in_place_by_chance": np.mean(by_shuffle, axis=0),
        "tokens": [len(item.reference) for item in linked],
    }


def points_of(words: Int[ndarray, "sentences"]) -> Int[ndarray, "sentences"]:
    """The point of the curve of each sentence: neighbouring lengths of `FEWEST` or more sentences.

    Lengths are taken together from the shortest up; what is left at the end goes to the last point.
    """
    lengths, counts = np.unique(words, return_counts=True)
    point, inside, left, points = 0, 0, len(words), []
    for count in counts.tolist():
        points.append(point)
        inside, left = inside + count, left - count
        if inside >= FEWEST and left >= FEWEST:
            point, inside = point + 1, 0
    return np.array(points, np.int64)[np.searchsorted(lengths, words)]


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Lengths, their growth, what twice the training adds, bits: by corpus and attention.

    Raises UserError if the runs of one corpus and attention differ in more than context size,
    updates and seed.
    """
    families: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms_of(probed):
        corpus, model = arm.settings.corpus.name, arm.settings.model
        families.setdefault((corpus, model.attention, model.placement), []).append(arm)
    rows: list[Row] = []
    for names, arms in families.items():
        varied = varying([Cell("", arm.settings) for arm in arms])
        may = ("model.context_size", "training.updates", "training.seed")
        if others := ", ".join(name for name in varied if name not in may):
            raise UserError(
                f"the runs differ in {others}, and their capacities cannot stand in one table: "
                "choose one value with `--where`"
            )
        measured: dict[float, dict[int, Lengths]] = {}
        placed = [
            (arm.settings.training.updates, arm.settings.model.context_size, arm) for arm in arms
        ]
        for updates, size, arm in sorted(placed, key=lambda item: item[:2]):
            measured.setdefault(updates, {})[size] = _lengths(arm)
            earlier = measured.get(updates / 2, {}).get(size, {})
            rows += _arm_rows(arm, measured[updates][size], earlier)
        for updates, sizes in measured.items():
            keys = arms[0].row("", math.nan, updates=updates, context_size=None)
            keys["arm"] = f"{' '.join(names)} updates={updates}"
            for suffix, part in sizes[min(sizes)] if len(sizes) > 1 else ():
                if suffix in SURVIVE:
                    fit = growth({size: known[suffix, part][0] for size, known in sizes.items()})
                    rows.append(keys | fit | {"measure": f"growth{suffix}", "part": part})
    return rows


def _lengths(arm: Arm) -> Lengths:
    """The lengths of an arm; a UserError if a test set is too small for two points of a curve."""
    probed, measured = arm.runs[0].found, {}
    for suffix, (columns, measure) in CRITERIA.items():
        if columns == PLACES and arm.settings.corpus.name != "copy":
            continue
        statistics, score = arm.statistics(columns), rates_score(measure)
        at, rows, words = [], [], []
        for point in np.unique(probed["point"]):
            inside = probed["point"] == point
            sums = statistics[:, inside]
            mean = arm.estimate(score, sums, int(point))
            if mean.filled:
                at.append(float(probed["source_words"][inside].mean()))
                rows.append(np.concatenate([[mean.value], score(sums.sum(axis=1)), mean.draws]))
                words.append(probed[columns[-1]][inside].sum())
        if len(at) < 2:
            raise UserError(
                f"the {len(probed['point']):,} test sentences of the {arm.settings.corpus.name} "
                f"runs do not make two points of a curve, of {FEWEST} sentences each: train with "
                "more corpus.test_pairs"
            )
        lasts = last_lengths(np.array(at), np.array(rows).T, np.array(words), SHARES.values())
        for part, last in zip(SHARES, lasts, strict=True):
            value, seeds, draws = np.split(last, [1, 1 + len(arm.runs)])
            alone = [Censored(seed, draws[:0], at[0], at[-1]) for seed in seeds.tolist()]
            measured[suffix, part] = Censored(float(value[0]), draws, at[0], at[-1]), alone
    return measured


def _arm_rows(arm: Arm, measured: Lengths, earlier: Lengths) -> Iterator[Row]:
    """An arm's lengths, how much longer they are than with half the updates, bits, and chance.

    Bits are those of one more word and of the words that survive, in all and for each number;
    there are none if the bits of the sentences are not known (nan).
    """
    probed, n = arm.runs[0].found, len(arm.runs[0].found["point"])
    for (suffix, part), (mean, seeds) in measured.items():
        yield arm.row(f"length{suffix}", **mean.row(), part=part, n=n)
        for run, alone in zip(arm.runs, seeds, strict=True):
            keys = {"part": part, "n": n, "note": f"value {alone.side}" if alone.side else ""}
            yield arm.seed_row(run, f"length{suffix}", alone.shown, **keys)
        if suffix in SURVIVE and earlier:
            added = change(earlier[suffix, part][0], mean)
            yield arm.row(f"added{suffix}", **added, part=part, n=n)
    if not np.isnan(probed["bits"]).any():
        a_word = float(np.polyfit(probed["source_words"], probed["bits"], 1)[0])
        yield arm.row("bits_a_word", a_word, n=n)
        for part, share in SHARES.items():
            length = measured.get(("_in_place", part), measured["", part])[0].row()
            for measure, unit in (("bits", 1), ("bits_a_number", arm.settings.model.context_size)):
                bits = {end: share * a_word * length[end] / unit for end in ENDS}
                yield arm.row(measure, **bits, part=part, n=n, note=length["note"])
    statistics = arm.statistics(WORDS)
    for place, bucket, inside in in_buckets(arm.runs[0], probed["source_words"]):
        keys = {"place": place, "bucket": bucket}
        yield from arm.rows("chance", rates_score("chance"), statistics[:, inside], **keys)


class Family:
    """The arms of one corpus, attention and placement, by updates and context size.

    ``size`` is the one that C2 is about, else the largest; ``once`` are the updates that were
    doubled, else the most. ``half``, ``added`` and ``growth`` are what the rule reads.
    """

    def __init__(self, estimates: Estimates, rows: pd.DataFrame) -> None:
        self.estimates = estimates
        self.corpus, self.attention = rows[["corpus", "attention"]].iloc[0]
        sizes = [0 if pd.isna(size) else int(size) for size in rows["context_size"]]
        budgets = rows["updates"].astype(int).tolist()
        self.arms = dict(zip(zip(budgets, sizes, strict=True), rows["arm"], strict=True))
        self.sizes, self.budgets = sorted({*sizes} - {0}), sorted({*budgets})
        doubled = (updates for updates in self.budgets if 2 * updates in self.budgets)
        self.once = next(doubled, self.budgets[-1])
        self.size = SIZE if SIZE in self.sizes else self.sizes[-1]
        self.half = self.get("length", "50 %", self.once, self.size)
        self.added = self.get("added", "50 %", 2 * self.once, self.size)
        self.growth = self.get("growth", "50 %", self.once, 0)

    def get(self, measure: str, part: str, updates: int, size: int) -> Estimate:
        """A number; nan if there is none. The size of what is about all sizes is 0."""
        arm = self.arms.get((updates, size), "")
        return self.estimates.get(measure, arm, part=part) or Estimate(*[math.nan] * 3)

    def lengths(self, part: str) -> list[tuple[int, Estimate]]:
        """The updates and the length of each budget at the claim's size, where there is one."""
        known = [(count, self.get("length", part, count, self.size)) for count in self.budgets]
        return [(updates, length) for updates, length in known if length.value >= 0]


def families(estimates: Estimates) -> list[Family]:
    """What was measured, by corpus, attention and placement."""
    rows = estimates.means[estimates.means["part"] != ""]
    return [Family(estimates, part) for _, part in rows.groupby(FAMILY, sort=False, dropna=False)]


def ends(number: Estimate, form: str, missing: str = "") -> list[str]:
    """Value, low and high, after the sign of a bound (``>`` or ``<``)."""
    numbers = [(beyond(number.note, end), getattr(number, end)) for end in ENDS]
    return [missing if math.isnan(end) else sign + form.format(end) for sign, end in numbers]


def text(number: Estimate, form: str = "{:.1f}") -> str:
    """``14.2 [13.8, at least 14.9]``; if all three are one bound it stands once."""
    value, low, high = ends(number, form, "open")
    words = value if value[0] in "<>" and value == low == high else f"{value} [{low}, {high}]"
    return words.replace(">", "at least ").replace("<", "under ")


def decide(estimates: Estimates) -> Judgement | str:
    """C2: 256 numbers hold so many words and no more.

    A number that is not known is on neither side of another.
    """
    known = [family for family in families(estimates) if family.attention == "none"]
    if not known:
        return "no run without attention was measured"
    known.sort(key=lambda family: family.corpus != "copy")
    family, because = known[0], "; ".join(map(reading, known))
    half, added, exponent = family.half, family.added, family.growth
    if beyond(half.note, "value"):
        return f"the length is beyond the tested ones; {because}"
    if math.isnan(added.value):
        return f"no run was trained twice as long; {because}"
    if math.isnan(exponent.value):
        return f"fewer than two context sizes have a length within the tested ones; {because}"
    most = MOST_ADDED * half.value
    grows = exponent.low > 0 and not (added.low > 0 and added.value >= most)
    known_ends = (math.nan if beyond(half.note, end) else getattr(half, end) for end in ENDS)
    return Judgement(
        held=grows and added.high < most,
        partly=grows,
        because=[because],
        measure=f"words of {family.corpus}, half of which survive in {family.size} numbers",
        number=Estimate(*known_ends),
    )


def reading(family: Family) -> str:
    """The lengths of half of the words, what training adds to them, their growth, and the answer.

    The answer to the lecture's question is how many words at least, never how many at most.
    """
    reached = [
        f"{'' if beyond(half.note, 'value') else 'up to '}{text(half)} words after {updates:,} "
        "updates"
        for updates, half in family.lengths("50 %")
    ]
    clauses = [
        f"on {family.corpus} half of the words survive in {family.size} numbers in sentences of "
        f"{', of '.join(reached)}"
    ]
    if not math.isnan(family.added.value):
        clauses.append(f"twice the updates change that by {text(family.added, '{:+z.1f}')}")
    if not math.isnan(family.growth.value):
        power = text(family.growth, "{:.2f}")
        clauses.append(f"the length grows with the context size to the power {power}")
    updates, most = max(family.lengths("90 %"), key=lambda item: (item[1].low, item[0]))
    words = math.floor(most.low)
    trained = f"with this training ({updates:,} updates) {family.size} numbers"
    if beyond(most.note, "low") == "<":
        keep = "do not keep" if beyond(most.note, "value") == "<" else "may not keep"
        clauses.append(
            f"{trained} {keep} 90 % of the words of {family.corpus} even at the {most.low:.1f} "
            "words of the shortest sentences; more training might change that"
        )
    else:
        rest = f"can hold {ASKED}" if words >= ASKED else f"with more training might hold {ASKED}"
        clauses.append(
            f"{trained} hold at least {words} words of {family.corpus} (90 % survive) and {rest}"
        )
    return "; ".join(clauses)


def notes(frame: pd.DataFrame) -> list[str]:
    """What the columns are, and of each corpus its sentences, bits and chance."""
    lines = [
        "90 %, 50 %: the length in words at which this share of a sentence's words survives beyond "
        "chance: the mean over seeds, made to fall with length (isotonic regression). Copied words "
        "may survive out of order: those at their own place are counted as well. > and <: beyond "
        "the tested lengths, whose end is printed. Twice: with twice the updates. Added: what they "
        "add at 50 % (C12); an open end is beyond the tested lengths.",
        "Growth: the exponent b of words = a numbers^b over the context sizes whose length is "
        "within the tested ones; its range is too narrow if many resamples are beyond them.",
        "Bits per number: bits of the surviving half of the words at the length of 50 %, after the "
        "longer training; of copied words those at their own place. The output does not say which "
        "half survives: up to one bit less for each word of the sentence is certain.",
    ]
    for corpus, rows in frame[frame["seed"].isna()].groupby("corpus", sort=False):
        values = {name: part.dropna() for name, part in rows.groupby("measure")["value"]}
        parts = [f"{int(rows.loc[rows['measure'] == 'length', 'n'].max()):,} test sentences"]
        if len(bits := values.get("bits_a_word", ())):
            parts.append(f"{bits.iloc[0]:.2f} bits per word")
        if len(share := values.get("chance", ())):
            parts.append(
                f"by chance {share.min():.0%} to {share.max():.0%} of the words of a length bucket "
                "stand in the outputs of other sentences"
            )
        lines.append(f"{corpus}: {'; '.join(parts)}.")
    return [*lines, *caption(frame)]


def _table(family: Family, suffix: str) -> Table:
    """A row a context size, growth as the last; with columns of twice the training if there are."""
    once, twice = family.once, 2 * family.once
    budgets = [budget for budget in (once, twice) if budget in family.budgets]
    columns = [(part, updates) for updates in budgets for part in SHARES]
    heads, title = ["context", *SHARES], f"{SURVIVE[suffix]}, {once:,} updates"
    if twice in budgets:
        heads += ["90 %\ntwice", "50 %\ntwice", "added\n(50 %)"]
        title += f" (twice: {twice:,})"
    with_bits = suffix == ("_in_place" if family.corpus == "copy" else "")
    heads += ["bits per\nnumber"] * with_bits
    table = new_table(f"{family.corpus}, attention {family.attention}: {title}", heads, texts=0)

    def cell(measure: str, part: str, updates: int, size: int, form: str) -> str:
        """Bounds have a sign, and open ends are empty."""
        value, low, high = ends(family.get(measure + suffix, part, updates, size), form)
        return f"{value}\n{low}..{high}" if value else ""

    for size in family.sizes:
        cells = [cell("length", *column, size, "{:.1f}") for column in columns]
        if twice in budgets:
            cells.append(cell("added", "50 %", twice, size, "{:+.1f}"))
        if with_bits:  # no room for the interval
            bits = family.get("bits_a_number", "50 %", budgets[-1], size)
            cells.append(ends(bits, "{:.2f}")[0])
        table.add_row(str(size), *cells)
    growths = [cell("growth", *column, 0, "{:.2f}") for column in columns]
    if any(growths):
        table.add_row("growth", *growths)
    return table


class CapacityQuestion(Question):
    """The question has tables by corpus and attention, and its lengths may be bounds."""

    def page(self, frame: pd.DataFrame) -> Page:
        """One table per corpus and attention; its data are one row per size, budget and share."""
        estimates, body = Estimates(frame), Table.grid()
        for family in families(estimates):
            for suffix in SURVIVE if family.corpus == "copy" else [""]:
                body.add_row(_table(family, suffix))
        keys = [*FAMILY, "updates", "context_size", "part"]
        rows = estimates.means[estimates.means["measure"].isin(self.measures)]
        data = rows[keys].drop_duplicates().reset_index(drop=True)
        for measure in self.measures:
            names = {"value": measure, "low": f"{measure}_low", "high": f"{measure}_high",
                     "note": f"{measure}_bounds"}  # fmt: skip
            part = rows.loc[rows["measure"] == measure, [*keys, *names]].rename(columns=names)
            data = data.merge(part, on=keys, how="left", validate="1:1")
        return Page(self.name, self.title, data, body, [], self.notes(frame))

    def footnotes(self, frame: pd.DataFrame) -> tuple[str, ...]:
        """What the bars and the triangles are."""
        beyond_tested = "Triangles: beyond the lengths that were tested, at that side."
        return (f"{facts(frame)[0]} {beyond_tested}",)


def panel(part: str, corpus: str, suffix: str) -> Axes:
    """Lengths by context size; the attention is the arm, its lines the budgets, the most first."""

    def select(rows: pd.DataFrame) -> pd.DataFrame:
        rows = rows[(rows["corpus"] == corpus) & (rows["part"] == part)]
        budgets = [f"{int(updates):,} updates" for updates in rows["updates"]]
        rows = rows.assign(arm=rows["attention"], control=budgets, most=-rows["updates"])
        return rows.sort_values(["arm", "most", "context_size"], kind="stable")

    return Axes(
        f"{corpus}: {part} survive{suffix.replace('_', ' ')}", f"length{suffix}", "length, words",
        x="context_size", x_label="context size, numbers", select=select, lines=None, numeric=True,
        log_x=True,
    )  # fmt: skip


QUESTION = CapacityQuestion(
    name="capacity",
    ids=("C2", "C12"),
    question="Can 256 numbers really hold 40 words of meaning?",
    title="Words that a context holds (C2, C12)",
    sweep="capacity",
    own_runs=True,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.is_drawn and settings.model.source == "seen",
    rule=RULE,
    decide=decide,
    notes=notes,
    measures=(
        "length_uncorrected", "length", "added", "growth",
        "length_in_place", "added_in_place", "growth_in_place", "bits", "bits_a_number",
    ),
    figure="How many words does a context hold?",
    axes=[panel(*names) for names in product(reversed(SHARES), ("grammar", "copy"), SURVIVE)],
)  # fmt: skip
