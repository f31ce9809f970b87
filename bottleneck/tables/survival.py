"""The tables of the study ``survival`` (C3, L-LOST): by class, frequency, position and length."""

from collections.abc import Iterable

import pandas as pd
from rich.table import Table

from ..claims.survival import DETAILS
from ..lecture.slides import SLIDES
from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, wide

TITLE = "Which source words reach the output (C3)"
FREQUENCY, FIFTH = "frequency ", "fifth "
NO_CLASS = (FREQUENCY, FIFTH, "gist", *DETAILS)
FORM = "{:z.0f}"
MEASURES = {
    "recall": "recall",
    "chance": "by\nchance",
    "less_chance": "recall -\nchance",
    "corrected": "beyond\nchance",
}
GIST = {"gist_more": "{}", "gist_more_alike": "{},\nas common"}
"""The differences of gist and others, and how their rows are called."""
TOLD = [
    "All numbers but n are %. A source word survives as far as the reference's words that it is "
    "linked to stand in the output, as many times as the reference has them. By chance: the same "
    "outputs against other sources of their length. Beyond chance is (recall - chance) / (1 - "
    "chance), so that 0 is chance and 100 a perfect output whatever the words. Classes and "
    "frequencies are compared at equal positions (thirds of the sentence, in the proportions of "
    "all words): blank where some third has none of a class's words. n: source words; by length, "
    "sentences.",
    "Gist in the verdict: nouns and verbs. Modifiers: adjectives, adverbs, numerals. Classes "
    "differ in more than meaning, in how often each word is seen above all: compare with the rows "
    "by frequency (how often the training text has the word).",
]
ALIKE = (
    "As common: gist less those words where both stand in the same third of a sentence and were "
    "seen about as often (under 16 times, 16-31, 32-63, and so on), weighed by how many there are "
    "of both (Mantel-Haenszel). n: the words that have such gist; the others are left out. Words "
    "as common still differ in more than meaning: in how many forms a translation has, for one."
)
UNRANGED = (
    "A value without a range: in some resample none of these words is left in some third of the "
    "sentence, and there the value is not defined. Lean on it no more than on a small count."
)
ALIGNED = (
    "Links are those of IBM model 1, trained on the run's own training pairs (50,000 at most): "
    "where it links wrongly, a word counts as lost or kept for another's sake."
)
LOST = (
    "Slide (L-LOST), of one sentence: its topic, main fact, frame and tone come through; gone are "
    f"{', '.join(SLIDES['L-LOST']['lost'])} and the exact name. `bottleneck diagnose` puts that "
    "sentence through the trained arms."
)


def page(frame: pd.DataFrame) -> Page:
    """The tables under each other; on real text frequencies stand in the place of classes."""
    shown = means(frame)
    buckets = list(dict.fromkeys(shown["bucket"]))
    classes, frequencies = (_parts(shown, prefix) for prefix in ("", FREQUENCY))
    grid = Table.grid()
    grid.add_row(_by_group(shown, classes or frequencies, buckets))
    grid.add_row(_longest_table(shown, [*classes, *frequencies], _longest(shown, buckets)))
    gist = _measured(shown, GIST)
    if gist:
        grid.add_row(_gist_table(shown, gist, buckets))
    grid.add_row(_by_position(shown, buckets))
    grid.add_row(_by_length(shown, buckets))
    aligned = [ALIGNED] if set(frame["corpus"]) - {"grammar", "copy"} else []
    alike = [ALIKE] if "gist_more_alike" in gist else []
    told = [*TOLD, *alike, *_unranged(shown), *aligned, LOST, *caption(frame)]
    data = wide(frame, [*MEASURES, *gist])
    return Page("survival", TITLE, data, grid, [], told)


