"""Commands at whose every write in turn the disk fails, and which are then given again.

A program of its own, for the permissions of its process: `faulty_commands.py FOLDER WHOLE FAULT
MOST COMMAND...`. ``WHOLE`` is copied for each try, ``MOST`` is how many writes are tried, evenly
among all. Prints a line of JSON a try, the undisturbed one first.
"""

import contextlib
import io
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from disk_faults import FAULTS, Fault, faulty, mended
from disturbed import contents

from seq2seq_bottleneck.cli.main import run

NEVER = -1


def result(command: list[str]) -> tuple[int, str]:
    """The command's exit code and what it said of its end."""
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = run(command)
    return code, errors.getvalue()


def attempt(place: Path, whole: Path, command: list[str], fault: Fault, step: int) -> dict:
    """The command with the fault from its write ``step`` on, and the same again without it."""
    shutil.copytree(whole, place)
    os.chdir(place)
    before = contents(place)
    with faulty(fault, step) as writes:
        code, message = result(command)
    mended(place)
    between = contents(place)
    parts = [path.name for path in place.rglob("*.part")]
    readable, _ = result(["export", "--results", "out"])
    again, _ = result(command)
    return {
        "writes": len(writes), "code": code, "message": message, "parts": parts,
        "readable": readable, "again": again, "before": before, "between": between,
        "after": contents(place),
    }  # fmt: skip


def main() -> None:
    folder, whole = Path(sys.argv[1]), Path(sys.argv[2])
    fault, most, command = FAULTS[sys.argv[3]], int(sys.argv[4]), sys.argv[5:]
    undisturbed = attempt(folder / "undisturbed", whole, command, fault, NEVER)
    writes, right = undisturbed["writes"], undisturbed["after"]
    print(json.dumps({name: undisturbed[name] for name in ("code", "again", "writes")}), flush=True)
    for step in np.unique(np.linspace(0, writes - 1, min(most, writes)).round().astype(int)):
        row = attempt(folder / str(step), whole, command, fault, int(step))
        before, between, after = (row.pop(name) for name in ("before", "between", "after"))
        row["step"] = int(step)
        row["strange"] = [
            name for name in between if between[name] not in (before.get(name), right.get(name))
        ]
        row["gone"] = sorted(before.keys() - between.keys() - (before.keys() - right.keys()))
        row["other"] = sorted(
            name for name in after.keys() | right.keys() if after.get(name) != right.get(name)
        )
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
