"""The end of the study: every claim of the lecture with its number, its verdict and why."""

from collections.abc import Mapping, Sequence

import pandas as pd
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from .decided import Decision
from .page import check_format, csv, json_text, markdown
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
    names = ("value", "low", "high", "verdict", "because", "rule")
    rows = [
        {
            "id": item.claim.id,
            "claim": item.claim.says,
            "measure": item.verdict.measure or item.claim.measure,
            **{name: getattr(item.verdict, name) for name in names},
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
    known = [row[name] for name in ("value", "low", "high") if not pd.isna(row[name])]
    if pd.isna(row["value"]):
        return ""
    greatest = max(map(abs, known))
    form = f"{{:.{1 if greatest >= 10 else 2 if greatest >= 0.1 else 4}f}}"
    value, *ends = map(form.format, known)
    return f"{value} [{', '.join(ends)}]" if len(ends) == 2 else value


def render(decisions: Sequence[Decision], form: str) -> str:
    """The claims as text in one of `FORMATS` but ``rich``.

    Markdown has a table of ids, verdicts and numbers; below it why, by which rule, and what is
    lacking.
    """
    check_format(form, FORMATS)
    frame = claims(decisions)
    if form == "csv":
        return csv(frame)
    if form == "json":
        return json_text("claims", TITLE, frame, caption=list(CAPTION))
    rows, lines = frame.to_dict("records"), []
    for row in rows:
        lines.append(f"{row['id']}: {row['verdict']}: {row['because']}.")
        lines.append(f"Rule: {row['rule']}")
        lines += [f"Command: {row['command']}"] if row["command"] else []
    short = frame[["id", "claim", "verdict", "measure"]]
    short = short.assign(number=[number(row) for row in rows], runs=frame["runs"])
    return markdown(short, f"{TITLE}: {summary(decisions)}", [*lines, *CAPTION])


def print_claims(decisions: Sequence[Decision], console: Console) -> None:
    """Print every claim: id and verdict on the left; on the right claim, number, why, runs."""
    print_prose(console, f"{TITLE}. {summary(decisions)}", "bold")
    for row in claims(decisions).to_dict("records"):
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
        console.print()
        console.print(Constrain(grid, MEASURE))
        if row["command"]:  # it is copied, so that only the terminal may break it
            console.print(f"{' ' * (LEFT + GAP)}{row['command']}", markup=False, soft_wrap=True)
    console.print()
    print_prose(console, CAPTION, "dim")
