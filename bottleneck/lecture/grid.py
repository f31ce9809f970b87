"""A matrix of attention weights with the gold alignment of its words."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float


@dataclass(frozen=True, eq=False)
class Grid:
    """Weights, a row for each target word; ``gold`` is the column of each row's translation."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    weights: Float[np.ndarray, "rows columns"]
    gold: tuple[int, ...]
    note: str = ""

    @property
    def largest(self) -> Bool[np.ndarray, "rows columns"]:
        """The largest cell of each row; several where they are equal."""
        return self.weights == self.weights.max(axis=1, keepdims=True)

    @property
    def right(self) -> list[str]:
        """Words whose translation alone has the row's largest weight."""
        return self._aligned(tied=False)

    @property
    def tied(self) -> list[str]:
        """Words whose translation shares the row's largest weight with others."""
        return self._aligned(tied=True)

    def _aligned(self, tied: bool) -> list[str]:
        largest = self.largest
        return [
            word
            for row, (word, column) in enumerate(zip(self.rows, self.gold, strict=True))
            if largest[row, column] and (largest[row].sum() > 1) == tied
        ]

    @property
    def gold_mean(self) -> float:
        """The mean weight of the gold cells."""
        return float(self.weights[np.arange(len(self.rows)), list(self.gold)].mean())

    @property
    def equal_weight(self) -> float:
        """What each cell holds where all weights are equal."""
        return 1 / len(self.columns)

    def summary(self) -> str:
        """How many rows have their largest weight on the translation, and the gold cells' mean."""
        tied = f", tied in {len(self.tied)} more ({', '.join(self.tied)})" if self.tied else ""
        right = f" ({', '.join(self.right)})" if self.right else ""
        return (
            f"largest on the word's translation in {len(self.right)} of {len(self.rows)} rows"
            f"{right}{tied}; gold cells {self.gold_mean:.3f} on average, equal weights "
            f"{self.equal_weight:.3f}"
        )
