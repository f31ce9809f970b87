"""``bottleneck lecture``: the audit, the walk-throughs, a matrix beside the slide's."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from model import numpy_translator as plain
from planted import write_planted
from planted_cost import plant_costs

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.vocabulary import BOS, EOS, PAD, build_vocabulary
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import (
    SETTINGS,
    SOURCE_VOCABULARY,
    STATUS,
    STORE,
    TARGET_VOCABULARY,
    WEIGHTS,
)
from seq2seq_bottleneck.results.schema import RUNS
from seq2seq_bottleneck.runs.network_files import save_weights
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.tables.lecture import COLUMNS


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
    assert list(frame["id"]) == list(SLIDES)
    assert frame.set_index("id").loc["L15", "verdict"] == "not measured"


def test_one_id_walks_and_its_row_is_csv(capsys):
    assert run(["lecture", "l7"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("L7  ")
    assert "= (0.493, 0.173, 0.440)" in shown
    assert run(["lecture", "l-fail", "--format", "csv"]) == 0
    assert list(pd.read_csv(io.StringIO(capsys.readouterr().out))["id"]) == ["L-FAIL"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SLIDES)
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
    plant_costs(tmp_path / "results" / "runs" / "bench")
    for arguments in ([], ["--results", "results/runs/bench"]):
        assert run(["lecture", "L15", *arguments]) == 0
        shown = capsys.readouterr().out
        assert "Verdict: in part" in shown
        shown = " ".join(shown.split())
        assert "T^2.00 [2.00, 2.00] with T tokens per side (results/runs/bench)" in shown
    assert run(["lecture", "L15", "--format", "csv"]) == 0
    frame = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert "(results/runs/bench)" in frame.loc[0, "why"]


@pytest.mark.parametrize("name", ["C3", "c14", "L-FAIL"])
def test_a_claim_is_decided_elsewhere(name, capsys):
    code = run(["lecture", name])
    told = capsys.readouterr().err
    assert code == (0 if name == "L-FAIL" else 2)
    assert ("a claim and not a printed number; use `bottleneck claims`" in told) == (code == 2)


def test_without_a_trained_run_the_way_to_one_is_told(capsys):
    assert run(["lecture", "L10"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "No trained run to compare with: 'results/runs/lecture' is not there; `bo" in shown
    assert "`bottleneck reproduce` trains a run with attention, and --results" in shown


@pytest.mark.parametrize("name", ["L17", "L-SHORT"])
def test_without_a_trained_run_the_command_that_makes_one_is_named(name, capsys):
    assert run(["lecture", name]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "No trained run to compare with: 'results/runs/lecture' is not there; `bo" in shown
    assert "`bottleneck reproduce` trains a run of English to French, and --results" in shown
    assert run(["lecture", name, "--format", "csv"]) == 0
    row = pd.read_csv(io.StringIO(capsys.readouterr().out)).iloc[0]
    assert f"`bottleneck lecture {name}`" in row["why"]


def write_trained(folder, attention, *assignments):
    """A run's folder with fresh weights, as if it had been trained."""
    settings = resolve("smoke", [f"model.attention={attention}", *assignments])
    source = build_vocabulary([["the", "cat", "on", "mat"]], 100)
    target = build_vocabulary([["le", "chat", "était", "assis", "sur", "tapis", "bonjour"]], 100)
    _, weights = create(settings.model, len(source), len(target), 7)
    folder.mkdir()
    (folder / SETTINGS).write_text(json.dumps(settings.model_dump()))
    (folder / SOURCE_VOCABULARY).write_bytes(source.to_bytes())
    (folder / TARGET_VOCABULARY).write_bytes(target.to_bytes())
    save_weights(folder / WEIGHTS, weights)
    return settings, source, target, weights


def prefer(folder, token, by=100.0):
    """Make a run choose this token whatever is before it, or never with ``by`` far below 0."""
    trained = load_run(folder)
    bias = trained.weights["decoder"]["output_bias"]
    bias.set_value(bias.get_value().at[token].set(by))
    save_weights(folder / WEIGHTS, trained.weights)
    return trained.weights


def write_store(folder, *arms):
    """An output folder with a run of each arm."""
    (folder / STORE).mkdir(parents=True)
    for arm in arms:
        trained = folder / STORE / f"run-{arm}"
        write_trained(trained, arm)
        (trained / STATUS).write_text('{"status": "done", "reason": ""}')
        relist(*trained.iterdir())
    rows = "".join(f"run-{arm},{arm},seen\n" for arm in arms)
    write_relisted(folder / RUNS, f"run,attention,source\n{rows}")


@pytest.mark.slow
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


