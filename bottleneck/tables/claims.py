"""The end of the study: every claim of the lecture with its number, its verdict and why."""

import json as json_text
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from rich.console import Console, Group
from rich.constrain import Constrain
from rich.table import Table
from rich.text import Text

from .decided import Decision
from .formats import check_known, csv
from .formats import markdown as markdown_table
from .render import MEASURE, print_prose

TITLE = "The lecture's claims"
VERDICTS = {"held": "green", "partly": "yellow", "not held": "red", "not measured": "dim"}
"""The verdicts, and how each is coloured on a terminal."""
LEFT, GAP = 14, 2
"""Columns of the ids and verdicts (``L-VIND-largest``), and between these and the rest."""

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
    return pd.DataFrame([_row(decision) for decision in decisions]).astype(
        dict.fromkeys(("value", "low", "high"), "float64")
    )


def _row(decision: Decision) -> dict[str, object]:
    verdict = decision.verdict
    return {
        "id": decision.claim.id,
        "claim": decision.claim.says,
        "measure": verdict.measure or decision.claim.measure,
        "value": verdict.value,
        "low": verdict.low,
        "high": verdict.high,
        "verdict": verdict.verdict,
        "because": verdict.because,
        "rule": verdict.rule,
        "runs": decision.runs,
        "command": decision.command,
    }


def summary(decisions: Sequence[Decision]) -> str:
    """``17 claims: 5 held, 3 partly, 2 not held, 7 not measured``."""
    verdicts = [decision.verdict.verdict for decision in decisions]
    parts = ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS if name in verdicts)
    return f"{len(verdicts)} claims: {parts}"


def number(row: Mapping[str, object]) -> str:
    """``45.7 [41.0, 50.1]``, as many digits as the greatest of them needs; empty without one."""
    ends = [row["low"], row["high"]]
    known = [value for value in (row["value"], *ends) if not pd.isna(value)]
    if pd.isna(row["value"]):
        return ""
    greatest = max(map(abs, known))
    form = f"{{:.{1 if greatest >= 10 else 2 if greatest >= 0.1 else 4}f}}"
    if any(map(pd.isna, ends)):
        return form.format(row["value"])
    return f"{form.format(row['value'])} [{', '.join(map(form.format, ends))}]"


def block(row: Mapping[str, str]) -> Table:
    """A claim for a terminal: id and verdict on the left; on the right claim, number, why, runs."""
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_column(min_width=LEFT, max_width=LEFT)
    grid.add_column()
    left = Text(row["id"], style="bold")
    left.append(f"\n{row['verdict']}", style=f"not bold {VERDICTS[row['verdict']]}")
    grid.add_row(left, Group(*_lines(row)))
    return grid


def _lines(row: Mapping[str, str]) -> list[Text]:
    """What stands beside a claim's id, line by line."""
    value = number(row)
    lines = [
        Text(row["claim"], style="bold"),
        Text(f"{value}  {row['measure']}" if value else ""),
        Text(f"{row['because']}."),
        Text(row["runs"], style="dim"),
    ]
    return [line for line in lines if line]


def markdown(decisions: Sequence[Decision]) -> str:
    """A table of ids, verdicts and numbers; below it why, by which rule, and what is lacking."""
    frame = claims(decisions)
    rows = frame.to_dict("records")
    short = frame[["id", "claim", "verdict", "measure"]].assign(
        number=[number(row) for row in rows], runs=frame["runs"]
    )
    lines = [line for row in rows for line in _notes(row)]
    return markdown_table(short, f"{TITLE}: {summary(decisions)}", [*lines, *CAPTION])


def _notes(row: Mapping[str, str]) -> list[str]:
    """A claim's reason, rule and command."""
    lines = [f"{row['id']}: {row['verdict']}: {row['because']}.", f"Rule: {row['rule']}"]
    return [*lines, f"Command: {row['command']}"] if row["command"] else lines


def json(decisions: Sequence[Decision]) -> str:
    """One object: one row per claim, null where there is no number."""
    frame = claims(decisions)
    blanked = frame.astype("object").where(frame.notna(), None)
    described = {"name": "claims", "title": TITLE, "rows": blanked.to_dict("records")}
    described["caption"] = list(CAPTION)
    return json_text.dumps(described, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


_WRITERS: Mapping[str, Callable[[Sequence[Decision]], str]] = {
    "csv": lambda decisions: csv(claims(decisions)),
    "markdown": markdown,
    "json": json,
}
FORMATS = ("rich", *_WRITERS)
"""The forms of the claims; ``rich`` is the terminal's."""


def check_format(form: str) -> None:
    """Refuse what is not in `FORMATS` as a ``UsageError``."""
    check_known(form, FORMATS)


def render(decisions: Sequence[Decision], form: str) -> str:
    """The claims as text in one of `FORMATS` but ``rich``."""
    check_format(form)
    return _WRITERS[form](decisions)


def print_claims(decisions: Sequence[Decision], console: Console) -> None:
    """Print every claim for a terminal of 80 columns or more."""
    print_prose(console, f"{TITLE}. {summary(decisions)}", "bold")
    for row in claims(decisions).to_dict("records"):
        console.print()
        console.print(Constrain(block(row), MEASURE))
        if row["command"]:  # it is copied, so that only the terminal may break it
            console.print(f"{' ' * (LEFT + GAP)}{row['command']}", markup=False, soft_wrap=True)
    console.print()
    print_prose(console, CAPTION, "dim")
