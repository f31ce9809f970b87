"""The figures by name: of a bundle's runs, which are made here, and of questions; and as files.

A file has its format by the name's ending, equal bytes for equal data, and is whole or not there.
"""

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from ..claims.registry import verdict_on
from ..lecture.slides import L_FAIL, L_VIND
from ..results.bundle import Results
from ..results.folders import made_of, probe_file, way_back
from ..results.schema import FIGURES, FIGURES_OF_RUNS, GOLD, GOLD_TABLE
from ..settings.errors import UsageError, UserError, did_you_mean, plain
from ..settings.files import write_bytes, write_text
from ..tables.comparison import NONE, Arm, arm_of, compare, compare_sizes
from ..tables.run_tables import cells, named_arms
from ..tables.selection import where as narrowed
from .draw import STYLE, draw
from .heatmaps import Chart, attention_chart, context_length_chart
from .plot import (
    Panel,
    Plot,
    arm_title,
    data_frame,
    drawn_buckets,
    facts,
    roof,
    slide_rows,
    with_seeds,
)

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
        if name in ("context-length", "attention"):
            return (attention_chart if name == "attention" else context_length_chart)(bundle)
        plots = {"bleu": bleu, "arms": arms, "compression": compression, "learning": learning}
        plot = plots[name](bundle)
        return draw(plot), plot.data
    table = GOLD if name == GOLD_TABLE else name
    with made_of(folder, table):
        plot, file = study_plot(table, folder), probe_file(folder, table)
        if plot.data.empty:
            raise UserError(f"nothing to draw: {str(file)!r} has no numbers; {way_back(file)}")
        return draw(plot), plot.data


def check_name(name: str, where: Sequence[str]) -> None:
    """Refuse what cannot be drawn, as a ``UsageError``."""
    if name not in FIGURES:
        raise UsageError(f"unknown figure {name!r}{did_you_mean(name, FIGURES)}")
    if where and name not in FIGURES_OF_RUNS:
        raise UsageError(f"--where chooses runs, and figure {name} is of what was measured on all")


def study_plot(study: str, folder: Path) -> Plot:
    """What the figure of a question of `QUESTIONS` or `GOLD` shows, from ``probes/NAME.csv``."""
    questions = import_module("...questions.question", __name__)  # a room above this one
    question = questions.find_question(study)
    return question.plot(question.load(folder))


def check_figure_file(path: Path) -> None:
    """Refuse a name, before anything is drawn: a ``UsageError`` for an unknown format.

    A ``UserError`` where the numbers would take the place of a file that belongs to no figure.
    """
    if path.suffix.lower() not in METADATA:
        known = ", ".join(METADATA)
        raise UsageError(f"{str(path)!r}: the name of a figure ends in {known}")
    numbers = path.with_suffix(NUMBERS)
    if numbers.exists() and not any(path.with_suffix(ending).exists() for ending in METADATA):
        raise UserError(
            f"{str(numbers)!r} is there already, where the figure's numbers would go: name another "
            "file with -o, or delete it"
        )


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
    text = data.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    write_text(numbers, text)
    return numbers


def bleu(bundle: Results) -> Plot:
    """BLEU by length (L-FAIL, L-VIND): both arms, or none alone, and the slide's numbers."""
    comparison = compare(bundle, alone=set(bundle.runs["attention"]) == {NONE})
    name, attention = "BLEU by length", comparison.attention
    drawn, omitted = drawn_buckets(comparison.none.buckets, comparison.none.n)
    rows = [
        row
        for arm in comparison.arms
        for index, bucket in enumerate(arm.buckets)
        if bucket in drawn
        for row in _arm_rows({"panel": name, "x": bucket}, arm, index)
    ]
    printed = {NONE: {bucket: row.bleu for bucket, row in L_FAIL.items()}}
    if attention is not None:
        printed = {NONE: {bucket: row.none for bucket, row in L_VIND.items()},
                   attention.name: {b: row.attention for b, row in L_VIND.items()}}  # fmt: skip
    for arm, values in printed.items():
        known = {bucket: values[bucket] for bucket in drawn if bucket in values}
        rows += slide_rows(name, arm, known)
    panel = Panel(name, "source words", *BLEU_AXES, limits=(0, None))
    note = " ".join(filter(None, [*facts(comparison.runs), omitted, SLIDE_NOTE]))
    both = ", with and without attention" if attention else ""
    return Plot(f"BLEU by sentence length{both}", (panel,), data_frame(rows), (note,))


