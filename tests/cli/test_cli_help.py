"""The greeting and the help: short lines, nothing cut, commands and options by task."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seq2seq_bottleneck.cli.completion import figures, sweeps, tables
from seq2seq_bottleneck.cli.greeting import GREETING
from seq2seq_bottleneck.cli.listing import MEASURED, OF_RUNS, table_lines
from seq2seq_bottleneck.cli.main import PANELS, run
from seq2seq_bottleneck.results.schema import STUDIES
from seq2seq_bottleneck.settings.run import preset_names
from seq2seq_bottleneck.studies.catalogue import find_study

COMMANDS = [function.__name__ for functions in PANELS.values() for function in functions]
SUBCOMMANDS = ["list", "fetch", "show", "describe"]
PAGES = [[], *([name] for name in [*COMMANDS, "corpus"]), *(["corpus", s] for s in SUBCOMMANDS)]


def printed(capsys, *arguments):
    assert run(list(arguments)) == 0
    held = capsys.readouterr()
    assert held.err == ""
    return held.out


def panels(text):
    """The rows of each panel."""
    found, rows = {}, None
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z][^:]*:", line):
            rows = found.setdefault(line.rstrip(":"), [])
        elif rows is not None and line.strip():
            rows.append(line)
    return found


def test_bottleneck_alone_greets_with_three_commands_and_points_to_help(capsys):
    text = printed(capsys)
    assert text == GREETING
    assert max(map(len, text.splitlines())) <= 80
    what, _, rest = text.partition("\n\n")
    assert len(what.splitlines()) == 2
    shown = re.findall(r"^  (bottleneck .*)\n      (.*\(.*(?:seconds|minutes).*\))$", rest, re.M)
    assert len(shown) == 3
    for command, _ in shown:
        assert command.split()[1] in COMMANDS
    assert "bottleneck --help" in rest


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


def test_every_command_is_in_a_panel_with_a_summary_of_one_line(capsys):
    found = panels(printed(capsys, "--help"))
    assert list(found)[:-1] == list(PANELS)
    assert list(found)[-1] == "Options"
    rows = [row for panel in PANELS for row in found[panel]]
    assert sorted(row.split()[0] for row in rows) == sorted([*COMMANDS, "corpus"])
    starts = {len(re.match(r"  \S+ +", row).group()) for row in rows}
    assert len(starts) == 1
    assert all(row.endswith((".", "?")) for row in rows)


@pytest.mark.parametrize("name", ["reproduce", "sweep", "study"])
def test_long_lists_of_options_have_panels(capsys, name):
    found = panels(printed(capsys, name, "--help"))
    held = {"--set": "Settings", "--preset": "Settings", "--help": "Options"}
    held |= {"--gold": "Gold links (study alignment)"} if name == "study" else {"--test": "Text"}
    held |= {"--threads": "How it runs"} if name != "study" else {"--jobs": "How it runs"}
    for option, panel in held.items():
        assert any(row.split()[0] == option for row in found[panel]), (option, found)
    assert max(map(len, found.values())) < sum(map(len, found.values())) / 2


def test_a_name_left_out_lists_the_names(capsys):
    text = printed(capsys, "sweep")
    rows = [line for line in text.splitlines() if not line.startswith(" ")]
    assert [row.split()[0] for row in rows] == sweeps()
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(("command", "names"), [("table", tables), ("plot", figures)])
def test_tables_and_figures_are_listed_with_a_line_each(capsys, monkeypatch, command, names):
    monkeypatch.setenv("COLUMNS", "80")
    lines = printed(capsys, command).splitlines()
    assert [line.split()[0] for line in lines] == names()
    assert max(map(len, lines)) <= 80
    starts = {len(re.match(r"\S+ +", line).group()) for line in lines}
    assert len(starts) == 1
    texts = [line[min(starts) :].rstrip() for line in lines]
    assert all(text.endswith(".") for text in texts)
    assert len(set(texts)) == len(texts)


def test_the_lines_name_the_claims_of_their_studies():
    for name in STUDIES:
        ids = find_study(name).ids
        assert table_lines()[name].endswith(f"({', '.join(ids)}).")
    assert set(OF_RUNS) | set(MEASURED) == {*tables(), *figures()}


def test_help_names_every_preset(capsys):
    text = " ".join(printed(capsys, "reproduce", "--help").split())
    assert re.search(rf"--preset \S+ {', '.join(preset_names())}: from seconds", text)


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
