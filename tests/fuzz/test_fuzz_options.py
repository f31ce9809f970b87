"""Options of the commands that answer without training: an answer, or one line that says why not.

All paths that are drawn are relative and go no folder up, so that whoever runs this, root too,
writes nowhere but below a test's own folder.
"""

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile import SIGNS, sentence, try_cases
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
FEW = ["--preset", "smoke", "--set", "corpus.train_pairs=30", "--set", "corpus.valid_pairs=20"]
FEW += ["--set", "corpus.test_pairs=20"]
TEXTS = {"source": "a b c d e f\ng h\n", "target": "u v w x y z\ns t\n", "other": "u v x x y\ns\n"}


def given(text: str) -> str:
    """As a command line has it, which cannot hold a zero; no path that leads elsewhere."""
    text = text.replace("\0", "").replace("..", ".")
    return text.lstrip("/")


junk = (
    st.sampled_from([*SIGNS, *ODD])
    | st.text(max_size=6)
    | st.binary(max_size=5).map(os.fsdecode)  # lone surrogates, where it is no UTF-8
    | st.integers().map(str)
    | st.floats().map(str)
).map(given)


def mostly(*known: str) -> st.SearchStrategy[str]:
    """What the option is for, or anything else."""
    return st.sampled_from(known) | junk


# What is asked for and may be had takes its time: thousands of seeds or resamples are not drawn.
huge = st.integers(max_value=0) | st.integers(min_value=10**8)
whole = st.sampled_from(["1", "2", "3", "0", "-1"]) | huge.map(str) | st.sampled_from(ODD)
place = mostly("out", "out/runs", "out/runs/dot1x1", "out/runs.csv", "empty", "missing", "source")
new_file = mostly(
    "new.csv", "new.svg", "deep/new.png", "source/new.pdf", "empty", "out", "new.html"
)
new_folder = mostly("new", "deep/new", "empty", "source", "source/new")
text = mostly("source", "target", "other", "out", "missing", "empty")
form = mostly("rich", "csv", "markdown", "latex", "json")
where = (
    mostly("attention=none", "seed=1,2", "context_size=8", "seed=", "nothing=1")
    | st.builds("{}={}".format, st.sampled_from(["attention", "seed", "run", "corpus"]), junk)
    | st.builds("{}={}".format, junk, junk).map(given)
)
reading = {"--results": place, "--where": where, "--format": form}
scored = {"--edges": mostly("5,11", "1", "3,2"), "--resamples": whole, "--seed": junk | whole}
texts = {"--source": text, "--target": text, "--test-source": text, "--test-target": text}
texts |= {"--test": junk}
number = mostly("auto", "1", "2", "0")
dry = {
    **{"--preset": mostly("smoke"), "--seeds": whole, "--jobs": whole | junk},
    **{"--quiet": None, "--force": None},
}
how = {"--threads": number, "--corpus": mostly("copy"), "--out": place, "--reverse-direction": None}
COMMANDS = {
    "table": (["table"], mostly("vindication", "arms", "length", "learning", "cost"), reading),
    "claims": (["claims"], None, reading),
    "export": (
        ["export"],
        None,
        {"--results": place, "--where": where, "--out": new_file, "-o": new_file,
         "--bundle": new_folder},
    ),
    "runs": (["runs"], mostly("dot", "none1x1", "d"), {"--results": place, "--where": where}),
    "plot": (
        ["plot"],
        mostly("bleu", "attention", "length", "cost"),
        {"--results": place, "--where": where, "-o": new_file, "--sentence": junk,
         "--beam": whole},
    ),
    "report": (["report"], None, {"--results": place, "-o": new_file}),
    "lecture": (["lecture"], mostly("L1", "L10", "L15", "L-FAIL"), {"--format": form}),
    "translate": (
        ["translate"],
        junk,
        {"--file": text, "--results": place, "--arm": mostly("dot"), "--beam": whole,
         "--alignment": None, "--copy-unknown": None},
    ),
    "diagnose": (["diagnose"], junk, {"--results": place, "--format": form}),
    "show": (
        ["corpus", "show", *FEW],
        mostly("copy", "files"),
        texts | {"-n": whole | junk, "--preset": mostly("smoke"), "--reverse-direction": None},
    ),
    "describe": (
        ["corpus", "describe", *FEW],
        mostly("copy", "files"),
        texts | {"--preset": mostly("smoke"), "--reverse-direction": None},
    ),
    "sweep": (
        ["sweep", "--dry-run"],
        mostly("mine.toml", "mine.toml", "source", "out"),
        dry | how | {"--scheduler": mostly("tcp://10.0.0.1:8786"), "--test": junk,
                     "--seeds-together": number},
    ),
    "reproduce": (
        ["reproduce", "--preset", "smoke", "--quiet"],
        None,
        texts | how | {"--preset": mostly("smoke"), "--seeds": whole, "--check-schedule": None},
    ),
    "study": (
        ["study", "--dry-run", "--preset", "smoke"],
        mostly("length", "survival", "alignment"),
        {"--results": place, "--where": where, "--format": form, "--gold": text,
         "--source": text, "--target": text, "--first-word": whole} | dry,
    ),
    "bench": (
        ["bench", "--dry-run"],
        None,
        {"--out": place, "--vary": mostly("length=5", "batch=2,3", "length"), "--repeats": whole,
         "--arms": mostly("none", "dot,dot-output"), "--threads": whole, "--quick": None,
         "--format": form},
    ),
    "score": (
        ["score", "--hypotheses", "other", "--references", "target", "--sources", "source"],
        None,
        scored | {"--format": form, "--hypotheses": text, "--references": text, "--sources": text},
    ),
    "compare": (
        ["compare", "other", "target", "--references", "target", "--sources", "source"],
        None,
        scored | {"--trials": whole, "--format": form, "--references": text, "--sources": text},
    ),
    "merge": (["merge", "-o", "new"], place, {"-o": new_folder}),
}  # fmt: skip


