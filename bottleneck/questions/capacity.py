"""C2, C12: how many words does a context of so many numbers hold after so much training?

A word survives if the words of the reference that it is linked to stand in the output (gold links,
`questions.word_survival`). The share by chance, from the same outputs and other sources of the same
length, is taken away: (r - c) / (1 - c). On the copying corpus, words at their own place are
counted too: there a word says nothing about the next, so that n words in their order are exactly
n log2 V bits.

A capacity is the length up to which 90 % or 50 % of the words survive (`survival_length`), or a
bound of it. It is what one training budget reached: an answer can only be "at least".
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from operator import eq
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from rich.table import Table

from ..claims.verdict import Verdict, numbers
from ..corpus.tokens import is_word, tokenize
from ..figures.plot import Panel, Plot, chosen, data_frame, drawn, facts
from ..results.folders import read_texts
from ..settings.errors import UserError
from ..settings.sweep import Cell, toml_word, varying
from ..tables.page import Page, beyond
from ..tables.render import new_table
from .arms import Arm, arms_of, in_buckets
from .estimates import Estimate, Estimates
from .question import Columns, Probed, Question, Row, Tell, grade
from .survival_length import (
    ENDS,
    SHARES,
    WORDS,
    Lengths,
    bounded,
    change,
    growth,
    lengths,
    points_of,
)
from .survival_sums import rates_score
from .word_survival import LinkedReference, chance_survivals, partners, survival

if TYPE_CHECKING:
    from .subject import Subject

SHUFFLES = 10
"""Other sentences of the same length, whose outputs give the share by chance."""
MAY_DIFFER = frozenset({"model.context_size", "training.updates", "training.seed"})
"""Settings in which the runs of one corpus and attention may differ."""
FAMILY = ["corpus", "attention", "placement"]
SURVIVE = {"": "words that survive", "_in_place": "words at their own place"}
"""Those whose growth and change are measured, and which have a table and a panel."""
SIZE, ASKED = 256, 40
"""Numbers of the lecture's context, and the words of its opening question."""
MOST_ADDED = 0.1
"""Share of the length that twice the updates may add."""
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


