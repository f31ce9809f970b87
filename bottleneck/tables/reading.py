"""The tables of the study ``reading`` (C14): words read, and accuracy by distance."""

import pandas as pd
from rich.table import Table

from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, wide

TITLE = "Words read from the state (C14)"
FIRST = "Words so far that a linear probe reads from h_t, beyond the most frequent (C14)"
SECOND = "Right answers by distance, % (0: the word just read), after {bucket} words"
DISTANCES = (0, 1, 2, 3, 4, 5, 7, 10, 15, 19)
CONTROLS = {"": "trained", "untrained": "un-\ntrained", "last_word": "last\nword"}
TOLD = [
    "After each word of a test sentence a linear softmax probe, fitted to the states of 6,000 "
    "training sentences at context size, names the word just read, the one before it, and so on "
    "to 20 back. Words read: right answers less those of always naming the most frequent word of "
    "that distance, summed over the distances that every state of the row has (of: how many). n: "
    "states, over all seeds.",
    "Untrained: the same network's states before training, with a probe of their own. Last word: "
    "no state, but what most often stands there before the same last word, which the language "
    "alone tells. A lower bound: another probe might read more, and a state may have understood "
    "what it does not spell.",
]
TWO_WAY = "The state of a two-way encoder has also read the words to come."


def page(frame: pd.DataFrame) -> Page:
    """Words read by bucket and arm, and accuracy by distance in the first bucket that has all."""
    grid, shown = Table.grid(), means(frame)
    grid.add_row(_words(shown))
    grid.add_row(_distances(shown))
    told = [*TOLD, TWO_WAY, *caption(frame)]
    measures = ["words_asked", "words_readable", "words_read", "words_read_added", "accuracy"]
    return Page("reading", TITLE, wide(frame, measures), grid, [], told)


def _words(shown: pd.DataFrame) -> Table:
    heads = ["words\nso far", "arm", "n", "of", *CONTROLS.values(),
             "training\nadds"]  # fmt: skip
    table = new_table(FIRST, heads, texts=2)
    for bucket in dict.fromkeys(shown["bucket"]):
        for arm in arms(shown):
            keys = {"arm": arm, "bucket": bucket}
            asked = cell(shown, measure="words_asked", **keys)
            if asked is None:
                continue
            rows = [cell(shown, measure="words_read", control=one, **keys) for one in CONTROLS]
            added = cell(shown, measure="words_read_added", **keys)
            values = [*(_ranged(row, "{:.2f}") for row in rows), _ranged(added, "{:+.2f}")]
            table.add_row(bucket, arm, count(int(asked["n"])), f"{asked['value']:.0f}", *values)
    return table


def _distances(shown: pd.DataFrame) -> Table:
    """Columns: each arm trained and untrained, then what needs no state."""
    rows = shown[shown["measure"] == "accuracy"]
    bucket = _longest_reach(rows)
    columns = [(arm, control) for arm in arms(shown) for control in ("", "untrained")]
    plain = [(arms(shown)[0], control) for control in ("last_word", "most_frequent")]
    names = {"": "trained", "untrained": "untr.", "last_word": "last\nword",
             "most_frequent": "most\nfrequent"}  # fmt: skip
    heads = [f"{arm.replace(' ', chr(10))}\n{names[control]}" for arm, control in columns]
    heads += [names[control] for _, control in plain]
    table = new_table(SECOND.format(bucket=bucket), ["words\nback", *heads], texts=0)
    for distance in DISTANCES:
        keys = {"bucket": bucket, "measure": "accuracy", "part": str(distance)}
        cells = [cell(rows, arm=arm, control=one, **keys) for arm, one in [*columns, *plain]]
        if cells and cells[0] is not None:
            table.add_row(str(distance), *(_ranged(each, "{:.1f}", 100) for each in cells))
    return table


def _longest_reach(rows: pd.DataFrame) -> str:
    """The first bucket with the most distances."""
    reach = rows["part"].astype(int).groupby(rows["bucket"], sort=False).max()
    return str(reach.idxmax())


def _ranged(row: dict | None, form: str, scale: int = 1) -> str:
    """A value with its interval below it."""
    if row is None:
        return ""
    low, high = (number(scale * row[end], form.replace("+", "")) for end in ("low", "high"))
    return f"{number(scale * row['value'], form)}\n{low}..{high}".replace("100.0", "100")
