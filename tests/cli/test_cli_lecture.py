"""``bottleneck lecture``: the audit, the walk-throughs, a matrix beside the slide's."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from model import numpy_translator
from ordinary_user import bottleneck
from planted import write_planted
from planted_cost import plant_costs

from seq2seq_bottleneck.corpus.vocabulary import BOS, EOS, PAD, build_vocabulary
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import (
    ENVIRONMENT,
    SETTINGS,
    SOURCE_VOCABULARY,
    STATUS,
    STORE,
    TARGET_VOCABULARY,
    WEIGHTS,
)
from seq2seq_bottleneck.results.schema import RUNS
from seq2seq_bottleneck.runs.checkpoint import save_weights
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, resolve
from seq2seq_bottleneck.tables.lecture import COLUMNS


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lecture(ok):
    """What the command prints, its lines joined."""
    return lambda *arguments: " ".join(ok("lecture", *arguments).out.split())


def csv_of(ok, *arguments):
    return pd.read_csv(io.StringIO(ok("lecture --format csv", *arguments).out))


def test_the_audit_and_one_id_are_printed_and_are_csv(ok, lecture):
    assert "4.876" in lecture()
    frame = csv_of(ok)
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame["id"]) == list(SLIDES)
    assert frame.set_index("id").loc["L15", "verdict"] == "not measured"
    text = lecture("l7")
    assert text.startswith("L7 ")
    assert "= (0.493, 0.173, 0.440)" in text
    assert list(csv_of(ok, "l-fail")["id"]) == ["L-FAIL"]


@pytest.mark.slow
def test_every_id_can_be_walked_through(ok):
    for name in SLIDES:
        printed = ok("lecture", name)
        assert "Verdict: " in printed.out
        assert printed.err == ""


def test_a_benchmark_decides_on_the_cost(tmp_path, ok, lecture):
    plant_costs(tmp_path / "results" / "runs" / "bench")
    for arguments in ("", "--results results/runs/bench"):
        text = lecture("L15", arguments)
        assert "Verdict: in part" in text
        assert "T^2.00 [2.00, 2.00] with T tokens per side (results/runs/bench)" in text
    assert "(results/runs/bench)" in csv_of(ok, "L15").loc[0, "why"]


@pytest.mark.parametrize(
    ("name", "run"),
    [("L10", "with attention"), ("L17", "of English to French"), ("L-SHORT", "of English to Fre")],
)
def test_without_a_trained_run_the_command_that_makes_one_is_named(name, run, tmp_path, lecture):
    """Nothing, a bundle, and a run that cannot be asked: no attention to learn, or the reverse."""
    write_planted(tmp_path / "store", {"none": [0.5] * 5, "additive": [0.1] * 5})
    write_bundle(finished_runs(tmp_path / "store"), tmp_path / "bundle", {})
    write_trained(tmp_path / "run", "uniform", "corpus.reverse_direction=true")
    for options in ("", "--results bundle", "--results run"):
        text = lecture(name, options)
        folder = options.rpartition(" ")[2] or "results/runs/lecture"
        assert f"No trained run to compare with: {folder!r} has no run {run}" in text
        assert f"`bottleneck reproduce` trains a run {run}" in text
        assert "Runs of" not in text


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


@pytest.fixture
def store(tmp_path):
    """An output folder with a run of both arms."""
    (tmp_path / "store" / STORE).mkdir(parents=True)
    for arm in ("additive", "none"):
        trained = tmp_path / "store" / STORE / f"run-{arm}"
        write_trained(trained, arm)
        (trained / STATUS).write_text('{"status": "done", "reason": ""}')
        (trained / ENVIRONMENT).write_text(json.dumps({"schema": SCHEMA_VERSION}))
        relist(*trained.iterdir())
    rows = "run-additive,additive,seen\nrun-none,none,seen\n"
    write_relisted(tmp_path / "store" / RUNS, f"run,attention,source\n{rows}")
    return tmp_path / "store" / STORE


@pytest.mark.slow
def test_a_trained_runs_matrix_is_that_of_the_formulas_beside_the_slide(tmp_path, ok):
    settings, source, target, weights = write_trained(tmp_path / "run", "dot")
    text = ok("lecture L10 --results run").out
    rows = {
        tuple(line.split()[1:]) for line in text.replace("[", " ").replace("]", " ").splitlines()
    }
    words = [*source.encode(["the", "cat", "sat", "on", "the", "mat"]), EOS]
    before = [BOS, *target.encode(["le", "chat", "était", "assis", "sur", "le", "tapis"])][:-1]
    arrays = numpy_translator.arrays(weights)
    _, expected = numpy_translator.translate(arrays, settings.model, words, before)
    assert expected.shape == (7, 7)
    for row in expected:
        cells = [f"{cell:.2f}" for cell in row]
        assert any([cell.strip("*") for cell in line if cell != "*"] == cells for line in rows)
    assert "learned: dot" in text
    assert "Not in its vocabulary: sat." in " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "assignments"),
    [("additive", []), ("dot", ["model.placement=output", "model.reverse_source=true"])],
)
def test_first_steps_are_those_of_the_formulas(arm, assignments, tmp_path, ok):
    """Each is given the words that the run itself took before."""
    settings, source, target, _ = write_trained(tmp_path / "run", arm, *assignments)
    arrays = numpy_translator.arrays(prefer(tmp_path / "run", EOS, -100.0))
    rows = [" ".join(line.split()) for line in ok("lecture L17 --results run").out.splitlines()]
    order = -1 if settings.model.reverse_source else 1
    words = [*source.encode(["the", "cat", "sat"])[::order], EOS]
    before = [BOS]
    for after in (f"{arm} ", f"{arm} after {{}} "):
        logits, _ = numpy_translator.translate(arrays, settings.model, words, before)
        logits[-1][[PAD, BOS]] = -np.inf  # never words of an output
        shares = numpy_translator.softmax(logits[-1])
        best = np.argsort(-shares)[:3]
        step = ", ".join(f"{target.tokens[place]} {shares[place]:.3f}" for place in best)
        assert any(row.startswith(after.format(target.tokens[before[-1]]) + step) for row in rows)
        before.append(int(best[0]))
    assert f"Note: {arm} has no token for sat, Un, chien." in " ".join(rows)
    assert f"Runs of run: {arm} run." in rows


def test_every_arm_has_its_steps_the_one_without_attention_first_and_none_is_left_out(
    store, ok, fails
):
    rows = [line.split() for line in ok("lecture L17 --results store").out.splitlines()]
    arms = [row[0] for row in rows if row and row[0] in ("none", "additive")]
    assert arms == ["none", "additive"] * 3
    assert ["Runs", "of", "store:", "none", "run-none,", "additive", "run-additive."] in rows
    (store / "run-none" / SETTINGS).unlink()
    message = fails("lecture L17 --results store")
    assert "run-none/settings.json' cannot be read (No such file" in message


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("platform", ["cuda", "nosuch"])
@pytest.mark.parametrize("line", ["translate a --run run", "reproduce --preset smoke --quiet"])
def test_a_device_that_is_not_there_is_told_in_a_line(line, platform, tmp_path):
    write_trained(tmp_path / "run", "none")
    done = bottleneck(line.split(), tmp_path, JAX_PLATFORMS=platform)
    assert done.returncode == 1
    message = f"bottleneck: jax finds no device of JAX_PLATFORMS={platform!r} here: unset it\n"
    assert done.stderr.endswith(message)
    assert "Traceback" not in done.stderr
