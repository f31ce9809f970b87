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

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.settings.files import SUMS

NEVER = -1


def held(folder: Path) -> dict[str, bytes]:
    """The files of a folder and their bytes; sums are looked at by whoever reads."""
    files = (
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != SUMS and path.suffix != ".part"
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def given(command: list[str]) -> tuple[int, str]:
    """The command's exit code and what it said of its end."""
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        code = run(command)
    return code, errors.getvalue()


def tried(place: Path, whole: Path, command: list[str], fault: Fault, step: int) -> dict:
    """The command with the fault from its write ``step`` on, and the same again without it."""
    shutil.copytree(whole, place)
    os.chdir(place)
    before = held(place)
    with faulty(fault, step) as begun:
        code, told = given(command)
    mended(place)
    between = held(place)
    parts = [path.name for path in place.rglob("*.part")]
    readable = given(["export", "--results", "out"])[0]
    again, _ = given(command)
    return {
        "writes": len(begun), "code": code, "told": told, "parts": parts, "readable": readable,
        "again": again, "before": before, "between": between, "after": held(place),
    }  # fmt: skip


def main() -> None:
    folder, whole = Path(sys.argv[1]), Path(sys.argv[2])
    fault, most, command = FAULTS[sys.argv[3]], int(sys.argv[4]), sys.argv[5:]
    even = tried(folder / "even", whole, command, fault, NEVER)
    writes, right = even["writes"], even["after"]
    print(json.dumps({"code": even["code"], "again": even["again"], "writes": writes}), flush=True)
    for step in np.unique(np.linspace(0, writes - 1, min(most, writes)).round().astype(int)):
        found = tried(folder / str(step), whole, command, fault, int(step))
        before, between, after = (found.pop(name) for name in ("before", "between", "after"))
        strange = [
            name for name in between if between[name] not in (before.get(name), right.get(name))
        ]
        gone = sorted(before.keys() - between.keys() - (before.keys() - right.keys()))
        other = sorted(
            name for name in after.keys() | right.keys() if after.get(name) != right.get(name)
        )
        found |= {"step": int(step), "strange": strange, "gone": gone, "other": other}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