def probe(subject: "Subject", tell: Tell) -> Columns:
    """One row per test sentence: its point of the curve; its words kept, by chance and in all."""
    from .subject import source_words

    tell("looking for the words")
    pairs = subject.corpus.test
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    linked = [LinkedReference.of(pair, pair.links) for pair in pairs]
    words = source_words(pairs)
    points = points_of(words)
    others = partners(points, SHUFFLES, seed=subject.settings.scoring.seed)
    by_chance = chance_survivals(linked, outputs, others)
    sums = []
    for pair, kept, chance in zip(pairs, map(survival, linked, outputs), by_chance, strict=True):
        counted = np.array(list(map(is_word, tokenize(pair.source))), bool) & ~np.isnan(kept)
        sums.append([kept[counted].sum(), chance[counted].sum(), counted.sum()])
    references = [item.reference for item in linked]

    def in_place(texts: Sequence[Sequence[str]]) -> Float[ndarray, "sentences"]:
        """How many of each reference's tokens stand at their own place in its output."""
        both = zip(references, texts, strict=True)
        return np.array([sum(map(eq, *pair)) for pair in both], np.float64)

    return {
        "source_words": words,
        "point": points,
        "bits": [pair.bits for pair in pairs],
        **dict(zip(WORDS, np.array(sums, np.float64).T, strict=True)),
        "in_place": in_place(outputs),
        "in_place_by_chance": np.mean(
            [in_place([outputs[other] for other in row]) for row in others], axis=0
        ),
        "tokens": list(map(len, references)),
    }


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Lengths, their growth, what twice the training adds, bits: by corpus and attention.

    Raises UserError if the runs of one corpus and attention differ in more than `MAY_DIFFER`.
    """
    groups: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms_of(probed):
        corpus, model = arm.settings.corpus.name, arm.settings.model
        groups.setdefault((corpus, model.attention, model.placement), []).append(arm)
    rows: list[Row] = []
    for arms in groups.values():
        _check_alike(arms)
        by_place = {
            (arm.settings.training.updates, arm.settings.model.context_size): arm for arm in arms
        }
        measured: dict[tuple[float, int], Lengths] = {}
        for (updates, size), arm in sorted(by_place.items(), key=lambda item: item[0]):
            measured[updates, size] = lengths(arm)
            rows += _arm_rows(arm, measured[updates, size], measured.get((updates / 2, size), {}))
        for budget in dict.fromkeys(updates for updates, _ in measured):
            by_size = {
                size: known for (updates, size), known in measured.items() if updates == budget
            }
            first = by_place[budget, min(by_size)]
            for suffix, part in by_size[min(by_size)] if len(by_size) > 1 else ():
                if suffix in SURVIVE:
                    fit = growth({size: known[suffix, part][0] for size, known in by_size.items()})
                    row = first.row(f"growth{suffix}", **fit, part=part)
                    name = f"{row['corpus']} {row['attention']} updates={budget}"
                    rows.append(row | {"arm": name, "context_size": None})
    return rows


def _check_alike(arms: Sequence[Arm]) -> None:
    cells = [Cell("", arm.settings) for arm in arms]
    for name in [name for name in varying(cells) if name not in MAY_DIFFER]:
        values = list(dict.fromkeys(toml_word(cell.value(name)) for cell in cells))
        # What is not set is listed as what it follows: a width, a length.
        named = next((value for value in values if value != "none"), values[0])
        raise UserError(
            f"the runs differ in {name} ({' and '.join(values)}), and capacities of both cannot "
            f"stand in one table: choose with `--where {name}={named}`"
        )


def _arm_rows(arm: Arm, measured: Lengths, earlier: Lengths) -> Iterator[Row]:
    """An arm's lengths, how much longer they are than with half the updates, bits, and chance.

    Bits are those of one more word and of the words that survive, in all and for each number;
    there are none if the bits of the sentences are not known (nan).
    """
    probed, size = arm.runs[0].found, arm.settings.model.context_size
    n = len(probed["point"])
    for (suffix, part), (mean, seeds) in measured.items():
        yield arm.row(f"length{suffix}", **bounded(mean), part=part, n=n)
        for run, alone in zip(arm.runs, seeds, strict=True):
            keys = {"part": part, "n": n, "note": f"value {alone.side}" if alone.side else ""}
            yield arm.seed_row(run, f"length{suffix}", alone.shown, **keys)
    for (suffix, part), (once, _) in earlier.items():
        if suffix in SURVIVE:
            added = change(once, measured[suffix, part][0])
            yield arm.row(f"added{suffix}", **added, part=part, n=n)
    if not np.isnan(probed["bits"]).any():
        a_word = float(np.polyfit(probed["source_words"], probed["bits"], 1)[0])
        yield arm.row("bits_a_word", a_word, n=n)
        for part, share in SHARES.items():
            length = bounded(measured.get(("_in_place", part), measured["", part])[0])
            for measure, unit in (("bits", 1), ("bits_a_number", size)):
                bits = {end: share * a_word * length[end] / unit for end in ENDS}
                yield arm.row(measure, **bits, part=part, n=n, note=length["note"])
    statistics = arm.statistics(WORDS)
    for place, bucket, inside in in_buckets(arm.runs[0], probed["source_words"]):
        keys = {"place": place, "bucket": bucket}
        yield from arm.rows("chance", rates_score("chance"), statistics[:, inside], **keys)


@dataclass(frozen=True)
class Bounded(Estimate):
    """A number of which ``value``, ``low`` or ``high`` may be a bound; ``note`` says which is."""

    def beyond(self, end: str) -> str:
        """``>`` or ``<`` if this end is a bound, else empty."""
        return beyond(self.note, end)

    def ends(self, form: str, missing: str = "") -> list[str]:
        """Value, low and high, after the sign of a bound."""
        both = [(self.beyond(end), getattr(self, end)) for end in ENDS]
        return [missing if math.isnan(end) else sign + form.format(end) for sign, end in both]

    def text(self, form: str = "{:.1f}", unit: str = "") -> str:
        """``14.2 [13.8, at least 14.9]``; if all three are one bound it stands once."""
        value, low, high = self.ends(form + unit, "open")
        alone = self.beyond("value") and value == low == high
        text = value if alone else f"{value} [{low}, {high}]"
        return text.replace(">", "at least ").replace("<", "under ")

    def cell(self, form: str) -> str:
        """The cell of a table: bounds have a sign, and open ends are empty."""
        value, low, high = self.ends(form)
        return f"{value}\n{low}..{high}" if value else ""


@dataclass(frozen=True, eq=False)
class Family:
    """The numbers of one corpus and attention, by measure, share, updates and context size.

    The size of what is about all sizes is None. ``size`` is the one that C2 is about, else the
    largest; ``once`` are the updates that were doubled, else the most.
    """

    corpus: str
    attention: str
    numbers: Mapping[tuple[str, str, int, int | None], Bounded]
    sizes: Sequence[int]
    size: int
    budgets: Sequence[int]
    once: int

    def get(self, measure: str, part: str, updates: int, size: int | None) -> Bounded:
        """A number; nan if there is none."""
        return self.numbers.get((measure, part, updates, size), Bounded(*[math.nan] * 3))

    def lengths(self, part: str) -> dict[int, Bounded]:
        """The lengths at the claim's size, by updates."""
        known = {updates: self.get("length", part, updates, self.size) for updates in self.budgets}
        return {updates: length for updates, length in known.items() if length.value >= 0}


