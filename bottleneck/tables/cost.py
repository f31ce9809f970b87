"""What a training step costs, from the benchmark's files: time, memory, attention's share (C9)."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from ..results.bundle import read_table
from ..results.cost import (
    COST,
    COST_COLUMNS,
    COST_EXPONENTS,
    EXPONENT_COLUMNS,
    VARIED,
    device_named,
)
from ..results.folders import was_written
from ..results.schema import BENCHMARK
from ..settings.errors import UserError
from .cost_growth import NAMES, growth_page, present
from .packing import Column, Packed, Part
from .page import Page

TITLE = "Cost of a training step (C9)"
UNITS = {
    "length": "tokens a side",
    "context_size": "and hidden size",
    "batch_size": "sentences",
    "vocabulary": "words a side",
}
"""What the sizes that are varied count, behind their names."""
SHOWN = {
    "seconds": ("ms", 1e3),
    "attention_seconds": ("attention_ms", 1e3),
    "attention_share": ("attention_share", 1.0),
}
"""Measured with its range: the page's column and its unit."""


def load_cost(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both files of a benchmark, columns as in `results.cost`; without them a ``UserError``."""
    for name in (COST, COST_EXPONENTS):
        if not was_written(folder / name):
            where = shlex.quote(str(folder))
            raise UserError(
                f"no {name} in {str(folder)!r}: `bottleneck bench --out {where}` measures it"
            )
    columns = {COST: COST_COLUMNS, COST_EXPONENTS: EXPONENT_COLUMNS}
    costs, exponents = (read_table(folder / name, columns[name]) for name in columns)
    return costs, exponents


def cost_pages(costs: pd.DataFrame, exponents: pd.DataFrame) -> list[Page]:
    """What was measured, and how it grows with the verdict on C9."""
    table = Packed(cost_parts(costs))
    page = Page(BENCHMARK, TITLE, measured(costs), table, [], caption(costs))
    return [page, growth_page(costs, exponents)]


def measured(costs: pd.DataFrame) -> pd.DataFrame:
    """A row an arm and point: ms a step, tokens a second, megabytes; attention's ms, share and MB.

    The share is of the step's time, 0 to 1; a megabyte is 10^6 bytes.
    """
    frame = pd.DataFrame({"varied": costs["varied"], "size": _sizes(costs), "arm": costs["arm"]})
    for name, (shown, unit) in SHOWN.items():
        for end in ("", "_low", "_high"):
            frame[shown + end] = costs[name + end] * unit
    frame["tokens_per_second"] = costs["target_tokens_per_second"]
    frame["mb"] = costs["peak_mb"]
    frame["attention_mb"] = costs["attention_mb"]
    frame["reason"] = costs["reason"]
    return frame


def _sizes(costs: pd.DataFrame) -> pd.Series:
    """Each row's size of what is varied in it."""
    sizes = [row[row["varied"]] for row in costs.to_dict("records")]
    return pd.Series(sizes, index=costs.index, dtype="int64")


def cost_parts(costs: pd.DataFrame) -> list[Part]:
    """For a terminal: a row a size, columns by quantity and arm."""
    frame, parts = measured(costs), []
    for varied in present(costs):
        rows = frame[frame["varied"] == varied]
        sizes = sorted(set(rows["size"]))
        head = "words" if varied == "vocabulary" else NAMES[varied]
        blocks = [
            _block(rows, sizes, "ms", "ms", _milliseconds),
            _block(rows, sizes, "attention_share", "attn.", lambda value: f"{value:.0%}"),
            _block(rows, sizes, "mb", "MB", lambda value: f"{value:,.0f}"),
            _block(rows, sizes, "tokens_per_second", "tok/s", lambda value: f"{value:,.0f}"),
        ]
        title = _title(costs[costs["varied"] == varied], varied)
        parts.append(Part(title, Column(head, [f"{size:,}" for size in sizes]), blocks))
    return parts


def _title(rows: pd.DataFrame, varied: str) -> str:
    """``By length (tokens a side), context 256, batch 64, words 2,000``."""
    fixed = [f"{NAMES[name]} {int(rows[name].iloc[0]):,}" for name in VARIED if name != varied]
    return f"By {NAMES[varied]} ({UNITS[varied]}); {', '.join(fixed)}"


def _milliseconds(value: float) -> str:
    """Three digits or more."""
    return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f}"


