"""Data on a terminal is text: no escape sequence, no mark of direction, no markup of rich."""

import io
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from listed import write_relisted
from planted import planted_settings, sentences, translations, write_run
from rich.table import Table
from rich.text import Text

from seq2seq_bottleneck.cli.console import say
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_results
from seq2seq_bottleneck.settings.errors import UsageError, plain
from seq2seq_bottleneck.settings.sweep import parse_sweep
from seq2seq_bottleneck.tables.render import PlainConsole, new_table

ACTING = "\x1b[31m\x1b]0;title\x07\x9b2J\u202ecipher\u2066\u200f\r\x7f\u2028"
MARKUP = "[red] [/] [bold]b[/bold] [link=x]y[/link] :smile:"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028]")


def test_what_would_act_is_spelled_and_the_rest_is_as_it_was():
    assert plain("a\x1b[2J\u202eb\udcff\r\x9b") == r"a\x1b[2J\u202eb\udcff\r\x9b"
    assert plain("tab\tline\nétat 文 👩‍👩‍👧 ⁇￭") == "tab\tline\nétat 文 👩‍👩‍👧 ⁇￭"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_nothing_that_acts_is_left_and_nothing_is_lost(text):
    told = plain(text)
    assert not OBEYED.search(told)
    told.encode()
    assert plain(told) == told
    if not OBEYED.search(text) and text.isprintable():
        assert told == text


def printed(*what):
    console = PlainConsole(file=io.StringIO(), width=200)
    for each in what:
        console.print(each)
    return console.file.getvalue()


def test_a_console_prints_markup_and_control_signs_as_text():
    table = Table(ACTING, MARKUP, title=MARKUP)
    table.add_row(MARKUP, ACTING)
    told = printed(ACTING, MARKUP, Text(ACTING), Text(MARKUP), table)
    assert not OBEYED.search(told)
    assert told.count(MARKUP) == 5
    assert told.count(r"\x1b[31m") == 4


def test_a_narrow_table_prints_them_too():
    table = new_table(MARKUP, ["source\nname", "n"])
    table.add_row(MARKUP, ACTING)
    console = PlainConsole(file=io.StringIO(), width=30)
    console.print(table)
    assert not OBEYED.search(console.file.getvalue())


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Results whose group, failure and facts are what an enemy would have written."""
    out = tmp_path_factory.mktemp("evil")
    references = sentences()
    for arm, share in (("none", 0.5), ("additive", 0.1)):
        texts = translations(references, [share] * 5, [1])
        write_run(
            out, f"{arm}run", planted_settings(arm), texts, references, notes=[ACTING + MARKUP]
        )
    failed = shutil.copytree(out / "runs" / "nonerun", out / "runs" / "failedrun")
    settings = planted_settings("none", 7).model_dump_json()
    (failed / "settings.json").write_text(settings)
    (failed / "SHA256SUMS").unlink()  # a run that has not ended has none
    status = {"status": "failed", "reason": f"Traceback\n{ACTING}{MARKUP}"}
    (failed / "status.json").write_text(json.dumps(status))
    groups = dict.fromkeys(("nonerun", "additiverun", "failedrun"), f"{ACTING}{MARKUP}")
    write_relisted(out / "groups.json", json.dumps(groups))
    return out


COMMANDS = [
    ["table", "vindication"],
    ["table", "vindication", "--format", "markdown"],
    ["table", "vindication", "--format", "json"],
    ["runs"],
    ["runs", "failedrun"],
    ["runs", "nonerun"],
    ["claims"],
    ["export"],
    ["table", "vindication", "--where", f"attention={ACTING}"],
    ["runs", f"x{ACTING}"],
    ["sweep", f"x{ACTING}.toml"],
    ["reproduce", "--set", f"model.attention={ACTING}"],
    ["table", f"x{ACTING}{MARKUP}"],
]
OWN = re.compile(r"\x1b\[[0-9;]*m")
"""Colours of rich's own: the data's escapes are spelled, so that none of these is left of them."""


def on_a_terminal(arguments, folder):
    """What a command sends to a terminal, but for its own colours: one of them is the enemy's."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "seq2seq_bottleneck", *arguments]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "1"}
    with subprocess.Popen(
        line, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        sent = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            sent += part
    os.close(ours)
    assert process.returncode in (0, 1, 2)
    return sent.decode().replace("\r\n", "\n")


def obeyed(sent):
    return OBEYED.findall(OWN.sub("", sent)) + re.findall(r"\x1b\[31m", sent)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS[:5])
