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
from ..tables.formats import SIDES
from ..tables.page import Page
from ..tables.render import new_table
from .arms import Arm, arms_of, in_buckets
from .censored import Censored
from .estimates import Estimate, Estimates
from .question import Columns, Probed, Question, Row, Tell, grade
from .survival_length import (
    CRITERIA,
    ENDS,
    SHARES,
    WORDS,
    bounded,
    change,
    growth,
    lengths,
    points_of,
    statistics_of,
)
from .survival_sums import chance, rates
from .word_survival import LinkedReference, chance_survivals, partners, survivals

if TYPE_CHECKING:
    from .subject import Subject

SHUFFLES = 10
"""Other sentences of the same length, whose outputs give the share by chance."""
MAY_DIFFER = frozenset({"model.context_size", "training.updates", "training.seed"})
"""Settings in which the runs of one corpus and attention may differ."""
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
    sources = [tokenize(pair.source) for pair in pairs]
    references = [tuple(tokenize(pair.target)) for pair in pairs]
    words = source_words(pairs)
    points = points_of(words)
    others = partners(points, SHUFFLES, seed=subject.settings.scoring.seed)
    linked = [
        LinkedReference(len(source), reference, pair.links)
        for source, reference, pair in zip(sources, references, pairs, strict=True)
    ]
    both = zip(survivals(linked, outputs), chance_survivals(linked, outputs, others), strict=True)
    sums = []
    for source, (kept, by_chance) in zip(sources, both, strict=True):
        counted = np.array([is_word(token) for token in source], bool) & ~np.isnan(kept)
        sums.append([kept[counted].sum(), by_chance[counted].sum(), counted.sum()])
    by_others = [in_place(references, [outputs[other] for other in row]) for row in others]
    return {
        "source_words": words,
        "point": points,
        "bits": [pair.bits for pair in pairs],
        **dict(zip(WORDS, np.array(sums, np.float64).T, strict=True)),
        "in_place": in_place(references, outputs),
        "in_place_by_chance": np.mean(by_others, axis=0),
        "tokens": [len(reference) for reference in references],
    }


