"""The figure of learning: the validation loss of each length bucket while both arms were trained.

From the runs of a bundle, which log it; those that an older version made do not.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..results.bundle import Bundle
from ..settings.errors import UserError
from ..tables.comparison import Arm, Comparison, attentions, compare
from .plot import (
    MEAN,
    SEED,
    Panel,
    Plot,
    bars,
    data_frame,
    roof,
    run_facts,
)

X, Y = "updates", "nats a target token"
Z = 1.96
"""Standard errors on either side of a mean that make a 95 % interval."""


def plot(bundle: Bundle) -> Plot:
    """A panel a bucket, an arm a line: nats a target token by update.

    A ``UserError`` where none of the runs has logged it.
    """
    comparison = compare(bundle, alone=attentions(bundle) == [])
    learned = bundle.learning()
    logged = set(learned["run"])
    runs = {run for arm in comparison.arms for run in arm.runs}
    if not runs & logged:
        raise UserError(
            f"the runs in {str(bundle.folder)!r} did not log their validation loss by length; what "
            "this version trains does: `bottleneck reproduce --out DIR`, or `bottleneck sweep NAME "
            "--force`"
        )
    filled = learned[learned["loss"].notna()]
    rows = [row for arm in comparison.arms for row in _rows(arm, filled)]
    top = roof(rows)
    panels = tuple(
        Panel(_title(bucket), X, Y, "sentences", numeric=True, limits=(0, top))
        for bucket in comparison.buckets
    )
    title = "How does the loss fall, by sentence length?"
    return Plot(title, panels, data_frame(rows), (_facts(comparison, len(runs - logged)),))


def _title(bucket: str) -> str:
    return f"{bucket} source words"


def _rows(arm: Arm, learned: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The mean over seeds at each validation that all of them logged, then each seed."""
    seeds = dict(zip(arm.runs, arm.seeds, strict=True))
    own = learned[learned["run"].isin(arm.runs)]
    own = own.assign(seed=own["run"].map(seeds)).sort_values(["update", "seed"], kind="stable")
    for (bucket, update), held in own.groupby(["bucket", "update"], sort=False):
        if len(held) < own["run"].nunique():
            continue
        row = {"panel": _title(bucket), "x": str(update), "arm": arm.name}
        row |= {"n": int(held["sentences"].iloc[0])}
        yield row | {"kind": MEAN} | _mean(held)
        for seed, loss in zip(held["seed"], held["loss"], strict=True):
            yield row | {"kind": SEED, "seed": int(seed), "value": float(loss)}


def _mean(held: pd.DataFrame) -> dict[str, float]:
    """Over seeds, with its interval.

    The seeds share their sentences, so that the error of their mean is at most the mean of theirs:
    that is taken.
    """
    value, error = float(held["loss"].mean()), float(held["standard_error"].mean(skipna=False))
    low = float(np.maximum(0.0, value - Z * error))
    return {"value": value, "low": low, "high": value + Z * error}


def _facts(comparison: Comparison, lacking: int) -> str:
    told = f"{bars([comparison], 'validation sentences')} {run_facts([comparison])}"
    if lacking:
        told += f" Of {lacking} run{'s' if lacking > 1 else ''} there is no such log."
    return f"Validation loss under teacher forcing, -log P of the references. {told}"
