"""Options of the commands that answer without training: an answer, or one line that says why not.

All drawn paths are relative and without "..", so that nobody, not even root, writes outside a
test's folder.
"""

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from disturbed import state
from hostile import SIGNS, try_cases
from hypothesis import strategies as st
from lanes import Draws, draws
from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.settings.errors import UserError

ODD = [
    *["", " ", "nan", "inf", "-inf", "1e400", "0x10", "1_000", "+1", "\u0663", "\u00b2", "1.5"],
    *["--", "-", "~", "%s", "{}", "$HOME", "*", "a=b", "=", "a=", ",", ":", ";", "1,"],
    *["x" * 5_000, "x/" * 3_000, "\u00e9" * 200],
]
SWEEP = """# Is it?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
[model]
attention = ["none", "dot"]
context_size = 8
"""
FEW = "--preset smoke --set corpus.train_pairs=30 --set corpus.valid_pairs=20"
FEW += " --set corpus.test_pairs=20"
TEXTS = {"source": "a b c d e f\ng h\n", "target": "u v w x y z\ns t\n", "other": "u v x x y\ns\n"}


def given(text: str) -> str:
    """A value as in a command line, without zero bytes and without paths that lead elsewhere."""
    text = text.replace("\0", "").replace("..", ".")
    return text.lstrip("/")


junk = (
    st.sampled_from([*SIGNS, *ODD])
    | st.text(max_size=6)
    | st.binary(max_size=5).map(os.fsdecode)  # lone surrogates if it is not UTF-8
    | st.integers().map(str)
    | st.floats().map(str)
).map(given)


def mostly(*known: str) -> st.SearchStrategy[str]:
    """Mostly a value that suits the option, sometimes any other."""
    return st.sampled_from(known) | junk


# Valid requests take their time, so thousands of seeds or resamples are not drawn.
huge = st.integers(max_value=0) | st.integers(min_value=10**8)
whole = st.sampled_from(["1", "2", "3", "0", "-1"]) | huge.map(str) | st.sampled_from(ODD)
place = mostly("out", "out/runs", "out/runs/dot1x1", "out/runs.csv", "empty", "missing", "source")
new = mostly("new.csv", "new.svg", "deep/new.png", "source/new.pdf", "empty", "out", "new.html")
where = mostly("attention=none", "seed=1,2", "context_size=8", "seed=", "nothing=1")
OPTIONS = {
    **{"--results": place, "--where": where | st.builds("{}={}".format, junk, junk).map(given)},
    **dict.fromkeys(["--out", "-o", "--bundle", "--save"], place | new),
    **dict.fromkeys(["--source", "--target", "--file"], mostly(*TEXTS, "empty")),
    **dict.fromkeys(["--seeds", "--jobs", "-n", "--beam", "--resamples"], whole),
    **{"--format": mostly("rich", "csv", "latex", "json"), "--arm": mostly("dot")},
    **{"--edges": mostly("5,11", "1", "3,2"), "--tokenize": mostly("13a", "zh"), "--test": junk},
    **{"--preset": mostly("smoke"), "--corpus": mostly("copy"), "--sentence": junk},
    **{"--context-size": mostly("8", "8,16"), "--attention": mostly("dot", "none,dot")},
    **{"--train-length": mostly("9", "9,20"), "--scheduler": mostly("tcp://10.0.0.1:8786")},
}
"""Values of options; an option that is not here takes no value."""
TEXTS_OF = "--source --target --test --preset --reverse-direction"
TRAINED = "--preset --seeds --jobs --quiet --corpus --out"
AXES = "--context-size --attention --train-length"
SCORE = "score other --references target --sources source"
COMMANDS = [
    ("settings", mostly("model.attention", "seed"), "--preset"),
    (
        "table",
        mostly("vindication", "arms", "cost", "claims", "runs"),
        "--results --where --format --like-slide -o",
    ),
    ("export", None, "--results --where --out -o --bundle"),
    ("plot", mostly("bleu", "attention", "cost"), "--results --where -o --sentence --beam"),
    ("lecture", mostly("L1", "L10", "L15", "L-FAIL"), "--format"),
    ("translate", junk, "--file --results --arm --beam --alignment"),
    (f"corpus {FEW}", mostly("copy", "files"), f"{TEXTS_OF} -n"),
    ("sweep --dry-run", mostly("mine.toml", "out"), f"{TRAINED} --scheduler {AXES} --save"),
    ("reproduce --preset smoke --quiet", None, f"{TEXTS_OF} {TRAINED} --check-schedule"),
    ("study --dry-run", mostly("length", "alignment"), f"{TRAINED} --results --where"),
    (SCORE, mostly("target"), "--edges --resamples --format --tokenize"),
]
"""Commands, what their argument may be, and some of their options."""


@st.composite
def command_lines(draw: Callable) -> list[str]:
    """A command with some of its options, and sometimes one that it does not have."""
    command, argument, options = draw(st.sampled_from(COMMANDS))
    line = command.split()
    for name in draw(st.lists(st.sampled_from(options.split()), max_size=4)):
        line += [name, draw(OPTIONS[name])] if name in OPTIONS else [name]
    if argument is not None and draw(st.integers(0, 5)):
        line.append(draw(argument))
    if draw(st.integers(0, 9)) == 0:
        line.append(draw(junk))
    return line


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with results, texts and a sweep; slow work is replaced."""
    folder = tmp_path / "here"
    write_planted(folder / "out", {"none": [0.5] * 5, "dot": [0.1] * 5}, seeds=1)
    (folder / "empty").mkdir()
    (folder / "mine.toml").write_text(SWEEP)
    for name, lines in TEXTS.items():
        (folder / name).write_text(lines)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("seq2seq_bottleneck.runs.pool.run_cells", untrained)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    return folder


def untrained(*_: object, **__: object) -> None:
    raise UserError("it would train now")


@pytest.mark.parametrize("budget", draws(10, 1_000))
def test_options(here: Path, budget: Draws) -> None:
    """Each command line gives an answer, or one line that says why not, and changes no results."""
    kept, results = {*here.iterdir()}, state(here / "out")

    def check(line: list[str]) -> None:
        # Streams as in a real program, which cannot encode every character.
        out = io.TextIOWrapper(io.BytesIO(), "utf8", errors="replace")
        err = io.TextIOWrapper(io.BytesIO(), "utf8", errors="backslashreplace", write_through=True)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(line)
        errors = err.buffer.getvalue().decode().splitlines()
        faults = [item for item in errors if item.startswith("bottleneck: ")]
        assert code in (0, 1, 2), (line, code)
        assert faults == (errors[-1:] if code else []), (line, errors)
        assert state(here / "out") == results, line
        assert {path.name for path in here.parent.iterdir()} <= {"here", "cache"}, line
        for path in {*here.iterdir()} - kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    try_cases(check, command_lines(), budget)
