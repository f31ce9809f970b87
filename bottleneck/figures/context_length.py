"""The map of BLEU over context size and sentence length, for each arm, and their difference.

From the runs of a bundle, of one context size or more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure

from ..results.bundle import Bundle
from ..tables.comparison import NONE, Comparison, compare_sizes
from ..tables.context_size import context_size
from .plot import arm_title, run_facts
from .style import ATTENTION, BASE, GROUND, INK, SIZE, SMALL, STYLE, slide

LEVELS, GAINS = "cividis", "viridis"
"""Perceptually uniform, and in grey as they are: the higher the lighter."""
COLUMNS = ("panel", "arm", "context_size", "bucket", "n", "value", "low", "high")
LETTER, LINE = 0.7, 1.3
"""Width of a bold figure or sign and height of a line, as shares of its size."""
INSIDE = 0.9
"""Of a cell's width what its bold number may have, so that it does not touch the cell's edges."""
CELLS = 0.84 * SIZE[0] * 72, 0.58 * SIZE[1] * 72
"""Points that the cells of all maps have across, and those of one down."""


@dataclass(frozen=True, eq=False)
class Map:
    """One map: its rows in the data, and how its numbers are written and coloured."""

    name: str
    rows: pd.DataFrame
    form: str
    colours: Colormap
    scale: Normalize

    @property
    def places(self) -> tuple[list[int], list[str]]:
        """Context sizes from below, and buckets from the left."""
        return tuple(list(dict.fromkeys(self.rows[name])) for name in ("context_size", "bucket"))


@rc_context(STYLE)
def chart(bundle: Bundle) -> tuple[Figure, pd.DataFrame]:
    """A map an arm and, with two, that of attention minus none; BLEU and its 95 % in the cells."""
    sizes = compare_sizes(bundle)
    data = _data(sizes)
    maps = _maps(data)
    shades = "Lighter: higher"
    if len(maps) > 1:
        shades += ", on one scale for both arms and another for their difference"
    notes = (
        f"{shades}; blank: not measured. Below: 95 %, over test sentences.",
        run_facts(sizes),
    )
    title = "BLEU by context size and sentence length"
    figure = slide(title, notes)
    grid = list(figure.subplots(1, len(maps), squeeze=False, sharey=True).ravel())
    for axes, one in zip(grid, maps, strict=True):
        _draw(axes, one)
    _write(grid, maps)
    grid[0].set_ylabel("context size, numbers")
    return figure, data


def _data(sizes: Sequence[Comparison]) -> pd.DataFrame:
    """A row a cell of each map; no value where nothing was measured."""
    frame = context_size(sizes)
    attention = next((one.attention.name for one in sizes if one.attention), None)
    shown = {("bleu_none", NONE): arm_title(NONE)}
    if attention is not None:
        shown |= {("bleu_attention", attention): arm_title(attention)}
        shown |= {("gain", ""): f"{attention} minus none"}
    rows = [
        {
            "panel": panel, "arm": arm, "context_size": row["context_size"],
            "bucket": row["bucket"], "n": row["n"], "value": row[column],
            "low": row[f"{column}_low"], "high": row[f"{column}_high"],
        }
        for (column, arm), panel in shown.items()
        for row in frame.to_dict("records")
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _maps(data: pd.DataFrame) -> list[Map]:
    """The arms' on one scale from 0, the difference on its own, which has 0 on it."""
    levels = Normalize(0.0, max(1.0, float(data.loc[data["arm"] != "", "value"].max())))
    gains = data.loc[data["arm"] == "", "value"]
    ends = [0.0, *gains.dropna()]
    gained = Normalize(min(ends), max([*ends, min(ends) + 1.0]))
    maps = []
    for panel, rows in data.groupby("panel", sort=False):
        if rows["arm"].iloc[0]:
            maps.append(Map(panel, rows, "{:.1f}", colormaps[LEVELS], levels))
        else:
            maps.append(Map(panel, rows, "{:+.1f}", colormaps[GAINS], gained))
    return maps