def _arm_rows(keys: Mapping[str, Any], arm: Arm, index: int) -> list[dict[str, Any]]:
    """BLEU of a bucket: the mean over an arm's seeds with its interval, then each seed."""
    estimate, keys = arm.estimates[index], {"arm": arm.name, "n": arm.n[index], **keys}
    mean = {"value": estimate.value, **vars(estimate.interval)}
    return with_seeds(keys, mean, arm.seeds, arm.by_seed[:, index])


def arms(bundle: Results) -> Plot:
    """BLEU of every arm (C10, C12) in the shortest and in the longest filled bucket.

    Arms that differ in attention alone stand in one place, named by what was changed. Runs scored
    in other buckets than the first are a ``UserError``.
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
            index = score.buckets.index(bucket)
            if score.n[index]:
                rows += _arm_rows({"panel": title, "x": change}, score, index)
    shape = {"joined": False, "limits": (0, roof(rows))}
    panels = tuple(Panel(title, "", *BLEU_AXES, **shape) for title in titles.values())
    note = "Compare arms within a panel: texts of other lengths have other n-grams."
    if BASELINE in by_change:
        note = f"Baseline: the sweep's own settings; another name says what it has instead. {note}"
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
                    keys = {"panel": arm_title(arm.name), "x": f"{ratio:.6g}", "control": step}
                    keys |= {"note": f"{arm.buckets[index]} source words"}
                    rows += _arm_rows(keys, arm, index)
    slide = {str(row.compression_ratio): row.bleu for row in L_FAIL.values()}
    rows += slide_rows(arm_title(NONE), NONE, slide)
    shape = {"numeric": True, "log_x": True, "limits": (0, roof(rows))}
    panels = tuple(
        Panel(arm_title(arm), "compression ratio", *BLEU_AXES, arm=arm, **shape)
        for arm in dict.fromkeys(row["arm"] for row in rows)
    )
    verdict = verdict_on("C1", cells(sizes))
    used = facts(pd.concat([size.runs for size in sizes]))[0]
    because = "; ".join(verdict.because.split("; ")[:2])  # the numbers that decide
    notes = (
        f"Without attention (C1: {verdict.verdict}): {because}.",
        f"Ratio: mean source words x embedding size / context size. {used} {SLIDE_NOTE}",
    )
    title = "Does the compression ratio alone set BLEU?"
    return Plot(title, panels, data_frame(rows), notes, tuple(steps))


def learning(bundle: Results) -> Plot:
    """The validation loss by update: one panel per length bucket, one line per arm.

    A ``UserError`` where none of the runs has logged it, as older versions did not.
    """
    comparison = compare(bundle, alone=set(bundle.runs["attention"]) == {NONE})
    learned = bundle.learning()
    if not {run for arm in comparison.arms for run in arm.runs} & set(learned["run"]):
        raise UserError(
            f"the runs in {str(bundle.folder)!r} did not log their validation loss by length; what "
            "this version trains does: `bottleneck reproduce --out DIR`, or `bottleneck sweep NAME "
            "--force`"
        )
    filled = learned[learned["loss"].notna()]
    rows = [row for arm in comparison.arms for row in _losses(arm, filled)]
    shape = {"numeric": True, "limits": (0, roof(rows))}
    panels = tuple(
        Panel(f"{bucket} source words", "updates", "nats per target token", "sentences", **shape)
        for bucket in comparison.none.buckets
    )
    note = "Validation loss under teacher forcing, -log P of the references. "
    note += facts(comparison.runs, "validation sentences")[0]
    return Plot("How does the loss fall, by sentence length?", panels, data_frame(rows), (note,))


def _losses(arm: Arm, learned: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The mean over seeds at each validation, then each seed.

    The seeds share their sentences, so that the error of their mean is at most the mean of theirs:
    that is taken, times 1.96 for a 95 % interval.
    """
    logs = learned[learned["run"].isin(arm.runs)]
    logs = logs.assign(seed=logs["run"].map(dict(zip(arm.runs, arm.seeds, strict=True))))
    logs = logs.sort_values(["update", "seed"], kind="stable")
    for (bucket, update), part in logs.groupby(["bucket", "update"], sort=False):
        if len(part) < logs["run"].nunique():
            continue  # a validation that some seeds do not have
        keys = {"panel": f"{bucket} source words", "x": str(update), "arm": arm.name}
        keys |= {"n": int(part["sentences"].iloc[0])}
        mean, half = float(part["loss"].mean()), 1.96 * part["standard_error"].mean(skipna=False)
        ends = {"low": float(np.maximum(0.0, mean - half)), "high": float(mean + half)}
        yield from with_seeds(keys, {"value": mean} | ends, part["seed"], part["loss"])
