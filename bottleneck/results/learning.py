"""How the validation loss fell, bucket by bucket: from the runs' logs to rows; no jax needed."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import schema
from .folders import LOG, damaged, read_checked, was_written

BY_BUCKET = "valid_buckets"
"""Of a line of the log: sentences, target tokens, nats and a standard error by length bucket."""


def learning_text(runs: Sequence[Path]) -> str:
    """``learning.csv`` of these runs as text; of a run without such a log no rows."""
    held = io.StringIO()
    writer = csv.DictWriter(held, list(schema.LEARNING_COLUMNS), restval="", lineterminator="\n")
    writer.writeheader()
    for run in runs:
        writer.writerows({"run": run.name} | row for row in learning_rows(run))
    return held.getvalue()


def learning_rows(run: Path) -> list[dict[str, Any]]:
    """A row a validation x bucket of one run; a log that cannot be read is a ``UserError``."""
    path = run / LOG
    if not was_written(path):
        return []
    try:
        lines = read_checked(path).decode().splitlines()
        return [row for line in lines for row in _rows(json.loads(line))]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path, error) from None


def _rows(report: Any) -> Iterator[dict[str, Any]]:
    """The buckets of one line, which a damaged log may have made of anything."""
    for bucket, found in (report.get(BY_BUCKET) or {}).items():
        tokens, nats = _whole(found["tokens"]), float(found["nats"])
        error = found["standard_error"]
        yield {
            "update": _whole(report["update"]),
            "bucket": bucket,
            "sentences": _whole(found["sentences"]),
            "tokens": tokens,
            "loss": nats / tokens if tokens else "",
            "standard_error": "" if error is None else float(error),
        }


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value
