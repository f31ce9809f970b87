"""The figures of a bundle's runs: BLEU by length, of all arms, by compression; learning."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..claims.registry import verdict_on
from ..lecture.slides import L_FAIL, L_VIND
from ..results.bundle import Bundle
from ..settings.errors import UserError
from ..tables.comparison import Arm, Comparison, arm_of, attentions, compare, compare_sizes
from ..tables.comparison_groups import NONE, first, varied
from ..tables.run_tables import cells, named_arms
from ..tables.selection import as_condition
from .plot import (
    Panel,
    Plot,
    arm_title,
    bars,
    data_frame,
    drawn_buckets,
    facts,
    roof,
    run_facts,
    slide_rows,
    with_seeds,
)

BASELINE = "baseline"
"""The row of the arms that are as most are, where more than one setting was changed."""
MOST_ROWS = 30
"""More cannot be read on a slide."""
SLIDE_NOTE = "The slide's numbers are an illustration: compare shapes, never levels."
BLEU_AXES = ("BLEU (0 to 100)", "sentences")


def bleu(bundle: Bundle) -> Plot:
    """BLEU by length (L-FAIL, L-VIND): both arms, or none alone, and the slide's numbers."""
    comparison = compare(bundle, alone=attentions(bundle) == [])
    name, attention = "BLEU by length", comparison.attention
    drawn, omitted = drawn_buckets(comparison.buckets, comparison.n)
    rows = [
        row
        for arm in comparison.arms
        for index, bucket in enumerate(comparison.buckets)
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
    note = " ".join(filter(None, [_facts([comparison]), omitted, SLIDE_NOTE]))
    both = ", with and without attention" if attention else ""
    return Plot(f"BLEU by sentence length{both}", (panel,), data_frame(rows), (note,))


def _facts(sizes: Sequence[Comparison], over: str = "test sentences") -> str:
    several = any(len(size.none.seeds) > 1 for size in sizes)
    return f"{bars(several, over)} {run_facts(sizes)}"


def _arm_rows(keys: Mapping[str, Any], arm: Arm, index: int) -> list[dict[str, Any]]:
    """BLEU of a bucket: the mean over an arm's seeds with its interval, then each seed."""
    estimate, keys = arm.estimates[index], {"arm": arm.name, "n": arm.n[index], **keys}
    mean = {"value": estimate.value, **vars(estimate.interval)}
    return with_seeds(keys, mean, arm.seeds, arm.by_seed[:, index])


def arms(bundle: Bundle) -> Plot:
    """BLEU of every arm (C10, C12) in the shortest and in the longest filled bucket.

    Arms that differ in attention alone stand in one row, named by what was changed. Runs scored in
    other buckets than the first, and more rows than a slide has room for, are a ``UserError``.
    """
    known = named_arms(bundle)
    names = varied(pd.concat(known))
    if len(names) == 1:  # its values in their order; else the baseline is the first
        values = pd.Series([first(runs)[names[0]] for runs in known]).sort_values(kind="stable")
        known = [known[place] for place in values.index]
    by_row: dict[str, list[pd.DataFrame]] = {}
    for runs in known:
        run = first(runs)
        row = run["arm"].partition(" ")[2] or BASELINE  # what was changed
        if len(names) < 2:
            row = f"{names[0]}={as_condition(run[names[0]])}" if names else run["attention"]
        by_row.setdefault(row, []).append(runs)
    if len(by_row) > MOST_ROWS:
        raise UserError(
            f"{len(by_row)} rows of arms, and a figure has room for {MOST_ROWS}: choose with "
            "`--where`, or read `bottleneck table arms`"
        )
    groups = {row: set(pd.concat(parts)["group"]) for row, parts in by_row.items()}
    taken = Counter(group for names in groups.values() for group in names)
    scores = []
    for row, parts in by_row.items():
        # The sweep's own name of the row, where it is this row's alone.
        note = "".join(group for group in groups[row] if taken[group] == len(groups[row]) == 1)
        scores += [(row, note, first(runs)["attention"], arm_of(bundle, runs)) for runs in parts]
    buckets = scores[0][-1].buckets
    counts = [max(n) for n in zip(*(score.n for *_, score in scores), strict=True)]
    drawn, omitted = drawn_buckets(buckets, counts)
    titles = {bucket: f"{bucket} source words" for bucket in (drawn[0], drawn[-1])}
    rows = []
    for bucket, title in titles.items():
        for row, note, attention, score in scores:
            index = score.buckets.index(bucket)
            if score.n[index]:
                keys = {"panel": title, "x": row, "arm": attention, "note": note}
                rows += _arm_rows(keys, score, index)
    shape = {"joined": False, "limits": (0, roof(rows))}
    panels = tuple(
        Panel(title, "BLEU, 0 to 100", "", "sentences", **shape) for title in titles.values()
    )
    note = "Compare arms within a panel: texts of other lengths have other n-grams."
    if BASELINE in by_row:
        note = f"Baseline: what most arms have; a row below names what it has instead. {note}"
    notes = (note, " ".join(filter(None, [*facts(pd.concat(known)), omitted])))
    title = "BLEU of every arm" + (", of short and of long sentences" if len(titles) > 1 else "")
    return Plot(title, panels, data_frame(rows), notes, in_rows=True)


def compression(bundle: Bundle) -> Plot:
    """BLEU by compression ratio (C1): one panel per arm, one line per context size."""
    sizes = compare_sizes(bundle)
    steps = {f"context {item.settings.model.context_size}": item for item in sizes}
    rows: list[dict[str, Any]] = []
    for step, comparison in steps.items():
        for arm in comparison.arms:
            for index, ratio in enumerate(comparison.compression_ratio):
                if arm.estimates[index].filled:
                    keys = {"panel": arm_title(arm.name), "x": f"{ratio:.6g}", "control": step}
                    keys |= {"note": f"{comparison.buckets[index]} source words"}
                    rows += _arm_rows(keys, arm, index)
    slide = {str(row.compression_ratio): row.bleu for row in L_FAIL.values()}
    rows += slide_rows(arm_title(NONE), NONE, slide)
    shape = {"numeric": True, "log_x": True, "limits": (0, roof(rows))}
    panels = tuple(
        Panel(arm_title(arm), "compression ratio", *BLEU_AXES, arm=arm, **shape)
        for arm in dict.fromkeys(row["arm"] for row in rows)
    )
    buckets, verdict = sizes[0].buckets, verdict_on("C1", cells(sizes))
    because = "; ".join(verdict.because.split("; ")[:2])  # the numbers that decide
    notes = (
        f"Without attention (C1: {verdict.verdict}): {because}.",
        "Ratio: mean source words x embedding size / context size. Along each line the buckets "
        f"{buckets[0]} to {buckets[-1]}, whose levels are compared loosely: other texts have other "
        f"n-grams. {_facts(sizes)} {SLIDE_NOTE}",
    )
    title = "Does the compression ratio alone set BLEU?"
    return Plot(title, panels, data_frame(rows), notes, tuple(steps))


def learning(bundle: Bundle) -> Plot:
    """The validation loss by update: one panel per length bucket, one line per arm.

    A ``UserError`` where none of the runs has logged it, as older versions did not.
    """
    comparison = compare(bundle, alone=attentions(bundle) == [])
    learned = bundle.learning()
    runs = {run for arm in comparison.arms for run in arm.runs}
    silent = len(runs - set(learned["run"]))
    if silent == len(runs):
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
        for bucket in comparison.buckets
    )
    note = "Validation loss under teacher forcing, -log P of the references. " + _facts(
        [comparison], "validation sentences"
    )
    if silent:
        note += f" Of {silent} run{'s' if silent > 1 else ''} there is no such log."
    return Plot("How does the loss fall, by sentence length?", panels, data_frame(rows), (note,))


def _losses(arm: Arm, learned: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The mean over seeds at each validation that all of them logged, then each seed.

    The seeds share their sentences, so that the error of their mean is at most the mean of theirs:
    that is taken, times 1.96 for a 95 % interval.
    """
    logs = learned[learned["run"].isin(arm.runs)]
    logs = logs.assign(seed=logs["run"].map(dict(zip(arm.runs, arm.seeds, strict=True))))
    logs = logs.sort_values(["update", "seed"], kind="stable")
    for (bucket, update), part in logs.groupby(["bucket", "update"], sort=False):
        if len(part) < logs["run"].nunique():
            continue
        keys = {"panel": f"{bucket} source words", "x": str(update), "arm": arm.name}
        keys |= {"n": int(part["sentences"].iloc[0])}
        mean, half = float(part["loss"].mean()), 1.96 * part["standard_error"].mean(skipna=False)
        ends = {"low": float(np.maximum(0.0, mean - half)), "high": float(mean + half)}
        yield from with_seeds(keys, {"value": mean} | ends, part["seed"], part["loss"])
