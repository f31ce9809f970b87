"""The audit of the lecture as a table, and what it takes from the grammar and from a bundle."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.table import Table
from rich.text import Text

from ..corpus.grammar import english_french
from ..corpus.tokens import detokenize, tokenize
from ..lecture.checks import Audit
from ..lecture.evidence import Alignment, Exponent
from ..lecture.verdicts import RULES
from ..results.bundle import read_table
from ..results.cost import COST_EXPONENTS, EXPONENT_COLUMNS
from .fitting import MEASURE
from .page import Page

TITLE = "The lecture's printed numbers, recomputed"
LEFT = 22
"""Columns of ids and labels, and between these and the rest."""
COLUMNS = ("id", "topic", "printed", "recomputed", "verdict", "why")


SLIDES_SCORES = ("dot-output", "dot")
"""The arms that L15 is about, the one first whose attention is scores and sums alone (read after
the recurrence); the first one measured stands in for them."""


def audit_page(audits: Sequence[Audit]) -> Page:
    """The audit with its verdict counts and rules; the same forms as every table."""
    frame = audit_frame(audits)
    return Page("lecture", TITLE, frame, audit_table(audits), [], _caption(audits))


def audit_frame(audits: Sequence[Audit]) -> pd.DataFrame:
    """A row an id; every column is text."""
    rows = [[getattr(audit, name) for name in COLUMNS] for audit in audits]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def audit_table(audits: Sequence[Audit]) -> Table:
    """The audit for a terminal: what is compared stands one under the other."""
    table = Table(
        title=TITLE,
        title_justify="left",
        title_style="bold",
        box=None,
        show_header=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column(no_wrap=True, style="bold")
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold", max_width=MEASURE - LEFT)
    for audit in audits:
        head = Text.assemble((f"{audit.topic}: ", ""), (audit.verdict, "bold"))
        table.add_row("", "", "")
        table.add_row(audit.id, "", head)
        for label in ("printed", "recomputed", "why"):
            table.add_row("", label, Text(getattr(audit, label)))
    return table


def _caption(audits: Sequence[Audit]) -> list[str]:
    """How many ids have each verdict, and the rules of the verdicts given."""
    verdicts = [audit.verdict for audit in audits]
    counts = {word: verdicts.count(word) for word in RULES if word in verdicts}
    total = ", ".join(f"{word} {count}" for word, count in counts.items())
    walks = "`bottleneck lecture ID` walks through one of them."
    return [f"Verdicts: {total}. {walks}", *(f"{word}: {RULES[word]}." for word in counts)]


def grammar_alignment(sentence: str) -> Alignment:
    """The grammar's gold links of a sentence of its language, between whole words.

    ValueError if the grammar does not make the sentence.
    """
    pair = english_french().parse(sentence.lower())
    if pair is None:
        raise ValueError(f"the grammar does not make {sentence!r}")
    source, target = _word_places(pair.source), _word_places(pair.target)
    links = sorted({(source[i], target[j]) for i, j in pair.links})
    return Alignment(tuple(pair.source.split()), tuple(pair.target.split()), tuple(links))


def _word_places(text: str) -> list[int]:
    """For each token the whitespace-separated word that it is part of."""
    tokens = tokenize(text)
    return [len(detokenize(tokens[: place + 1]).split()) - 1 for place in range(len(tokens))]


def measured_exponent(folder: Path) -> Exponent | None:
    """How attention's seconds grow with the length, from a benchmark (L15).

    Read over the upper lengths, as for C9. None where the folder has no such measurement; a
    damaged file is a ``UserError``.
    """
    path = folder / COST_EXPONENTS
    if not path.is_file():
        return None
    frame = read_table(path, EXPONENT_COLUMNS).dropna(subset=["exponent", "low", "high"])
    wanted = {"varied": "length", "quantity": "attention_seconds", "part": "upper"}
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    if frame.empty:
        return None
    row = min(frame.to_dict("records"), key=lambda row: _preference(row["arm"]))
    return Exponent(*(row[name] for name in ("arm", "exponent", "low", "high")))


def _preference(arm: str) -> int:
    """Place of an arm among those that measure the slide's score; others come last."""
    return SLIDES_SCORES.index(arm) if arm in SLIDES_SCORES else len(SLIDES_SCORES)