def in_place(
    references: Sequence[Sequence[str]], outputs: Sequence[Sequence[str]]
) -> Float[ndarray, "sentences"]:
    """How many of each reference's tokens stand at their own place in its output."""
    both = zip(references, outputs, strict=True)
    return np.array([sum(a == b for a, b in zip(*pair, strict=False)) for pair in both], np.float64)


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Lengths, their growth, what twice the training adds, bits: by corpus and attention."""
    groups: dict[tuple[str, ...], list[Arm]] = {}
    for arm in arms_of(probed):
        corpus, model = arm.settings.corpus.name, arm.settings.model
        groups.setdefault((corpus, model.attention, model.placement), []).append(arm)
    return [row for arms in groups.values() for row in _group_rows(arms)]


def _group_rows(arms: Sequence[Arm]) -> Iterator[Row]:
    """The rows of one corpus and attention, by updates and context size.

    Raises UserError if its runs differ in more than `MAY_DIFFER`.
    """
    cells = [Cell("", arm.settings) for arm in arms]
    for name in [name for name in varying(cells) if name not in MAY_DIFFER]:
        values = list(dict.fromkeys(toml_word(cell.value(name)) for cell in cells))
        # What is not set is listed as what it follows: a width, a length.
        named = next((value for value in values if value != "none"), values[0])
        raise UserError(
            f"the runs differ in {name} ({' and '.join(values)}), and capacities of both cannot "
            f"stand in one table: choose with `--where {name}={named}`"
        )
    by_place = {
        (arm.settings.training.updates, arm.settings.model.context_size): arm for arm in arms
    }
    means: dict[int, dict[int, dict[tuple[str, str], Censored]]] = {}
    for (updates, size), arm in sorted(by_place.items(), key=lambda item: item[0]):
        earlier = {} if updates % 2 else means.get(updates // 2, {}).get(size, {})
        current = means.setdefault(updates, {}).setdefault(size, {})
        n = len(arm.runs[0].found["point"])
        for (suffix, part), (mean, seeds) in lengths(arm).items():
            current[suffix, part] = mean
            yield arm.row(f"length{suffix}", **bounded(mean), part=part, n=n)
            for run, alone in zip(arm.runs, seeds, strict=True):
                keys = {"part": part, "n": n, "note": f"value {alone.side}" if alone.side else ""}
                yield arm.seed_row(run, f"length{suffix}", alone.shown, **keys)
        for (suffix, part), once in earlier.items():
            if suffix in SURVIVE:
                added = change(once, current[suffix, part])
                yield arm.row(f"added{suffix}", **added, part=part, n=n)
        yield from _bit_rows(arm, current)
        yield from _bucket_rows(arm)
    for updates, by_size in means.items():
        first = by_place[updates, min(by_size)]
        name = f"{first.settings.corpus.name} {first.settings.model.attention} updates={updates}"
        for suffix, part in by_size[min(by_size)] if len(by_size) > 1 else ():
            if suffix in SURVIVE:
                fit = growth({size: known[suffix, part] for size, known in by_size.items()})
                row = first.row(f"growth{suffix}", **fit, part=part)
                yield row | {"arm": name, "context_size": None}


def _bit_rows(arm: Arm, means: Mapping[tuple[str, str], Censored]) -> Iterator[Row]:
    """Bits of one more word, and those of the words that survive, in all and for each number.

    There are none if the bits of the sentences are not known (nan).
    """
    probed, size = arm.runs[0].found, arm.settings.model.context_size
    n = len(probed["bits"])
    if np.isnan(probed["bits"]).any():
        return
    a_word = float(np.polyfit(probed["source_words"], probed["bits"], 1)[0])
    yield arm.row("bits_a_word", a_word, n=n)
    for part, share in SHARES.items():
        length = bounded(means.get(("_in_place", part), means["", part]))
        bits = {end: share * a_word * length[end] for end in ENDS}
        others = {"part": part, "n": n, "note": length["note"]}
        yield arm.row("bits", **bits, **others)
        yield arm.row("bits_a_number", **{end: bits[end] / size for end in ENDS}, **others)


def _bucket_rows(arm: Arm) -> Iterator[Row]:
    """The share that survives, and that by chance, in each length bucket."""
    statistics = statistics_of(arm, WORDS)
    scores = {"survival": CRITERIA[""][1], "chance": lambda sums: chance(rates(sums))}
    for place, bucket, inside in in_buckets(arm.runs[0], arm.runs[0].found["source_words"]):
        for measure, score in scores.items():
            yield from arm.rows(measure, score, statistics[:, inside], place=place, bucket=bucket)


@dataclass(frozen=True)
class Bounded(Estimate):
    """A number of which ``value``, ``low`` or ``high`` may be a bound; ``note`` says which is."""

    note: str = ""

    def side(self, end: str) -> str:
        """``at least`` or ``under`` if this end is a bound, else empty."""
        return next((side for side in SIDES if f"{end} {side}" in self.note), "")

    def ends(self, form: str, signs: Mapping[str, str], missing: str) -> list[str]:
        """Value, low and high, after the sign of a bound's side."""
        both = [(getattr(self, end), signs.get(self.side(end), "")) for end in ENDS]
        return [missing if math.isnan(number) else sign + form.format(number)
                for number, sign in both]  # fmt: skip

    def text(self, form: str = "{:.1f}", unit: str = "") -> str:
        """``14.2 [13.8, at least 14.9]``; if all three are one bound it stands once."""
        value, low, high = self.ends(form + unit, {side: f"{side} " for side in SIDES}, "open")
        return value if self.side("value") and value == low == high else f"{value} [{low}, {high}]"

    def cell(self, form: str) -> str:
        """The cell of a table: bounds have a sign, and open ends are empty."""
        value, low, high = self.ends(form, SIDES, "")
        return f"{value}\n{low}..{high}" if value else ""


@dataclass(frozen=True, eq=False)
class Family:
    """The numbers of one corpus and attention, by measure, share, updates and context size.

    The size of what is about all sizes is None. ``budgets`` are the updates, ascending.
    """

    corpus: str
    attention: str
    numbers: Mapping[tuple[str, str, int, int | None], Bounded]
    sizes: Sequence[int]
    budgets: Sequence[int]

    @property
    def size(self) -> int:
        """The size that C2 is about, else the largest."""
        return SIZE if SIZE in self.sizes else self.sizes[-1]

    @property
    def once(self) -> int:
        """The updates that were doubled, else the most."""
        doubled = (updates for updates in self.budgets if 2 * updates in self.budgets)
        return next(doubled, self.budgets[-1])

    def get(self, measure: str, part: str, updates: int, size: int | None) -> Bounded:
        """A number; nan if there is none."""
        return self.numbers.get((measure, part, updates, size), Bounded(*[math.nan] * 3))

    def lengths(self, part: str) -> dict[int, Bounded]:
        """The lengths at the claim's size, by updates."""
        known = {updates: self.get("length", part, updates, self.size) for updates in self.budgets}
        return {updates: length for updates, length in known.items() if length.value >= 0}


