"""Sweeps through the command: what is missing runs, what failed is named, what is cut goes on."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from planted import sentences, translations, write_begun, write_run

import seq2seq_bottleneck
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.results.schema import RUN_COLUMNS
from seq2seq_bottleneck.runs.pool import Outcome
from seq2seq_bottleneck.runs.portable import Portable
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import expand, load_sweep

COMMAND = Path(sys.executable).parent / "bottleneck"
FOUR = """# Which is better, in a copying task of the smallest size?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
[model]
attention = ["none", "dot"]
context_size = [8, 16]
"""
DIVERGES = """
[[group]]
name = "steady"
[[group]]
name = "wild"
model.attention = "none"
model.context_size = 8
training.learning_rate = 1e30
training.clip_norm = 1e30
"""


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
    shutil.copytree(swept[0] / "out", tmp_path / "out")
    whole = exported(tmp_path / "out", capsys)
    lines = (tmp_path / "out" / "runs.csv").read_text().splitlines(keepends=True)
    (tmp_path / "out" / "runs.csv").write_text("".join(lines[:6]))
    assert run(["export", "--results", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    assert printed.out == whole
    said = "1 run is without a result: `bottleneck runs` lists them.\n"
    assert printed.err == said
    shutil.rmtree(tmp_path / "out" / "runs")
    assert run(["export", "--results", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == said


def test_a_caption_names_the_cell_that_diverged(swept, tmp_path, capsys):
    """It differs from the others in its learning rate, so only it is made alike here."""
    shutil.copytree(swept[0] / "out", tmp_path / "out")
    for path in (tmp_path / "out" / "runs").glob("*/status.json"):
        settings = json.loads((path.parent / "settings.json").read_text())
        if settings["training"]["learning_rate"] == 1e30:
            settings["training"] |= {"learning_rate": 2e-3, "clip_norm": 1.0, "seed": 2}
            (path.parent / "settings.json").write_text(json.dumps(settings))
    assert run(["table", "compression", "--results", str(tmp_path / "out"), "--format", "csv"]) == 0
    capsys.readouterr()
    out = ["--results", str(tmp_path / "out"), "--format", "json"]
    assert run(["table", "context-size", *out]) == 0
    caption = json.loads(capsys.readouterr().out)["caption"]
    assert any("none context 8 seed 2 (diverged: the loss was no" in line for line in caption)


def test_a_bundle_can_be_written_elsewhere(swept, tmp_path, capsys):
    arguments = ["export", "--results", str(swept[0] / "out"), "--bundle", str(tmp_path / "b")]
    assert run(arguments) == 0
    names = ["environment.json", "examples.json", "runs.csv", "sentences.csv.gz"]
    assert sorted(os.listdir(tmp_path / "b")) == names
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


def test_a_dry_run_prints_the_cells_and_runs_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FOUR)
    assert run(["sweep", "mine.toml", "--seeds", "3", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "Which is better" in printed
    assert "12 cells" in printed
    assert os.listdir(tmp_path) == ["mine.toml"]


def test_a_plan_says_which_groups_fall_together(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FOUR + DIVERGES)
    same = ["--set", "training.learning_rate=1e-3", "--set", "training.clip_norm=1"]
    assert run(["sweep", "mine.toml", "--dry-run", *same]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "group 'wild' has cells that are those of group 'steady' here" in printed
    assert "4 cells" in printed
    assert run(["sweep", "mine.toml", "--dry-run"]) == 0
    assert "has cells" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (FOUR + "contxt = 3\n", ["mine.toml", "model.contxt", "model.context_size"]),
        (FOUR.replace("smoke", "smok"), ["smok", "smoke"]),
        (FOUR.replace('"dot"', '"dott"'), ["mine.toml", "model.attention", "dott"]),
        ("model = [", ["mine.toml", "TOML"]),
    ],
)
def test_a_faulty_sweep_stops_before_anything_runs(tmp_path, capsys, monkeypatch, content, parts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(content)
    assert run(["sweep", "mine.toml"]) == 2
    message = capsys.readouterr().err
    assert all(part in message for part in parts), message
    assert os.listdir(tmp_path) == ["mine.toml"]


@pytest.mark.slow
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


CELLS = """# Does a larger context help?
preset = "smoke"
[corpus]
name = "copy"
copy_words = 30
[model]
attention = ["none", "additive"]
context_size = [8, 16]
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A sweep's file in a folder of its own; in the place of training, runs with known scores."""

    def run_jobs(jobs, store, listener, **_):
        outcomes = []
        for job in sorted(jobs, key=lambda job: job.name):
            name = f"run{len(outcomes)}"
            texts = translations(sentences(), [0.1, 0.2, 0.3, 0.4, 0.5], [len(outcomes)])
            write_run(store.parent, name, job.settings, texts, sentences())
            end = {"phase": "done", "run": name, "reason": ""}
            listener(job, end)
            outcomes.append(Outcome(job, **end))
        return outcomes

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2seq_bottleneck.runs.pool.run_jobs", run_jobs)
    (tmp_path / "mine.toml").write_text(CELLS)
    return tmp_path


