"""The program: quick help with nothing cut, and requests to stop, once or several times.

A signal ends the command in order, with exit code 130.
"""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ordinary_user import bottleneck

from seq2seq_bottleneck.cli.main import app
from seq2seq_bottleneck.results.schema import FIGURES, GOLD, QUESTIONS, TABLES
from seq2seq_bottleneck.settings.run import NAMES as SETTINGS
from seq2seq_bottleneck.settings.run import toml_names

NAMES = [command.callback.__name__ for command in app.registered_commands]
PAGES = ["", *NAMES]
REFERENCE = Path(__file__).parents[2] / "results" / "reference"
READING = [
    *(f"table {name} --results {{0}}/vindication" for name in ("failure-pattern", "survival")),
    "table capacity --results {0}/capacity",
    "plot length --results {0}/vindication -o length.svg",
    "export --results {0}/vindication -o tidy.csv",
    "export --results {0}/capacity -o page.html",
    "score a.txt --references a.txt --sources a.txt",
    "lecture",
]
"""Commands that read results."""
LOADS = """
import sys
from seq2seq_bottleneck.cli.main import run

heavy, *lines = sys.argv[1:]
for line in lines:
    assert run(line.split()) == 0, line
    assert not {*heavy.split()} & {*sys.modules}, line
"""
HEAVY = "jax flax optax pandas matplotlib numpy sacrebleu"


@pytest.mark.slow
def test_no_command_that_reads_loads_jax(tmp_path):
    lines = "le chat noir dort sur le tapis .\nle chat dort et le chien mange et le rat rit .\n"
    (tmp_path / "a.txt").write_text(lines * 20)
    commands = [command.format(REFERENCE) for command in READING]
    done = bottleneck(["jax flax optax", *commands], tmp_path, program=["-c", LOADS])
    assert done.returncode == 0, done.stderr[-2_000:]


def test_help_imports_nothing_heavy(tmp_path):
    lines = ["--help", "--version", "reproduce --help"]
    done = bottleneck([HEAVY, *lines], tmp_path, program=["-c", LOADS])
    assert done.returncode == 0, done.stderr[-2_000:]


def test_bottleneck_alone_prints_its_help_with_three_commands_to_try(ok):
    text = ok().out
    assert text == ok("--help").out
    tried = [words.split()[0] for words in re.findall(r"`(.*?)`", " ".join(text.split()))]
    assert tried == ["translate", "lecture", "reproduce"]
    _, _, rows = text.partition("Commands:\n")
    assert [row.split()[0] for row in rows.splitlines()] == NAMES
    assert all(row.endswith((".", "?")) for row in rows.splitlines())


@pytest.mark.parametrize("page", PAGES)
def test_help_is_plain_lines_of_80_columns_with_nothing_cut(page, ok, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    text = ok(page, "--help").out
    assert max(map(len, text.splitlines())) <= 80
    meant = r"\[?(ARGS|(?i:sentence))\]?\.\.\.|\{?SYSTEM\}?\.\.\.|1, 2, \.\.\.|L-VIND \.\.\."
    assert not set("…│╭─") & set(re.sub(meant, "", text).replace("...", "…"))
    assert text.startswith(f"Usage: {' '.join(['bottleneck', *page.split()])} ")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("table", [*TABLES, *QUESTIONS, GOLD, "claims", "runs"]), ("plot", FIGURES),
        ("study", QUESTIONS), ("sweep", toml_names()),
    ],
)  # fmt: skip
def test_a_missing_name_lists_the_names_one_per_line(command, names, ok, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entries = [" ".join(entry.split()) for entry in re.split(r"\n(?=\S)", ok(command).out.strip())]
    lines = dict(entry.split(" ", 1) for entry in entries)
    assert list(lines) == list(names)
    assert len(set(lines.values())) == len(names)


COMMAND = """
import gc, signal, sys, time
# Tests may run where one of them is ignored (under `nohup`, in the background of a script).
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_IGN if "ignored" in sys.argv else signal.SIG_DFL)
from seq2seq_bottleneck.cli import main

def waste():
    print("begun", flush=True)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        pass

def app(*_, **__):
    if "deaf" in sys.argv:  # in a callback of the collector, as jax has one, a signal would be lost
        gc.callbacks.append(lambda *_: (gc.callbacks.clear(), waste()))
        gc.collect()
        time.sleep(60)
    try:
        print("begun", flush=True)
        time.sleep(2 if "ignored" in sys.argv else 60)
    finally:
        print("tying up", flush=True)
        time.sleep(0.5)
        print("tied up", flush=True)

main.app = app
main.main()
"""
INTERRUPTED = "bottleneck: interrupted; the same command continues from where it stopped\n"


def start(folder, argument):
    """The running program."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, argument],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argument", "first", "later", "expected"),
    [
        ("sweep", ["SIGINT", "SIGTERM"], [], (INTERRUPTED, 130)),
        ("sweep", ["SIGHUP"], ["SIGINT", "SIGINT"], (INTERRUPTED, 130)),
        # A command that would start again does not say that it continues.
        ("export", ["SIGINT"], [], ("bottleneck: interrupted\n", 130)),
        # `nohup bottleneck sweep ...` goes on when its terminal is closed.
        ("ignored", ["SIGHUP"], [], ("", 0)),
    ],
)
def test_a_signal_ends_a_command_in_order_and_a_second_one_does_not_interrupt_that(
    argument, first, later, expected, tmp_path
):
    process = start(tmp_path, argument)
    for name in first:
        process.send_signal(getattr(signal, name))
    assert process.stdout.readline() == "tying up\n"
    for name in later:
        process.send_signal(getattr(signal, name))
    printed, errors = process.communicate(timeout=30)
    assert (printed, errors, process.returncode) == ("tied up\n", *expected)


@pytest.mark.slow
def test_a_signal_in_a_callback_of_the_collector_is_not_lost(tmp_path):
    process = start(tmp_path, "deaf")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130


def test_settings_lists_all_or_those_whose_names_have_the_word(ok):
    lines = ok("settings").out.splitlines()
    assert [line.split()[0] for line in lines] == list(SETTINGS)
    assert all(len(line.split()) > 3 for line in lines)
    (line,) = ok("settings model.attention").out.splitlines()
    assert line.split()[:2] == ["model.attention", "additive"]
    (line,) = ok("settings context-size --preset smoke").out.splitlines()
    assert line.split(maxsplit=2) == [
        "model.context_size", "32", "Numbers per sentence: the context vector. (from 1)"
    ]  # fmt: skip
    assert ok("settings model.cell").out.endswith("(rnn, gru, lstm)\n")
    assert ok("settings dropout").out.endswith("(from 0.0, below 1.0)\n")
