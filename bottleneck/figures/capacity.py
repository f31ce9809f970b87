"""The figure of the study ``capacity`` (C2, C12): how many words a context of some size holds."""

import pandas as pd

from .plot import Panel, Plot, chosen, data_frame, drawn, facts

MEASURES = {"length": "", "length_in_place": ", words at their own place"}
BOUND = "Triangles: the length is beyond those that were tested, at that side."


def plot(frame: pd.DataFrame) -> Plot:
    """A panel a corpus and criterion: words by context size, for 90 and 50 %, by updates."""
    rows, panels = [], []
    for corpus in dict.fromkeys(frame["corpus"]):
        for measure, criterion in MEASURES.items():
            own = chosen(frame, measure, corpus=corpus)
            if own.empty:
                continue
            name = f"{corpus}{criterion}"
            rows += drawn(name, _series(own), "context_size")
            panels.append(_panel(name))
    title = "How many words does a context hold?"
    return Plot(title, tuple(panels), data_frame(rows), (BOUND, *facts(frame)))


def _panel(name: str) -> Panel:
    return Panel(
        name,
        "context size, numbers",
        "words at which the share survives",
        numeric=True,
        log_x=True,
        limits=(0, None),
    )


def _series(rows: pd.DataFrame) -> pd.DataFrame:
    """The arm is the attention here; share and updates tell its lines apart."""
    updates = [f"{int(each):,} updates" for each in rows["updates"]]
    told = [f"{part}, {own}" for part, own in zip(rows["part"], updates, strict=True)]
    order = rows.assign(arm=rows["attention"], control=told)
    return order.sort_values(["arm", "part", "updates", "context_size"], kind="stable")