@pytest.mark.parametrize("name", ["L10", "L17", "L-SHORT"])
def test_a_bundle_has_no_weights_to_ask(tmp_path, capsys, name):
    write_planted(tmp_path / "store", {"none": [0.5] * 5, "additive": [0.1] * 5})
    write_bundle(finished_runs(tmp_path / "store"), tmp_path / "bundle", {})
    assert run(["lecture", name, "--results", str(tmp_path / "bundle")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "is a bundle without its run folders, which hold the weights" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "assignments"),
    [("additive", []), ("dot", ["model.placement=output", "model.reverse_source=true"])],
)
def test_first_steps_are_those_of_the_formulas(arm, assignments, tmp_path, capsys):
    """Each is given the words that the run itself took before."""
    settings, source, target, _ = write_trained(tmp_path / "run", arm, *assignments)
    weights = prefer(tmp_path / "run", EOS, -100.0)
    assert run(["lecture", "L17", "--results", "run"]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    order = -1 if settings.model.reverse_source else 1
    words = [*source.encode(["the", "cat", "sat"])[::order], EOS]
    said = [BOS]
    for after in (f"{arm} ", f"{arm} after {{}} "):
        logits, _ = plain.translate(plain.arrays(weights), settings.model, words, said)
        logits[-1][[PAD, BOS]] = -np.inf  # never words of an output
        shares = plain.softmax(logits[-1])
        best = np.argsort(-shares)[:3]
        told = ", ".join(f"{target.tokens[place]} {shares[place]:.3f}" for place in best)
        start = after.format(target.tokens[said[-1]]) + told
        assert any(row.startswith(start) for row in rows)
        said.append(int(best[0]))
    assert f"Note: {arm} has no token for sat, Un, chien." in " ".join(rows)
    assert f"Runs of run: {arm} run." in rows


@pytest.mark.slow
def test_an_arm_that_ends_at_once_has_no_second_step(tmp_path, capsys):
    write_trained(tmp_path / "run", "none")
    prefer(tmp_path / "run", EOS)
    assert run(["lecture", "L17", "--results", "run"]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert any(row.startswith("none </s> 1.000, ") for row in rows)
    assert "none ended" in rows
    assert "none (nothing)" in rows


def test_translations_that_are_the_slides_are_counted(tmp_path, capsys):
    one_word = ["decoding.cap_factor=0.001", "decoding.cap_extra=0"]
    _, _, target, _ = write_trained(tmp_path / "run", "none", *one_word)
    prefer(tmp_path / "run", *target.encode(["bonjour"]))
    assert run(["lecture", "L-SHORT", "--results", "run"]) == 0
    shown = capsys.readouterr().out
    assert [line.split() for line in shown.splitlines()].count(["none", "=", "bonjour"]) == 1
    assert "none 1 of 5" in " ".join(shown.split())


def test_every_arm_shows_its_steps_the_one_without_attention_first(tmp_path, capsys):
    write_store(tmp_path / "store", "additive", "none")
    assert run(["lecture", "L17", "--results", "store"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    arms = [row[0] for row in rows if row and row[0] in ("none", "additive")]
    assert arms == ["none", "additive"] * 3
    assert ["Runs", "of", "store:", "none", "run-none,", "additive", "run-additive."] in rows


def test_an_arm_whose_settings_were_lost_is_not_left_out(tmp_path, capsys):
    write_store(tmp_path / "store", "additive", "none")
    (tmp_path / "store" / STORE / "run-none" / SETTINGS).unlink()
    assert run(["lecture", "L17", "--results", "store"]) == 1
    assert "run-none/settings.json' cannot be read (No such file" in capsys.readouterr().err


@pytest.mark.slow
def test_both_arms_translate_the_short_sentences_as_translate_does(tmp_path, capsys):
    write_store(tmp_path / "store", "additive", "none")
    assert run(["translate", "The cat sat", "--run", "store"]) == 0
    own = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert run(["lecture", "L-SHORT", "--results", "store"]) == 0
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines()]
    place = rows.index(["The", "cat", "sat", "slide", "Le", "chat", "s'est", "assis"])
    beside = " ".join(word for row in rows[place + 1 :] for word in row)
    for row, following in zip(own, (" additive", " I love you"), strict=True):
        said = " ".join(row) if len(row) > 1 else f"{row[0]} (nothing)"
        assert f"{said}{following}" in beside
    assert ["none", "0", "of", "5"] in rows
    assert ["additive", "0", "of", "5"] in rows
    assert "Runs of store: none run-none, additive run-additive." in " ".join(shown.split())


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("platform", ["cuda", "nosuch"])
@pytest.mark.parametrize("asked", ["translate a --run run", "reproduce --preset smoke --quiet"])
def test_a_device_that_is_not_there_is_told_in_a_line(asked, platform, tmp_path):
    write_trained(tmp_path / "run", "none")
    command = [sys.executable, "-m", "seq2seq_bottleneck", *asked.split()]
    done = subprocess.run(
        command, env=os.environ | {"JAX_PLATFORMS": platform}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1
    told = f"bottleneck: jax finds no device of JAX_PLATFORMS={platform!r} here: unset it\n"
    assert done.stderr.endswith(told)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["L17", "L-SHORT"])
def test_a_run_of_french_to_english_is_not_asked(name, tmp_path, capsys):
    write_trained(tmp_path / "run", "additive", "corpus.reverse_direction=true")
    assert run(["lecture", name, "--results", "run"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "'run' has no run of English to French" in shown
    assert "Runs of" not in shown


@pytest.mark.slow
def test_the_audit_needs_no_jax():
    code = (
        "import sys\nfrom seq2seq_bottleneck.cli.main import run\nassert run(['lecture']) == 0\n"
        "print([name for name in ('jax', 'flax', 'optax') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
