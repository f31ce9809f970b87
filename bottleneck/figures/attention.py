"""The figure of attention: heatmaps of the weights of example sentences of one run.

Or of a sentence of the user's, whose weights are handed in: to translate it takes the network.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unicodedata import combining

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from ..results.bundle import Bundle
from ..settings.errors import UserError
from ..tables.comparison import NONE
from ..tables.comparison_groups import arm_names, listed_runs
from .style import GRID, GROUND, SMALL, STYLE, WEIGHTS, slide

SHOWN = 2
"""Examples beside each other at most."""
MOST_WORDS = 26
"""A longer source cannot be read on a slide."""
MOST_SIGNS, CUT = 24, "\N{HORIZONTAL ELLIPSIS}"
"""Of a word beside a matrix: a longer one would take the matrix' own room."""
ROOM = (750, 330)
"""Points that a slide has across and down for the words of a matrix."""


Chart = tuple[Figure, pd.DataFrame]


def chart(bundle: Bundle) -> Chart:
    """The shortest example and the longest that a slide has room for; each weight as a row."""
    run, examples = _run(bundle)
    return _drawn(bundle, run, pick(examples), ())


def sentence_chart(
    bundle: Bundle, run: str, example: Mapping[str, Any], notes: Sequence[str]
) -> Chart:
    """One sentence of any length, as examples are kept: words, end tokens and weights.

    ``notes`` are further lines below it.
    """
    return _drawn(bundle, run, [example], notes)


def attending_run(bundle: Bundle) -> str:
    """The first run with attention; without one a ``UserError``."""
    held = bundle.runs.loc[bundle.runs["attention"] != NONE, "run"]
    if held.empty:
        raise UserError(
            f"no run with attention in {str(bundle.folder)!r}: `bottleneck reproduce` makes one"
        )
    return str(held.iloc[0])


@rc_context(STYLE)
def _drawn(
    bundle: Bundle,
    run: str,
    shown: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
) -> Chart:
    """The heatmaps beside each other, with one scale."""
    held = bundle.runs[bundle.runs["run"] == run].iloc[0]
    counted = f"{len(shown)} sentence{'s' if len(shown) > 1 else ''}"
    changed = _names(bundle)[run].partition(" ")[2]
    note = (
        f"n = {counted} of one run: corpus {held['corpus']}, attention {held['attention']}, "
        f"context {held['context_size']}, {held['updates']:,} updates, seed {held['seed']}"
        f"{', ' * bool(changed)}{changed}. Each row sums to 1."
    )
    notes = [note, *notes, *_of_long_words(shown)]
    figure = slide("Where does the decoder look?", notes)
    colours = LinearSegmentedColormap.from_list("weights", [GROUND, WEIGHTS])
    widths = [max(8, len(one["source"])) for one in shown]
    grid = figure.subplots(1, len(shown), squeeze=False, width_ratios=widths).ravel()
    for axes, one in zip(grid, shown, strict=True):
        image = _heatmap(axes, one, colours)
    bar = figure.colorbar(image, ax=list(grid), shrink=0.7, pad=0.02)
    bar.set_label("attention weight")
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_edgecolor(GRID)
    return figure, weights_frame(run, shown)


def _run(bundle: Bundle) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """The first run with attention that is as most arms are, else the first; and its examples."""
    examples, names = bundle.examples(), _names(bundle)
    held = bundle.runs[bundle.runs["attention"] != NONE]
    for run in sorted(held["run"].drop_duplicates(), key=lambda run: " " in names[run]):
        if drawable := [one for one in examples.get(run, ()) if one["hypothesis"]]:
            return run, drawable
    raise UserError(
        f"no run with attention and examples in {str(bundle.folder)!r}: `bottleneck reproduce` "
        "makes one"
    )


def _names(bundle: Bundle) -> dict[str, str]:
    """By run what its arm is called."""
    runs = listed_runs(bundle)
    return dict(zip(runs["run"], arm_names(runs), strict=True))


def pick(examples: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The shortest and the longest of those with room, the shortest where none has."""
    ordered = sorted(examples, key=lambda one: len(one["source"]))
    fitting = [one for one in ordered if len(one["source"]) <= MOST_WORDS] or ordered[:1]
    return [fitting[0], fitting[-1]][: min(SHOWN, len(fitting))]


def _heatmap(axes: Axes, one: Mapping[str, Any], colours: Any) -> Any:
    """A row an output word, a column a source word."""
    weights = np.array(one["weights"], dtype=np.float64)
    image = axes.imshow(weights, cmap=colours, vmin=0, vmax=1, aspect="auto")
    size = SMALL + 2 if max(weights.shape) <= 14 else SMALL - 1
    size = min(size, ROOM[0] / weights.shape[1], ROOM[1] / weights.shape[0])
    source, output = ([_label(word) for word in one[side]] for side in ("source", "hypothesis"))
    axes.set_xticks(range(len(source)), source, rotation=90, fontsize=size)
    axes.set_yticks(range(len(output)), output, fontsize=size)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set(visible=True, color=GRID)
    axes.set_xlabel(f"source, {len(one['source'])} tokens")
    axes.set_ylabel("output")
    return image


def _of_long_words(shown: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if any(len(word) > MOST_SIGNS for one in shown for word in one["source"] + one["hypothesis"]):
        yield f"Words of over {MOST_SIGNS} signs end in {CUT}; the CSV has them whole."


def _label(word: str) -> str:
    """A word as it stands beside a matrix, cut where a sign ends with the marks on it."""
    if len(word) <= MOST_SIGNS:
        return word
    end = next((at for at in range(MOST_SIGNS - 1, 0, -1) if not combining(word[at])), MOST_SIGNS)
    return f"{word[:end]}{CUT}"


def weights_frame(run: str, shown: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row a weight: run, sentence, output and source place (from 1) and word."""
    rows = [
        {
            "run": run,
            "sentence": one["sentence"],
            "output_place": row + 1,
            "output": output,
            "source_place": column + 1,
            "source": source,
            "weight": float(one["weights"][row][column]),
        }
        for one in shown
        for row, output in enumerate(one["hypothesis"])
        for column, source in enumerate(one["source"])
    ]
    return pd.DataFrame(rows)
