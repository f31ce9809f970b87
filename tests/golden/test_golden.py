"""The command line's numbers, through a rebuild of everything behind it.

Each stored output (`golden_outputs.py`) is made again and compared, cell by cell, to 1e-9 of a
number's size. What is trained depends on the machine's rounding: of fresh runs counts and settings
are compared, and losses to 1e-3. Columns may be added. Columns and commands that are taken away
stand in RETIRED until the next `record.py`. Prose is not compared: captions, rules, reasons.
CI makes one output of each kind; before a change that moves code, run all: ``-m '' tests/golden``.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import golden_outputs as golden
import pytest

RETIRED: dict[str, str] = dict.fromkeys(
    ("loss", "loss_low", "loss_high", "loss_n"), "study fit says how texts are translated, in BLEU"
)
"""Columns and beginnings of commands that are gone since the recording, and why."""
GOLDEN = golden.load()
QUICK = re.compile(
    "lecture|score|corpus copy|export .*reference/vindication( --bundle|$)"
    "|table claims .*reference/capacity |table (failure-pattern|survival) .*reference/vindication "
    "|table arms .*attention_types|table cost|plot compression .*context_size"
)
"""Commands of the quick lane: under a second each, once the libraries are loaded."""
SWEEP = "sweep two.toml --quiet --jobs 1 --out"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    golden.write_inputs(folder)
    return folder


def in_their_lanes() -> Iterator[Any]:
    """The commands as parameters: of each kind the first is slow, the rest exhaustive."""
    kinds = set()
    for command in GOLDEN:
        kind = tuple(command.split()[:2])
        mark = pytest.mark.exhaustive(sample="test") if kind in kinds else pytest.mark.slow
        kinds.add(kind)
        yield pytest.param(command, marks=[] if QUICK.match(command) else [mark])


@pytest.mark.parametrize("command", [*in_their_lanes()])
def test_numbers_are_those_recorded(command: str, folder: Path) -> None:
    if command.startswith(tuple(RETIRED)):
        pytest.skip("retired")
    lines = golden.differences(
        GOLDEN[command],
        golden.answer(command, folder),
        key="id" if command.startswith(("table claims", "lecture")) else "",
        tolerance=golden.LOSSES if command.startswith(golden.TRAINING) else None,
        retired=RETIRED,
    )
    rest = [f"and {len(lines) - 12} more"] if len(lines) > 12 else []
    if lines:
        pytest.fail("\n  ".join([f"bottleneck {command}", *lines[:12], *rest]), pytrace=False)


@pytest.mark.slow
def test_a_sweep_that_is_killed_and_resumed_gives_the_same_numbers(folder: Path) -> None:
    """It is killed when half of the files are there that an undisturbed sweep leaves."""
    texts = [golden.printed(f"{SWEEP} whole && export --results whole", folder)]
    files = len([*(folder / "whole").rglob("*")])
    process = subprocess.Popen(
        [Path(sys.executable).parent / "bottleneck", *SWEEP.split(), "killed"],
        cwd=folder,
        start_new_session=True,  # its workers die with it
    )
    while process.poll() is None and len([*(folder / "killed").rglob("*")]) < files // 2:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    texts.append(golden.printed(f"{SWEEP} killed && export --results killed", folder))
    whole, resumed = map(golden.read_columns, texts)
    for columns in (whole, resumed):
        del columns["train_seconds"], columns["train_tokens_per_second"]
    assert golden.differences(whole, resumed) == []
    assert set(whole["attention"]) == {"none", "dot"}