def _draw(axes: Axes, one: Map) -> None:
    """A row a context size, the largest on top; a column a bucket, with its n."""
    sizes, buckets = one.places
    values = one.rows["value"].to_numpy(dtype=np.float64).reshape(len(sizes), len(buckets))
    colours = one.colours.with_extremes(bad=GROUND)
    shown = np.ma.masked_invalid(values)
    axes.imshow(shown, cmap=colours, norm=one.scale, origin="lower", aspect="auto")
    _axes(axes, one, sizes, _counted(one.rows, buckets))


def _write(grid: Sequence[Axes], maps: Sequence[Map]) -> None:
    """Each cell's number, and below it its interval; all in one size, that the longest has."""
    sizes, buckets = maps[0].places
    width, height = CELLS[0] / len(maps) / len(buckets), CELLS[1] / len(sizes)
    cells = [(axes, one, place, row) for axes, one in zip(grid, maps, strict=True)
             for place, row in enumerate(one.rows.to_dict("records"))
             if not np.isnan(row["value"])]  # fmt: skip
    values = [one.form.format(row["value"]) for _, one, _, row in cells]
    ends = [[one.form.format(row[end]) for end in ("low", "high")] for _, one, _, row in cells]
    once = max(len(" to ".join(each)) for each in ends) * LETTER * SMALL < width
    told = [(" to " if once else " to\n").join(each) for each in ends]
    size = _fitting(values, INSIDE * width, height / 2, BASE)
    small = _fitting(told, width, height / 2, SMALL)
    for (axes, one, place, row), value, interval in zip(cells, values, told, strict=True):
        brightness = np.dot(one.colours(one.scale(row["value"]))[:3], (0.299, 0.587, 0.114))
        ink = "black" if brightness > 0.5 else "white"
        y, x = divmod(place, len(buckets))
        look = {"ha": "center", "color": ink, "linespacing": 1.1, "textcoords": "offset points"}
        axes.annotate(value, (x, y), (0, 3), va="bottom", fontsize=size, fontweight="bold", **look)
        axes.annotate(interval, (x, y), (0, 0), va="top", fontsize=small, **look)


def _fitting(texts: Sequence[str], width: float, height: float, most: int) -> float:
    """The size in which all texts fit into a cell of so many points, at most the one given."""
    across = max(len(line) for text in texts for line in text.split("\n"))
    down = max(text.count("\n") + 1 for text in texts)
    return min(float(most), width / (LETTER * across), 0.9 * height / (LINE * down))


def _counted(rows: pd.DataFrame, buckets: Sequence[str]) -> list[str]:
    """Each bucket with its sentences, which are the same for every context size and arm."""
    counts = rows.drop_duplicates("bucket").set_index("bucket")["n"]
    return [f"{bucket}\nn {counts[bucket]:,}" for bucket in buckets]


def _axes(axes: Axes, one: Map, sizes: Sequence[int], buckets: Sequence[str]) -> None:
    """Names, ticks and colours; the title in the arm's own colour."""
    arm = one.rows["arm"].iloc[0]
    axes.set_title(one.name, fontsize=BASE, color=ATTENTION.get(arm, INK),
                   fontweight="bold")  # fmt: skip
    axes.set_xticks(range(len(buckets)), buckets, fontsize=SMALL)
    axes.set_yticks(range(len(sizes)), [f"{size:,}" for size in sizes], fontsize=SMALL + 2)
    axes.set_xlabel("source words (n: sentences)", fontsize=BASE - 2)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for edge in (-0.5, *(np.arange(len(sizes)) + 0.5)):
        axes.axhline(edge, color=GROUND, lw=2)
    for edge in (-0.5, *(np.arange(len(buckets)) + 0.5)):
        axes.axvline(edge, color=GROUND, lw=2)
    axes.spines[:].set_visible(False)
