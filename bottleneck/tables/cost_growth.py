"""How a training step's cost grows: fitted exponents, and what the rule of C9 takes (C9, L15)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..claims.cost import ArmCost, Growth, cost_grows_with_product
from ..results.cost import VARIED, device_named
from .packing import Column, Packed, Part
from .page import Page

TITLE = "How the cost grows (C9, L15): quantity = constant x size ^ exponent"
NAMES = {varied: varied.removesuffix("_size") for varied in VARIED}
FITTED = {"seconds": "seconds", "attention_seconds": "attention\nseconds", "peak_mb": "MB"}
SPAN_WIDTH = 9
"""A longer span of sizes takes two lines of a head."""
FEW_WORDS = 30
"""The length, beside the greatest, whose share a verdict tells."""


def growth_page(costs: pd.DataFrame, exponents: pd.DataFrame) -> Page:
    """The exponents with the verdict on C9."""
    fits = exponents.rename(columns={"low": "exponent_low", "high": "exponent_high"})
    verdict = cost_grows_with_product(arm_costs(costs, exponents))
    table = Packed([exponent_part(fits, varied) for varied in present(fits)])
    return Page("cost_exponents", TITLE, fits, table, [verdict], fit_caption(fits))


def present(frame: pd.DataFrame) -> list[str]:
    """What is varied in these rows, in the documented order."""
    return [name for name in VARIED if (frame["varied"] == name).any()]


def exponent_part(fits: pd.DataFrame, varied: str) -> Part:
    """For a terminal: a row an arm, each quantity over all sizes and over the upper ones."""
    rows = fits[fits["varied"] == varied]
    arms = list(dict.fromkeys(rows["arm"]))
    blocks = [
        [
            _exponents(rows[rows["part"] == part], arms, name, head)
            for part in dict.fromkeys(rows["part"])
        ]
        for name, head in FITTED.items()
        if (rows["quantity"] == name).any()
    ]
    return Part(f"By {NAMES[varied]}", Column("arm", arms, "left"), blocks)


def _exponents(rows: pd.DataFrame, arms: Sequence[str], name: str, head: str) -> Column:
    """One quantity over one part of the sizes, which the head names."""
    span = f"{rows['from'].min():,}..{rows['to'].max():,}"
    if len(span) > SPAN_WIDTH:
        span = span.replace("..", "..\n")
    fits = [_fit(rows[rows["arm"] == arm], name, rows["part"].iloc[0]) for arm in arms]
    return Column(f"{head}\n{span}", [_exponent(fit) for fit in fits])


def _fit(rows: pd.DataFrame, quantity: str, part: str) -> Mapping[str, Any] | None:
    """The row of one fit."""
    found = rows[(rows["quantity"] == quantity) & (rows["part"] == part)].to_dict("records")
    return found[0] if found else None


def _exponent(fit: Mapping[str, Any] | None) -> str:
    """An exponent and half of its interval, which is as wide on either side; empty without one."""
    if fit is None:
        return ""
    half = fit["exponent_high"] - fit["exponent"]
    return f"{fit['exponent']:z.2f}" + ("" if pd.isna(half) else f"±{half:.2f}")


def arm_costs(costs: pd.DataFrame, exponents: pd.DataFrame) -> list[ArmCost]:
    """What the rule of C9 takes: the arms with attention over the lengths."""
    rows = costs[costs["varied"] == "length"]
    fits = exponents[exponents["varied"] == "length"]
    found = []
    for arm in dict.fromkeys(rows.loc[rows["attention"] != "none", "arm"]):
        mine = rows[rows["arm"] == arm]
        none = mine["placement"].iloc[0].replace("input", "none").replace("output", "none-output")
        step = _growth(fits, arm, "seconds", "upper")
        found.append(
            ArmCost(
                arm,
                _growth(fits, arm, "attention_seconds", "upper"),
                _growth(fits, arm, "attention_seconds", "all"),
                step,
                _growth(fits, none, "seconds", "upper"),
                step.points if step else 0,
                _shares(mine),
            )
        )
    return found


def _growth(fits: pd.DataFrame, arm: str, quantity: str, part: str) -> Growth | None:
    """An exponent that has an interval."""
    found = _fit(fits[fits["arm"] == arm], quantity, part)
    if found is None or pd.isna(found["low"]):
        return None
    return Growth(found["exponent"], found["low"], found["high"], int(found["points"]))


def _shares(rows: pd.DataFrame) -> tuple[tuple[int, float], ...]:
    """Attention's share at 30 tokens, or else at the fewest, and at the most."""
    held = rows.dropna(subset=["attention_share"]).set_index("length")["attention_share"]
    if held.empty:
        return ()
    ends = FEW_WORDS if FEW_WORDS in held.index else held.index.min(), held.index.max()
    return tuple((int(length), float(held[length])) for length in dict.fromkeys(ends))


def measured_on(costs: pd.DataFrame) -> str:
    """What C9 rests on: ``27 points on AMD EPYC, 2 cores, cpu, 2026-11-22``.

    Points are arms x lengths with a time; what was not written down is left out.
    """
    held = costs[(costs["varied"] == "length") & costs["seconds"].notna()]
    if held.empty:
        return ""
    cores = [f"{int(each)} cores" for each in dict.fromkeys(held["cores"].dropna())]
    held = held.assign(device=held["device"].map(device_named, na_action="ignore"))
    named = [[each for each in dict.fromkeys(held[name].dropna()) if each]
             for name in ("machine", "device", "date")]  # fmt: skip
    where = ", ".join(" / ".join(each) for each in (named[0], cores, *named[1:]) if each)
    return f"benchmark: {len(held)} points" + (f" on {where}" if where else "")


def fit_caption(fits: pd.DataFrame) -> list[str]:
    """What is fitted, over which range, and what the interval is."""
    lines = [
        "Least squares of log quantity on log size over the sizes at the column's head, all and "
        "from the geometric middle of the range up: a power with something smaller beside it "
        "bends, and the upper part is nearer to where it goes. Ranges: 95 % intervals of the "
        "slope (Student's t), half of their width behind ±; they take what is off the line for "
        "chance.",
        _fewer(fits),
    ]
    return [line for line in lines if line]


def _fewer(fits: pd.DataFrame) -> str:
    """The fits of attention's own seconds that lack sizes the step's have."""
    keys = ["arm", "varied", "part"]
    wide = fits.pivot_table(index=keys, columns="quantity", values="points", aggfunc="first")
    if not {"seconds", "attention_seconds"} <= set(wide.columns):
        return ""
    lacking = wide[wide["attention_seconds"] < wide["seconds"]]
    if lacking.empty:
        return ""
    named = [f"{arm} by {NAMES[varied]}, {part}" for arm, varied, part in lacking.index]
    return f"Sizes at which attention took no time are left out: {'; '.join(named)}."
