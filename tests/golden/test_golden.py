"""The command line's numbers, through a rebuild of everything behind it.

Each stored output (`golden_outputs.py`) is made again and compared, cell by cell, to 1e-9 of a
number's size. What is trained depends on the machine's rounding: of fresh runs counts and settings
are compared, and losses to 1e-3. Columns may be added. Columns and commands that are taken away
stand in RETIRED until the next `record.py`. Prose is not compared: captions, rules, reasons.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from golden_outputs import (
    LOSSES,
    answer,
    differences,
    is_fresh,
    load,
    printed,
    read_columns,
    write_inputs,
)

RETIRED: dict[str, str] = {}
"""Columns and commands that are gone since the numbers were recorded, and why."""
GOLDEN = load()
QUICK = (
    "lecture",
    "score",
    "compare",
    "corpus show copy",
    "claims --results reference/capacity ",
    "export --results reference/vindication",
    "merge",
    "table failure-pattern --results reference/vindication ",
    "table survival --results reference/vindication ",
    "table arms --results reference/attention_types ",
    "table cost --results reference/bench ",
    "plot compression --results reference/context_size ",
)
"""How commands of the quick lane begin: under a second each, once the libraries are loaded."""
SENTENCES = ("the black cat sat on the mat", "we like the chair")
SWEEP = "sweep two.toml --quiet --jobs 1 --out"
LONGEST = 300
"""Seconds that a sweep of two cells never takes."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all commands run: fixed texts, a sweep's file, and what commands write."""
    folder = tmp_path_factory.mktemp("golden")
    write_inputs(folder)
    return folder


def in_its_lane(command: str):
    """The command as a test's parameter."""
    return pytest.param(command, marks=[] if command.startswith(QUICK) else [pytest.mark.slow])


@pytest.mark.parametrize("command", [in_its_lane(command) for command in GOLDEN])
def test_numbers_are_those_recorded(command: str, folder: Path) -> None:
    if command in RETIRED:
        pytest.skip(RETIRED[command])
    lines = differences(
        GOLDEN[command],
        answer(command, folder),
        key="id" if command.startswith(("claims", "lecture")) else "",
        tolerance=LOSSES if is_fresh(command) else None,
        retired=RETIRED,
    )
    rest = [f"and {len(lines) - 12} more"] if len(lines) > 12 else []
    if lines:
        pytest.fail("\n  ".join([f"bottleneck {command}", *lines[:12], *rest]), pytrace=False)


@pytest.mark.slow
def test_every_arm_translates_and_a_file_line_by_line(folder: Path) -> None:
    """Which words come out depends on rounding: compared are two ways to the same translation."""
    printed("reproduce --preset smoke --quiet --out smoke", folder)
    (folder / "sentences.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf8")
    text = printed("translate --file sentences.txt --arm additive --run smoke", folder)
    assert len(text.splitlines()) == len(SENTENCES)
    for sentence, line in zip(SENTENCES, text.splitlines(), strict=True):
        arms = printed(f"translate '{sentence}' --run smoke", folder).splitlines()
        assert [arm.split()[0] for arm in arms] == ["none", "additive"]
        assert arms[1].split()[1:] == line.split()


def sweep(folder: Path, out: str, kill_at: int = 0) -> int:
    """Run the sweep in a process of its own; kill all of it once ``out`` has so many files."""
    process = subprocess.Popen(
        [Path(sys.executable).parent / "bottleneck", *SWEEP.split(), out],
        cwd=folder,
        start_new_session=True,
    )
    stop = time.monotonic() + LONGEST
    while process.poll() is None and time.monotonic() < stop:
        if kill_at and len([*(folder / out).rglob("*")]) >= kill_at:
            break
        time.sleep(0.002)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


@pytest.mark.slow
def test_a_sweep_that_is_killed_and_resumed_gives_the_same_numbers(folder: Path) -> None:
    """It is killed when half of the files are there that an undisturbed sweep leaves."""
    assert sweep(folder, "undisturbed") == 0
    files = len([*(folder / "undisturbed").rglob("*")])
    assert sweep(folder, "killed", kill_at=files // 2) == -signal.SIGKILL
    assert sweep(folder, "killed") == 0
    whole, resumed = (
        read_columns(printed(f"export --results {out}", folder))
        for out in ("undisturbed", "killed")
    )
    for columns in (whole, resumed):
        del columns["train_seconds"], columns["train_tokens_per_second"]
    assert differences(whole, resumed) == []
    assert len(whole["bleu"]) >= 2
