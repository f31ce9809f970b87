"""C9 and L15: does attention's cost grow with source length times target length?

`bottleneck bench` measures it (`benchmark`), not a probe of trained runs: ``probes/cost.csv`` has a
row for each arm and length.

Both sides of its sentences are equally long, so Tx x Ty is the length squared. Attention's own part
is the time of a step beyond that of the same model without attention. Some of it occurs once per
word, the rest once per pair of words, so that the local exponent climbs from 1 to 2 as sentences
grow: the rule reads that of the upper lengths.
"""

import math
import shlex
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..lecture.slides import Exponent
from ..results.bundle import read_table
from ..results.folders import has_probe, probe_file
from ..results.schema import BENCHMARK
from ..settings.errors import UserError
from ..tables.page import Page
from .arms import Estimate, Estimates
from .question import Axes, Column, Grid, Judgement, Question

COLUMNS = {
    name: kind
    for kind, names in (
        ("str", "varied arm attention placement"),
        ("int64", "length context_size hidden_size embedding_size batch_size vocabulary"),
        ("float64", "seconds seconds_low seconds_high"),
        ("int64", "repeats steps"),
        ("float64", "attention_seconds attention_seconds_low attention_seconds_high"),
        ("float64", "attention_share attention_share_low attention_share_high"),
        ("str", "machine device"),
        ("int64", "cores threads"),
        ("str", "version jax date"),
    )
    for name in names.split()
}
"""Columns of ``cost.csv``; numbers of attention are blank without it.

``varied`` is "length"; rows of an older file that vary another size are not read. ``length`` is
tokens per side, end token included. ``seconds`` is the median of a training step over ``repeats``
groups of ``steps`` each, ``_low`` and ``_high`` the least and greatest group. ``attention_...`` is
what the arm has beyond its `baseline`: seconds, and share of the arm's seconds (0 to 1).
"""
OUTPUT = "-output"
"""Behind the name of an arm in Luong's placement."""
FITTED = {"seconds": "seconds", "attention_seconds": "attention's seconds"}
"""What exponents are fitted to, and its name in a table."""
MEASURES = ("seconds", "attention_seconds", "attention_share", "exponent")
"""What the question's numbers are of: a step, what attention adds, its share, and their growth."""


