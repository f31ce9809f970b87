"""How the series of a `Plot` look in all its panels and in the legend."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ..tables.comparison import NONE
from .plot import MEAN, SLIDE, Plot
from .style import BASE, DASHES, SMALL, Mark, Theme, line_of, mark_of, marks, step_marks

CROWDED = 3
"""So many panels or more, and their text is smaller."""
LINES = ("-", *DASHES)
"""Of series that lie on each other."""


class Look:
    """What all panels of a figure share: marks, controls in their order, colours, sizes of text."""

    def __init__(self, plot: Plot, theme: Theme):
        self.theme, self.steps = theme, plot.steps
        self.arms = marks(list(plot.data["arm"]), theme)
        self.controls = list(dict.fromkeys(plot.data.loc[plot.data["kind"] == MEAN, "control"]))
        self.size = BASE - 3 if len(plot.panels) >= CROWDED else BASE
        self.close = series_of(plot.data) if plot.close else []

    def mark(self, arm: str, control: str) -> Mark:
        """Colour and marker of a series."""
        if control in self.steps:
            return self.step(control, self.arms[arm].colour)
        return mark_of(arm, control, self.arms, self.controls)

    def step(self, control: str, colour: str) -> Mark:
        """The mark of a step, in a shade of this colour."""
        return step_marks(colour, len(self.steps), self.theme)[self.steps.index(control)]

    def line(self, arm: str, control: str) -> str | tuple:
        """The line's style."""
        if control in self.steps:
            return "-"
        if self.close:
            return LINES[self.close.index((arm, control)) % len(LINES)]
        return line_of(self.controls, control)

    def fill(self, control: str, mark: Mark) -> str:
        """The marker's inside: hollow where the line of a control would be broken."""
        whole = control in self.steps or line_of(self.controls, control) == "-"
        return mark.colour if whole else self.theme.ground

    def paint(self, axes: Axes, grid: str) -> None:
        """Ground, spines, ticks and a grid along ``x`` or ``y``."""
        axes.set_facecolor(self.theme.ground)
        axes.grid(axis=grid, color=self.theme.grid, lw=1)
        axes.set_axisbelow(True)
        for side, spine in axes.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(self.theme.ink)
        axes.tick_params(which="both", colors=self.theme.ink, labelsize=max(self.size - 2, SMALL))


def series_of(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Arm and control of each line, in the order of the data."""
    means = rows[rows["kind"] == MEAN]
    return list(dict.fromkeys(zip(means["arm"], means["control"], strict=True)))


def faint(arm: str, look: Look) -> dict[str, Any]:
    """How an arm's printed numbers are drawn: faintly, and in grey still known by its marker."""
    mark = look.arms[arm]
    marker = mark.marker if arm and not look.steps else "none"
    small = {"marker": marker, "ms": 6, "mfc": look.theme.ground, "mew": 1.2}
    return {"color": mark.colour, "lw": 2.2, "ls": ":", "alpha": 0.65} | small


def legend_handles(plot: Plot, look: Look) -> list[Line2D]:
    """A sample of each series, in the order of the data; the slide's after them."""
    joined = any(panel.joined for panel in plot.panels)
    if plot.steps:
        marks_of = {step: look.step(step, look.theme.plain) for step in plot.steps}
        handles = [_line(mark, mark.colour, "-" if joined else "none", step)
                   for step, mark in marks_of.items()]  # fmt: skip
    else:
        handles = [_sample(arm, control, look, joined) for arm, control in series_of(plot.data)]
    for arm in dict.fromkeys(plot.data.loc[plot.data["kind"] == SLIDE, "arm"]):
        handles.append(Line2D([], [], **faint(arm, look), label=_slide_name(arm)))
    return handles


def _slide_name(arm: str) -> str:
    """The slide's series in the legend: it does not say which attention its own is."""
    return ", ".join(filter(None, (arm and (arm if arm == NONE else "attention"), "slide")))


def _sample(arm: str, control: str, look: Look, joined: bool) -> Line2D:
    """A piece of a series' line with its marker, and its name."""
    text, mark = ", ".join(filter(None, (arm, control))), look.mark(arm, control)
    line = look.line(arm, control) if joined else "none"
    return _line(mark, look.fill(control, mark), line, text)


def _line(mark: Mark, fill: str, line: str | tuple, text: str) -> Line2D:
    return Line2D(
        [], [], color=mark.colour, marker=mark.marker, ls=line, lw=2.6, ms=9, mew=2, mfc=fill,
        label=text,
    )  # fmt: skip