def families(estimates: Estimates) -> list[Family]:
    """What was measured, by corpus, attention and placement."""
    groups: dict[tuple[str, ...], dict[tuple, Bounded]] = {}
    for row in estimates.means[estimates.means["part"] != ""].to_dict("records"):
        size = None if pd.isna(row["context_size"]) else int(row["context_size"])
        note = row["note"] if isinstance(row["note"], str) else ""
        known = groups.setdefault((row["corpus"], row["attention"], row["placement"]), {})
        known[row["measure"], row["part"], int(row["updates"]), size] = Bounded(
            *(float(row[end]) for end in ENDS), note=note
        )
    made = []
    for (corpus, attention, _), known in groups.items():
        sizes = sorted({size for *_, size in known if size is not None})
        budgets = sorted({updates for _, _, updates, _ in known})
        made.append(Family(corpus, attention, known, sizes, budgets))
    return made


def decide(estimates: Estimates | None) -> Sequence[Verdict]:
    """C2: 256 numbers hold so many words and no more."""
    reason = "no capacity was measured: run `bottleneck study capacity`"
    if estimates is not None:
        reason = "no run without attention was measured"
        known = [family for family in families(estimates) if family.attention == "none"]
        if known:
            return [_judge(*sorted(known, key=lambda family: family.corpus != "copy"))]
    return [Verdict("C2", "not measured", RULE, reason)]


def _judge(family: Family, *others: Family) -> Verdict:
    """The rule; a number that is not known is on neither side of another."""
    once, size = family.once, family.size
    half = family.get("length", "50 %", once, size)
    added = family.get("added", "50 %", 2 * once, size)
    exponent = family.get("growth", "50 %", once, None)
    because = "; ".join(f"{_reached(item)}; {answer(item)}" for item in (family, *others))
    number: dict[str, Any] = {}
    if not half.side("value"):
        known = (math.nan if half.side(end) else getattr(half, end) for end in ENDS)
        name = f"words of {family.corpus}, half of which survive in {size} numbers"
        number = numbers(name, *known)
    if half.side("value"):
        reason = "the length is beyond the tested ones"
    elif math.isnan(added.value):
        reason = "no run was trained twice as long"
    elif math.isnan(exponent.value):
        reason = "fewer than two context sizes have a length within the tested ones"
    else:
        most = MOST_ADDED * half.value
        grows = exponent.low > 0 and not (added.low > 0 and added.value >= most)
        return Verdict("C2", grade(grows and added.high < most, grows), RULE, because, **number)
    return Verdict("C2", "not measured", RULE, f"{reason}; {because}", **number)


def _reached(family: Family) -> str:
    """The lengths of half of the words, what training adds to them, and their growth."""
    reached = [
        f"{'' if half.side('value') else 'up to '}{half.text()} words after {updates:,} updates"
        for updates, half in family.lengths("50 %").items()
    ]
    added = family.get("added", "50 %", 2 * family.once, family.size)
    exponent = family.get("growth", "50 %", family.once, None)
    clauses = [
        f"on {family.corpus} half of the words survive in {family.size} numbers in sentences of "
        f"{', of '.join(reached)}"
    ]
    if not math.isnan(added.value):
        clauses.append(f"twice the updates change that by {added.text('{:+z.1f}')}")
    if not math.isnan(exponent.value):
        power = exponent.text("{:.2f}")
        clauses.append(f"the length grows with the context size to the power {power}")
    return "; ".join(clauses)


def answer(family: Family) -> str:
    """The answer to the lecture's question: how many words at least, never how many at most."""
    lengths = family.lengths("90 %")
    updates = max(lengths, key=lambda updates: (lengths[updates].low, updates))
    most = lengths[updates]
    trained = f"with this training ({updates:,} updates) {family.size} numbers"
    if most.side("low") == "under":
        keep = "do not keep" if most.side("value") == "under" else "may not keep"
        return (
            f"{trained} {keep} 90 % of the words of {family.corpus} even at the {most.low:.1f} "
            "words of the shortest sentences; more training might change that"
        )
    words = math.floor(most.low)
    rest = f"can hold {ASKED}" if words >= ASKED else f"with more training might hold {ASKED}"
    return f"{trained} hold at least {words} words of {family.corpus} (90 % survive) and {rest}"


