"""Time the commands that read results, on a made-up store and bundle of thousands of runs.

Makes them if they are missing (minutes). Then runs each command in a separate process, and prints
its seconds, its processor's seconds and its peak memory.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from figures import Row, as_text, write_csv
from many_runs import Size, write_store

from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle

COMMANDS = {
    "bundle": ["table", "table claims", "export", "plot", "export -o report.html"],
    "store": ["table", "table claims", "export", "table runs"],
}


def main() -> None:
    """Make store and bundle if they are missing, time every command, and print the table."""
    given = options().parse_args()
    store, bundle = given.folder / "store", given.folder / "bundle"
    size = Size(given.contexts, given.seeds, given.sentences)
    if not store.exists():
        write_store(store, size)
    if not bundle.exists():
        write_bundle(Results.open(store), bundle, text=False)
    table = "vindication" if given.contexts == 1 else "context-size"
    rows = [
        measure([*arguments(command, table, given.folder), "--results", str(given.folder / kind)])
        | {"command": command, "of": kind, "runs": size.runs}
        for kind, commands in COMMANDS.items()
        for command in commands
    ]
    print(as_text(rows))
    if given.csv:
        write_csv(given.csv, rows)


def options() -> argparse.ArgumentParser:
    """The options of this program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="Where they are, or are made.")
    parser.add_argument("--contexts", type=int, default=1, help="Context sizes, two arms each.")
    parser.add_argument("--seeds", type=int, default=2500, help="Seeds of each arm and size.")
    parser.add_argument("--sentences", type=int, default=1200, help="Test sentences of a run.")
    parser.add_argument("--csv", type=Path, help="Write the numbers here too.")
    return parser


def arguments(command: str, table: str, folder: Path) -> list[str]:
    """The words of a command, without the option for its results."""
    more = {
        "table": [table],
        "plot": ["bleu" if table == "vindication" else table, "-o", str(folder / "figure.png")],
    }
    return [*command.split(), *more.get(command, [])]


def measure(command: list[str]) -> Row:
    """Run one command; return its seconds, its processor's seconds and its peak memory in MB."""
    program = [sys.executable, "-m", "seq2seq_bottleneck", *command]
    begun = time.perf_counter()
    process = subprocess.Popen(program, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    return {
        "seconds": round(seconds, 2),
        "processor": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": used.ru_maxrss // 1024,
        "exit": process.returncode,
    }


if __name__ == "__main__":
    main()
