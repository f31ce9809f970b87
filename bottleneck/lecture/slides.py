"""What the lecture's slides print, as ``slides.toml`` has it, and what it is compared with.

The formulas on paper, and the `Evidence`: what trained runs, a benchmark and the grammar answer.
"""

import tomllib
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

Number = float | int
Vector = Float[np.ndarray, " width"]
States = Float[np.ndarray, "source width"]
Weights = Float[np.ndarray, " source"]
AttentionCode = Callable[[Vector, States], tuple[Weights, Vector]]
"""From a query and the encoder states to the weights and the context."""
Slide = Mapping[str, Any]


class Printed(float):
    """A decimal number that keeps its slide's text: ``str(Printed("0.60"))`` is ``"0.60"``."""

    def __new__(cls, text: str | float) -> "Printed":
        """The number, with its text."""
        number = super().__new__(cls, text)
        number.text = str(text)
        return number

    def __str__(self) -> str:
        return self.text


SLIDES: dict[str, dict[str, Any]] = tomllib.loads(
    resources.files(__package__).joinpath("slides.toml").read_text(encoding="utf8"),
    parse_float=Printed,
)
"""What is printed on each id's slide, in the lecture's order."""
L_FAIL: Mapping[str, SimpleNamespace] = {
    row["bucket"]: SimpleNamespace(**row) for row in SLIDES["L-FAIL"]["rows"]
}
"""By our buckets; ``slide_bucket`` is the slide's name of a bucket. Each row has
``compression_ratio``, ``bleu``, and ``drop_percent`` from the first row."""
L_VIND: Mapping[str, SimpleNamespace] = {
    row["bucket"]: SimpleNamespace(**row) for row in SLIDES["L-VIND"]["rows"]
}
"""The same buckets, with BLEU of ``none`` and ``attention``, and ``improvement_percent``."""
L4 = [
    SimpleNamespace(words=words, ratio=words * 100 / 256, printed_ratio=printed, quality=quality)
    for words, printed, quality in zip(
        SLIDES["L4"]["words"],
        SLIDES["L4"]["printed"]["ratio"],
        SLIDES["L4"]["quality"],
        strict=True,
    )
]
"""Each row has ``words``, the ratio as printed and before rounding, and its ``quality``."""


def log_linear_fit(ratio: Sequence[Number], bleu: Sequence[Number]) -> tuple[float, float, float]:
    """Scale and rate of BLEU = scale exp(-rate ratio), correlation of log BLEU with the ratio."""
    slope, constant = np.polyfit(ratio, np.log(bleu), 1)
    return float(np.exp(constant)), float(-slope), float(np.corrcoef(ratio, np.log(bleu))[0, 1])


@dataclass(frozen=True, eq=False)
class Grid:
    """Attention weights, a row for each target word; ``gold`` is the column of its translation."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    weights: Float[np.ndarray, "rows columns"]
    gold: Sequence[int]

    @property
    def largest(self) -> Bool[np.ndarray, "rows columns"]:
        """The largest cell of each row; several if they are equal."""
        return self.weights == self.weights.max(axis=1, keepdims=True)

    def aligned(self) -> list[str]:
        """Words whose translation alone has the row's largest weight."""
        return [
            word
            for word, largest, column in zip(self.rows, self.largest, self.gold, strict=True)
            if largest[column] and largest.sum() == 1
        ]

    def summary(self) -> str:
        """In how many rows the largest weight is on the translation; the mean of the gold cells."""
        right = self.aligned()
        gold = self.weights[np.arange(len(self.rows)), list(self.gold)].mean()
        words = f" ({', '.join(right)})" if right else ""
        return (
            f"largest on the word's translation in {len(right)} of {len(self.rows)} rows{words}; "
            f"gold cells {gold:.3f} on average, equal weights {1 / len(self.columns):.3f}"
        )


class Alignment(NamedTuple):
    """Words of a sentence and of its translation; ``links`` are the target places of each word."""

    source: Sequence[str]
    target: Sequence[str]
    links: Sequence[Sequence[int]]


class Exponent(NamedTuple):
    """Attention's seconds = constant x length ^ value, with a 95 % interval; both sides as long."""

    arm: str
    value: float
    low: float
    high: float
    folder: str = ""


class ArmOutput(NamedTuple):
    """What a trained run answers to an id's sentences.

    ``steps`` (L17) are the words before a step, each with the next words and their probabilities.
    """

    arm: str
    run: str
    translations: Sequence[str]
    steps: Sequence[tuple[str, Sequence[tuple[str, float]]]] = ()


def softmax(scores: Weights) -> Weights:
    """alpha_i = exp(e_i) / sum_j exp(e_j), as on paper."""
    return np.exp(scores) / np.exp(scores).sum()


def cosine(a: Vector, b: Vector) -> float:
    """a . b / (|a| |b|)."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def attention_in_code(query: Vector, states: States) -> tuple[Weights, Vector]:
    """Weights and context by the three operations of L18's code."""
    scores = np.dot(states, query)
    exponentials = np.exp(scores - np.max(scores))
    weights = exponentials / np.sum(exponentials)
    return weights, np.sum(weights[:, None] * states, axis=0)


def same_words(a: str, b: str) -> bool:
    """Whether two texts are the same up to case, spaces, the apostrophe's form, a final stop."""
    first, second = (
        unicodedata.normalize("NFC", text).casefold().replace("\u2019", "'").rstrip(" .!?").split()
        for text in (a, b)
    )
    return first == second


@dataclass(frozen=True)
class Evidence:
    """The slides, and what is not on them.

    The grammar's ``alignment`` (L16), a benchmark's exponent (``cost``, L15), ``learned`` weights
    (L10), what trained ``arms`` answer (L17, L-SHORT), L18's ``code``.
    """

    alignment: Alignment
    cost: Exponent | None = None
    learned: Grid | None = None
    arms: Sequence[ArmOutput] = ()
    code: AttentionCode = attention_in_code
    slides: Mapping[str, Slide] = field(default_factory=lambda: SLIDES)

    def column(self, table: str, name: str) -> list[Any]:
        """A column of L-FAIL or L-VIND."""
        return [row[name] for row in self.slides[table]["rows"]]
