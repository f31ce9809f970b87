"""Data on a terminal is text: no escape sequence, no mark of direction, no markup of rich."""

import io
import json
import os
import pty
import re
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
from seq2seq_bottleneck.settings.errors import plain
from seq2seq_bottleneck.tables.render import PlainConsole, new_table

ACTING = "\x1b[31m\x1b]0;title\x07\x9b2J\u202ecipher\u2066\u200f\r\x7f\u2028"
MARKUP = "[red] [/] [bold]b[/bold] [link=x]y[/link] :smile:"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""Colours of rich's own: the data's escapes are spelled, so that none of these is left of them."""


def test_what_would_act_is_spelled_and_the_rest_is_as_it_was():
    assert plain("a\x1b[2J\u202eb\udcff\r\x9b") == r"a\x1b[2J\u202eb\udcff\r\x9b"
    assert plain("tab\tline\nétat 文 👩‍👩‍👧 ⁇￭") == "tab\tline\nétat 文 👩‍👩‍👧 ⁇￭"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_nothing_that_acts_is_left_and_nothing_is_lost(text):
    spelled = plain(text)
    assert not OBEYED.search(spelled)
    spelled.encode()
    assert plain(spelled) == spelled
    if not OBEYED.search(text) and text.isprintable():
        assert spelled == text


@pytest.mark.parametrize("width", [30, 200])
def test_a_console_prints_markup_and_control_signs_as_text(width):
    table = Table(ACTING, MARKUP, title=MARKUP)
    table.add_row(MARKUP, ACTING)
    narrow = new_table(MARKUP, ["source\nname", "n"])
    narrow.add_row(MARKUP, ACTING)
    console = PlainConsole(file=io.StringIO(), width=width)
    for data in (ACTING, MARKUP, Text(ACTING), Text(MARKUP), table, narrow):
        console.print(data)
    text = console.file.getvalue()
    assert not OBEYED.search(text)
    if width == 200:
        assert text.count(MARKUP) == 7
        assert text.count(r"\x1b[31m") == 5


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Results whose group, failure and facts are what an enemy would have written."""
    out = tmp_path_factory.mktemp("evil")
    references = sentences()
    for arm, share in (("none", 0.5), ("additive", 0.1)):
        texts = translations(references, [share] * 5, [1])
        notes = [ACTING + MARKUP]
        write_run(out, f"{arm}run", planted_settings(arm), texts, references, notes=notes)
    failed = shutil.copytree(out / "runs" / "nonerun", out / "runs" / "failedrun")
    (failed / "settings.json").write_text(planted_settings("none", 7).model_dump_json())
    (failed / "SHA256SUMS").unlink()  # a run that has not ended has none
    status = {"status": "failed", "reason": f"Traceback\n{ACTING}{MARKUP}"}
    (failed / "status.json").write_text(json.dumps(status))
    groups = dict.fromkeys(("nonerun", "additiverun", "failedrun"), f"{ACTING}{MARKUP}")
    write_relisted(out / "groups.json", json.dumps(groups))
    return out


READ = [
    *(["table", "vindication", "--format", form] for form in ("rich", "markdown", "json")),
    *(["runs"], ["runs", "failedrun"], ["claims"], ["export"]),
]


@pytest.mark.slow
def test_a_terminal_is_sent_no_command_of_the_data(planted):
    """But for rich's own colours: one of them is the enemy's. All commands in one process."""
    lines = [[*line, "--results", "."] for line in READ]
    code = f"from seq2seq_bottleneck.cli.main import run; print([run(line) for line in {lines}])"
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200", "NO_COLOR": "1"}
    sent = b""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=planted, stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
    ):  # fmt: skip
        os.close(theirs)
        try:
            while part := os.read(ours, 65536):
                sent += part
        except OSError:  # Linux's end of a terminal
            pass
    os.close(ours)
    text = sent.decode().replace("\r\n", "\n")
    codes = json.loads(text.rstrip().splitlines()[-1])
    assert len(codes) == len(READ)
    assert {*codes} <= {0, 1, 2}
    assert not OBEYED.search(COLOUR.sub("", text))
    assert "\x1b[31m" not in text
    assert text.count(r"1b[31m") >= 4  # in Markdown, JSON, both lists of runs


@pytest.mark.parametrize(
    "arguments",
    [
        ["table", "vindication", "--results", ".", "--where", f"attention={ACTING}"],
        ["table", "--results", ".", f"x{ACTING}{MARKUP}"],
        ["sweep", f"x{ACTING}.toml"],
        ["reproduce", "--set", f"model.attention={ACTING}"],
    ],
)
def test_an_error_never_carries_a_command_to_the_terminal(capsys, planted, monkeypatch, arguments):
    monkeypatch.chdir(planted)
    assert run(arguments) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert not OBEYED.search(line)


def test_another_program_gets_the_data_as_it_is_and_a_person_does_not(capfdbinary):
    say(ACTING, nl=False)
    say(ACTING.encode(), nl=False)
    say(ACTING, err=True, nl=False)
    printed = capfdbinary.readouterr()
    assert (printed.out.decode(), printed.err.decode()) == (ACTING + ACTING, plain(ACTING))


def test_a_sign_that_acts_makes_no_other_rows(planted):
    """A carriage return in a name ended a row of the tidy table."""
    runs = load_results(planted)
    assert set(runs["run"]) == {"nonerun", "additiverun"}
    assert set(runs["group"]) == {plain(ACTING + MARKUP)}
    assert len(runs) == 10


@pytest.mark.slow
def test_a_figure_of_such_names_is_drawn(planted, tmp_path, capsys):
    """A lone dollar, or two, is no mathematics."""
    out = Path(shutil.copytree(planted, tmp_path / "out"))
    names = ("nonerun", "additiverun")
    write_relisted(out / "groups.json", json.dumps(dict.fromkeys(names, r"$\frac{$ \x1b" + ACTING)))
    for figure in ("bleu", "arms", "learning", "compression", "context-length"):
        assert run(["plot", figure, "--results", str(out), "-o", str(tmp_path / "a.svg")]) in (0, 1)
        assert len(capsys.readouterr().err.splitlines()) <= 1
