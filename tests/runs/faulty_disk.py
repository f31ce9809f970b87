"""A run at whose every write in turn the disk fails, and which is then begun again.

A program of its own, for the permissions of its process: `faulty_disk.py FOLDER full|readonly`.
Prints a line of JSON a write: how the run ended then, and its scores after the second beginning.
"""

import json
import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from disk_faults import FAULTS, Fault, faulty, mended
from executing import executed, smoke

from seq2seq_bottleneck.results.folders import run_rows
from seq2seq_bottleneck.runs.run import use_cache
from seq2seq_bottleneck.runs.store import run_folders

SETTINGS = smoke("training.updates=10", "corpus.test_pairs=20", "scoring.resamples=20")
TIMES = ("train_seconds", "train_tokens_per_second")


def scores(store: Path) -> list[dict]:
    (run,) = run_folders(store)
    rows = run_rows(run.path / "scores.csv")
    return [{name: row[name] for name in row if name not in TIMES} for row in rows]


def broken_at(store: Path, step: int, fault: Fault) -> dict:
    """The run with the fault from its write ``step`` on, and the same again without it."""
    with faulty(fault, step):
        first = executed(store, SETTINGS)[-1]
    mended(store)
    left = [path.name for path in store.rglob("*.part")]
    again = executed(store, SETTINGS)[-1]
    return {"first": first, "again": again["phase"], "scores": scores(store), "parts": left}


def main() -> None:
    use_cache()
    folder, fault = Path(sys.argv[1]), FAULTS[sys.argv[2]]
    for step in count():
        outcome = broken_at(folder / str(step), step, fault)
        print(json.dumps({"step": step} | outcome), flush=True)
        if outcome["first"]["phase"] == "done":
            break


if __name__ == "__main__":
    main()
