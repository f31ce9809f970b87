"""What `bottleneck bench` writes: which files, which columns, which types.

- ``probes/cost.csv``: a row a measured point; ``varied,arm`` and the sizes are a key. The base of
  all sizes stands once for each quantity that was varied.
- ``probes/cost_exponents.csv``: a row a fit of ``quantity = constant x size ^ exponent``.

Types are pandas' own names. All but texts may be blank: a point that could not be measured has its
``reason`` and no numbers, an arm without attention has no attention's part.
"""

COST = "probes/cost.csv"
COST_EXPONENTS = "probes/cost_exponents.csv"

VARIED = ("length", "context_size", "batch_size", "vocabulary")
"""What is varied, one size at a time; also the names of the sizes' columns."""

QUANTITIES = ("seconds", "peak_mb", "attention_seconds", "attention_mb")
"""What an exponent is fitted to."""

COST_COLUMNS: dict[str, str] = {
    "varied": "str",
    "arm": "str",
    "attention": "str",
    "placement": "str",
    "length": "int64",
    "context_size": "int64",
    "hidden_size": "int64",
    "embedding_size": "int64",
    "batch_size": "int64",
    "vocabulary": "int64",
    "seconds": "float64",
    "seconds_low": "float64",
    "seconds_high": "float64",
    "repeats": "int64",
    "steps": "int64",
    "target_tokens_per_second": "float64",
    "peak_mb": "float64",
    "attention_seconds": "float64",
    "attention_seconds_low": "float64",
    "attention_seconds_high": "float64",
    "attention_share": "float64",
    "attention_share_low": "float64",
    "attention_share_high": "float64",
    "attention_mb": "float64",
    "reason": "str",
    "machine": "str",
    "device": "str",
    "cores": "int64",
    "threads": "int64",
    "version": "str",
    "jax": "str",
    "date": "str",
}
"""Columns of ``cost.csv``.

``arm`` is the attention, with ``-output`` behind it in Luong's placement. ``length`` is tokens a
side, end token included. ``seconds`` is the median of a training step over ``repeats`` groups of
``steps`` each, ``_low`` and ``_high`` the least and greatest group. ``attention_...`` is what the
arm has beyond the arm without attention in its placement: seconds, share of the arm's seconds
(0 to 1), and megabytes (10^6 bytes) of the peak. ``date`` is that of the measurement, UTC.
"""

EXPONENT_COLUMNS: dict[str, str] = {
    "arm": "str",
    "varied": "str",
    "quantity": "str",
    "part": "str",
    "exponent": "float64",
    "low": "float64",
    "high": "float64",
    "points": "int64",
    "from": "int64",
    "to": "int64",
}
"""Columns of ``cost_exponents.csv``.

``part`` is ``all`` sizes, or ``upper``: those from the range's geometric middle up. ``low`` to
``high`` is the 95 % interval of least squares over ``points`` sizes, ``from`` the least ``to`` the
greatest that have the quantity above 0; blank where two points leave nothing to judge it by.
"""


def device_named(device: str) -> str:
    """The column ``device`` in words: ``gpu: NVIDIA L4``, and ``cpu`` of ``cpu: cpu``."""
    platform, _, kind = device.partition(": ")
    return platform if kind == platform else device
