"""What README and the other pages show: commands run, numbers equal the files', names exist.

Long commands run at preset ``smoke``. The commands of ``experiments/reference.sh``, which take
days, are only parsed.
"""

import gzip
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
from ordinary_user import bottleneck

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.cli.main import app, run
from seq2seq_bottleneck.results.schema import QUESTIONS
from seq2seq_bottleneck.settings.run import toml_names

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
PAGES = {
    name: (ROOT / name).read_text(encoding="utf8")
    for name in ("README.md", "experiments/README.md", "results/FILES.md", "bottleneck/README.md")
}
"""In the order in which their commands are run."""
README, EXPERIMENTS, RESULTS, HOUSE = PAGES.values()


def shown_commands() -> list[str]:
    """The ``bottleneck`` lines of the pages' shell blocks, without comments."""
    blocks = re.findall(r"```sh\n(.*?)```", "\n".join(PAGES.values()), flags=re.DOTALL)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.split()[:1] == ["bottleneck"]]


def small(arguments: list[str]) -> list[str]:
    """The same command at a size for tests."""
    command = arguments[0]
    if arguments[:2] == ["study", "cost"]:
        return [*arguments, "--quick"]
    if arguments[:2] == ["sweep", "context_size"]:  # two sizes are enough for a curve
        arguments += ["--set", "model.context_size=32,64"]
    if "--seeds" in arguments:  # studies of three seeds would take too long
        arguments[arguments.index("--seeds") + 1] = "1"
    # `sweep` and `corpus` alone list names; with one, also counting draws the corpus.
    if command == "reproduce" or (command in ("sweep", "corpus") and arguments[1:]):
        if "--preset" in arguments:
            arguments[arguments.index("--preset") + 1] = "smoke"
        else:
            arguments += ["--preset", "smoke"]
    return arguments


def block(page: str, language: str, start: str) -> str:
    """The one block of a language on a page that starts so."""
    (text,) = re.findall(rf"```{language}\n({re.escape(start)}.*?)```", page, flags=re.DOTALL)
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the user's files that README names."""
    folder = tmp_path_factory.mktemp("readme")
    words = [f"word{n}" for n in range(30)]
    lines = [" ".join([*words[: 5 + n % 24], f"x{n}"]) for n in range(240)]
    text, test = "\n".join(lines[:180]) + "\n", "\n".join(lines[180:]) + "\n"
    for side in ("en", "fr"):
        (folder / f"train.{side}.gz").write_bytes(gzip.compress(text.encode()))
        (folder / f"test.{side}").write_text(test)
    for system, missing in (("system.fr", "word4 "), ("other.fr", "word3 ")):
        (folder / system).write_text(test.replace(missing, ""))
    (folder / "train.tsv").write_text("".join(f"{line}\t{line}\n" for line in lines))
    return folder


@pytest.mark.exhaustive(minutes=10)
def test_the_commands_of_the_pages_run(folder, monkeypatch, capsys):
    """In one folder and in the pages' order: later commands read what earlier ones wrote."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("seq2seq_bottleneck.questions.benchmark.QUICK_LENGTHS", (2, 4))
    for command in shown_commands():
        assert run(small(shlex.split(command)[1:])) == 0, command
        assert capsys.readouterr().out.strip(), command
    names: dict[str, Any] = {}
    exec(block(README, "python", "import seq2seq_bottleneck"), names)
    assert set(names["frame"]["attention"]) == {"none", "additive"}
    exec(block(RESULTS, "python", "import pandas"), names)
    assert set(names["means"].index) == {"none", "additive"}
    assert set(names["survival"]["arm"]) == {"none", "additive"}


SHOWN = """
import ast, json, sys

sys.displayhook = lambda value: value is None or shown.append(type(value).__name__)
names, shown = {}, []
for source in json.loads(sys.argv[1]):
    exec(compile(ast.Interactive(ast.parse(source).body), "cell", "single"), names)