def families(estimates: Estimates) -> list[Family]:
    """What was measured, by corpus, attention and placement."""
    rows, made = estimates.means[estimates.means["part"] != ""], []
    for (corpus, attention, _), subset in rows.groupby(FAMILY, sort=False, dropna=False):
        known = {}
        for row in subset.to_dict("records"):
            size = None if pd.isna(row["context_size"]) else int(row["context_size"])
            number = Bounded(*(float(row[end]) for end in ENDS), note=row["note"])
            known[row["measure"], row["part"], int(row["updates"]), size] = number
        sizes = sorted({size for *_, size in known if size is not None})
        budgets = sorted({updates for _, _, updates, _ in known})
        once = next((updates for updates in budgets if 2 * updates in budgets), budgets[-1])
        size = SIZE if SIZE in sizes else sizes[-1]
        made.append(Family(corpus, attention, known, sizes, size, budgets, once))
    return made


def decide(estimates: Estimates | None) -> Sequence[Verdict]:
    """C2: 256 numbers hold so many words and no more.

    A number that is not known is on neither side of another.
    """
    known = families(estimates) if estimates else []
    known = [family for family in known if family.attention == "none"]
    if not known:
        reason = "no capacity was measured: run `bottleneck study capacity`"
        reason = "no run without attention was measured" if estimates else reason
        return [Verdict("C2", "not measured", RULE, reason)]
    known.sort(key=lambda family: family.corpus != "copy")
    family, because = known[0], "; ".join(map(reading, known))
    half = family.get("length", "50 %", family.once, family.size)
    added = family.get("added", "50 %", 2 * family.once, family.size)
    exponent = family.get("growth", "50 %", family.once, None)
    number: dict[str, Any] = {}
    if not half.beyond("value"):
        ends = (math.nan if half.beyond(end) else getattr(half, end) for end in ENDS)
        name = f"words of {family.corpus}, half of which survive in {family.size} numbers"
        number = numbers(name, *ends)
    if half.beyond("value"):
        reason = "the length is beyond the tested ones"
    elif math.isnan(added.value):
        reason = "no run was trained twice as long"
    elif math.isnan(exponent.value):
        reason = "fewer than two context sizes have a length within the tested ones"
    else:
        most = MOST_ADDED * half.value
        grows = exponent.low > 0 and not (added.low > 0 and added.value >= most)
        return [Verdict("C2", grade(grows and added.high < most, grows), RULE, because, **number)]
    return [Verdict("C2", "not measured", RULE, f"{reason}; {because}", **number)]


