"""The table of the study ``embeddings`` (C13)."""

import pandas as pd
from rich.table import Table
from rich.text import Text

from .page import Page
from .render import count, new_table, number
from .studied import arms, caption, cell, means, resampled, wide

TITLE = "Neighbours among the embeddings (C13), % of the nearest five that are"
SIDES = {"source": "encoder", "target": "decoder"}
CONTROLS = {"": "trained", "untrained": "un-\ntrained", "frequency": "next in\nfreq.",
            "chance": "by\nchance"}  # fmt: skip
TOLD = [
    "Words: the vocabulary that training gave, English in the encoder, French in the decoder; "
    "nearest by cosine, the word itself left out. Untrained: the same network's embedding before "
    "training. Next in freq.: neighbours are the words next in order of frequency. By chance: any "
    "words. A class of five words or fewer cannot reach 100 %; classes of 20 words or more have "
    "rows of their own.",
    "Gender is a French noun's: an English noun has it only by what it is translated into. French "
    "words have the class and the gender of the English that the gold alignment links them to "
    "most often in the training text, content words before others.",
]
INTERVALS = "Ranges are 95 % over words (bootstrap), other words staying as they are, "


def page(frame: pd.DataFrame) -> Page:
    """Rows for the classes together, for gender, and for each class, by side and arm."""
    shown = means(frame)
    heads = ["alike in", "arm", "n", *CONTROLS.values(), "training\nadds"]
    table = new_table(TITLE, heads, texts=2)
    for side, name in SIDES.items():
        _add(table, shown, side, name)
    measures = [f"same_{label}{end}" for label in ("class", "gender") for end in ("", "_added")]
    told = [*TOLD, caption(frame)[0], INTERVALS + resampled(frame)]
    return Page("embeddings", TITLE, wide(frame, measures), table, [], told)


def _add(table: Table, shown: pd.DataFrame, side: str, name: str) -> None:
    """One side's rows under its name."""
    table.add_row(Text(name, "bold"))
    parts = [part for part in dict.fromkeys(shown["part"]) if part.partition(" ")[0] == side]
    rows = [("class", side, "same_class"), ("gender, nouns", side, "same_gender")]
    rows += [(part.partition(" ")[2], part, "same_class") for part in parts if part != side]
    for label, part, measure in rows:
        for arm in arms(shown):
            cells = _cells(shown, arm, part, measure)
            if cells:
                table.add_row(label, arm, *cells)


def _cells(shown: pd.DataFrame, arm: str, part: str, measure: str) -> list[str]:
    """n, the share by control, and what training adds; nothing where it was not measured."""
    keys = {"arm": arm, "part": part}
    rows = [cell(shown, measure=measure, control=control, **keys) for control in CONTROLS]
    added = cell(shown, measure=f"{measure}_added", **keys)
    if rows[0] is None or added is None:
        return []
    exact = rows[-1] is not None and rows[-1]["control"] == "chance"
    values = [_percent(row) for row in rows]
    if exact:
        values[-1] = number(100 * rows[-1]["value"], "{:.0f}")
    return [count(int(rows[0]["n"])), *values, _percent(added, "+")]


def _percent(row: dict | None, sign: str = "") -> str:
    """Per cent with the interval below."""
    if row is None:
        return ""
    low, high = (number(100 * row[end], "{:z.0f}") for end in ("low", "high"))
    return f"{number(100 * row['value'], '{:' + sign + 'z.0f}')}\n{low}..{high}"
