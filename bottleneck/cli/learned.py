"""Which runs a sentence is put to, and a line where they have not learned to translate."""

from collections.abc import Mapping
from pathlib import Path

from .console import say
from .results import told_folder


def told_runs(folder: Path, results: Path | None, folders: Mapping[str, Path]) -> str:
    """``Runs of results/runs/lecture: none 0123456789ab.``; ``results`` is what was named."""
    runs = ", ".join(f"{arm} {run.name}" for arm, run in folders.items())
    return f"Runs of {told_folder(folder, results)}: {runs}."


def say_unlearned(folders: Mapping[str, Path]) -> None:
    """One line for the arms whose BLEU in the shortest filled bucket is under the floor.

    ``folders`` are their runs by arm; a run without scores is passed over.
    """
    told = {arm: bleu for arm, run in folders.items() if (bleu := _low(run)) is not None}
    if not told:
        return
    arms = " and ".join(f"{arm} (BLEU {bleu:.1f} of short sentences)" for arm, bleu in told.items())
    say(
        f"not learned to translate: {arms}; `bottleneck reproduce` trains arms that do, --results "
        "names others",
        err=True,
    )


def _low(run: Path) -> float | None:
    """BLEU in the shortest bucket with sentences, where that is under the floor."""
    from ..claims.verdict import learned
    from ..results.folders import SCORES, run_rows, was_written

    if not was_written(run / SCORES):
        return None
    filled = [row["bleu"] for row in run_rows(run / SCORES) if row.get("bleu")]
    bleu = float(filled[0]) if filled else None
    return None if bleu is None or learned(bleu) else bleu