def _block(
    rows: pd.DataFrame, sizes: Sequence[int], name: str, head: str, form: Callable[[float], str]
) -> list[Column]:
    """One quantity's columns, one for each arm that has it somewhere."""
    columns = []
    for arm in dict.fromkeys(rows["arm"]):
        held = rows[rows["arm"] == arm].set_index("size")[name].reindex(sizes)
        if held.notna().any():
            cells = ["" if pd.isna(value) else form(value) for value in held]
            columns.append(Column(f"{arm.replace('-', chr(10))}\n{head}", cells))
    return columns


def caption(costs: pd.DataFrame) -> list[str]:
    """What was measured, how, on what; what could not be."""
    lines = [
        "A training step (gradient, clipping, Adam) of the lecture's GRU, one layer, hidden = "
        f"context, embedding {_listed(costs['embedding_size'])}, on random words: both sides have "
        "the same length, end token included, and nothing is padded. Each step is sent alone, as "
        "a run on cores does it. -output is Luong's placement, without it Bahdanau's.",
        _timing(costs),
        "attn.: attention's share, 1 - time of the same model without attention in the same "
        "placement / time, round by round, median. Beside scores and sums it has all that comes "
        "with a context that changes: its way into the cell at every step.",
        "MB (10^6 bytes): arguments, results and work space of the step's compiled programs as "
        "XLA states them, the larger of the gradient's and Adam's; not the process's resident "
        "memory, which also holds Python, XLA and what the allocator keeps.",
        _machine(costs),
        _failures(costs),
    ]
    return [line for line in lines if line]


def _timing(costs: pd.DataFrame) -> str:
    """How the times were taken, and how far they scatter."""
    known = costs.dropna(subset=["seconds"])
    if known.empty:
        return ""
    apart = (known["seconds_high"] - known["seconds_low"]) / known["seconds"]
    return (
        f"ms: median of {_listed(known['repeats'])} groups of steps (a group lasts about 0.3 s or "
        "one step), the arms of a point in turn. Least and greatest group are "
        f"{apart.median():.1%} of the median apart at half of the points, {apart.max():.0%} at "
        "most; cost.csv has them."
    )


def _machine(costs: pd.DataFrame) -> str:
    """``Machine: AMD EPYC, 2 cores, 1 thread, device cpu; bottleneck 0.1, jax 0.10.2; DATE``."""
    known = costs[costs["machine"] != ""]
    if known.empty:
        return ""
    threads = _listed(known["threads"])
    devices = known["device"].map(device_named, na_action="ignore")
    return (
        f"Machine: {_listed(known['machine'])}, {_listed(known['cores'])} cores, "
        f"{threads} thread{'' if threads == '1' else 's'}, device {_listed(devices)}; "
        f"bottleneck {_listed(known['version'])}, jax {_listed(known['jax'])}; "
        f"{_listed(known['date'])}."
    )


def _listed(values: pd.Series) -> str:
    return " / ".join(map(str, dict.fromkeys(values.dropna())))


def _failures(costs: pd.DataFrame) -> str:
    """The points without numbers, and why."""
    held = costs.assign(size=_sizes(costs))
    lost = [
        f"{NAMES[row['varied']]} {row['size']:,} {row['arm']} ({row['reason']})"
        for row in held[held["reason"] != ""].to_dict("records")
    ]
    return f"Without numbers: {'; '.join(lost)}." if lost else ""
