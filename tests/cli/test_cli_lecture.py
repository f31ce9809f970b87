"""``bottleneck lecture``: the audit, the walk-throughs, a matrix beside the slide's."""

import io
import json
import subprocess
import sys

import pandas as pd
import pytest
from model import numpy_translator as plain

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.vocabulary import build_vocabulary
from seq2seq_bottleneck.lecture.audit import AUDITS
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.results.cost import COST_EXPONENTS
from seq2seq_bottleneck.results.folders import (
    SETTINGS,
    SOURCE_VOCABULARY,
    TARGET_VOCABULARY,
    WEIGHTS,
)
from seq2seq_bottleneck.runs.weights import save_weights
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.symbols import BOS, EOS
from seq2seq_bottleneck.tables.audit import COLUMNS


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_audit_is_printed_and_is_csv(capsys):
    assert run(["lecture"]) == 0
    shown = capsys.readouterr().out
    assert "4.876" in shown
    assert run(["lecture", "--format", "csv"]) == 0
    frame = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame["id"]) == list(AUDITS)
    assert frame.set_index("id").loc["L15", "verdict"] == "not measured"


def test_one_id_walks_and_its_row_is_csv(capsys):
    assert run(["lecture", "l7"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("L7  ")
    assert "= (0.493, 0.173, 0.440)" in shown
    assert run(["lecture", "l-fail", "--format", "csv"]) == 0
    assert list(pd.read_csv(io.StringIO(capsys.readouterr().out))["id"]) == ["L-FAIL"]


@pytest.mark.parametrize("name", AUDITS)
def test_every_id_can_be_walked_through(name, capsys):
    assert run(["lecture", name]) == 0
    shown = capsys.readouterr()
    assert "Verdict: " in shown.out
    assert shown.err == ""


def test_what_is_misspelt_is_named(capsys):
    assert run(["lecture", "L77"]) == 2
    assert "unknown id 'L77'; did you mean 'L7'?" in capsys.readouterr().err
    assert run(["lecture", "--format", "txt"]) == 2
    assert "unknown format 'txt'" in capsys.readouterr().err
    for arguments in (["L10"], ["L15"], []):
        assert run(["lecture", *arguments, "--results", "nowhere"]) == 1
        assert "'nowhere' is not a folder" in capsys.readouterr().err


def test_a_benchmark_decides_on_the_cost(tmp_path, capsys):
    path = tmp_path / "results" / "runs" / "bench" / COST_EXPONENTS
    path.parent.mkdir(parents=True)
    path.write_text(
        "arm,varied,quantity,part,exponent,low,high,points,from,to\n"
        "dot,length,attention_seconds,upper,1.95,1.9,2.0,5,10,80\n"
    )
    for arguments in ([], ["--results", "results/runs/bench"]):
        assert run(["lecture", "L15", *arguments]) == 0
        shown = capsys.readouterr().out
        assert "Verdict: in part" in shown
        assert "1.95 [1.90, 2.00]" in " ".join(shown.split())


def test_without_a_trained_run_the_way_to_one_is_told(capsys):
    assert run(["lecture", "L10"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "No learned matrix beside it" in shown
    assert "`bottleneck reproduce` trains one" in shown


def write_trained(folder, attention):
    """A run's folder with fresh weights, as if it had been trained."""
    settings = resolve("smoke", [f"model.attention={attention}"])
    source = build_vocabulary([["the", "cat", "on", "mat"]], 100)
    target = build_vocabulary([["le", "chat", "était", "assis", "sur", "tapis"]], 100)
    _, weights = create(settings.model, len(source), len(target), 7)
    folder.mkdir()
    (folder / SETTINGS).write_text(json.dumps(settings.model_dump()))
    source.save(folder / SOURCE_VOCABULARY)
    target.save(folder / TARGET_VOCABULARY)
    save_weights(folder / WEIGHTS, weights)
    return settings, source, target, weights


def test_a_trained_runs_matrix_is_that_of_the_formulas_beside_the_slide(tmp_path, capsys):
    settings, source, target, weights = write_trained(tmp_path / "run", "dot")
    assert run(["lecture", "L10", "--results", "run"]) == 0
    shown = capsys.readouterr().out
    rows = {
        tuple(line.split()[1:]) for line in shown.replace("[", " ").replace("]", " ").splitlines()
    }
    words = [*source.encode(["the", "cat", "sat", "on", "the", "mat"]), EOS]
    given = [BOS, *target.encode(["le", "chat", "était", "assis", "sur", "le", "tapis"])][:-1]
    _, expected = plain.translate(plain.arrays(weights), settings.model, words, given)
    assert expected.shape == (7, 7)
    for row in expected:
        cells = [f"{cell:.2f}" for cell in row]
        assert any([cell.strip("*") for cell in found if cell != "*"] == cells for found in rows)
    assert "learned: dot" in shown
    assert "Not in its vocabulary: sat." in " ".join(shown.split())


def test_weights_that_no_training_moves_are_not_shown_as_learned(tmp_path, capsys):
    write_trained(tmp_path / "run", "uniform")
    assert run(["lecture", "L10", "--results", "run"]) == 0
    assert "'run' has no run with attention" in " ".join(capsys.readouterr().out.split())


def test_the_audit_needs_no_jax():
    code = (
        "import sys\nfrom seq2seq_bottleneck.cli.main import run\nassert run(['lecture']) == 0\n"
        "print([name for name in ('jax', 'flax', 'optax') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
