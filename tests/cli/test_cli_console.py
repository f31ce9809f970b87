"""What is printed: data on a terminal as plain text, the live display, the time left.

Data holds no escape sequence, mark of direction or markup of rich that a terminal would obey.
"""

import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from listed import write_relisted
from planted import planted_settings, sentences, translations, write_run
from rich.console import Console

from seq2seq_bottleneck.cli import console
from seq2seq_bottleneck.cli.console import Display, display, say
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.runs.pool import Job
from seq2seq_bottleneck.settings.errors import plain
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.tables import render

ACTING = "\x1b[31m\x1b]0;title\x07\x9b2J\u202ecipher\u2066\u200f\r\x7f\u2028"
MARKUP = "[red] [/] [bold]b[/bold] [link=x]y[/link] :smile:"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
"""Colours of rich's own: the data's escapes are spelled, so that none of these is left of them."""


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_nothing_that_acts_is_left_and_nothing_is_lost(text):
    spelled = plain(text)
    assert not OBEYED.search(spelled)
    spelled.encode()
    assert plain(spelled) == spelled
    if not OBEYED.search(text) and text.isprintable():
        assert spelled == text


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Results whose experiment, failure and facts are what an enemy would have written."""
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
    members = {f"{arm}run": [arm, ""] for arm in ("none", "additive", "failed")}
    write_relisted(out / "experiments.json", json.dumps({f"{ACTING}{MARKUP}": members}))
    return out


READ = [
    *(["table", "vindication", "--format", form] for form in ("rich", "markdown", "json")),
    *(["runs"], ["runs", "failedrun"], ["claims"], ["export"]),
    ["table", "vindication", "--where", f"attention={ACTING}"],
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


def test_another_program_gets_the_data_as_it_is_and_a_person_does_not(capfdbinary):
    say(ACTING, nl=False)
    say(ACTING.encode(), nl=False)
    say(ACTING, err=True, nl=False)
    printed = capfdbinary.readouterr()
    assert (printed.out.decode(), printed.err.decode()) == (ACTING + ACTING, plain(ACTING))


def test_a_sign_that_acts_makes_no_other_rows(planted):
    """A carriage return in a name ended a row of the tidy table."""
    runs = Results.open(planted).runs
    assert set(runs["run"]) == {"nonerun", "additiverun"}
    assert set(runs["experiment"]) == {plain(ACTING + MARKUP)}
    assert len(runs) == 10


@pytest.mark.slow
def test_a_figure_of_such_names_is_drawn(planted, tmp_path, capsys):
    """A lone dollar, or two, is no mathematics."""
    out = Path(shutil.copytree(planted, tmp_path / "out"))
    base, arm = (f"{word}{ACTING}" + r"$\frac{$ \x1b" for word in ("none", "additive"))
    experiments = {"evil": {"nonerun": [base, ""], "additiverun": [arm, base]}}
    write_relisted(out / "experiments.json", json.dumps(experiments))
    for figure in ("bleu", "arms", "compression"):
        assert run(["plot", figure, "--results", str(out), "-o", str(tmp_path / "a.svg")]) in (0, 1)
        assert len(capsys.readouterr().err.splitlines()) <= 1


NAMES = [f"attention={arm} context_size=16 seed={seed}" for arm in ("none", "dot") for seed in "12"]
EARLY = {"phase": "training", "epoch": 0.1, "update": 5, "updates": 3000, "loss": 7.5}
EARLY |= {"valid_loss": None, "tokens_per_second": 900.0, "seconds_left": 42.0}
LATE = EARLY | {"epoch": 142.5, "update": 3000, "loss": 0.125, "valid_loss": 0.25}
LATE |= {"tokens_per_second": 1_234_567.0, "seconds_left": 7_300.0}


def lines_of(monkeypatch, names, event, width):
    """The lines of the display after an event of every run but the last."""
    terminal = Console(file=io.StringIO(), width=width, force_terminal=True)
    monkeypatch.setattr(render, "PlainConsole", lambda **_: terminal)
    jobs = [Job(name, resolve("lecture")) for name in names]
    with display(jobs, quiet=False) as listener:
        for job in jobs[:-1]:
            listener(job, event)
        file = io.StringIO()
        Console(file=file, width=width).print(listener.__self__.progress.get_renderable())
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [30, 200])
def test_each_run_is_one_line(monkeypatch, width):
    first, *lines = lines_of(monkeypatch, NAMES, LATE, width)
    assert all(len(line) <= width for line in (first, *lines))
    assert first.startswith("all runs")
    for name, line in zip(NAMES[:-1], lines, strict=True):
        assert line.startswith(name[: width // 2 - 1])


def test_a_run_has_its_numbers_and_what_has_ended_is_counted_and_no_longer_shown(monkeypatch):
    whole, line = lines_of(monkeypatch, ["[bold]mine", "other"], LATE, 140)
    assert "0 of 2 done, 1 running, 1 waiting" in whole
    assert line.startswith("[bold]mine ")
    assert line.rstrip().endswith(
        "training, 2:01:40 left, update 3,000/3,000, epoch 142.5, loss 0.125, validation 0.250, "
        "1,234,567 tokens/s"
    )
    (whole,) = lines_of(monkeypatch, NAMES, {"phase": "diverged"}, 120)
    assert "0 of 4 done, 0 running, 3 failed, 1 waiting" in whole


def test_a_run_that_was_finished_before_is_one_line(capsys):
    job = Job("none seed 1", resolve("lecture"))
    whole = Display([job])
    for phase in ("starting", "done"):
        whole.listen(job, {"phase": phase})
    assert capsys.readouterr().err == "none seed 1: done (1 of 1 done, 0 running)\n"


def test_the_time_left_is_that_of_the_runs_trained_here(monkeypatch):
    """Not of those that were finished before. Two at once; the fourth and the fifth wait."""
    now = [100.0]
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: now[0]))
    jobs = [Job(name, resolve("lecture")) for name in "abcdef"]
    whole, done = Display(jobs), {"phase": "done"}
    training = EARLY | {"update": 10, "updates": 40}
    whole.listen(jobs[0], done)
    for job in jobs[1:3]:
        whole.listen(job, training)
    assert "left" not in whole.text()
    now[0] = 130.0
    for job in jobs[1:3]:
        whole.listen(job, done)
    whole.listen(jobs[3], training)
    assert whole.text() == "3 of 6 done, about 0:45 left, 1 running, 2 waiting"
    for job in jobs[3:]:
        whole.listen(job, training)
        whole.listen(job, done)
    assert whole.text() == "6 of 6 done, 0 running"
