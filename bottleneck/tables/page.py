"""One table and what belongs to it."""

from dataclasses import dataclass

import pandas as pd
from rich.console import RenderableType

from ..claims.verdict import Verdict


@dataclass(frozen=True, eq=False)
class Page:
    """One table: its file name, title, data, form on a terminal, judgements and caption."""

    name: str
    title: str
    frame: pd.DataFrame
    table: RenderableType
    judged: list[Verdict]
    caption: list[str]

    @property
    def verdicts(self) -> list[str]:
        """The judgements in words, each followed by its rule."""
        return [
            line
            for one in self.judged
            for line in (f"{one.claim}: {one.verdict}: {one.because}.", f"Rule: {one.rule}")
        ]
