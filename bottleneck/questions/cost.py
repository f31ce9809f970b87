"""C9 and L15: does attention's cost grow with source length times target length?

`benchmark` measures the ``seconds`` of a training step by arm and length, and what attention adds
to the same model without it, ``attention_seconds`` and ``attention_share``.
Part of attention's work is done once per word, so its exponent climbs from 1 to 2 as sentences
grow: the rule reads the exponent of the upper lengths.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from ..results.bundle import load_probe
from ..results.folders import probe_file
from ..results.schema import BENCHMARK
from .arms import Estimates, Measured
from .question import Axes, Judgement, Question, Row, StudyColumn, StudyTable

FEWEST_POINTS, WIDEST, LINEAR, QUADRATIC = 4, 1.0, 1.0, (1.5, 2.5)
"""Fewest upper lengths; widest interval; exponents of linear and of quadratic growth."""


def exponents(points: Sequence[Row]) -> list[Row]:
    """The rows of exponents with 95 % t-intervals, over all lengths and over the upper ones.

    Least squares fit log quantity to log length. Under three lengths there is no exponent.
    """
    from scipy.special import stdtrit  # slow to import

    frame, rows = pd.DataFrame(points), []
    fitted = frame[frame["measure"].isin(["seconds", "attention_seconds"])]
    for (_, measure), part in fitted.groupby(["arm", "measure"], sort=False):
        sizes, values = part["bucket"].to_numpy(np.float64), part["value"].to_numpy()
        middle = np.sqrt(sizes.min() * sizes.max()) * (1 - 1e-9)
        for bucket, least in (("all", 0.0), ("upper", middle)):
            subset = (sizes >= least) & (values > 0)
            x, y = np.log(sizes[subset]), np.log(values[subset])
            if len(np.unique(x)) < 3:
                continue
            line, covariance = np.polyfit(x, y, 1, cov=True)
            # Rounded: the last digits of a constant's exponent differ from machine to machine.
            slope = round(float(line[0]), 12) + 0.0
            half = float(stdtrit(len(x) - 2, 0.975) * np.sqrt(covariance[0, 0]))
            row = {"measure": "exponent", "control": measure, "bucket": bucket, "note": ""}
            row |= {"value": slope, "low": slope - half, "high": slope + half, "n": len(x)}
            rows.append(part.iloc[0].to_dict() | row)
    return rows


def judge(estimates: Estimates) -> Judgement | str:
    """C9: cost grows with Tx x Ty."""
    powers, above, clauses, others = {}, [], [], []
    for arm in estimates.selective:
        none = "none-output" if arm.endswith("-output") else "none"  # of the same placement
        attention = estimates.get("exponent", arm, "upper", "attention_seconds")
        step, without = (
            estimates.get("exponent", name, "upper", "seconds") for name in (arm, none)
        )
        if (
            None in (attention, step, without)
            or any(power.high - power.low > WIDEST for power in (attention, without))
            or not attention.n == step.n >= FEWEST_POINTS
        ):
            others.append(arm)
            continue
        powers[arm] = attention
        above.append(attention.low > max(LINEAR, without.high))
        shares = estimates.means.query("measure == 'attention_share' and arm == @arm")
        clauses.append(
            f"{arm}: the seconds that attention adds grow as the length to the power "
            f"{attention.text('{:.2f}')}, those of a step without attention to the power "
            f"{without.text('{:.2f}')}; of a step of {shares['bucket'].iloc[-1]} tokens attention "
            f"takes {shares['value'].iloc[-1]:.0%}"
        )
    if others:
        reasons = "too few lengths, no added seconds at one, or too wide an interval"
        clauses.append(f"left out, for {reasons}: {', '.join(others)}")
    if not powers:
        return clauses[0] if clauses else "no arm with attention"
    first, *_ = powers
    least, most = QUADRATIC
    fully = all(above) and all(least <= item.low and item.high <= most for item in powers.values())
    measure = f"exponent of the length, seconds that attention adds, {first}"
    return Judgement(fully, any(above), clauses, measure, powers[first])


def measured_exponent(folder: Path) -> tuple[str, Measured] | None:
    """An arm, and how attention's seconds grow over a benchmark's upper lengths (L15)."""
    if not probe_file(folder, BENCHMARK):
        return None
    estimates = Estimates(load_probe(folder, BENCHMARK))
    for arm in ("dot-output", "dot", *estimates.arms):
        if power := estimates.get("exponent", arm, "upper", "attention_seconds"):
            return arm, power
    return None


def run_lines(frame: pd.DataFrame, over: str) -> tuple[str, list[str], str]:
    """``benchmark: 40 points on AMD EPYC, 2 cores, cpu, 2026-11-22`` (see `question.run_lines`)."""
    machines = frame.loc[frame["measure"] == "seconds", "note"]
    line = f"benchmark: {len(machines)} points on {machines.iloc[0]}"
    return line, [f"From a {line}."], f"Median of {over}; bars: least and greatest; {line}."


QUESTION = Question(
    name=BENCHMARK,
    question="Does attention's cost grow with Tx x Ty? `study cost` measures it. (C9, L15)",
    title="Cost of a training step (C9)",
    rules={"C9": (
        "What counts are exponents of the length from a least-squares fit of log on log, with 95 % "
        "intervals, over the lengths from the geometric middle of their range up: of the seconds "
        "that attention adds to a training step, and of those of a step without attention. An arm "
        f"grows with Tx x Ty if its interval lies within {QUADRATIC[0]:g} to {QUADRATIC[1]:g} and "
        "above that of no attention in its placement. Held if every arm does; partly if some do, "
        f"or if some arm's interval lies above {LINEAR:g} and above that of no attention; "
        f"otherwise not held. Left out are arms with fewer than {FEWEST_POINTS} such lengths, "
        "where attention adds no time at one of them, or if its interval or that of no attention "
        f"is wider than {WIDEST:g}; not measured if that leaves none.",
        judge,
    )},
    notes=[
        "A training step of the lecture's GRU, hidden size = context (256), embedding 100, batches "
        "of 64, on random words: both sides have the same length. -output is Luong's placement, "
        "otherwise Bahdanau's. ms: median of groups of steps. attn.: 1 - time of the same model "
        "without attention / time.",
        "Growth: least squares of log quantity on log length, over all lengths and over those "
        "from the geometric middle of their range up. Ranges: 95 % intervals of the slope.",
    ],
    run_lines=run_lines,
    over="groups of steps",
    keys=("arm", "control", "bucket"),
    tables=[
        StudyTable("By length (tokens per side)", [
            StudyColumn("ms", "seconds", scale=1e3, form="{:,.1f}", ends=""),
            StudyColumn("attn.\n%", "attention_share", scale=100.0, form="{:z.0f}", ends=""),
        ], heads=("length", "arm"), with_n=False),
        StudyTable("How the cost grows (C9, L15): quantity = constant x length ^ exponent", [
            StudyColumn("all\nlengths", "exponent", bucket="all", form="{:z.2f}"),
            StudyColumn("upper\nlengths", "exponent", bucket="upper", form="{:z.2f}"),
        ], heads=("quantity", "arm"), lines=lambda estimates: [
            ((quantity.replace("_", " "), arm), {"arm": arm, "control": quantity})
            for quantity, arm in product(("seconds", "attention_seconds"), estimates.arms)
        ], with_n=False),
    ],
    axes=[
        Axes("Length", "ms per training step", "length, tokens per side", "groups",
             log_x=True, log_y=True, measure="seconds", scale=1e3,
             # There is one line per attention and placement.
             select=lambda rows: rows.assign(
                 arm=rows["attention"], control=rows["placement"].replace("input", "")
             ))
    ],
)  # fmt: skip
