"""The figures by name, and as files. Figures of runs are made here, others by their question.

The ending of a file's name gives its format. Equal data give equal bytes.
"""

import io
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..claims.rules import Bucket
from ..lecture.slides import SLIDES
from ..results.bundle import Results, load_probe
from ..results.folders import probe_file
from ..results.schema import FIGURES, FIGURES_OF_RUNS
from ..settings.errors import UsageError, UserError, counted, did_you_mean, plain
from ..settings.files import write_file
from ..tables import comparison
from ..tables.comparison import NONE, Arm, arms_of, compare, compare_sizes, what_was_run
from .draw import STYLE, draw
from .plot import Panel, Plot, data_frame, facts

METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Metadata that each format leaves out, because it would differ from day to day."""


def make_figure(
    name: str, folder: Path, *, where: Sequence[str] = (), bundle: Results | None = None
) -> tuple[Figure, pd.DataFrame]:
    """The figure of a name in `FIGURES`, and all that is drawn in it.

    ``bundle`` is the folder's, if it has been read.
    """
    check_name(name, where)
    if name not in FIGURES_OF_RUNS:
        question = import_module("...questions.question", __name__).find_question(name)
        plot = question.plot(load_probe(folder, name))
        if plot.data.empty:
            raise UserError(f"nothing to draw: {str(probe_file(folder, name))!r} has no numbers")
        return draw(plot), plot.data
    bundle = comparison.where(Results.open(folder) if bundle is None else bundle, where)
    if name != "attention":
        plots = {"bleu": bleu, "arms": arms, "compression": compression, "learning": learning}
        plot = plots[name](bundle)
        return draw(plot), plot.data
    # The shortest and the longest test sentence of the first run with attention and examples.
    examples, runs = dict(bundle.examples()), comparison.declared(bundle)
    for run in runs.loc[runs["attention"] != NONE, "run"]:
        drawable = (
            item for item in examples.get(run, ()) if item["hypothesis"] and item["sentence"] >= 0
        )
        if ordered := sorted(drawable, key=lambda example: len(example["source"])):
            # Longer sources cannot be read on a slide.
            short = [item for item in ordered if len(item["source"]) <= 26] or ordered[:1]
            return weights_chart(bundle, run, [short[0], short[-1]][: len(short)])
    raise UserError(
        f"no run with attention and examples in {str(bundle.folder)!r}: `bottleneck reproduce` "
        "makes one"
    )


def check_name(name: str, where: Sequence[str], path: Path | None = None) -> None:
    """A ``UsageError`` for an unknown figure or ending, or for conditions that it does not take."""
    if path is not None and path.suffix.lower() not in METADATA:
        raise UsageError(f"{str(path)!r}: the name of a figure must end in {', '.join(METADATA)}")
    if name not in FIGURES:
        raise UsageError(f"unknown figure {name!r}{did_you_mean(name, FIGURES)}")
    if where and name not in FIGURES_OF_RUNS:
        raise UsageError(f"--where chooses runs, but figure {name} shows all that were measured")


def image(figure: Figure, ending: str) -> bytes:
    """The figure's file, for an ending of `METADATA`."""
    file = io.BytesIO()
    for text in figure.findobj(Text):
        text.set_text(plain(text.get_text()))
    with rc_context(STYLE), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the CSV next to the file has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # Words as long as the figure is wide cannot be laid out, which is no error.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        figure.savefig(file, format=ending[1:], metadata=METADATA[ending])
    return file.getvalue()


