"""The figure of the study ``capacity`` (C2, C12): how many words a context of some size holds."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts

CRITERIA = {"length": "", "length_in_place": " in place"}
"""Measures that are lengths in words, and how their panels' names end."""
BOUND = "Triangles: beyond the lengths that were tested, at that side."


def plot(frame: pd.DataFrame) -> Plot:
    """A panel a corpus, criterion and share of the words: length by context size, by updates."""
    rows, panels = [], []
    shares = dict.fromkeys(frame.loc[frame["measure"] == "length", "part"])
    for share in reversed(shares):
        for corpus in dict.fromkeys(frame["corpus"]):
            for measure, criterion in CRITERIA.items():
                own = chosen(frame, measure, corpus=corpus, part=share)
                if own.empty:
                    continue
                name = f"{corpus}: {share} survive{criterion}"
                rows += drawn(name, _series(own), "context_size")
                panels.append(_panel(name))
    title = "How many words does a context hold?"
    notes = facts(frame)
    return Plot(title, tuple(panels), data_frame(rows), (f"{notes[0]} {BOUND}",))


def _panel(name: str) -> Panel:
    return Panel(
        name, "context size, numbers", "length, words", "sentences", numeric=True, log_x=True,
        limits=(0, None),
    )  # fmt: skip


def _series(rows: pd.DataFrame) -> pd.DataFrame:
    """The arm is the attention here, and updates tell its lines apart, the most first."""
    told = [f"{int(each):,} updates" for each in rows["updates"]]
    named = rows.assign(arm=rows["attention"], control=told, most=-rows["updates"])
    return named.sort_values(["arm", "most", "context_size"], kind="stable")
