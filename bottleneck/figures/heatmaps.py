"""Heatmaps: attention weights of sentences of one run; BLEU over context size and length."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from ..results.bundle import Results
from ..settings.errors import UserError, counted
from ..tables.comparison import NONE, compare_sizes, declared, what_was_run
from ..tables.run_tables import run_data
from .draw import GROUND, SMALL, STYLE, WEIGHTS, slide
from .plot import arm_title

Chart = tuple[Figure, pd.DataFrame]
"""A figure, and a data frame of all that is drawn in it."""
Example = Mapping[str, Any]
"""A translated sentence as bundles keep it: tokens of both sides, and the weights."""
NO_RUN = "no run with attention{} in {!r}: `bottleneck reproduce` makes one"


def attention_chart(bundle: Results) -> Chart:
    """The shortest example and the longest that a slide has room for; each weight as a row.

    They are of the first run with attention; a ``UserError`` without one.
    """
    examples = dict(bundle.examples())
    for run in _attending(bundle):
        drawable = [example for example in examples.get(run, ()) if example["hypothesis"]]
        if ordered := sorted(drawable, key=lambda example: len(example["source"])):
            # More words of a source cannot be read on a slide.
            short = [item for item in ordered if len(item["source"]) <= 26] or ordered[:1]
            return weights_chart(bundle, run, [short[0], short[-1]][: len(short)])
    raise UserError(NO_RUN.format(" and examples", str(bundle.folder)))


def attending_run(bundle: Results) -> str:
    """The first run with attention; without one a ``UserError``."""
    for run in _attending(bundle):
        return run
    raise UserError(NO_RUN.format("", str(bundle.folder)))


def _attending(bundle: Results) -> dict[str, str]:
    """The runs with attention, and the names of their arms."""
    runs = declared(bundle)
    runs = runs[runs["attention"] != NONE]
    return dict(zip(runs["run"], runs["arm"], strict=True))


@rc_context(STYLE)
def weights_chart(
    bundle: Results, run: str, examples: Sequence[Example], notes: Sequence[str] = ()
) -> Chart:
    """The weights of sentences of a run next to each other; ``notes`` are more lines below them."""
    row = what_was_run(bundle.runs[bundle.runs["run"] == run])
    note = (
        f"n = {counted(len(examples), 'sentence')} of one run: {_attending(bundle)[run]}; {row}. "
        "Each row of a map sums to 1."
    )
    figure = slide("Where does the decoder look?", [note, *notes])
    colours = LinearSegmentedColormap.from_list("weights", [GROUND, WEIGHTS])
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
        rows += [
            {
                "run": run, "sentence": item["sentence"], "output_place": y + 1,
                "output": output[y], "source_place": x + 1, "source": source[x], "weight": weight
            }
            for (y, x), weight in np.ndenumerate(weights)
        ]  # fmt: skip
    figure.colorbar(image, ax=list(grid), shrink=0.7, pad=0.02, label="attention weight")
    return figure, pd.DataFrame(rows)


@rc_context(STYLE)
def context_length_chart(bundle: Results) -> Chart:
    """BLEU by context size and length: a map an arm and, with two, attention minus none."""
    sizes = compare_sizes(bundle)
    frame, parts = run_data("context-size", sizes), []
    maps = [("bleu_none", NONE, arm_title(NONE))]
    if attention := next((size.attention.name for size in sizes if size.attention), None):
        maps.append(("bleu_attention", attention, arm_title(attention)))
        maps.append(("gain", "", f"{attention} minus none"))
    for column, arm, panel in maps:
        ends = {column: "value", f"{column}_low": "low", f"{column}_high": "high"}
        part = frame[["context_size", "bucket", "n", *ends]].rename(columns=ends)
        part.insert(0, "panel", panel)
        part.insert(1, "arm", arm)
        parts.append(part)
    data = pd.concat(parts, ignore_index=True)
    # The arms have one scale from 0, the difference its own.
    highest = max(1.0, float(data.loc[data["arm"] != "", "value"].max()))
    gains = [0.0, 1.0, *data.loc[data["arm"] == "", "value"].dropna()]
    levels = "{:.1f}", Normalize(0.0, highest)
    differences = "{:+.1f}", Normalize(min(gains), max(gains))
    note = "Darker: higher; blank: not measured. Below: 95 %, over test sentences."
    runs = what_was_run(pd.concat([size.runs for size in sizes]))
    figure = slide("BLEU by context size and sentence length", (note, f"Corpus {runs}."))
    grid = figure.subplots(1, len(maps), squeeze=False, sharey=True).ravel()
    for axes, (_, arm, panel) in zip(grid, maps, strict=True):
        axes.set_title(panel)
        _draw_map(axes, data[data["panel"] == panel], *(levels if arm else differences))
    grid[0].set_ylabel("context size, numbers")
    return figure, data


def _draw_map(axes: Axes, rows: pd.DataFrame, form: str, scale: Normalize) -> None:
    """A row per context size, the largest on top; a column per bucket, with its n.

    In a cell are its number, and below it the interval.
    """
    sizes, counts = list(dict.fromkeys(rows["context_size"])), rows.drop_duplicates("bucket")
    values = rows["value"].to_numpy(dtype=np.float64).reshape(len(sizes), len(counts))
    image = np.ma.masked_invalid(values)
    # Pale, so that black numbers can be read on it; what was not measured is blank.
    pale = LinearSegmentedColormap.from_list("pale", [GROUND, "#7FB4DE"])
    axes.imshow(image, cmap=pale, norm=scale, origin="lower", aspect="auto")
    names = [f"{bucket}\nn {n:,}" for bucket, n in zip(counts["bucket"], counts["n"], strict=True)]
    axes.set_xticks(range(len(names)), names, fontsize=SMALL)
    axes.set_yticks(range(len(sizes)), [f"{size:,}" for size in sizes])
    axes.set_xlabel("source words (n: sentences)")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for place, row in enumerate(rows.to_dict("records")):
        if not np.isnan(row["value"]):
            value, low, high = (form.format(row[end]) for end in ("value", "low", "high"))
            y, x = divmod(place, len(names))
            text = f"{value}\n{low} to\n{high}"
            axes.text(x, y, text, ha="center", va="center", fontsize=SMALL - 3)
