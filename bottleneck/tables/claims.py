"""The end of the study: every claim of the lecture with its number, its verdict and why."""

from collections.abc import Mapping, Sequence

import pandas as pd
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from .decided import Decision
from .formats import check_known, csv, json, markdown
from .render import MEASURE, print_prose

TITLE = "The lecture's claims"
VERDICTS = {"held": "green", "partly": "yellow", "not held": "red", "not measured": "dim"}
"""The verdicts, and how each is coloured on a terminal."""
LEFT, GAP = 14, 2
"""Columns of the ids and verdicts (``L-VIND-largest``), and between these and the rest."""
FORMATS = ("rich", "csv", "markdown", "json")
"""The forms of the claims; ``rich`` is the terminal's."""

CAPTION = (
    "The rule of every verdict is written in code (bottleneck/claims/), as it was before the "
    "reference runs; changes are dated in results/LOG.md. --format csv, markdown and json have the "
    "rule beside the verdict.",
    "Ranges are 95 % intervals, over test sentences unless it is said otherwise; seeds are small "
    "points in the figures and rows of probes/NAME.csv. Nothing is corrected for the number of "
    "claims, buckets or controls.",
)


def claims(decisions: Sequence[Decision]) -> pd.DataFrame:
    """A row a claim: id, claim, measure, value, low, high, verdict, because, rule, runs, command.

    ``measure`` says what ``value`` is a number of, else what is to be measured; ``runs`` are those
    that the verdict rests on, ``command`` is what would produce what a verdict lacks. ``low`` to
    ``high`` is the 95 % interval.
    """
    rows = [
        {
            "id": item.claim.id,
            "claim": item.claim.says,
            "measure": item.verdict.measure or item.claim.measure,
            "value": item.verdict.value,
            "low": item.verdict.low,
            "high": item.verdict.high,
            "verdict": item.verdict.verdict,
            "because": item.verdict.because,
            "rule": item.verdict.rule,
            "runs": item.runs,
            "command": item.command,
        }
        for item in decisions
    ]
    return pd.DataFrame(rows).astype(dict.fromkeys(("value", "low", "high"), "float64"))


def summary(decisions: Sequence[Decision]) -> str:
    """``17 claims: 5 held, 3 partly, 2 not held, 7 not measured``."""
    verdicts = [decision.verdict.verdict for decision in decisions]
    parts = ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS if name in verdicts)
    return f"{len(verdicts)} claims: {parts}"


def number(row: Mapping[str, object]) -> str:
    """``45.7 [41.0, 50.1]``, as many digits as the greatest of them needs; empty without one."""
    if pd.isna(row["value"]):
        return ""
    ends = [row["low"], row["high"]]
    greatest = max(abs(value) for value in (row["value"], *ends) if not pd.isna(value))
    form = f"{{:.{1 if greatest >= 10 else 2 if greatest >= 0.1 else 4}f}}"
    if any(map(pd.isna, ends)):
        return form.format(row["value"])
    return f"{form.format(row['value'])} [{', '.join(map(form.format, ends))}]"


def _block(row: Mapping[str, str]) -> Table:
    """A claim for a terminal: id and verdict on the left; on the right claim, number, why, runs."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(min_width=LEFT, max_width=LEFT)
    grid.add_column()
    left = Text(row["id"], style="bold")
    left.append(f"\n{row['verdict']}", style=f"not bold {VERDICTS[row['verdict']]}")
    value = number(row)
    lines = [
        Text(row["claim"], style="bold"),
        Text(f"{value}  {row['measure']}" if value else ""),
        Text(f"{row['because']}."),
        Text(row["runs"], style="dim"),
    ]
    grid.add_row(left, Group(*filter(None, lines)))
    return grid


def _markdown(decisions: Sequence[Decision]) -> str:
    """A table of ids, verdicts and numbers; below it why, by which rule, and what is lacking."""
    frame = claims(decisions)
    rows = frame.to_dict("records")
    short = frame[["id", "claim", "verdict", "measure"]].assign(
        number=[number(row) for row in rows], runs=frame["runs"]
    )
    lines = []
    for row in rows:
        lines.append(f"{row['id']}: {row['verdict']}: {row['because']}.")
        lines.append(f"Rule: {row['rule']}")
        lines += [f"Command: {row['command']}"] if row["command"] else []
    return markdown(short, f"{TITLE}: {summary(decisions)}", [*lines, *CAPTION])


def check_format(form: str) -> None:
    """Refuse what is not in `FORMATS` as a ``UsageError``."""
    check_known(form, FORMATS)


def render(decisions: Sequence[Decision], form: str) -> str:
    """The claims as text in one of `FORMATS` but ``rich``."""
    check_format(form)
    if form == "markdown":
        return _markdown(decisions)
    frame = claims(decisions)
    return csv(frame) if form == "csv" else json("claims", TITLE, frame, caption=list(CAPTION))


def print_claims(decisions: Sequence[Decision], console: Console) -> None:
    """Print every claim for a terminal of 80 columns or more."""
    print_prose(console, f"{TITLE}. {summary(decisions)}", "bold")
    for row in claims(decisions).to_dict("records"):
        console.print()
        console.print(Constrain(_block(row), MEASURE))
        if row["command"]:  # it is copied, so that only the terminal may break it
            console.print(f"{' ' * (LEFT + GAP)}{row['command']}", markup=False, soft_wrap=True)
    console.print()
    print_prose(console, CAPTION, "dim")
