"""What commands show of a store that holds more than they were asked for."""

import io
import os
from pathlib import Path

import pandas as pd
import pytest
from listed import write_relisted
from planted import sentences, translations, write_planted, write_run

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle, load_results
from seq2seq_bottleneck.runs.pool import Outcome
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION

SMOKE = ["reproduce", "--preset", "smoke", "--quiet"]


@pytest.fixture
def planted_runs(monkeypatch):
    """In the place of training: runs named by arm, seed and learning rate."""

    def run_jobs(jobs, store, listener, **_):
        outcomes = []
        for job in jobs:
            training, arm = job.settings.training, job.settings.model.attention
            name = f"{arm}{training.seed}at{training.learning_rate:g}"
            shares = [0.1] * 5 if arm == "additive" else [0.2, 0.4, 0.6, 0.7, 0.8]
            texts = translations(sentences(), shares, [training.seed])
            write_run(store.parent, name, job.settings, texts, sentences())
            end = {"phase": "done", "run": name, "reason": ""}
            listener(job, end)
            outcomes.append(Outcome(job, **end))
        return outcomes

    monkeypatch.setattr("seq2seq_bottleneck.runs.reproduce.run_jobs", run_jobs)


@pytest.mark.slow
@pytest.mark.usefixtures("planted_runs")
def test_reproduce_shows_the_runs_just_asked_for_whatever_else_is_in_the_store(tmp_path, capsys):
    out = tmp_path / "out"
    assert run([*SMOKE, "--out", str(out), "--seeds", "2"]) == 0
    first = capsys.readouterr().out
    assert "seed 1, 2" in " ".join(first.split())
    again = [*SMOKE, "--out", str(out), "--set", "training.learning_rate=1e-3"]
    assert run(again) == 0
    second = capsys.readouterr().out
    assert "seed 1, 2" not in " ".join(second.split())
    assert len(set(load_bundle(out).runs["run"])) == 6
    shown = pd.read_csv(out / "vindication.csv")
    assert shown["gain"].notna().all()
    for path in (out / "runs").glob("*/environment.json"):
        if not path.parent.name.endswith("at0.001"):
            version = f'"schema": {SCHEMA_VERSION}'
            write_relisted(path, path.read_text().replace(version, '"schema": 0'))
    assert run(["table", "vindication", "--results", str(out), "--format", "csv"]) == 0
    capsys.readouterr()
    assert run(["export", "--results", str(out)]) == 0
    assert "4 runs are left out: made by another version" in capsys.readouterr().err


ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}


@pytest.mark.parametrize("command", [["table", "vindication"], ["export"], ["runs"]])
def test_without_results_the_option_of_the_command_is_named(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(command) == 1
    said = capsys.readouterr().err
    assert "or name one with --results DIR" in said


@pytest.mark.parametrize("command", [["table", "vindication"], ["export"], ["runs"]])
def test_what_is_no_output_folder_is_named_for_what_it_is(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_planted(tmp_path / "out", ARMS, seeds=1)
    (tmp_path / "mine.toml").write_text("")
    assert run([*command, "--results", "out/runs/none1x1"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("bottleneck: 'out/runs/none1x1' is one run: name its store, ")
    assert said.endswith("/out'")
    assert run([*command, "--results", "mine.toml"]) == 1
    assert "'mine.toml' is not a folder" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["/dev/null", "loop", "pipe"])
@pytest.mark.parametrize("command", ["export", "runs", "claims", "plot bleu", "study survival"])
def test_a_device_a_pipe_or_a_link_to_itself_is_no_folder(
    command, name, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    os.mkfifo("pipe")
    assert run([*command.split(), "--results", name]) == 1
    assert f"bottleneck: {name!r} is not a folder: name one that" in capsys.readouterr().err


def test_load_results_of_one_run_says_so(tmp_path):
    write_planted(tmp_path, ARMS, seeds=1)
    with pytest.raises(UserError, match="is one run: name its store"):
        load_results(tmp_path / "runs" / "none1x1")


def test_export_takes_conditions_as_tables_do(tmp_path, capsys):
    write_planted(tmp_path / "out", ARMS, seeds=2)
    arguments = ["export", "--results", str(tmp_path / "out"), "--where", "attention=none"]
    assert run(arguments) == 0
    frame = pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)
    assert set(frame["run"]) == {"none1x1", "none2x1"}
    assert run([*arguments, "--where", "seed=2", "--bundle", str(tmp_path / "b")]) == 0
    assert capsys.readouterr().err == f"Written to {tmp_path / 'b'}: 1 run\n"
    assert set(load_results(tmp_path / "b")["run"]) == {"none2x1"}
    assert run([*arguments, "--where", "sed=2"]) == 2
    assert "did you mean 'seed'" in capsys.readouterr().err


def test_export_writes_the_csv_into_the_file_that_is_named(tmp_path, capsys):
    write_planted(tmp_path / "out", ARMS, seeds=2)
    arguments = ["export", "--results", str(tmp_path / "out"), "--where", "seed=1"]
    assert run(arguments) == 0
    printed = capsys.readouterr().out
    for option in ("-o", "--out"):
        path = tmp_path / "tidy" / f"runs{option}.csv"
        assert run([*arguments, option, str(path)]) == 0
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == f"Written to {path}: {len(printed.splitlines()) - 1} rows\n"
        assert path.read_text(encoding="utf8") == printed
    assert run([*arguments, "-o", str(tmp_path / "x"), "--bundle", str(tmp_path / "b")]) == 2
    assert "give one of them" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("command", "option", "module"),
    [
        (["export"], "-o", "results.bundle.load_results"),
        (["export"], "--bundle", "results.bundle.load_results"),
        (["report"], "-o", "report.page.write_report"),
        (["plot", "bleu"], "-o", "figures.registry.make_figure"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_what_cannot_be_written_is_told_before_anything_is_read(
    command, option, module, tmp_path, capsys, monkeypatch
):
    write_planted(tmp_path / "out", ARMS, seeds=1)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "a folder.png").mkdir()

    def refuse(*_, **__):
        raise AssertionError("read before the place was looked at")

    monkeypatch.setattr(f"seq2seq_bottleneck.{module}", refuse)
    places = [tmp_path / "file" / "below.png"]
    places += [tmp_path / "a folder.png"] if option == "-o" else [tmp_path / "file"]
    for place in places:
        assert run([*command, "--results", str(tmp_path / "out"), option, str(place)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert f"cannot write {str(place)!r}" in line or f"{str(place.parent)!r}" in line
    assert (tmp_path / "file").read_text() == "mine"
    assert list((tmp_path / "a folder.png").iterdir()) == []


def test_an_unknown_format_is_told_before_anything_else(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["table", "vindication", "--format", "txt"]) == 2
    said = capsys.readouterr().err
    assert said == "bottleneck: unknown format 'txt'; did you mean 'latex'?\n"
