"""``bottleneck bench``: the plan, a real tiny benchmark, what a user gets wrong."""

import json
import os

import pandas as pd
import pytest

from seq2seq_bottleneck.bench import measure
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.questions.cost import COLUMNS
from seq2seq_bottleneck.runs import pool

TINY = ["bench", "--vary", "length=2,4", "--arms", "dot", "--repeats", "1"]


@pytest.mark.exhaustive(sample="session")
def test_dry_run_lists_the_points_and_the_arms(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["bench", "--dry-run"]) == 0
    text = capsys.readouterr().out
    for part in ("length 200", "context_size 1,024", "vocabulary 32,000", "base"):
        assert part in text
    assert "19 points x 5 arms (none, additive, dot, none-output, dot-output)" in text
    assert run(["bench", "--dry-run", "--quick", "--arms", "dot-output", "--vary", "batch"]) == 0
    assert "2 points x 2 arms (none-output, dot-output)" in capsys.readouterr().out
    assert os.listdir(tmp_path) == []


@pytest.mark.exhaustive(sample="session")
def test_a_tiny_benchmark_end_to_end(capsys, tmp_path):
    out = tmp_path / "out"
    assert run([*TINY, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "By length (tokens per side)" in printed.out
    assert "C9: not measured" in printed.out
    assert "Machine: " in printed.out
    assert "(2 of 2 points)" in printed.err
    costs = pd.read_csv(out / "probes" / "cost.csv")
    assert list(costs.columns) == list(COLUMNS)
    assert list(zip(costs["length"], costs["arm"], strict=True)) == [
        (2, "none"), (2, "dot"), (4, "none"), (4, "dot")
    ]  # fmt: skip
    assert (costs["seconds"] > 0).all()
    assert (costs["threads"] == 1).all()
    dot = costs[costs["arm"] == "dot"]
    assert dot["attention_share"].notna().all()
    none = costs[costs["arm"] == "none"].set_index("length")
    assert none["peak_mb"].loc[4] >= none["peak_mb"].loc[2] > 0
    assert run(["table", "cost", "--results", str(out), "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert run(["table", "cost", "--results", str(out), "--format", "json"]) == 0
    assert [page["name"] for page in json.loads(capsys.readouterr().out)] == [
        "cost",
        "cost_exponents",
    ]


@pytest.mark.exhaustive(sample="session")
def test_a_point_that_fits_no_memory_is_left_out_and_the_others_stay(capsys, tmp_path):
    out = tmp_path / "out"
    huge = ["--vary", "vocabulary=10,40000000000", "--arms", "none", "--repeats", "1"]
    assert run(["bench", *huge, "--out", str(out), "--quiet"]) == 0
    printed = capsys.readouterr()
    assert "Without numbers: vocabulary 40,000,000,000 none (" in " ".join(printed.out.split())
    costs = pd.read_csv(out / "probes" / "cost.csv")
    assert costs["seconds"].notna().tolist() == [True, False]


def fails(capsys, arguments, code, *parts):
    """Run, and check the one line and the exit code."""
    assert run(["bench", "--quiet", *arguments]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert line.startswith("bottleneck: ")
    for part in parts:
        assert part in line, line


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--vary", "lenght"], ["'lenght'", "'length'"]),
        (["--vary", "length=0"], ["length=0"]),
        (["--arms", "additiv"], ["'additiv'", "'additive'"]),
        (["--repeats", "0"], ["--repeats"]),
        (["--threads", "none"], ["--threads"]),
        (["--threads", "1025"], ["--threads", "1024"]),
        (["--format", "txt"], ["'txt'", "latex"]),
    ],
)
def test_usage_errors_end_with_two(capsys, tmp_path, monkeypatch, arguments, parts):
    monkeypatch.chdir(tmp_path)
    fails(capsys, arguments, 2, *parts)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_measured(capsys, tmp_path):
    (tmp_path / "taken").write_text("x")
    fails(capsys, ["--out", str(tmp_path / "taken" / "out")], 1, "taken/out", "--out")


def test_where_nothing_could_be_measured_nothing_is_written(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "worker_environment", lambda: {"PYTHONPATH": os.devnull})
    monkeypatch.setattr("sys.executable", "/bin/false")
    fails(capsys, ["--out", str(tmp_path / "new")], 1, "nothing could be measured", "code 1")
    assert os.listdir(tmp_path) == []
    fails(capsys, ["--vary", "length=4", "--out", str(tmp_path)], 1, "nothing could be")
    assert os.listdir(tmp_path) == []


def test_an_interrupt_keeps_nothing_and_says_so(capsys, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "measure_point", interrupted)
    fails(capsys, ["--out", str(tmp_path / "new")], 130, "interrupted")
    assert os.listdir(tmp_path) == []
