"""The figures by name: of a bundle's runs, which are made here, and of questions; and as files.

A file has its format by the name's ending, equal bytes for equal data, and is whole or not there.
"""

import io
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..claims.verdict import READ_FROM
from ..lecture.slides import L_FAIL, L_VIND
from ..results.bundle import Results
from ..results.folders import probe_file
from ..results.schema import FIGURES, FIGURES_OF_RUNS, GOLD, GOLD_TABLE
from ..settings.errors import UsageError, UserError, did_you_mean, plain
from ..settings.files import write_bytes, write_text
from ..tables.comparison import NONE, Arm, arm_of, compare, compare_sizes
from ..tables.run_tables import named_arms
from ..tables.selection import where as narrowed
from .draw import STYLE, draw
from .heatmaps import Chart, attention_chart
from .plot import MEAN, SEED, Panel, Plot, arm_title, data_frame, facts, slide_rows

METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Per ending what is left out of a file, which would differ from day to day."""
NUMBERS = ".csv"
BASELINE = "baseline"
"""The row of the arms that are as most are, where more than one setting was changed."""
SLIDE_NOTE = "The slide's numbers are an illustration: compare shapes, never levels."
BLEU_AXES = ("BLEU (0 to 100)", "sentences")


def make_figure(
    name: str, folder: Path, *, where: Sequence[str] = (), bundle: Results | None = None
) -> Chart:
    """The figure of a name in `FIGURES` from a bundle or a store.

    ``where`` chooses among runs, for the figures of runs alone; ``bundle`` is the folder's, where
    it has been read. Without the numbers a ``UserError`` that names the command that measures them.
    """
    check_name(name, where)
    if name in FIGURES_OF_RUNS:
        bundle = narrowed(Results.open(folder) if bundle is None else bundle, where)
        if name == "attention":
            return attention_chart(bundle)
        plot = {"bleu": bleu, "arms": arms, "compression": compression}[name](bundle)
        return draw(plot), plot.data
    table = GOLD if name == GOLD_TABLE else name
    questions = import_module("...questions.question", __name__)  # a room above this one
    question = questions.find_question(table)
    plot = question.plot(question.load(folder))
    if plot.data.empty:
        raise UserError(f"nothing to draw: {str(probe_file(folder, table))!r} has no numbers")
    return draw(plot), plot.data


def check_name(name: str, where: Sequence[str]) -> None:
    """Refuse what cannot be drawn, as a ``UsageError``."""
    if name not in FIGURES:
        raise UsageError(f"unknown figure {name!r}{did_you_mean(name, FIGURES)}")
    if where and name not in FIGURES_OF_RUNS:
        raise UsageError(f"--where chooses runs, and figure {name} is of what was measured on all")


def check_figure_file(path: Path) -> None:
    """Refuse a name of an unknown format, before anything is drawn, as a ``UsageError``."""
    if path.suffix.lower() not in METADATA:
        raise UsageError(f"{str(path)!r}: the name of a figure ends in {', '.join(METADATA)}")


def image(figure: Figure, ending: str) -> bytes:
    """The figure's file, for an ending of `METADATA`."""
    file = io.BytesIO()
    for text in figure.findobj(Text):
        text.set_text(plain(text.get_text()))
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the CSV beside has it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # Words as long as the figure is wide are laid out as far as it goes.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        figure.savefig(file, format=ending[1:], metadata=METADATA[ending])
    return file.getvalue()


