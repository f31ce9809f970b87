"""Made-up logs of runs: what each validation found, bucket by bucket."""

import json
from pathlib import Path

from listed import write_relisted

BUCKETS = ("5-10", "11-20", "21-30", "31-40", "41+")
TOKENS = 400


def loss(update: int, place: int, run: int) -> float:
    """A loss that falls with updates and grows with length; no two are equal."""
    return round(4.0 / (1 + update / 10) + place / 8 + run / 100, 6)


def write_log(run: Path, number: int = 0, updates: tuple[int, ...] = (5, 10), **changes) -> None:
    """The log of a run in its folder, a validation at each of these updates.

    The last bucket is empty; ``changes`` are those of every other's numbers.
    """
    lines = [_report(0, None)]
    for update in updates:
        nats = [TOKENS * loss(update, place, number) for place in range(len(BUCKETS) - 1)]
        known = {"sentences": 20, "tokens": TOKENS, "standard_error": 0.05}
        found = {
            bucket: known | {"nats": each} | changes
            for bucket, each in zip(BUCKETS[:-1], nats, strict=True)
        }
        found[BUCKETS[-1]] = {"sentences": 0, "tokens": 0, "nats": 0.0, "standard_error": None}
        lines.append(_report(update, found))
    write_relisted(run / "log.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))


def write_older_log(run: Path) -> None:
    """The log of a version that had no buckets."""
    lines = [_report(10, None)]
    del lines[0]["valid_buckets"]
    write_relisted(run / "log.jsonl", json.dumps(lines[0]) + "\n")


def _report(update: int, buckets: dict | None) -> dict:
    times = {"tokens_per_second": 10.0, "seconds_left": 3.0}
    valid = None if buckets is None else 1.0
    known = {"update": update, "updates": 10, "loss": 2.0, "valid_loss": valid}
    return known | times | {"valid_buckets": buckets}
