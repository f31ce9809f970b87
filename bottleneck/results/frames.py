"""The tidy table as text and back."""

import pandas as pd


def tidy_csv(runs: pd.DataFrame) -> str:
    """CSV of the tidy table: every digit, blanks where there is nothing, Unix line ends."""
    return runs.to_csv(index=False, lineterminator="\n")
