"""Sweeps through the command: what is missing runs, what failed is named, what is cut goes on."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from listed import write_relisted
from small_sweeps import DIVERGES, FOUR

import seq2seq_bottleneck
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.schema import RUN_COLUMNS

pytestmark = pytest.mark.exhaustive(sample="session")

COMMAND = Path(sys.executable).parent / "bottleneck"


def untimed(text: str) -> pd.DataFrame:
    """The tidy table without its timing columns."""
    frame = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
    timing = [name for name in frame.columns if "seconds" in name or "tokens_per" in name]
    return frame.drop(columns=timing)


def exported(folder: Path, capsys) -> str:
    capsys.readouterr()
    assert run(["export", "--results", str(folder)]) == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep of four cells and one that diverges, undisturbed."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "mine.toml").write_text(FOUR + DIVERGES)
    done = subprocess.run(
        [COMMAND, "sweep", "mine.toml", "--out", "out"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return folder, done


def test_one_bad_cell_does_not_stop_the_rest(swept):
    _, done = swept
    assert done.returncode == 3
    assert "4 of 5 cells done" in done.stdout
    assert "wild: diverged: the loss was no longer finite" in done.stdout
    assert "4 of 5 done" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_export_is_tidy_and_reads_back_the_same(swept, capsys):
    text = exported(swept[0] / "out", capsys)
    frame = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
    assert list(frame.columns) == list(RUN_COLUMNS)
    assert len(frame) == 4 * 5
    assert not frame.duplicated(["run", "attention", "context_size", "seed", "bucket"]).any()
    assert list(frame["attention"]) == ["dot"] * 10 + ["none"] * 10
    assert set(frame["group"]) == {"steady"}
    loaded = seq2seq_bottleneck.load_results(swept[0] / "out")
    assert loaded.to_csv(index=False) == text
    assert str(swept[0]) not in text


def test_the_store_alone_gives_the_same_table(swept, capsys):
    whole = exported(swept[0] / "out", capsys)
    assert exported(swept[0] / "out" / "runs", capsys) == whole


def test_export_reads_the_store_and_says_what_it_lacks(swept, tmp_path, capsys):
    """As after an interrupt: the bundle is that of fewer runs than the store has."""
    out = tmp_path / "out"
    shutil.copytree(swept[0] / "out", out)
    whole = exported(out, capsys)
    _leave_one_run(out / "runs")
    assert run(["export", "--results", str(out), "--bundle", str(out)]) == 0
    shutil.copytree(swept[0] / "out" / "runs", out / "runs", dirs_exist_ok=True)
    capsys.readouterr()
    assert run(["export", "--results", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out == whole
    said = "1 run is without a result: `bottleneck runs` lists them, where they were made.\n"
    assert printed.err == said
    shutil.rmtree(out / "runs")
    assert run(["export", "--results", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out != whole
    assert set(printed.out.splitlines()) < set(whole.splitlines())
    assert printed.err == said


def _leave_one_run(store: Path) -> None:
    """Of the runs that have a result the first alone."""
    done = [path.parent for path in sorted(store.glob("*/scores.csv"))]
    for folder in done[1:]:
        shutil.rmtree(folder)


def test_a_caption_names_the_cell_that_diverged(swept, tmp_path, capsys):
    """It differs from the others in its learning rate, so only it is made alike here."""
    shutil.copytree(swept[0] / "out", tmp_path / "out")
    for path in (tmp_path / "out" / "runs").glob("*/status.json"):
        settings = json.loads((path.parent / "settings.json").read_text())
        if settings["training"]["learning_rate"] == 3e38:
            settings["training"] |= {"learning_rate": 2e-3, "clip_norm": 1.0, "seed": 2}
            write_relisted(path.parent / "settings.json", json.dumps(settings))
    assert run(["table", "compression", "--results", str(tmp_path / "out"), "--format", "csv"]) == 0
    capsys.readouterr()
    out = ["--results", str(tmp_path / "out"), "--format", "json"]
    assert run(["table", "context-size", *out]) == 0
    caption = json.loads(capsys.readouterr().out)["caption"]
    assert any("none context 8 seed 2 (diverged: the loss was no" in line for line in caption)


def test_a_bundle_can_be_written_elsewhere(swept, tmp_path, capsys):
    arguments = ["export", "--results", str(swept[0] / "out"), "--bundle", str(tmp_path / "b")]
    assert run(arguments) == 0
    names = ["environment.json", "examples.json.gz", "learning.csv", "runs.csv", "sentences.csv.gz"]
    shown = [name for name in os.listdir(tmp_path / "b") if not name.startswith(".")]
    assert sorted(shown) == ["SHA256SUMS", *names]
    assert exported(tmp_path / "b", capsys) == exported(swept[0] / "out", capsys)


@pytest.mark.parametrize("name", ["failure-pattern", "vindication", "context-size", "compression"])
@pytest.mark.parametrize("form", ["rich", "csv", "markdown", "latex", "json"])
def test_every_table_in_every_format(swept, capsys, name, form):
    arguments = ["table", name, "--results", str(swept[0] / "out"), "--format", form]
    one_size = name in ("failure-pattern", "vindication")
    assert run([*arguments, *(["--where", "context_size=16"] if one_size else [])]) == 0
    assert "41+" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["table", "vindicaton"], 2, ["vindicaton", "vindication"]),
        (["table", "compression", "--format", "cvs"], 2, ["cvs", "csv"]),
        (["table", "vindication"], 1, ["context_size", "--where"]),
        (["table", "context-size", "--where", "sed=1"], 2, ["sed", "seed"]),
    ],
)
def test_a_table_that_cannot_be_made_says_why(swept, capsys, arguments, code, parts):
    assert run([*arguments, "--results", str(swept[0] / "out")]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(part in printed.err for part in parts), printed.err


def test_the_same_command_runs_only_what_is_missing(swept, capsys):
    stamps = {path: path.stat().st_mtime_ns for path in swept[0].rglob("status.json")}
    arguments = ["sweep", str(swept[0] / "mine.toml"), "--out", str(swept[0] / "out")]
    assert run([*arguments, "--quiet"]) == 3
    assert {path: path.stat().st_mtime_ns for path in swept[0].rglob("status.json")} == stamps
    assert "4 of 5 cells done" in capsys.readouterr().out


def test_runs_are_listed_filtered_shown_and_removed(swept, capsys):
    out = ["--results", str(swept[0] / "out")]
    assert run(["runs", *out]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 5
    assert run(["runs", *out, "--where", "attention=none", "--where", "context_size=16"]) == 0
    _, line = capsys.readouterr().out.splitlines()
    name = line.split()[0]
    assert run(["runs", *out, name[:6]]) == 0
    assert "  context_size = 16\n" in capsys.readouterr().out
    assert run(["runs", *out, "--where", "atention=none"]) == 2
    assert "did you mean 'attention'" in capsys.readouterr().err
    diverged = next(line.split()[0] for line in lines if "diverged" in line)
    assert run(["runs", *out, diverged, "--remove", "--yes"]) == 0
    assert not (swept[0] / "out" / "runs" / diverged).exists()


@pytest.mark.exhaustive(sample="session")
def test_a_killed_sweep_started_again_ends_as_if_undisturbed(swept, tmp_path, capsys):
    """SIGKILL to the whole command after its second finished cell; then the same command."""
    (tmp_path / "mine.toml").write_text(FOUR)
    arguments = [COMMAND, "sweep", "mine.toml", "--out", "out", "--jobs", "1"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        done = 0
        for line in process.stderr:
            done += ": done" in line
            if done == 2:
                process.send_signal(signal.SIGKILL)
                break
        process.stderr.close()
    assert process.returncode == -signal.SIGKILL
    again = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "4 of 4 cells done" in again.stdout
    assert again.stderr.count(": training\n") in (1, 2)
    resumed = untimed(exported(tmp_path / "out", capsys)).drop(columns="group")
    whole = untimed(exported(swept[0] / "out", capsys)).drop(columns="group")
    pd.testing.assert_frame_equal(resumed, whole)


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(tmp_path):
    (tmp_path / "mine.toml").write_text(FOUR)
    arguments = ["sweep", "mine.toml", "--out", "out", "--set", "training.updates=100000"]
    # Tests may themselves run in the background of a shell, where SIGINT is ignored.
    heeding = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    heeding += "os.execv(sys.argv[1], sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", heeding, COMMAND, *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for line in process.stderr:
            if "update " in line:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert rest.splitlines()[-1] == (
        "bottleneck: interrupted; the same command goes on from where it stopped"
    )
    assert list((tmp_path / "out" / "runs").glob("*/checkpoint.safetensors"))