def write_figure(figure: Figure, data: pd.DataFrame, path: Path) -> Path:
    """Write the figure, and what was drawn as CSV beside it, whose path is returned."""
    write_bytes(path, image(figure, path.suffix.lower()))
    numbers = path.with_suffix(NUMBERS)
    write_text(numbers, data.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    return numbers


def bleu(bundle: Results) -> Plot:
    """BLEU by length (L-FAIL, L-VIND): both arms, or none alone, and the slide's numbers."""
    comparison = compare(bundle, alone=set(bundle.runs["attention"]) == {NONE})
    name, attention = "BLEU by length", comparison.attention
    drawn, omitted = drawn_buckets(comparison.none.buckets, comparison.none.n)
    rows = []
    for arm in comparison.arms:
        for index, bucket in enumerate(arm.buckets):
            if bucket in drawn:
                rows += _arm_rows(arm, index, panel=name, x=bucket)
    printed = {NONE: {bucket: row.bleu for bucket, row in L_FAIL.items()}}
    if attention is not None:
        printed = {NONE: {bucket: row.none for bucket, row in L_VIND.items()},
                   attention.name: {b: row.attention for b, row in L_VIND.items()}}  # fmt: skip
    for arm, values in printed.items():
        rows += slide_rows(name, arm, {b: values[b] for b in drawn if b in values})
    panel = Panel(name, "source words", *BLEU_AXES, limits=(0, None))
    note = " ".join(filter(None, [*facts(comparison.runs), omitted, SLIDE_NOTE]))
    both = ", with and without attention" if attention else ""
    return Plot(f"BLEU by sentence length{both}", (panel,), data_frame(rows), (note,))


def drawn_buckets(buckets: Sequence[str], counts: Sequence[int]) -> tuple[list[str], str]:
    """Buckets of so many sentences that verdicts read them, or if under two are, the filled ones.

    Also a sentence on the filled buckets that are left out; empty where none is.
    """
    filled = {bucket: n for bucket, n in zip(buckets, counts, strict=True) if n}
    large = [bucket for bucket, n in filled.items() if n >= READ_FROM]
    drawn = large if len(large) > 1 else list(filled)
    few = [f"{bucket} (n = {n})" for bucket, n in filled.items() if bucket not in drawn]
    return drawn, f"Left out: {', '.join(few)}." if few else ""


def _arm_rows(arm: Arm, index: int, **keys: str) -> list[dict[str, Any]]:
    """BLEU of a bucket: the mean over an arm's seeds with its interval, then each seed."""
    estimate, keys = arm.estimates[index], {"arm": arm.name, "n": arm.n[index], **keys}
    rows = [{**keys, "kind": MEAN, "value": estimate.value, **vars(estimate.interval)}]
    for seed, value in zip(arm.seeds, arm.by_seed[:, index], strict=True):
        rows.append({**keys, "kind": SEED, "seed": seed, "value": float(value)})
    return rows


def _shared_axis(rows: Sequence[Mapping[str, Any]], **others: bool) -> dict[str, Any]:
    """Options of panels that are compared: y goes to a little above the highest mark of all."""
    ends = [row.get(end, np.nan) for row in rows for end in ("value", "high")]
    return {"limits": (0, 1.04 * float(np.nanmax(ends))), **others}


def arms(bundle: Results) -> Plot:
    """BLEU of every arm (C10, C12) in the shortest and in the longest filled bucket.

    Arms that differ in attention alone stand in one place, named by what was changed.
    """
    known = named_arms(bundle)
    single = all(runs["arm"].iloc[0] == runs["attention"].iloc[0] for runs in known)
    by_change: dict[str, list[Arm]] = {}
    for runs in known:
        arm, attention = runs["arm"].iloc[0], runs["attention"].iloc[0]
        change = attention if single else arm.removeprefix(attention).strip(" ,") or BASELINE
        by_change.setdefault(change, []).append(arm_of(bundle, runs))
    scores = [(change, score) for change, group in by_change.items() for score in group]
    buckets = scores[0][1].buckets
    counts = [max(n) for n in zip(*(score.n for _, score in scores), strict=True)]
    drawn, omitted = drawn_buckets(buckets, counts)
    titles = {bucket: f"{bucket} source words" for bucket in (drawn[0], drawn[-1])}
    rows = []
    for bucket, title in titles.items():
        for change, score in scores:
            index = buckets.index(bucket)
            if score.n[index]:
                rows += _arm_rows(score, index, panel=title, x=change)
    shape = _shared_axis(rows, joined=False)
    panels = tuple(Panel(title, "", *BLEU_AXES, **shape) for title in titles.values())
    baseline = "Baseline: the sweep's own settings. " if BASELINE in by_change else ""
    note = f"{baseline}Compare arms within a panel: texts of other lengths have other n-grams."
    notes = (note, " ".join(filter(None, [*facts(pd.concat(known)), omitted])))
    return Plot("BLEU of every arm by sentence length", panels, data_frame(rows), notes)


def compression(bundle: Results) -> Plot:
    """BLEU by compression ratio (C1): one panel per arm, one line per context size."""
    sizes = compare_sizes(bundle)
    steps = {f"context {item.settings.model.context_size}": item for item in sizes}
    rows: list[dict[str, Any]] = []
    for step, comparison in steps.items():
        for arm in comparison.arms:
            for index, ratio in enumerate(comparison.compression_ratio):
                if arm.estimates[index].filled:
                    note = f"{arm.buckets[index]} source words"
                    keys = {"panel": arm_title(arm.name), "x": f"{ratio:.6g}", "control": step}
                    rows += _arm_rows(arm, index, **keys, note=note)
    slide = {str(row.compression_ratio): row.bleu for row in L_FAIL.values()}
    rows += slide_rows(arm_title(NONE), NONE, slide)
    shape = _shared_axis(rows, numeric=True, log_x=True)
    titles = dict.fromkeys(row["panel"] for row in rows)
    panels = tuple(Panel(title, "compression ratio", *BLEU_AXES, **shape) for title in titles)
    used = facts(pd.concat([size.runs for size in sizes]))[0]
    note = f"Ratio: mean source words x embedding size / context size. {used} {SLIDE_NOTE}"
    title = "Does the compression ratio alone set BLEU?"
    return Plot(title, panels, data_frame(rows), (note,), tuple(steps))
