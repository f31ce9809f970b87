"""What is printed: data as plain text, the live display, the time left.

No escape sequence, direction mark or rich markup of the data may reach a terminal.
"""

import json
import re
import shutil
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from listed import write_relisted
from planted import planted_settings, sentences, translations, write_run

from seq2seq_bottleneck.cli import console
from seq2seq_bottleneck.cli.console import say
from seq2seq_bottleneck.settings.errors import plain
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import Cell

ACTING = "\x1b[31m\x1b]0;title\x07\x9b2J\u202ecipher\u2066\u200f\r\x7f\u2028"
MARKUP = "[red] [/] [bold]b[/bold] [link=x]y[/link] :smile:"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_plain_spells_out_control_characters_and_keeps_other_text(text):
    spelled = plain(text)
    assert not OBEYED.search(spelled)
    spelled.encode()
    assert plain(spelled) == spelled
    if not OBEYED.search(text) and text.isprintable():
        assert spelled == text


READ = [
    *(f"table arms --format {form}" for form in ("rich", "markdown", "json")),
    *("table runs", "export"),
]


def test_data_send_no_command_to_a_terminal(tmp_path, ok, monkeypatch):
    """Except for rich's own colours; the data try to send one of them."""
    for arm in ("none", "additive"):
        texts = translations(sentences(), [0.1] * 5, [1])
        write_run(tmp_path, f"{arm}run", planted_settings(arm), texts, sentences(), notes=[ACTING])
    failed = shutil.copytree(tmp_path / "runs" / "nonerun", tmp_path / "runs" / "failedrun")
    (failed / "settings.json").write_text(planted_settings("none", 7).model_dump_json())
    (failed / "SHA256SUMS").unlink()  # a run that has not ended has none
    status = {"status": "failed", "reason": f"Traceback\n{ACTING}{MARKUP}"}
    (failed / "status.json").write_text(json.dumps(status))
    members = {f"{arm}run": [arm, ""] for arm in ("none", "additive", "failed")}
    write_relisted(tmp_path / "experiments.json", json.dumps({ACTING + MARKUP: members}))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for line in READ:
        printed = ok(line, "--results", tmp_path)
        assert not OBEYED.search(COLOUR.sub("", printed.out + printed.err)), line
        assert "\x1b[31m" not in printed.out


def test_output_is_unchanged_for_programs_and_plain_for_people(capfdbinary):
    say(ACTING, nl=False)
    say(ACTING.encode(), nl=False)
    say(ACTING, err=True, nl=False)
    printed = capfdbinary.readouterr()
    assert (printed.out.decode(), printed.err.decode()) == (ACTING + ACTING, plain(ACTING))


EARLY = {"phase": "training", "epoch": 0.1, "update": 5, "updates": 3000, "loss": 7.5}
EARLY |= {"valid_loss": None, "tokens_per_second": 900.0, "seconds_left": 42.0}


def test_the_time_left_counts_only_runs_that_this_command_trains(monkeypatch, capsys):
    """Runs that were finished before do not count. Two train at once; the fourth and fifth wait."""
    now = [100.0]
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: now[0]))
    cells = [Cell("", resolve("lecture"), name) for name in "abcdef"]
    training, done = EARLY | {"update": 10, "updates": 40}, {"phase": "done"}
    with console.display(cells, quiet=False) as listen:
        for cell in cells[1:3]:
            listen(cell, training)
        listen(cells[0], done)
        now[0] = 130.0
        for cell, event in [(cells[3], training), *((cell, done) for cell in cells[1:3])]:
            listen(cell, event)
        for cell in cells[3:]:
            listen(cell, training)
            listen(cell, done)
    whole = [line.split(" (")[1] for line in capsys.readouterr().err.splitlines() if "(" in line]
    assert whole[0] == "1 of 6 done, 2 running, 3 waiting)"
    assert whole[2] == "3 of 6 done, about 0:00:45 left, 1 running, 2 waiting)"
    assert whole[5] == "6 of 6 done, 0 running)"
