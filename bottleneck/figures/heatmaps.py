"""Heatmaps of the attention weights of sentences of one run."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from ..results.bundle import Results
from ..settings.errors import UserError, counted
from ..tables.comparison import NONE, declared, what_was_run
from .draw import GROUND, SMALL, STYLE, slide

Chart = tuple[Figure, pd.DataFrame]
"""A figure, and a data frame of all that is drawn in it."""
Example = Mapping[str, Any]
"""A translated sentence as bundles keep it: tokens of both sides, and the weights."""


def attention_chart(bundle: Results) -> Chart:
    """The shortest test sentence and the longest of the first run with attention and examples."""
    examples = dict(bundle.examples())
    for run in attending_runs(bundle):
        known = examples.get(run, ())
        drawable = [item for item in known if item["hypothesis"] and item["sentence"] >= 0]
        if ordered := sorted(drawable, key=lambda example: len(example["source"])):
            # More words of a source cannot be read on a slide.
            short = [item for item in ordered if len(item["source"]) <= 26] or ordered[:1]
            return weights_chart(bundle, run, [short[0], short[-1]][: len(short)])
    raise UserError(
        f"no run with attention and examples in {str(bundle.folder)!r}: `bottleneck reproduce` "
        "makes one"
    )


def attending_runs(bundle: Results) -> list[str]:
    """The runs with attention; a ``UserError`` without any."""
    runs = declared(bundle)
    names = runs.loc[runs["attention"] != NONE, "run"].tolist()
    if not names:
        raise UserError(
            f"no run with attention in {str(bundle.folder)!r}: `bottleneck reproduce` makes one"
        )
    return names


@rc_context(STYLE)
def weights_chart(
    bundle: Results, run: str, examples: Sequence[Example], notes: Sequence[str] = ()
) -> Chart:
    """The weights of sentences of a run next to each other, each weight as a row of the data.

    ``notes`` are more lines below them.
    """
    rows = bundle.runs[bundle.runs["run"] == run]
    note = (
        f"n = {counted(len(examples), 'sentence')} of one run: {rows['arm'].iloc[0]}; "
        f"{what_was_run(rows)}. Each row of a map sums to 1."
    )
    figure = slide("Where does the decoder look?", [note, *notes])
    colours = LinearSegmentedColormap.from_list("weights", [GROUND, "#00436B"])
    widths = [max(8, len(item["source"])) for item in examples]
    grid = figure.subplots(1, len(examples), squeeze=False, width_ratios=widths).ravel()
    rows = []
    for axes, item in zip(grid, examples, strict=True):
        weights = np.array(item["weights"], dtype=np.float64)
        image = axes.imshow(weights, cmap=colours, vmin=0, vmax=1, aspect="auto")
        # A slide has about 750 points across and 330 down for the words of a matrix.
        size = min(SMALL + 2, 750 / weights.shape[1], 330 / weights.shape[0])
        source, output = item["source"], item["hypothesis"]
        axes.set_xticks(range(len(source)), source, rotation=90, fontsize=size)
        axes.set_yticks(range(len(output)), output, fontsize=size)
        axes.set(xlabel=f"source, {len(source)} tokens", ylabel="output")
        axes.tick_params(length=0)
        axes.grid(visible=False)
        keys = {"run": run, "sentence": item["sentence"]}
        for (y, x), weight in np.ndenumerate(weights):
            place = {"output_place": y + 1, "output": output[y], "source_place": x + 1}
            rows.append(keys | place | {"source": source[x], "weight": weight})
    figure.colorbar(image, ax=list(grid), shrink=0.7, pad=0.02, label="attention weight")
    return figure, pd.DataFrame(rows)