def _measured(shown: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """The measures that are there: a text may have no classes, an older table no such measure."""
    held = set(shown["measure"])
    return [name for name in names if name in held]


def _unranged(shown: pd.DataFrame) -> list[str]:
    """Why some values have no range, where there are such."""
    return [UNRANGED] if (shown["value"].notna() & shown["low"].isna()).any() else []


def _parts(shown: pd.DataFrame, prefix: str) -> list[str]:
    """The parts that begin so and have words; without a prefix the classes."""
    held = [
        part
        for part in dict.fromkeys(shown["part"])
        if (shown.loc[shown["part"] == part, "n"] > 0).any()
    ]
    if prefix:
        return [part for part in held if part.startswith(prefix)]
    return [part for part in held if part and not part.startswith(NO_CLASS)]


def _table(title: str, first: str, heads: list[str]) -> Table:
    """A table with two columns of words before its numbers."""
    return new_table(f"{title} (C3)", [first, "arm", *heads], texts=2)


def _by_group(shown: pd.DataFrame, parts: list[str], buckets: list[str]) -> Table:
    """A row a group and arm, a column a bucket."""
    table = _table("Survival beyond chance by sentence length, %", "source\nword", buckets)
    for part in parts:
        keys = {"part": part, "measure": "corrected"}
        rows = (
            (arm, [cell(shown, arm=arm, bucket=bucket, **keys) for bucket in buckets])
            for arm in arms(shown)
        )
        _add_rows(table, _broken(part), rows)
    return table


def _add_rows(table: Table, name: str, rows: Iterable[tuple[str, list[dict | None]]]) -> None:
    """A row an arm under one of how many words there are; another where an arm has others.

    An arm of which nothing was measured has none: its table may be older.
    """
    told = None
    for arm, own in rows:
        if not any(own):
            continue
        counts = ["" if row is None else count(int(row["n"])) for row in own]
        if counts != told:
            table.add_row(name, "n", *counts, style="dim")
            told = counts
        table.add_row(name, arm, *map(_ranged, own))


def _broken(part: str) -> str:
    """A part's name in two lines where it is long."""
    seen = part.startswith(FREQUENCY)
    return f"seen\n{part.removeprefix(FREQUENCY)}" if seen else part.replace(" ", "\n")


def _gist_table(shown: pd.DataFrame, measures: list[str], buckets: list[str]) -> Table:
    """A row a kind, way of comparing and arm, a column a bucket."""
    table = _table("Gist less other words, beyond chance, points", "gist\nless", buckets)
    for part in DETAILS:
        for measure in measures:
            keys = {"part": part, "measure": measure}
            rows = (
                (arm, [cell(shown, arm=arm, bucket=bucket, **keys) for bucket in buckets])
                for arm in arms(shown)
            )
            _add_rows(table, GIST[measure].format(part), rows)
    return table


def _longest_table(shown: pd.DataFrame, parts: list[str], bucket: str) -> Table:
    """A row a group and arm with every measure in the longest bucket."""
    heads = ["n", *MEASURES.values()]
    table = _table(f"The longest sentences: {bucket} words, %", "source\nword", heads)
    for part in parts:
        for arm in arms(shown):
            keys = {"arm": arm, "part": part, "bucket": bucket}
            own = [cell(shown, measure=name, **keys) for name in MEASURES]
            if own[0] and own[0]["n"]:
                name = part.replace(FREQUENCY, "seen ")
                table.add_row(name, arm, count(int(own[0]["n"])), *map(_ranged, own))
    return table


def _longest(shown: pd.DataFrame, buckets: list[str]) -> str:
    """The last bucket with sentences."""
    return [name for name in buckets if (shown.loc[shown["bucket"] == name, "n"] > 0).any()][-1]


def _by_position(shown: pd.DataFrame, buckets: list[str]) -> Table:
    """A row a bucket and arm, a column a fifth of the sentence."""
    fifths = _parts(shown, FIFTH)
    heads = [name.replace(" ", "\n") for name in fifths]
    table = _table("Survival beyond chance by place in the source, %", "source\nwords", heads)
    for bucket in buckets:
        keys = {"bucket": bucket, "measure": "corrected"}
        rows = (
            (arm, [cell(shown, arm=arm, part=name, **keys) for name in fifths])
            for arm in arms(shown)
        )
        _add_rows(table, bucket, rows)
    return table


def _by_length(shown: pd.DataFrame, buckets: list[str]) -> Table:
    """A row a bucket and arm with every measure of all words."""
    heads = ["n", *MEASURES.values()]
    table = _table("Survival of all words by sentence length, %", "source\nwords", heads)
    for bucket in buckets:
        for arm in arms(shown):
            own = [cell(shown, arm=arm, bucket=bucket, measure=name) for name in MEASURES]
            n = count(int(own[0]["n"])) if own[0] else ""
            table.add_row(bucket, arm, n, *map(_ranged, own))
    return table


def _value(row: dict | None) -> str:
    return "" if row is None else number(100 * row["value"], FORM)


def _ranged(row: dict | None) -> str:
    """Per cent with the interval below; without one alone."""
    if row is None or pd.isna(row["value"]):
        return ""
    if pd.isna(row["low"]):
        return _value(row)
    low, high = (number(100 * row[end], FORM) for end in ("low", "high"))
    return f"{_value(row)}\n{low}..{high}"
