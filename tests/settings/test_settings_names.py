"""Names from files that somebody else wrote: none becomes a path out of its folder."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import write_begun, write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.runs.store import RunFolder, sweep_up
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.settings.names import LONGEST, folder_name, is_name
from seq2seq_bottleneck.settings.run import resolve

OUT_OF_THE_FOLDER = (
    "..",
    ".",
    "",
    "../a",
    "a/b",
    "/etc",
    "a\\b",
    "C:",
    "a\0b",
    "a\nb",
    "a\x1b[31m",
)
UNSEEN = ("a\u202eb", "\ufeffa", "a\ud800", "a\u2028b")


@pytest.mark.parametrize("text", [*OUT_OF_THE_FOLDER, *UNSEEN, ".hidden", 3, None, ["a"]])
def test_what_is_no_name(text):
    assert not is_name(text)


@pytest.mark.parametrize(
    "text", ["0123456789ab", "none-1", "scores.csv", "état", "文", "a" * LONGEST]
)
def test_what_is_a_name(text):
    assert is_name(text)


def test_a_name_is_as_long_as_its_bytes():
    assert is_name("é" * (LONGEST // 2))
    assert not is_name("é" * (LONGEST // 2 + 1))


@pytest.mark.slow
@given(st.text())
def test_a_name_stays_in_its_folder(text):
    if is_name(text):
        joined = os.path.normpath(os.path.join("/store", text))
        assert os.path.dirname(joined) == "/store"
        assert os.path.basename(joined) == text


@pytest.fixture
def store(tmp_path):
    """A store with one begun run, and a file beside the store that nobody may touch."""
    (tmp_path / "precious").write_text("keep")
    write_begun(tmp_path, "run", resolve("smoke"))
    return tmp_path / "runs"


def test_a_folder_aside_of_no_run_is_left_alone(store):
    """``..aside`` is that of a run without a name: the store itself."""
    whole = store / "..aside" / "new"
    whole.mkdir(parents=True)
    (whole / "status.json").write_text('{"status": "done", "reason": ""}')
    sweep_up(store)
    assert RunFolder(store, "run").status == "running"
    assert whole.is_dir()


@pytest.mark.parametrize("name", ["../precious", "/tmp/x", "..", "a/b", ""])
def test_what_comes_back_from_another_machine_stays_in_its_folder(store, name):
    before = sorted(store.parent.rglob("*"))
    with pytest.raises(UserError, match="not kept"):
        RunFolder(store, "run").replace({"status.json": b"{}", name: b"x"})
    assert sorted(store.parent.rglob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../secret", "/etc", "..", ".", "a/b", "a\\b", "\u202ea"])
def test_a_run_of_a_bundle_that_names_another_folder_is_refused(tmp_path, name):
    write_planted(tmp_path, {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    shutil.rmtree(tmp_path / "runs")
    assert set(load_bundle(tmp_path).runs["run"]) == {"none1x1", "additive1x1"}
    text = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(text.replace("none1x1", name))
    with pytest.raises(UserError, match=r"runs\.csv"):
        load_bundle(tmp_path)


@pytest.mark.parametrize("stem", ["", ".", "..", "a\x1b[2Jb", "\u202egnp", "a" * (LONGEST + 1)])
def test_a_sweep_whose_name_is_no_folders_asks_for_one(stem):
    with pytest.raises(UsageError, match="--out"):
        folder_name(stem, f"{stem}.toml")


SWEEP = "# Is it?\n[model]\ncontext_size = [8, 16]\n"


@pytest.mark.parametrize(
    "file", ["..toml", "...toml", ".toml", "a\x1b[31mb.toml", f"{'a' * 210}.toml"]
)
def test_a_sweep_file_of_such_a_name_is_one_line(capsys, tmp_path, monkeypatch, file):
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(SWEEP)
    assert run(["sweep", file, "--dry-run"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--out" in line
    assert os.listdir(tmp_path) == [file]


@pytest.mark.slow
def test_such_a_sweep_runs_into_a_folder_that_is_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("...toml").write_text(SWEEP)
    options = ["--preset", "smoke", "--corpus", "copy", "--dry-run", "--out", "here"]
    assert run(["sweep", "...toml", *options]) == 0
    assert "context_size=16" in capsys.readouterr().out


SMALL = ["sweep", "context_size", "--preset", "smoke", "--corpus", "copy", "--quiet"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", "loop.toml"],
        ["sweep", f"{'a' * 5000}.toml"],
        ["sweep", "a" * 5000],
        [*SMALL, "--out", "loop"],
        [*SMALL, "--out", "b" * 300],
        ["reproduce", "--preset", "smoke", "--out", "loop", "--quiet"],
        ["table", "vindication", "--results", "loop"],
        ["table", "vindication", "--results", "b" * 300],
        ["export", "--results", "loop"],
        ["runs", "--results", "loop"],
        ["runs", "--results", "b" * 300],
        ["translate", "hello", "--results", "loop"],
        ["claims", "--results", "loop"],
        ["corpus", "describe", "files", "--source", "loop", "--target", "loop"],
        ["corpus", "describe", "files", "--source", "b" * 300, "--target", "loop"],
        ["score", "--hypotheses", "loop", "--references", "loop", "--sources", "loop"],
    ],
)
def test_a_link_in_a_circle_and_too_long_a_name_are_one_line(
    capsys, tmp_path, monkeypatch, arguments
):
    monkeypatch.chdir(tmp_path)
    for name in ("loop", "loop.toml"):
        Path(name).symlink_to(name)
    assert run(arguments) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bottleneck: ")
    assert sorted(os.listdir(tmp_path)) == ["loop", "loop.toml"]