NOTES = [
    "90 %, 50 %: the length in words at which this share of a sentence's words survives. A word "
    "survives if the words of the reference that it is linked to stand in the output; the share by "
    "chance, from the same outputs and other sources of that length, is taken away, "
    "(r - c) / (1 - c). The share is made to fall with length (isotonic regression). Copied words "
    "may survive out of order, so those at their own place are counted as well.",
    "> and <: beyond the tested lengths, whose end is printed. Twice: with twice the updates. "
    "Added: what they add at 50 %; an open end is beyond the tested lengths (C12).",
    "Growth: the exponent b of words = a numbers^b, by least squares over the context sizes whose "
    "length is within the tested ones. A resample whose length is beyond them counts as their end, "
    "so that the exponent's range is too narrow if many are.",
    "Bits per number: bits of the surviving half of the words at the length of 50 % (in files also "
    "of nine tenths at 90 %), divided by the context's numbers, after the longer training; of "
    "copied words those at their own place, since n words in their order are exactly n times the "
    "bits of one. The output does not say which half survives: up to one bit less for each word of "
    "the sentence is certain. All words count alike, but of the grammar's words those with fewer "
    "bits (function words) survive first.",
]
NO_VECTOR = (
    "Attention is not among the arms: with it there is no single vector to fill, for the decoder "
    "reads every state, as many as there are words."
)
RANGES = (
    "Ranges are 95 % over test sentences (bootstrap), the same resamples for every seed, context "
    "and budget; they say nothing of other seeds."
)


def notes(frame: pd.DataFrame) -> list[str]:
    """The answers, what the columns are, and of each corpus its sentences, bits and chance."""
    estimates = Estimates(frame)
    answers = [answer(family) for family in families(estimates) if family.attention == "none"]
    lines = [f"{text[:1].upper()}{text[1:]}." for text in answers] + NOTES
    lines += [NO_VECTOR] if set(estimates.means["attention"]) == {"none"} else []
    for corpus, rows in estimates.means.groupby("corpus", sort=False):
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
    return [*lines, several if "," in seeds else alone, RANGES]


def family_table(family: Family, suffix: str) -> Table:
    """A row a context size, growth as the last; with columns of twice the training if there are."""
    once, twice = family.once, 2 * family.once if 2 * family.once in family.budgets else 0
    columns = [(part, updates) for updates in (once, twice) if updates for part in SHARES]
    heads = ["context", *SHARES]
    heads += ["90 %\ntwice", "50 %\ntwice", "added\n(50 %)"] if twice else []
    with_bits = suffix == ("_in_place" if family.corpus == "copy" else "")
    heads += ["bits per\nnumber"] if with_bits else []
    title = f"{family.corpus}, attention {family.attention}: {SURVIVE[suffix]}, {once:,} updates"
    table = new_table(f"{title} (twice: {twice:,})" if twice else title, heads, texts=0)
    for size in family.sizes:
        cells = [family.get(f"length{suffix}", *column, size).cell("{:.1f}") for column in columns]
        if twice:
            cells.append(family.get(f"added{suffix}", "50 %", twice, size).cell("{:+.1f}"))
        if with_bits:  # no room for the interval
            bits = family.get("bits_a_number", "50 %", twice or once, size).cell("{:.2f}")
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
                body.add_row(family_table(family, suffix))
        keys = ["corpus", "attention", "placement", "updates", "context_size", "part"]
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
        corpora = dict.fromkeys(frame["corpus"])
        for share, corpus, suffix in product(reversed(shares), corpora, SURVIVE):
            subset = chosen(frame, f"length{suffix}", corpus=corpus, part=share)
            if subset.empty:
                continue
            # Here the attention is the arm, and its lines are the budgets, the most first.
            budgets = [f"{int(updates):,} updates" for updates in subset["updates"]]
            subset = subset.assign(
                arm=subset["attention"], control=budgets, most=-subset["updates"]
            )
            subset = subset.sort_values(["arm", "most", "context_size"], kind="stable")
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
