"""The package as installed, and a copy of it with the attention score of README added."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from ordinary_user import bottleneck
from safetensors.numpy import load_file

from seq2seq_bottleneck.results.folders import SHIPPED, arms, read_experiments, read_settings
from seq2seq_bottleneck.settings.run import resolve

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf8")


def test_all_folders_with_code_and_all_data_files_of_the_package_are_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    top = ROOT / "bottleneck"
    files = {path for path in top.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    code = {path for path in files if path.suffix == ".py"}
    folders = {path.parent.relative_to(ROOT) for path in code}
    names = {".".join(("seq2seq_bottleneck", *folder.parts[1:])) for folder in folders}
    assert set(project["packages"]) == names | {"seq2seq_bottleneck.experiments"}
    for package, patterns in project["package-data"].items():
        for pattern in patterns:
            files -= {*top.joinpath(*package.split(".")[1:]).glob(pattern)}
    assert files - code == {top / "README.md"}


def test_the_shipped_pair_is_small_and_what_its_name_says():
    """In half precision; a new schema needs a newly trained pair (bottleneck/pair/)."""
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 5_000_000
    (about,) = read_experiments(SHIPPED)
    preset, *changed, seed, day = about.split(", ")
    assert re.fullmatch(r"trained \d{4}-\d\d-\d\d", day)
    assert [*arms(SHIPPED)] == ["additive", "none"]
    for attention, run in arms(SHIPPED).items():
        chosen = [f"model.attention={attention}", f"training.seed={seed.removeprefix('seed ')}"]
        expected = resolve(preset.removeprefix("preset "), [*changed, *chosen])
        assert read_settings(run) == expected
        assert {str(array.dtype) for array in load_file(run / "weights.safetensors").values()} == {
            "float16"
        }
        assert "/" not in json.loads((run / "environment.json").read_text())["command"]


def test_pandas_imports_beside_the_repository_root_and_our_folder_is_not_pydatas_bottleneck():
    # python -c puts the working folder, which holds bottleneck/, in front of sys.path.
    code = (
        "import warnings; warnings.simplefilter('error'); import pandas as pd\n"
        "print(pd.Series([1.0, None, 4.0]).mean())\n"
        "try:\n    import bottleneck\nexcept ImportError as error:\n    print(error)\n"
        "else:\n    print('imported')"
    )
    done = bottleneck([], ROOT, program=["-c", code])
    assert done.returncode == 0, done.stderr
    first, error = done.stdout.splitlines()
    assert first == "2.5"
    assert "seq2seq_bottleneck" in error


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf8")


@pytest.mark.slow
def test_the_score_of_readme_trains_translates_and_is_drawn(tmp_path):
    """README's example of an attention score, added to a copy of the package as README says."""
    package = tmp_path / "seq2seq_bottleneck"
    shutil.copytree(ROOT / "bottleneck", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "experiments", package / "experiments", dirs_exist_ok=True)
    scores = package / "model" / "attention.py"
    (added,) = re.findall(r"```python\n(class LowRankAttention.*?)```", README, flags=re.DOTALL)
    (case,) = re.findall(r'`(case "low-rank": [^`]*)`', README, flags=re.DOTALL)
    edit(scores, "def make_attention", f"{added}\n\ndef make_attention")
    edit(scores, '        case "additive":', f'        {case}\n        case "additive":')
    names = '"additive", "uniform"] = setting('
    edit(package / "settings" / "concerns.py", names, names.replace("]", ', "low-rank"]'))
    for line in (
        "reproduce --preset smoke --set model.attention=low-rank --out out --quiet",
        "plot bleu -o bleu.png --results out",
        "translate the --results out",
    ):
        done = bottleneck(line.split(), tmp_path, PYTHONPATH=tmp_path)
        assert done.returncode == 0, done.stderr
        assert line[0] != "r" or "no attention against low-rank" in done.stdout