def test_the_scores_have_n_and_ranges_in_the_order_of_the_file(planted, capsys):
    assert run(["sweep", "mine.toml", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Does a larger context help?"
    named = [line for line in lines if re.search(r"context_size=\d+", line)]
    sizes = [re.search(r"context_size=\d+", line).group() for line in named]
    assert sizes == ["context_size=8", "context_size=16"] * 2
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert len(re.findall(r"\bn=12\*", text)) == 5
    runs = seq2seq_bottleneck.load_results(planted / "results" / "runs" / "mine")
    for row in runs.to_dict("records"):
        assert f"{row['bleu']:.1f}" in text
        assert f"{row['bleu_low']:.1f}..{row['bleu_high']:.1f}" in text
    assert "95 % ranges over them (below each)" in " ".join(text.split())
    assert "4 of 4 cells done" in text


def test_ranges_go_where_they_have_no_room_and_numbers_stay_whole(planted, capsys):
    edges = 'scoring.edges="5,6,7,11,16,21,26,31,41"'
    assert run(["sweep", "mine.toml", "--quiet", "--set", edges]) == 0
    text = capsys.readouterr().out
    assert "bleu_low and bleu_high of the tidy table" in " ".join(text.split())
    assert "n=12*" in text
    assert ".." not in text
    runs = seq2seq_bottleneck.load_results(planted / "results" / "runs" / "mine")
    assert all(f"{bleu:.1f}" in text for bleu in runs["bleu"].dropna())


@pytest.mark.usefixtures("planted")
def test_one_cell_is_one_cell(capsys):
    one = ["--set", "model.context_size=8", "--set", "model.attention=none"]
    assert run(["sweep", "mine.toml", "--quiet", *one]) == 0
    assert "1 of 1 cell done" in capsys.readouterr().out
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "other", *one]) == 0
    printed = capsys.readouterr().out
    assert "1 cell, " in printed
    assert " kB on disk" in printed


def test_a_dry_run_says_what_is_done_and_what_is_left(planted, capsys):
    fingerprint = Portable().fingerprint
    cells = expand(load_sweep("mine.toml"))
    for cell, status in zip(cells, ["done", "diverged", "running"], strict=False):
        write_begun(
            planted / "out",
            cell.settings.identity(fingerprint(cell.settings)),
            cell.settings,
            status,
        )
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", "--jobs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["cell", "parameters", "disk", "time", "status"]
    shown = [line.split()[-1] for line in lines if " kB" in line and "=" in line]
    assert shown == ["done", "diverged", "stopped", "-"]
    words = " ".join(" ".join(lines).split())
    assert re.search(r"1 done, 1 diverged, 1 stopped, about \d+ s left to do", words)
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", "--force"]) == 0
    assert "status" not in capsys.readouterr().out


