"""The tables of the study ``capacity`` (C2, C12): one a corpus and attention, a row a context."""

from collections.abc import Iterator

import pandas as pd
from rich.table import Table

from ..claims.capacity import answer, read_capacities
from .formats import beyond
from .page import Page
from .render import new_table, number
from .studied import means

TITLE = "Words that a context holds (C2, C12)"
KEYS = ["corpus", "attention", "placement", "updates", "context_size", "part"]
CRITERIA = {"": "words that survive", "_in_place": "words at their own place"}
"""How a measure's name ends, and what its lengths are of."""
MEASURES = (
    "length_uncorrected",
    *(f"{name}{suffix}" for suffix in CRITERIA for name in ("length", "added", "growth")),
    "bits",
    "bits_a_number",
)
SHARES = ("90 %", "50 %")
TOLD = [
    "90 %, 50 %: the length in words at which so many of a sentence's words survive: the "
    "reference's words that they are linked to stand in the output, less what the same outputs "
    "have of other sources of that length by chance, (r - c) / (1 - c). The share is made to fall "
    "with length (isotonic regression). Copied words may survive out of order; those at their own "
    "place are counted beside.",
    "> and <: beyond the tested lengths, at that side of their end. Twice: with twice the updates; "
    "added: what they add at 50 %, an open end is beyond the tested lengths (C12).",
    "Growth: the exponent b of words = a numbers^b, least squares over the context sizes whose "
    "length is within the tested ones. A resample whose length is beyond them counts as their end, "
    "so that the exponent's range is too narrow where many are.",
    "Bits a number: bits of the surviving half of the words at the length of 50 % (in files also "
    "of nine tenths of them at 90 %) over the context's numbers, after the longer training; of "
    "copied words those at their own place, for n words in their order are exactly n times the "
    "bits of one. Which half it is the output does not say: up to a bit for each word of the "
    "sentence less is sure to be held. And it takes all words for equal: of the grammar's those "
    "survive first that have fewer bits (function words).",
]

NO_VECTOR = (
    "Attention is not among the arms: with it there is no single vector to fill, for the decoder "
    "reads every state, as many as there are words."
)


def page(frame: pd.DataFrame) -> Page:
    """A row a context size in each corpus's table, growth as the last."""
    shown = means(frame)
    grid = Table.grid()
    for _, held in shown.groupby(KEYS[:3], sort=False):
        for suffix in CRITERIA:
            if (held["measure"] == f"length{suffix}").any():
                grid.add_row(_table(held, suffix))
    answers = [f"{_capital(answer(one))}." for one in read_capacities(frame)]
    alone = [NO_VECTOR] if set(shown["attention"]) == {"none"} else []
    told = [*answers, *TOLD, *alone, *_facts(shown), *_seeds_and_ranges(frame)]
    return Page("capacity", TITLE, _wide(shown), grid, [], told)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _table(rows: pd.DataFrame, suffix: str) -> Table:
    """One corpus and attention; with the columns of twice the training where they are."""
    first = rows.iloc[0]
    once, twice = _budgets(rows)
    title = f"{first['corpus']}, attention {first['attention']}: {CRITERIA[suffix]}"
    heads = ["context", "90 %", "50 %"]
    if twice:
        heads += ["90 %\ntwice", "50 %\ntwice", "added\n(50 %)"]
    bits = suffix == _exact(rows)
    heads += ["bits a\nnumber"] if bits else []
    doubled = f" (twice: {twice:,})" if twice else ""
    table = new_table(f"{title}, {once:,} updates{doubled}", heads, texts=0)
    for size in sorted(int(each) for each in rows["context_size"].dropna().unique()):
        own = rows[rows["context_size"] == size]
        cells = [_cell(own, f"length{suffix}", *one) for one in _columns(once, twice)]
        if twice:
            cells.append(_cell(own, f"added{suffix}", "50 %", twice, "{:+.1f}"))
        if bits:  # no room for the interval
            cells.append(_cell(own, "bits_a_number", "50 %", twice or once).partition("\n")[0])
        table.add_row(str(size), *cells)
    growth = [_cell(rows, f"growth{suffix}", *one, "{:.2f}") for one in _columns(once, twice)]
    if any(growth):
        table.add_row("growth", *growth)
    return table


