"""The help: short lines, nothing cut, at once; names left out are listed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seq2seq_bottleneck.cli.main import COMMANDS, run
from seq2seq_bottleneck.cli.options import ALL_TABLES
from seq2seq_bottleneck.settings.run import preset_names
from seq2seq_bottleneck.settings.sweep import experiment_names
from seq2seq_bottleneck.tables.names import FIGURES

NAMES = [function.__name__ for function in COMMANDS]
SUBCOMMANDS = ["list", "fetch", "show", "describe"]
PAGES = [[], *([name] for name in [*NAMES, "corpus"]), *(["corpus", s] for s in SUBCOMMANDS)]


def printed(capsys, *arguments):
    assert run(list(arguments)) == 0
    held = capsys.readouterr()
    assert held.err == ""
    return held.out


def test_bottleneck_alone_prints_its_help_with_three_commands_to_try(capsys):
    text = printed(capsys)
    assert text == printed(capsys, "--help")
    tried = [words.split()[0] for words in re.findall(r"`(.*?)`", " ".join(text.split()))]
    assert tried == ["lecture", "reproduce", "translate"]


@pytest.mark.slow
def test_help_imports_nothing_heavy():
    heavy = ("jax", "flax", "optax", "pandas", "matplotlib", "sacrebleu", "rich", "pydantic")
    code = (
        "import sys\nfrom seq2seq_bottleneck.cli.main import run\n"
        "assert run(['--help']) == 0\n"
        f"assert not [name for name in {heavy!r} if name in sys.modules]"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("bottleneck co", ["compare", "corpus"]),
        ("bottleneck sweep con", ["context_is_hidden", "context_size", "controls"]),
        ("bottleneck reproduce --preset q", ["quick"]),
        ("bottleneck table vin", ["vindication"]),
        ("bottleneck plot ble", ["bleu"]),
        ("bottleneck study cap", ["capacity"]),
    ],
)
def test_a_shell_completes_names(line, offered):
    asked = {"_BOTTLENECK_COMPLETE": "complete_bash", "COMP_WORDS": line}
    asked["COMP_CWORD"] = str(len(line.split(" ")) - 1)
    done = subprocess.run(
        [Path(sys.executable).parent / "bottleneck"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (offered, "")


@pytest.mark.parametrize("columns", ["80", "140"])
@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_help_is_plain_lines_of_80_columns_with_nothing_cut(capsys, monkeypatch, page, columns):
    monkeypatch.setenv("COLUMNS", columns)
    text = printed(capsys, *page, "--help")
    assert max(map(len, text.splitlines())) <= 80
    meant = r"\[ARGS\]\.\.\.|(?i:folders)\}?\.\.\.|1, 2, \.\.\.|L-VIND \.\.\."
    assert "..." not in re.sub(meant, "", text)
    assert not set("…│╭─") & set(text)
    assert text.startswith(f"Usage: {' '.join(['bottleneck', *page])} ")


def test_every_command_has_a_summary_of_a_line(capsys):
    _, _, rows = printed(capsys, "--help").partition("Commands:\n")
    assert [row.split()[0] for row in rows.splitlines()] == [*NAMES, "corpus"]
    assert all(row.endswith((".", "?")) for row in rows.splitlines())


def test_a_name_left_out_lists_the_names(capsys):
    text = printed(capsys, "sweep")
    rows = [line for line in text.splitlines() if not line.startswith(" ")]
    assert [row.split()[0] for row in rows] == experiment_names()
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(("command", "names"), [("table", ALL_TABLES), ("plot", FIGURES)])
def test_tables_and_figures_are_listed_with_a_line_each(capsys, monkeypatch, command, names):
    monkeypatch.setenv("COLUMNS", "80")
    text = printed(capsys, command)
    assert max(map(len, text.splitlines())) <= 80
    lines = [" ".join(line.split()) for line in re.split(r"\n(?=\S)", text.strip())]
    assert [line.split()[0] for line in lines] == list(names)
    assert all(line.endswith((").", ")", "update.", "--sentence.")) for line in lines)
    assert len({line.partition(" ")[2] for line in lines}) == len(lines)


def test_help_names_every_preset(capsys):
    text = " ".join(printed(capsys, "reproduce", "--help").split())
    (named,) = re.findall(r"--preset \S+ ([^:]*): from seconds", text)
    assert sorted(re.split(r", | or ", named)) == preset_names()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["reproduse"], "(see `bottleneck --help`)"),
        (["sweep", "--jbs", "1"], "(see `bottleneck sweep --help`)"),
        (["corpus", "fetch"], "(see `bottleneck corpus fetch --help`)"),
        (["score"], "(see `bottleneck score --help`)"),
    ],
)
def test_a_wrong_command_line_says_where_to_read_of_it(capsys, arguments, told):
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bottleneck: ")
    assert line.endswith(told)


@pytest.mark.parametrize(
    ("arguments", "wrong", "right"),
    [
        (["sweep", "controls", "--results", "x"], "--results", "--out"),
        (["reproduce", "--results=x"], "--results", "--out"),
        (["table", "vindication", "--out", "x"], "--out", "--results"),
    ],
)
def test_a_folder_given_by_the_other_name_is_told_this_commands(capsys, arguments, wrong, right):
    assert run(arguments) == 2
    told = capsys.readouterr().err
    assert f"No such option: {wrong}: this command's folder is named by {right} (see" in told


@pytest.mark.slow
def test_a_sign_that_the_terminal_lacks_is_no_failure(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [Path(sys.executable).parent / "bottleneck", "lecture", "L10"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("L10")
