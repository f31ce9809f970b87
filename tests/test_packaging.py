"""The package as installed: names that cannot clash, a light start, a list that is complete."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("jax", "flax", "optax", "pandas", "matplotlib", "numpy", "sacrebleu")


def run_python(code: str, folder: Path = ROOT) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_folder_with_code_is_a_listed_package():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "bottleneck").rglob("*.py")}
    names = {".".join(("seq2seq_bottleneck", *folder.parts[1:])) for folder in folders}
    assert set(listed) == names | {"seq2seq_bottleneck.experiments"}


def test_pandas_imports_beside_the_repository_root_without_taking_our_folder():
    # python -c puts the working folder, which holds bottleneck/, in front of sys.path.
    code = (
        "import warnings; warnings.simplefilter('error'); import pandas as pd; "
        "from pandas.core import nanops; "
        "print(nanops._BOTTLENECK_INSTALLED, pd.Series([1.0, None, 4.0]).mean())"
    )
    assert run_python(code) == "False 2.5"


def test_our_folder_refuses_to_be_pydatas_bottleneck():
    code = (
        "try:\n    import bottleneck\nexcept ImportError as error:\n    print(error)\n"
        "else:\n    print('imported')"
    )
    assert "seq2seq_bottleneck" in run_python(code)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["reproduce", "--help"]])
def test_start_up_imports_nothing_heavy(arguments):
    code = (
        "import sys\nfrom seq2seq_bottleneck.cli.main import run\n"
        f"assert run({arguments!r}) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert run_python(code).splitlines()[-1] == "[]"


@pytest.mark.slow
def test_reading_results_imports_no_jax():
    code = (
        "import sys\nimport seq2seq_bottleneck.tables.pages\n"
        "print([name for name in ('jax', 'flax', 'optax') if name in sys.modules])"
    )
    assert run_python(code) == "[]"


def test_top_level_is_as_agreed():
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    if not names:
        pytest.skip("no git checkout")
    visible = {name.split("/")[0] for name in names if not name.startswith(".")}
    assert visible <= {
        "pyproject.toml", "README.md", "bottleneck", "experiments", "results", "tests",
        "LICENSE", "CITATION.cff",
    }  # fmt: skip
