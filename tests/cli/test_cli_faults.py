"""A disk that fails at any write of a command that gathers, exports, draws or measures."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lanes import sample_random
from ordinary_user import told_before

PROGRAM = Path(__file__).with_name("faulty_commands.py")
WORDS = {"full": "File too large", "readonly": "Permission denied"}
TINY = [
    *["corpus.test_pairs=20", "corpus.train_pairs=200", "corpus.valid_pairs=20"],
    *["training.updates=10", "scoring.resamples=20"],
]
MAKE = ["reproduce", "--preset", "smoke", "--quiet", "--out", "out"]
MAKE = [*MAKE, *(word for setting in TINY for word in ("--set", setting))]
COMMANDS = {
    "reproduce": (MAKE, 30),
    "export": (["export", "--bundle", "bundle", "--results", "out"], 30),
    "table": (["export", "-o", "all.csv", "--results", "out"], 30),
    "study": (["study", "length", "--quiet", "--results", "out"], 30),
    "plot": (["plot", "bleu", "-o", "bleu.svg", "--results", "out"], 30),
    "report": (["report", "-o", "page.html", "--results", "out"], 30),
    "all": (["export", "--all", "--results", "out"], 3),
}


def child(command: list[str], folder: Path, cache: Path) -> subprocess.CompletedProcess:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    done = child([sys.executable, "-m", "seq2seq_bottleneck", *MAKE], folder, cache)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.exhaustive(minutes=10)
@pytest.mark.parametrize("fault", WORDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_any_write_of_a_command_is_one_line_and_then_mended(
    tmp_path: Path, whole: Path, cache: Path, name: str, fault: str
) -> None:
    check_faults(tmp_path, whole, cache, name, fault, COMMANDS[name][1])


@pytest.mark.slow
def test_a_fault_at_three_writes_of_a_command_that_is_drawn(
    tmp_path: Path, whole: Path, cache: Path
) -> None:
    draw = sample_random("faults")
    check_faults(tmp_path, whole, cache, draw.choice([*COMMANDS]), draw.choice([*WORDS]), 3)


def check_faults(
    tmp_path: Path, whole: Path, cache: Path, name: str, fault: str, most: int
) -> None:
    command = COMMANDS[name][0]
    program = [sys.executable, str(PROGRAM), str(tmp_path), str(whole), fault, str(most)]
    done = child(told_before([*program, *command]), tmp_path, cache)
    assert done.returncode == 0, done.stderr[-2000:]
    even, *broken = [json.loads(line) for line in done.stdout.splitlines()]
    assert (even["code"], even["again"]) == (0, 0)
    assert len(broken) == min(most, even["writes"]) > 0
    for row in broken:
        assert row["code"] == 1, row
        assert len(row["told"].splitlines()) == 1, row
        assert "cannot write '" in row["told"], row
        assert WORDS[fault] in row["told"], row
        assert (row["readable"], row["again"]) == (0, 0), row
        assert (row["strange"], row["gone"], row["other"]) == ([], [], []), row
        # In a folder that is closed nothing can be cleared away: the next process does it.
        assert row["parts"] == [] or fault == "readonly", row