def reading(family: Family) -> str:
    """The lengths of half of the words, what training adds to them, their growth, and the answer.

    The answer to the lecture's question is how many words at least, never how many at most.
    """
    reached = [
        f"{'' if half.beyond('value') else 'up to '}{half.text()} words after {updates:,} updates"
        for updates, half in family.lengths("50 %").items()
    ]
    clauses = [
        f"on {family.corpus} half of the words survive in {family.size} numbers in sentences of "
        f"{', of '.join(reached)}"
    ]
    added = family.get("added", "50 %", 2 * family.once, family.size)
    if not math.isnan(added.value):
        clauses.append(f"twice the updates change that by {added.text('{:+z.1f}')}")
    exponent = family.get("growth", "50 %", family.once, None)
    if not math.isnan(exponent.value):
        power = exponent.text("{:.2f}")
        clauses.append(f"the length grows with the context size to the power {power}")
    lengths = family.lengths("90 %")
    updates = max(lengths, key=lambda updates: (lengths[updates].low, updates))
    most, words = lengths[updates], math.floor(lengths[updates].low)
    trained = f"with this training ({updates:,} updates) {family.size} numbers"
    if most.beyond("low") == "<":
        keep = "do not keep" if most.beyond("value") == "<" else "may not keep"
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
        "chance, made to fall with length (isotonic regression). Copied words may survive out of "
        "order, so those at their own place are counted as well. > and <: beyond the tested "
        "lengths, whose end is printed. Twice: with twice the updates. Added: what they add at "
        "50 %; an open end is beyond the tested lengths (C12).",
        "Growth: the exponent b of words = a numbers^b over the context sizes whose length is "
        "within the tested ones; its range is too narrow if many resamples are beyond them.",
        "Bits per number: bits of the surviving half of the words at the length of 50 %, after the "
        "longer training; of copied words those at their own place. The output does not say which "
        "half survives: up to one bit less for each word of the sentence is certain.",
        "With attention there is no single vector to fill: the decoder reads every state.",
    ]
    means = frame[frame["seed"].isna()]
    for corpus, rows in means.groupby("corpus", sort=False):
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
    seeds = ", ".join(map(str, sorted({int(seed) for seed in frame["seed"].dropna()})))
    several = f"Seeds {seeds}: a length is read from the mean of their survival."
    alone = f"One seed ({seeds}): nothing is known of the spread over seeds."
    return [
        *lines,
        several if "," in seeds else alone,
        "Ranges are 95 % over test sentences (bootstrap), the same resamples for every seed, "
        "context and budget; they say nothing of other seeds.",
    ]


def _table(family: Family, suffix: str) -> Table:
    """A row a context size, growth as the last; with columns of twice the training if there are."""
    once, twice = family.once, 2 * family.once
    budgets = [budget for budget in (once, twice) if budget in family.budgets]
    columns = [(part, updates) for updates in budgets for part in SHARES]
    with_bits = suffix == ("_in_place" if family.corpus == "copy" else "")
    heads, title = ["context", *SHARES], f"{SURVIVE[suffix]}, {once:,} updates"
    if twice in budgets:
        heads += ["90 %\ntwice", "50 %\ntwice", "added\n(50 %)"]
        title += f" (twice: {twice:,})"
    heads += ["bits per\nnumber"] if with_bits else []
    table = new_table(f"{family.corpus}, attention {family.attention}: {title}", heads, texts=0)
    for size in family.sizes:
        cells = [family.get(f"length{suffix}", *column, size).cell("{:.1f}") for column in columns]
        if twice in budgets:
            cells.append(family.get(f"added{suffix}", "50 %", twice, size).cell("{:+.1f}"))
        if with_bits:  # no room for the interval
            bits = family.get("bits_a_number", "50 %", budgets[-1], size).cell("{:.2f}")
            cells.append(bits.partition("\n")[0])
        table.add_row(str(size), *cells)
    growths = [family.get(f"growth{suffix}", *column, None).cell("{:.2f}") for column in columns]
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

    def plot(self, frame: pd.DataFrame) -> Plot:
        """A panel a share of the words, corpus and criterion: lengths by context size."""
        rows, panels = [], []
        shares = dict.fromkeys(frame.loc[frame["measure"] == "length", "part"])
        for share, corpus, suffix in product(reversed(shares), frame["corpus"].unique(), SURVIVE):
            subset = chosen(frame, f"length{suffix}", corpus=corpus, part=share)
            if subset.empty:
                continue
            # Here the attention is the arm, and its lines are the budgets, the most first.
            budgets = [f"{int(updates):,} updates" for updates in subset["updates"]]
            subset = subset.assign(
                arm=subset["attention"], control=budgets, most=-subset["updates"]
            ).sort_values(["arm", "most", "context_size"], kind="stable")
            name = f"{corpus}: {share} survive{suffix.replace('_', ' ')}"
            rows += drawn(name, subset, "context_size")
            panels.append(
                Panel(name, "context size, numbers", "length, words", "sentences", numeric=True,
                      log_x=True, limits=(0, None))
            )  # fmt: skip
        note = f"{facts(frame)[0]} Triangles: beyond the lengths that were tested, at that side."
        return Plot(self.figure, tuple(panels), data_frame(rows), (note,))


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
    decide=decide,
    notes=notes,
    measures=(
        "length_uncorrected", "length", "added", "growth",
        "length_in_place", "added_in_place", "growth_in_place", "bits", "bits_a_number",
    ),
    grids=(),
    figure="How many words does a context hold?",
    axes=(),
)  # fmt: skip