def in_long_form(costs: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``cost.csv`` as rows of a probe, and the exponents that are fitted to them.

    A row has the columns of its point, and its length as bucket. An exponent's control is the
    quantity; its bucket is ``all``, or ``upper`` for the lengths from their geometric middle up.
    """
    costs = costs[costs["varied"] == "length"].reset_index(drop=True)
    points = costs.assign(bucket=costs["length"].astype(str), n=costs["repeats"], control="")
    parts, powers = [], []
    for measure in MEASURES[:3]:
        low, high = (costs[f"{measure}_{end}"] for end in ("low", "high"))
        rows = points.assign(measure=measure, value=costs[measure], low=low, high=high)
        parts.append(rows[rows["value"].notna()])
    for arm, points in costs.groupby("arm", sort=False):
        sizes = points["length"].to_numpy(np.float64)
        middle = math.sqrt(sizes.min() * sizes.max()) * (1 - 1e-9)
        for quantity, (bucket, least) in product(FITTED, (("all", 0.0), ("upper", middle))):
            values = points[quantity].to_numpy(np.float64)
            # What is not above 0, a difference that is lost in noise, has no logarithm.
            subset = (sizes >= least) & (values > 0)
            if (power := fit(sizes[subset], values[subset])) is not None:
                keys = {"arm": arm, "attention": points["attention"].iloc[0], "bucket": bucket}
                keys |= {"measure": "exponent", "control": quantity}
                powers.append(keys | vars(power))
    frame = pd.concat([*parts, pd.DataFrame(powers)] if powers else parts)
    return frame.assign(run="", seed=math.nan, note="", part="", corpus="random words")


def fit(sizes: Float[ndarray, "points"], values: Float[ndarray, "points"]) -> Estimate | None:
    """The exponent of values that grow as a power of their sizes; None with under two sizes.

    Least squares of log on log, with the 95 % interval of the slope (Student's t); two points
    leave no interval. Sizes and values are above 0.
    """
    from scipy.special import stdtrit  # here, because it takes half a second to import

    x, y = np.log(sizes), np.log(values)
    if len(np.unique(x)) < 2:
        return None
    # Rounded, because the last digits of a constant's exponent differ from machine to machine.
    slope, half = round(float(np.polyfit(x, y, 1)[0]), 12) + 0.0, math.nan
    if len(x) > 2:
        covariance = np.polyfit(x, y, 1, cov=True)[1]
        half = float(stdtrit(len(x) - 2, 0.975) * np.sqrt(covariance[0, 0]))
    return Estimate(slope, slope - half, slope + half, len(x))


def baseline(arm: str) -> str:
    """The arm without attention in the placement of an arm."""
    return f"none{OUTPUT}" if arm.endswith(OUTPUT) else "none"


FEWEST_POINTS, WIDEST, LINEAR, QUADRATIC = 4, 1.0, 1.0, (1.5, 2.5)
"""Lengths in the upper part of their range; the interval that still tells linear from quadratic;
the exponent of what occurs once per word; ends between which one is nearer to 2 than to 1 or 3."""
RULE = (
    "What counts are exponents of the length (tokens per side, equal on both) from a least-squares "
    "fit of log on log, with 95 % intervals, over the lengths from the geometric middle of their "
    "range up: of the seconds that attention adds to a training step, for each arm, and of the "
    "seconds of a step without attention. An arm grows with Tx x Ty if its interval lies within "
    f"{QUADRATIC[0]:g} to {QUADRATIC[1]:g} and above that of no attention in its placement. Held "
    f"if every arm does; partly if some do, or if some arm's interval lies above {LINEAR:g} and "
    "above that of no attention; otherwise not held. Not measured with fewer than "
    f"{FEWEST_POINTS} lengths in that part, where attention's own seconds are not above 0 at one "
    f"of them, or where one of the two intervals is wider than {WIDEST:g}; such arms are left out "
    "and named."
)


def decide(estimates: Estimates) -> Judgement | str:
    """C9: cost grows with Tx x Ty."""
    powers, above, clauses, others = {}, [], [], []
    points = estimates.means[estimates.means["measure"] == "seconds"]
    for arm, rows in points[points["attention"] != "none"].groupby("arm", sort=False):
        attention = exponent(estimates, arm, "attention_seconds")
        whole = exponent(estimates, arm, "attention_seconds", "all")
        step, without = (exponent(estimates, name, "seconds") for name in (arm, baseline(arm)))
        if (
            None in (attention, step, without)
            or any(power.high - power.low > WIDEST for power in (attention, without))
            or not attention.n == step.n >= FEWEST_POINTS
        ):
            others.append(arm)
            continue
        powers[arm] = attention
        above.append(attention.low > max(LINEAR, without.high))
        lengths = sorted(rows["bucket"].astype(int))
        ends = dict.fromkeys((30 if 30 in lengths else lengths[0], lengths[-1]))
        shares = {end: estimates.get("attention_share", arm, str(end)).value for end in ends}
        at = " and ".join(f"{share:.0%} at {length}" for length, share in shares.items())
        texts = [power.text("{:.2f}") for power in (attention, whole, step, without)]
        clauses.append(
            f"{arm}: attention's own seconds grow as the length to the power {texts[0]}, over all "
            f"lengths to the power {texts[1]}, those of the whole step to the power {texts[2]}, "
            f"those of a step without attention to the power {texts[3]}, attention's share of the "
            f"step is {at} tokens"
        )
    reasons = "too few lengths, no time of its own at one, or too wide an interval"
    left_out = f"left out, for {reasons}: {', '.join(others)}" if others else ""
    if not powers:
        return left_out or "no arm with attention"
    first = next(iter(powers))
    held = all(above) and all(power.within(*QUADRATIC) for power in powers.values())
    measure = f"exponent of the length, attention's own seconds, {first}"
    return Judgement(held, any(above), [*clauses, left_out], measure, powers[first])


def exponent(estimates: Estimates, arm: str, quantity: str, part: str = "upper") -> Estimate | None:
    """The exponent of the length, if it has an interval."""
    power = estimates.get("exponent", arm, part, quantity)
    return None if power is None or math.isnan(power.low) else power


def measured_exponent(folder: Path) -> Exponent | None:
    """How attention's seconds grow over the upper lengths of a benchmark (L15).

    Of the dot score, which the slide is about, or of the first arm that was measured. None if the
    folder has no such measurement; a damaged file is a ``UserError``.
    """
    if not has_probe(folder, BENCHMARK):
        return None
    estimates = Estimates(QUESTION.load(folder))
    for arm in (f"dot{OUTPUT}", "dot", *estimates.arms()):
        if power := exponent(estimates, arm, "attention_seconds"):
            return Exponent(arm, power.value, power.low, power.high)
    return None


def rests_on(frame: pd.DataFrame) -> str:
    """What C9 rests on: ``benchmark: 27 points on ...``, which are arms x lengths."""
    costs = frame[frame["measure"] == "seconds"]
    machine = _machine(costs)
    return f"benchmark: {len(costs)} points" + (f" on {machine}" if machine else "")


def _listed(values: pd.Series) -> str:
    return " / ".join(str(value) for value in dict.fromkeys(values.dropna()) if value != "")


def _machine(costs: pd.DataFrame) -> str:
    """``AMD EPYC, 2 cores, cpu, 2026-11-22``; what was not written down is left out."""
    cores = costs["cores"].dropna().map("{} cores".format)
    device = costs["device"].str.replace(r"^(.*): \1$", r"\1", regex=True)  # of cpu: cpu
    return ", ".join(filter(None, map(_listed, (costs["machine"], cores, device, costs["date"]))))


class CostQuestion(Question):
    """The question that `bottleneck bench` measures."""

    def load(self, folder: Path) -> pd.DataFrame:
        """The measured points and the exponents, in long form; a UserError without them."""
        if not has_probe(folder, self.name):
            where = shlex.quote(str(folder))
            raise UserError(
                f"no benchmark in {str(folder)!r}: `bottleneck bench --out {where}` measures it"
            )
        return in_long_form(read_table(probe_file(folder, self.name), COLUMNS))

    def page(self, frame: pd.DataFrame) -> Page:
        """The table, whose caption says on which machine it was measured, and how."""
        costs = frame[frame["measure"] == "seconds"]
        sizes = ("context_size", "embedding_size", "batch_size", "repeats", "threads")
        context, embedding, batch, repeats, threads = (_listed(costs[name]) for name in sizes)
        versions = f"bottleneck {_listed(costs['version'])}, jax {_listed(costs['jax'])}"
        notes = [
            f"A training step of the lecture's GRU, one layer, hidden size = context ({context}), "
            f"embedding {embedding}, batches of {batch}, on random words: both sides have the same "
            "length, end token included. -output is Luong's placement, otherwise Bahdanau's. ms: "
            f"median of {repeats} groups of steps. attn.: attention's share, 1 - time of the same "
            "model without attention in the same placement / time.",
            f"Machine: {_machine(costs)}; XLA's threads: {threads}; {versions}.",
            "Growth: least squares of log quantity on log length, over all lengths and over those "
            "from the geometric middle of their range up. Lengths at which attention took no time "
            "are left out. Ranges: 95 % intervals of the slope (Student's t).",
        ]
        page = super().page(frame)
        data = page.frame.rename(columns={"bucket": "length", "control": "quantity"})
        data = data.drop(columns="part")
        return replace(page, frame=data, caption=notes, run=f"Measured on {_machine(costs)}")

    def footnotes(self, frame: pd.DataFrame) -> tuple[str, ...]:
        """What the bars are, and where it was measured."""
        return (
            "Median of groups of steps; bars: least and greatest; output: attention after the "
            f"recurrence. Measured on {_machine(frame[frame['measure'] == 'seconds'])}.",
        )


QUESTION = CostQuestion(
    name=BENCHMARK,
    ids=("C9", "L15"),
    question="Does attention's cost grow with Tx x Ty? Measured by `bottleneck bench`.",
    title="Cost of a training step (C9)",
    rule=RULE,
    decide=decide,
    measures=MEASURES,
    grids=[
        Grid(
            "By length (tokens per side)",
            [
                Column("ms", "seconds", scale=1e3, form="{:,.1f}", ends=""),
                Column("attn.\n%", "attention_share", scale=100.0, form="{:z.0f}", ends=""),
            ],
            ("length", "arm"),
            counted=False,
        ),
        Grid(
            "How the cost grows (C9, L15): quantity = constant x length ^ exponent",
            [
                Column("all\nlengths", "exponent", bucket="all", form="{:z.2f}"),
                Column("upper\nlengths", "exponent", bucket="upper", form="{:z.2f}"),
            ],
            ("quantity", "arm"),
            lambda estimates: [
                ((name, arm), {"arm": arm, "control": quantity})
                for (quantity, name), arm in product(FITTED.items(), estimates.arms())
            ],
            counted=False,
        ),
    ],
    figure="What does a training step cost?",
    axes=[
        Axes(
            "Length", "seconds", "ms per training step", scale=1e3,
            x_label="length, tokens per side",
            # A line is an attention in a placement.
            select=lambda rows: rows.assign(
                arm=rows["attention"], control=rows["placement"].replace("input", "")
            ),
            lines=None, counted="groups", numeric=True, log_x=True, log_y=True,
        )
    ],
)  # fmt: skip