def write_figure(figure: Figure, data: pd.DataFrame, path: Path) -> Path:
    """Write the figure, and what was drawn as CSV next to it; return the CSV's path."""
    write_file(path, image(figure, path.suffix.lower()))
    numbers = path.with_suffix(".csv")
    write_file(numbers, data.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    return numbers


def bleu(bundle: Results) -> Plot:
    """BLEU by length (L-FAIL, L-VIND): both arms, or none alone, and the slide's numbers."""
    none, attention = compare(bundle, alone=set(bundle.runs["attention"]) == {NONE})
    panel = "BLEU by length"
    points = [
        (arm, bucket, {"panel": panel, "x": bucket.name})
        for arm in filter(None, (none, attention))
        for bucket in arm.readable
    ]
    table, columns = "L-FAIL", {NONE: "bleu"}
    if attention:
        table, columns = "L-VIND", {NONE: "none", attention.attention: "attention"}
    drawn = {bucket.name for _, bucket, _ in points}
    printed = [
        {"panel": panel, "arm": arm, "x": row["bucket"], "value": float(row[column])}
        for arm, column in columns.items()
        for row in SLIDES[table]["rows"]
        if row["bucket"] in drawn
    ]
    title = f"BLEU by sentence length{', with and without attention' if attention else ''}"
    return _plot(title, "source words", points, printed)


def _plot(
    title: str, x: str, points: Sequence[tuple[Arm, Bucket, Mapping[str, str]]],
    printed: Sequence[Mapping[str, Any]] | None = None, note: str = "", **options: bool,
) -> Plot:  # fmt: skip
    """BLEU of these buckets: means over seeds, each seed, the slide; all panels have one scale."""
    rows = []
    for arm, bucket, keys in (point for point in points if point[1].n):
        row = {"arm": arm.attention, "n": bucket.n, **keys}
        rows.append(row | {"kind": "mean"} | bucket.bleu.row())
        for seed, value in zip(arm.runs["seed"], bucket.by_seed, strict=True):
            rows.append(row | {"kind": "seed", "seed": seed, "value": float(value)})
    rows += [{"kind": "slide", **row} for row in printed or ()]
    ends = [row.get(end, np.nan) for row in rows for end in ("value", "high")]
    look = {"x": x, "limits": (0, 1.04 * float(np.nanmax(ends))), **options}
    names = dict.fromkeys(row["panel"] for row in rows)
    panels = tuple(Panel(name, "BLEU (0 to 100)", **look) for name in names)
    steps = tuple(dict.fromkeys(row["control"] for row in rows if "control" in row))
    if printed is not None:
        note += " The slide's numbers are an illustration: compare shapes, never levels."
    notes = filter(None, (note.strip(), facts(pd.concat([arm.runs for arm, *_ in points]))))
    return Plot(title, panels, data_frame(rows), tuple(notes), steps)


def arms(bundle: Results) -> Plot:
    """BLEU of every arm (C10, C12) in the shortest and in the longest bucket that can be read.

    Arms that differ only in attention share one x, which names what was changed.
    """
    every = arms_of(bundle)
    single = all(arm.name == arm.attention for arm in every)
    by_change = {}
    for arm in every:
        change = arm.attention if single else arm.name.removeprefix(arm.attention).strip(" ,")
        by_change.setdefault(change or "baseline", []).append(arm)
    readable = [arm.buckets.index(bucket) for arm in every for bucket in arm.readable]
    points = []
    for index in dict.fromkeys((min(readable), max(readable))):
        panel = f"{every[0].buckets[index].name} source words"
        for change, changed in by_change.items():
            points += [(arm, arm.buckets[index], {"panel": panel, "x": change}) for arm in changed]
    baseline = "" if single else "Baseline: the sweep's own settings. "
    note = f"{baseline}Compare arms within a panel: texts of different lengths differ in n-grams."
    return _plot("BLEU of every arm by sentence length", "", points, note=note, joined=False)


def compression(bundle: Results) -> Plot:
    """BLEU by compression ratio (C1): one panel per arm, one line per context size."""
    every = [arm for pair in compare_sizes(bundle) for arm in pair if arm]
    if len({bucket.context_size for arm in every for bucket in arm.buckets}) < 2:
        raise UserError("all runs have the same context size")
    titles, points = {NONE: "Without attention"}, []
    for arm in every:
        panel = titles.setdefault(arm.attention, f"With {arm.attention} attention")
        for bucket in arm.buckets:
            keys = {"panel": panel, "control": f"context {bucket.context_size}"}
            keys |= {"x": f"{bucket.compression_ratio:.6g}", "note": f"{bucket.name} source words"}
            points.append((arm, bucket, keys))
    printed = [
        {
            "panel": titles[NONE],
            "arm": NONE,
            "x": str(row["compression_ratio"]),
            "value": float(row["bleu"]),
        }
        for row in SLIDES["L-FAIL"]["rows"]
    ]
    note = "Ratio: mean source words x embedding size / context size."
    title = "Does the compression ratio alone set BLEU?"
    return _plot(title, "compression ratio", points, printed, note, log_x=True)


def learning(bundle: Results) -> Plot:
    """BLEU by the number of updates (C12): one panel per arm, one line per sentence length."""
    points, rates = [], bundle.runs["learning_rate"].nunique() > 1
    for arm in arms_of(bundle):
        run = arm.runs.iloc[0]
        panel = f"{arm.attention}, {run['context_size']} numbers"
        panel += f", rate {run['learning_rate']:g}" if rates else ""
        keys = {"panel": panel, "x": str(run["updates"])}
        points += [(arm, item, keys | {"control": f"{item.name} words"}) for item in arm.buckets]
    if len({keys["x"] for *_, keys in points}) < 2:
        raise UserError("all runs have the same number of updates")
    title = "How far does training go, by sentence length?"
    return _plot(title, "updates", points, log_x=True)


@rc_context(STYLE)
def weights_chart(
    bundle: Results, run: str, examples: Sequence[Mapping[str, Any]]
) -> tuple[Figure, pd.DataFrame]:
    """The weights of a run's sentences side by side; the data have one row per weight."""
    runs = bundle.runs[bundle.runs["run"] == run]
    note = (
        f"n = {counted(len(examples), 'sentence')} of one run: {runs['arm'].iloc[0]}; "
        f"{what_was_run(runs)}. Each row of a map sums to 1."
    )
    figure = Figure()
    figure.suptitle("Where does the decoder look?")
    figure.supxlabel(fill(note, 150))
    colours = LinearSegmentedColormap.from_list("weights", ["white", "#00436B"])
    widths = [max(8, len(item["source"])) for item in examples]
    grid = figure.subplots(1, len(examples), squeeze=False, width_ratios=widths).ravel()
    rows = []
    for axes, item in zip(grid, examples, strict=True):
        weights = np.array(item["weights"], dtype=np.float64)
        image = axes.imshow(weights, cmap=colours, vmin=0, vmax=1, aspect="auto")
        # A slide has about 750 points across and 330 down for the words of a matrix.
        size = min(14, 750 / weights.shape[1], 330 / weights.shape[0])
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