assert not {"jax", "flax", "optax"} & {*sys.modules}
print(*shown)
"""
"""Runs cells in order, and prints the types of what they show."""
NOTEBOOK = ROOT / "experiments" / "lecture.ipynb"


@pytest.mark.slow
def test_the_python_of_readme_and_of_the_notebook_runs_and_never_loads_jax():
    """README's with the committed results."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in code)
    notebook = ["".join(cell["source"]) for cell in code]
    readme = block(README, "python", "import seq2seq_bottleneck")
    readme = readme.replace("results/runs/three", "../results/reference/vindication")
    for sources, shown in (
        (notebook, "DataFrame DataFrame Figure DataFrame"),
        ([readme], "DataFrame DataFrame Figure DataFrame DataFrame"),
    ):
        done = bottleneck([json.dumps(sources)], NOTEBOOK.parent, program=["-c", SHOWN])
        assert done.returncode == 0, done.stderr[-2_000:]
        assert done.stdout.splitlines()[-1] == shown


def script_commands() -> list[str]:
    """The ``bottleneck`` commands of the reference study's script, its variables replaced."""
    text = (ROOT / "experiments" / "reference.sh").read_text(encoding="utf8")
    lines = re.findall(r"^(?:test .* \|\| )?(bottleneck .*)$", text, flags=re.MULTILINE)
    return [line.replace("$OUT", "out").replace(' "$@"', "") for line in lines]


def parsed(line: str) -> Any:
    """What Typer makes of a command line, which is not run."""
    command, arguments = typer.main.get_command(app), shlex.split(line)[1:]
    while hasattr(command, "resolve_command"):
        _, command, arguments = command.resolve_command(typer.Context(command), arguments)
    return command.make_context(line, arguments)


def test_commands_have_the_arguments_and_options_that_are_shown():
    """Parsed and not run: that README's run is tested before a release."""
    lines = shown_commands()
    assert len([parsed(line) for line in lines]) > 20
    assert ".venv/bin/bottleneck reproduce\n" in README
    assert len(re.findall(r"-m pytest", README)) == 1


def test_the_reference_study_is_a_script_that_answers_every_question():
    """Each sweep in a folder by its name, which a claim finds it by; each study put to one."""
    subprocess.run(["sh", "-n", ROOT / "experiments" / "reference.sh"], check=True)
    contexts = [parsed(line) for line in script_commands()]
    assert len(contexts) > 20
    options = [(context.command.name, context.params) for context in contexts]
    sweeps = {Path(given["out"]).name: given["name"] for name, given in options if name == "sweep"}
    assert set(sweeps.values()) == {
        name for name in toml_names() if not name.endswith("failure_pattern")
    }
    assert all(name == sweep or name.startswith("real_") for name, sweep in sweeps.items())
    studies = {
        (given["name"], Path(given["results"]).name) for name, given in options if name == "study"
    }
    assert {study for study, _ in studies} == set(QUESTIONS)
    for claim in CLAIMS:
        assert claim.home in {*sweeps, "bench"}
        assert claim.makes or (claim.study, claim.home) in studies


@pytest.mark.slow
@pytest.mark.parametrize("name", ["failure-pattern", "vindication"])
def test_the_two_tables_are_those_that_the_command_prints(name, monkeypatch, capsys):
    """With their verdicts, but without the line on what was run."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["table", name, "--results", str(REFERENCE / "vindication")]) == 0
    text = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    table, run_line, _ = text.partition("\n\ngrammar (small lexicon); ")
    assert table.count("..") >= 9  # ranges
    assert run_line
    assert f"{table}\n" in README


def test_the_page_of_the_package_names_only_what_exists():
    """Files and folders of the package or the project, and names that the files define."""
    package = ROOT / "bottleneck"
    named = re.findall(r"`([\w/]+\.(?:py|toml|sh))(?::([\w.]+))?`", HOUSE)
    assert len(named) > 60
    for path, name in named:
        file = next((top / path for top in (package, ROOT) if (top / path).is_file()), None)
        assert file is not None, path
        last = name.rpartition(".")[2]
        defined = rf"^ *(def {last}\(|class {last}\b|{last}\b.*=|{last}: )"
        assert re.search(defined, file.read_text(encoding="utf8"), re.MULTILINE), (path, name)
    folders = re.findall(r"`([\w/]+/)`", HOUSE)
    assert all((package / name).is_dir() or (ROOT / name).is_dir() for name in folders)
    assert {f"{init.parent.name}/" for init in package.glob("*/__init__.py")} <= set(folders)