@st.composite
def command_lines(draw: Callable) -> list[str]:
    """A command with some of its options, now and then one that it does not have."""
    line, argument, options = COMMANDS[draw(st.sampled_from(list(COMMANDS)))]
    line = [*line]
    for name in draw(st.lists(st.sampled_from(list(options)), max_size=4)):
        value = options[name]
        line += [name] if value is None else [name, draw(value)]
    if argument is not None and draw(st.integers(0, 5)):
        line.append(draw(argument))
    if draw(st.integers(0, 9)) == 0:
        line.append(draw(junk))
    return line


about = sentence.map(given) | junk
asked = (
    st.tuples(st.sampled_from(["translate", "diagnose"]), about).map(list)
    | about.map(lambda text: ["plot", "attention", "-o", "new.svg", "--sentence", text])
    | about.map(lambda text: ["translate", "--alignment", "--beam", "2", "--", text])
).map(lambda line: [line[0], "--results", "out", *line[1:]])
"""Sentences put to trained runs."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both arms of one comparison, hardly trained."""
    folder = tmp_path_factory.mktemp("trained") / "out"
    small = ["corpus.copy_words=20", "corpus.max_words=12", "corpus.test_pairs=20"]
    small += ["scoring.edges=3,7", "training.updates=10", "scoring.resamples=9"]
    changes = [word for setting in small for word in ("--set", setting)]
    start = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--quiet"]
    assert run([*start, *changes, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with results, texts and a sweep; what takes long is not done."""
    folder = tmp_path / "here"
    write_planted(folder / "out", {"none": [0.5] * 5, "dot": [0.1] * 5}, seeds=1)
    (folder / "empty").mkdir()
    (folder / "mine.toml").write_text(SWEEP)
    for name, lines in TEXTS.items():
        (folder / name).write_text(lines)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("seq2seq_bottleneck.runs.reproduce.run_jobs", untrained)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    return folder


def untrained(*_: object, **__: object) -> None:
    raise UserError("it would train now")


@contextlib.contextmanager
def own_streams() -> Iterator[io.TextIOWrapper]:
    """Standard output and error, here given, as a program has them: not every sign can be told."""
    out = io.TextIOWrapper(io.BytesIO(), "utf8", errors="replace")
    err = io.TextIOWrapper(io.BytesIO(), "utf8", errors="backslashreplace", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield err


def files(folder: Path) -> dict[Path, tuple[int, int]]:
    """All files with size and time of change."""
    stats = {path: path.lstat() for path in folder.rglob("*")}
    return {path: (each.st_size, each.st_mtime_ns) for path, each in stats.items()}


def clear(folder: Path, kept: set[Path]) -> None:
    """Take away what a case has written."""
    for path in folder.iterdir():
        if path not in kept and path.is_dir():
            shutil.rmtree(path)
        elif path not in kept:
            path.unlink()


def try_lines(lines: st.SearchStrategy[list[str]], budget: Draws, here: Path) -> None:
    """Command lines: each answers, or says in one line why not, and spoils nothing."""
    kept, results = set(here.iterdir()), files(here / "out")

    def check(line: list[str]) -> None:
        with own_streams() as told:
            code = run(line)
        said = told.buffer.getvalue().decode().splitlines()
        faults = [each for each in said if each.startswith("bottleneck: ")]
        assert code in (0, 1, 2), (line, code)
        assert faults == (said[-1:] if code else []), (line, said)
        assert files(here / "out") == results, line
        assert {path.name for path in here.parent.iterdir()} <= {"here", "cache"}, line
        clear(here, kept)

    try_cases(check, lines, budget)


@pytest.mark.parametrize("budget", draws(10, 1_000))
def test_options(here: Path, budget: Draws) -> None:
    try_lines(command_lines(), budget, here)


@pytest.mark.exhaustive(sample="session")
def test_sentences_put_to_trained_runs(here: Path, trained: Path) -> None:
    shutil.rmtree(here / "out")
    shutil.copytree(trained, here / "out")
    try_lines(asked, Draws(30, False), here)
