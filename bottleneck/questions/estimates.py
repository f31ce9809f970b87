"""The table of a question's probe, as numbers with intervals."""

from collections.abc import Iterator

import pandas as pd

from ..claims.verdict import Estimate
from ..settings.concerns import UNSELECTIVE

KEYS = ("arm", "bucket", "control", "part")
"""What an estimate is of, besides its measure."""


class Estimates:
    """The means over seeds of ``probes/NAME.csv``: one estimate for each measure, arm, bucket, ...

    ``means`` are their rows as they are.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        texts = frame.reindex(columns=[*KEYS, "note"]).astype("object").fillna("")
        means = frame.assign(**texts)[frame["seed"].isna()]
        self.means = means
        self._rows = {
            (row["measure"], *(row[key] for key in KEYS)): Estimate(
                *(row[end] for end in ("value", "low", "high")),
                n=0 if pd.isna(row["n"]) else int(row["n"]),
                note=row["note"],
            )
            for row in means.to_dict("records")
        }
        self._attention = dict(zip(means["arm"], means["attention"], strict=True))

    def get(
        self, measure: str, arm: str, bucket: str = "", control: str = "", part: str = ""
    ) -> Estimate | None:
        """The estimate with these keys; None where there is none."""
        return self._rows.get((measure, arm, bucket, control, part))

    def attention(self, arm: str) -> str:
        """The attention of an arm."""
        return self._attention[arm]

    def keys(self, measure: str) -> Iterator[tuple[str, str, str, str]]:
        """Arm, bucket, control and part of each estimate of a measure, in the order of the file."""
        return (rest for name, *rest in self._rows if name == measure)

    def arms(self, selective: bool | None = None) -> list[str]:
        """The arms in order; ``selective``: only those that can (or cannot) attend to a word."""
        return [
            arm
            for arm, attention in self._attention.items()
            if selective is None or selective == (attention not in UNSELECTIVE)
        ]

    def buckets(self) -> list[str]:
        """The length buckets, shortest first."""
        return list(dict.fromkeys(bucket for _, _, bucket, _, _ in self._rows if bucket))
