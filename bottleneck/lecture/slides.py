"""What the lecture's slides print, by id, as ``slides.toml`` has it."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from types import SimpleNamespace
from typing import Any

import numpy as np

Number = float | int


class Printed(float):
    """A decimal number that keeps its slide's text: ``str(Printed("0.60"))`` is ``"0.60"``."""

    def __new__(cls, text: str | float) -> "Printed":
        """The number, with its text."""
        number = super().__new__(cls, text)
        number.text = str(text)
        return number

    def __str__(self) -> str:
        return self.text


_TEXT = resources.files(__package__).joinpath("slides.toml").read_text(encoding="utf8")
SLIDES: dict[str, dict[str, Any]] = tomllib.loads(_TEXT, parse_float=Printed)
"""What is printed on each id's slide, in the lecture's order."""
Rows = Mapping[str, SimpleNamespace]
"""A table's rows by our buckets; ``slide_bucket`` is the slide's name of a bucket."""
L_FAIL: Rows = {row["bucket"]: SimpleNamespace(**row) for row in SLIDES["L-FAIL"]["rows"]}
"""Each row has ``compression_ratio``, ``bleu``, and ``drop_percent`` from the first row."""
L_VIND: Rows = {row["bucket"]: SimpleNamespace(**row) for row in SLIDES["L-VIND"]["rows"]}
"""Each row has BLEU of ``none`` and ``attention``, and ``improvement_percent``."""
_L4 = SLIDES["L4"]
L4 = [
    SimpleNamespace(words=words, ratio=words * 100 / 256, printed_ratio=printed, quality=quality)
    for words, printed, quality in zip(
        _L4["words"], _L4["printed"]["ratio"], _L4["quality"], strict=True
    )
]
"""Each row has ``words``, the ratio as printed and before rounding, and its ``quality``."""


def log_linear_fit(ratio: Sequence[Number], bleu: Sequence[Number]) -> tuple[float, float, float]:
    """Scale and rate of BLEU = scale exp(-rate ratio), correlation of log BLEU with the ratio."""
    slope, constant = np.polyfit(ratio, np.log(bleu), 1)
    return float(np.exp(constant)), float(-slope), float(np.corrcoef(ratio, np.log(bleu))[0, 1])