def _exact(rows: pd.DataFrame) -> str:
    """Whose lengths the bits are of."""
    return "_in_place" if (rows["measure"] == "length_in_place").any() else ""


def _budgets(rows: pd.DataFrame) -> tuple[int, int | None]:
    """The updates that were doubled and twice them; else the most and None."""
    updates = sorted({int(each) for each in rows["updates"]})
    doubled = [each for each in updates if 2 * each in updates]
    return (doubled[0], 2 * doubled[0]) if doubled else (updates[-1], None)


def _columns(once: int, twice: int | None) -> Iterator[tuple[str, int]]:
    """Share and updates of each column of lengths."""
    for updates in (once, twice) if twice else (once,):
        for part in SHARES:
            yield part, updates


def _cell(rows: pd.DataFrame, measure: str, part: str, updates: int, form: str = "{:.1f}") -> str:
    """A value with its interval below it, bounds marked; empty where there is none."""
    keys = (rows["measure"] == measure) & (rows["part"] == part) & (rows["updates"] == updates)
    held = rows[keys].to_dict("records")
    if not held or pd.isna(held[0]["value"]):
        return ""
    row = held[0]
    form = "{:.2f}" if measure == "bits_a_number" else form
    value, low, high = (_end(row, end, form) for end in ("value", "low", "high"))
    return f"{value}\n{low}..{high}"


def _end(row: dict, end: str, form: str) -> str:
    """A number, with its sign where it is a bound; nothing where the interval is open."""
    note = row["note"] if isinstance(row["note"], str) else ""
    return beyond(note, end) + number(row[end], form)


def _wide(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a context size (blank: all), budget and share; every measure with its bounds."""
    held = rows[rows["measure"].isin(MEASURES)]
    frame = held[KEYS].drop_duplicates()
    frame = frame[frame["part"] != ""].reset_index(drop=True)
    for measure in MEASURES:
        mine = held[held["measure"] == measure][[*KEYS, "value", "low", "high", "note"]]
        names = {"value": measure, "note": f"{measure}_bounds"}
        names |= {end: f"{measure}_{end}" for end in ("low", "high")}
        frame = frame.merge(mine.rename(columns=names), on=KEYS, how="left", validate="1:1")
    return frame


def _facts(shown: pd.DataFrame) -> list[str]:
    """Of each corpus: sentences, bits a word, and the least and greatest chance."""
    told = []
    for corpus, rows in shown.groupby("corpus", sort=False):
        n = int(rows.loc[rows["measure"] == "length", "n"].max())
        bits = rows.loc[rows["measure"] == "bits_a_word", "value"]
        chance = rows.loc[rows["measure"] == "chance", "value"].dropna()
        facts = [
            f"{corpus}: {n:,} test sentences",
            f"{bits.iloc[0]:.2f} bits a word" if len(bits) else "",
            f"by chance {chance.min():.0%} to {chance.max():.0%} of a length bucket's words "
            "stand in other sentences' outputs"
            if len(chance)
            else "",
        ]
        told.append("; ".join(fact for fact in facts if fact) + ".")
    return told


def _seeds_and_ranges(frame: pd.DataFrame) -> list[str]:
    """The seeds, and what the ranges speak of."""
    seeds = ", ".join(str(seed) for seed in sorted({int(seed) for seed in frame["seed"].dropna()}))
    told = (
        f"Seeds {seeds}: the survival that a length is read from is their mean."
        if "," in seeds
        else f"One seed ({seeds}): nothing is known of the spread over seeds."
    )
    return [
        told,
        "Ranges are 95 % over test sentences (bootstrap), the same resamples for every seed, "
        "context and budget; they say nothing of other seeds.",
    ]