def test_a_dry_run_reads_each_corpus_once(planted, capsys, monkeypatch):
    write_begun(planted / "out", "another", resolve("smoke"))
    read = []

    def load(*place):
        read.append(place)
        return load_corpus(*place)

    monkeypatch.setattr("seq2seq_bottleneck.corpus.corpus.load_corpus", load)
    seeds = ["--set", "corpus.seed=1,2"]
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", *seeds]) == 0
    assert "8 cells" in capsys.readouterr().out
    assert len(read) == len(set(read)) == 2


def test_help_names_the_defaults(capsys):
    assert run(["sweep", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "results/runs/NAME" in printed
    assert "Runs of each cell [default: the file's, else 1]" in printed


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ["mine.toml sets nothing"]),
        ("# Why?\n", ["mine.toml sets nothing"]),
        ('preset = "smoke"\n', ["mine.toml: no question"]),
        ('# Why?\ncorpus.name = "files"\n', ["--set corpus.source=FILE"]),
    ],
)
def test_what_cannot_be_a_sweep_is_refused(planted, capsys, content, parts):
    (planted / "mine.toml").write_text(content)
    assert run(["sweep", "mine.toml", "--quiet"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(part in printed.err for part in parts), printed.err
    assert "--source" not in printed.err


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scores.csv", ""),
        ("scores.csv", "bucket,n,bleu\n5-10,2"),
        ("scores.csv", "bucket,n,bleu\n5-10,2,1,3\n"),
        ("scores.csv", "bucket,n,bleu\n5-10,two,1\n"),
        ("status.json", "{"),
        ("status.json", "3"),
        ("settings.json", "{}"),
    ],
)
def test_a_damaged_run_is_named_with_the_way_out(capsys, name, content):
    """Also where a sweep has just ended, and what is proposed does help."""
    assert run(["sweep", "mine.toml", "--quiet", "--out", "out"]) == 0
    path = Path("out", "runs", "run2", name)
    path.write_text(content)
    again = ["sweep", "mine.toml", "--quiet", "--out", "out", "--set", "model.context_size=32"]
    for store in Path("out", "runs").glob("run[013]"):
        shutil.rmtree(store)
    for arguments in (["export", "--results", "out"], again):
        capsys.readouterr()
        assert run(arguments) == 1
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1
        assert str(path) in said[0]
        assert "`bottleneck runs run2 --remove --results out`" in said[0]
    assert run(["runs", "run2", "--remove", "--results", "out", "--yes"]) == 0
    assert run(["export", "--results", "out"]) == 0


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    "address", ["", "127.0.0.1", "http://here:8786", "tcp://here", "tcp://a:99999"]
)
def test_an_address_of_no_scheduler_is_refused_before_connecting(capsys, monkeypatch, address):
    monkeypatch.setattr("seq2seq_bottleneck.runs.cluster.run_jobs_on_cluster", None)
    assert run(["sweep", "mine.toml", "--scheduler", address]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"bottleneck: --scheduler {address!r}: ")
    assert said.endswith("tcp://HOST:PORT")


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "tls://head.node:8786", "tcp://[::1]:1"]
)
@pytest.mark.parametrize("quiet", [True, False])
def test_a_scheduler_is_handed_on_and_what_it_tells(capsys, monkeypatch, address, quiet):
    def on_cluster(jobs, _store, _listener, scheduler, force, tell):
        tell(f"waiting for workers at {scheduler}")
        assert not force
        return [Outcome(job, "failed", reason="no worker") for job in jobs]

    monkeypatch.setattr("seq2seq_bottleneck.runs.cluster.run_jobs_on_cluster", on_cluster)
    command = ["sweep", "mine.toml", "--scheduler", address]
    assert run([*command, *(["--quiet"] if quiet else [])]) == 3
    assert (f"waiting for workers at {address}\n" in capsys.readouterr().err) != quiet