def test_a_terminal_is_sent_no_command_of_the_data(planted, arguments):
    sent = on_a_terminal([*arguments, "--results", str(planted)], planted)
    assert obeyed(sent) == []
    assert r"1b[31m" in sent or arguments == COMMANDS[0]


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("arguments", COMMANDS[5:])
def test_a_terminal_is_sent_no_command_of_a_flag_or_fact(planted, arguments):
    named = [] if arguments[0] in ("sweep", "reproduce") else ["--results", str(planted)]
    assert obeyed(on_a_terminal([*arguments, *named], planted)) == []


@pytest.mark.parametrize("arguments", COMMANDS[8:])
def test_an_error_never_carries_a_command_to_the_terminal(capsys, planted, monkeypatch, arguments):
    monkeypatch.chdir(planted)
    named = [] if arguments[0] in ("sweep", "reproduce") else ["--results", str(planted)]
    assert run([*arguments, *named]) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert not OBEYED.search(line)


def test_another_program_gets_the_data_as_it_is_and_a_person_does_not(capfdbinary):
    say(ACTING, nl=False)
    say(ACTING.encode(), nl=False)
    say(ACTING, err=True, nl=False)
    found = capfdbinary.readouterr()
    assert (found.out.decode(), found.err.decode()) == (ACTING + ACTING, plain(ACTING))


def test_a_sign_that_acts_makes_no_other_rows(planted):
    """A carriage return in a name ended a row of the tidy table."""
    runs = load_results(planted)
    assert set(runs["run"]) == {"nonerun", "additiverun"}
    assert set(runs["group"]) == {plain(ACTING + MARKUP)}
    assert len(runs) == 10


@pytest.mark.parametrize("name", [ACTING, "a\nb", "a\rb", "\u202eb"])
def test_a_group_is_named_by_what_can_be_seen(name):
    text = f"# Is it?\n[[group]]\nname = {json.dumps(name)}\n[group.model]\nlayers = 1\n"
    with pytest.raises(UsageError, match="printable characters"):
        parse_sweep(text, "mine.toml")


@pytest.mark.slow
def test_a_figure_of_such_names_is_drawn(planted, tmp_path, capsys):
    """A lone dollar, or two, is no mathematics."""
    out = Path(shutil.copytree(planted, tmp_path / "out"))
    names = ("nonerun", "additiverun")
    write_relisted(out / "groups.json", json.dumps(dict.fromkeys(names, r"$\frac{$ \x1b" + ACTING)))
    for figure in ("bleu", "arms", "learning", "compression", "context-length"):
        assert run(["plot", figure, "--results", str(out), "-o", str(tmp_path / "a.svg")]) in (0, 1)
        told = capsys.readouterr().err.splitlines()
        assert len(told) <= 1


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize(
    "variables",
    [
        {"XDG_CACHE_HOME": "/dev/null", "XDG_CONFIG_HOME": "/dev/null"},
        {"MPLBACKEND": "module://a_notebooks.own_backend"},
        {"SOURCE_DATE_EPOCH": "no number"},
    ],
    ids=lambda held: "-".join(held),
)
def test_matplotlib_says_nothing_of_where_it_runs(variables, tmp_path):
    """A cache that is none; a notebook's kernel names its backend to all that it starts."""
    arguments = [sys.executable, "-m", "seq2seq_bottleneck", "plot", "cost", "-o", "a.pdf"]
    bench = Path(__file__).parents[2] / "results" / "reference" / "bench"
    done = subprocess.run(
        [*arguments, "--results", str(bench)],
        cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == "a.pdf: its numbers are in a.csv\n" or not done.stderr
    assert (tmp_path / "a.pdf").stat().st_size > 1_000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a folder in use cannot be removed")
def test_a_folder_that_went_under_the_command_is_told(tmp_path):
    bench = Path(__file__).parents[2] / "results" / "reference" / "bench"
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"rmdir {shlex.quote(str(gone))}; {sys.executable} -m seq2seq_bottleneck"
    line = f"{line} report -o a.html --results {shlex.quote(str(bench))}"
    done = subprocess.run(line, cwd=gone, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "bottleneck: the folder in which the command is run is gone: change into another\n"
    )
