"""README's example of an attention score, added to a copy of the package as README says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf8")
NAME = "low-rank"


def shown(pattern: str) -> str:
    """What README shows, once."""
    (found,) = re.findall(pattern, README, flags=re.DOTALL)
    return found


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf8")


@pytest.fixture
def extended(tmp_path):
    """A folder with the package, to which the score of README has been added."""
    package = tmp_path / "seq2seq_bottleneck"
    shutil.copytree(ROOT / "bottleneck", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "experiments", package / "experiments", dirs_exist_ok=True)
    scores = package / "model" / "attention.py"
    added = shown(r"```python\n(class LowRankAttention.*?)```")
    case = shown(r'`(case "low-rank": [^`]*)`')
    edited(scores, "def make_attention", f"{added}\n\ndef make_attention")
    edited(scores, '        case "additive":', f'        {case}\n        case "additive":')
    edited(package / "settings" / "concerns.py", '"uniform"] = "additive"',
           f'"uniform", "{NAME}"] = "additive"')  # fmt: skip
    return tmp_path


@pytest.mark.slow
def test_the_score_of_readme_trains_translates_and_is_tabled(extended):
    told = subprocess.run(
        [sys.executable, "-m", "seq2seq_bottleneck", "reproduce", "--preset", "smoke",
         "--set", f"model.attention={NAME}", "--out", "out", "--quiet"],
        cwd=extended, env={**os.environ, "PYTHONPATH": str(extended)}, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert f"no attention against {NAME}" in told.stdout
    for command in (["plot", "bleu", "-o", "bleu.png"], ["translate", "the cat sleeps"]):
        more = subprocess.run(
            [sys.executable, "-m", "seq2seq_bottleneck", *command,
             "--run" if command[0] == "translate" else "--results", "out"],
            cwd=extended, env={**os.environ, "PYTHONPATH": str(extended)}, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        assert more.returncode == 0, more.stderr
