"""A table with all that belongs to it, ready to print and to write."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.table import Table

from ..results.bundle import Bundle
from ..settings.atomic import write_text
from .caption import common_caption, failure_verdicts, vindication_verdicts
from .comparison import compare
from .render import (
    FAILURE_TITLE,
    VINDICATION_TITLE,
    csv,
    failure_table,
    markdown,
    vindication_table,
)
from .slides import failure_pattern, vindication


@dataclass(frozen=True, eq=False)
class Page:
    """One table: its file name, title, data, form on a terminal, verdicts and caption."""

    name: str
    title: str
    frame: pd.DataFrame
    table: Table
    verdicts: list[str]
    caption: list[str]


def slide_pages(bundle: Bundle) -> list[Page]:
    """The failure pattern and the vindication of a bundle."""
    comparison = compare(bundle)
    caption = common_caption(comparison, bundle)
    failure, gains = failure_pattern(comparison), vindication(comparison)
    attention = comparison.attention.name
    return [
        Page(
            "failure_pattern",
            FAILURE_TITLE,
            failure,
            failure_table(failure),
            failure_verdicts(comparison),
            caption,
        ),
        Page(
            "vindication",
            VINDICATION_TITLE.format(attention=attention),
            gains,
            vindication_table(gains, attention),
            vindication_verdicts(comparison),
            caption,
        ),
    ]


def write_pages(pages: Sequence[Page], folder: Path) -> None:
    """Write each page as ``NAME.csv`` and ``NAME.md``."""
    for page in pages:
        write_text(folder / f"{page.name}.csv", csv(page.frame))
        text = markdown(page.frame, page.title, [*page.verdicts, *page.caption])
        write_text(folder / f"{page.name}.md", text)
