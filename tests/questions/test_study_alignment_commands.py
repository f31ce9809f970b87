"""Alignment from the command line: a gold set of the user's, and heatmaps of any sentence."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from pandas import read_csv

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.probes import load_probe
from seq2seq_bottleneck.runs.attention import END
from seq2seq_bottleneck.runs.translate import attended, load_run
from seq2seq_bottleneck.settings.files import write_listed

pytestmark = pytest.mark.exhaustive(sample="session")  # all on runs that are trained for them

GOLD = {
    "gold": "0-0 1?1\n0-0 2-1\n",
    "source": "the cat\na black cat\n",
    "target": "le chat\nun x\n",
}


@pytest.fixture
def options(tmp_path):
    """The three options, of files in a folder."""
    arguments = []
    for name, text in GOLD.items():
        (tmp_path / name).write_text(text, encoding="utf8")
        arguments += [f"--{name}", str(tmp_path / name)]
    return arguments


def test_a_gold_set_has_a_table_of_its_own(finished, options, capsys):
    arguments = ["study", "alignment", "--results", str(finished), "--quiet", *options]
    assert run([*arguments, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("arm,control,bucket,part,aer,")
    frame = load_probe(finished, "alignment_gold")
    assert set(frame["arm"]) == {"additive"}
    assert set(frame["n"]) == {2}
    assert set(frame["seed"].dropna()) == {1, 2}
    assert {"aer", "precision", "recall", "weight"} <= set(frame["measure"])
    assert all("of the target tokens" in note for note in frame["note"])
    assert run(arguments) == 0
    printed = capsys.readouterr().out
    for name in ("alignment-gold", "alignment_gold"):
        assert run(["table", name, "--results", str(finished)]) == 0
        assert capsys.readouterr().out == printed
    drawn = finished / "gold.png"
    assert run(["plot", "alignment-gold", "--results", str(finished), "-o", str(drawn)]) == 0
    shown = set(read_csv(drawn.with_suffix(".csv"))["control"].fillna(""))
    assert shown == {"", "untrained", "diagonal", "IBM model 1", "equal weights"}


def test_a_gold_set_that_was_not_measured_has_the_command_that_does(runs, tmp_path, capsys):
    write_bundle(runs, tmp_path / "bundle", {})
    write_listed(tmp_path / "bundle", [], ["probes/alignment_gold.csv"])
    assert run(["table", "alignment-gold", "--results", str(tmp_path / "bundle")]) == 1
    told = capsys.readouterr().err
    assert "`bottleneck study alignment --gold FILE --source FILE --target FILE --res" in told


def test_links_that_count_from_one_say_so(finished, options, capsys):
    arguments = ["study", "alignment", "--results", str(finished), *options]
    assert run([*arguments, "--first-word", "1"]) == 1
    assert "read as 1-based" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("study", "missing", "named"),
    [("length", [], "study alignment"), ("alignment", ["--gold"], "--gold missing"),
     ("alignment", ["--source", "--target"], "--source and --target missing")],
)  # fmt: skip
def test_options_go_together(finished, options, capsys, study, missing, named):
    kept = dict(zip(options[::2], options[1::2], strict=True))
    given = [each for name, path in kept.items() if name not in missing for each in (name, path)]
    assert run(["study", study, "--results", str(finished), *given]) == 2
    assert named in capsys.readouterr().err


@pytest.mark.parametrize("beam", [[], ["--beam", "2"]])
def test_a_translation_shows_what_each_word_was_read_from(finished, capsys, beam):
    arguments = ["translate", "the black cat sat on the mat", "--run", str(finished)]
    assert run([*arguments, "--alignment", *beam]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[0] == "none"
    assert "no weights to show" in lines[1]
    said = next(line.split()[1:] for line in lines if line.startswith("additive"))
    end = lines.index("", lines.index("", 3) + 1)
    words = [line.split()[0] for line in lines[:end] if line.split()]
    shown = ["".join(words[start:]).removesuffix("</s>") for start in range(len(words))]
    assert "".join(said) in shown  # the rows are the output's tokens; its marks may be glued
    assert lines[end + 1].startswith("weight: ")


SENTENCE = "The black cat sat on the mat"


@pytest.mark.parametrize("beam", [None, 1, 3])
def test_a_figure_of_any_sentence_holds_the_weights_behind_its_translation(
    finished, runs, beam, tmp_path, capsys
):
    made = tmp_path / "where.svg"
    arguments = ["plot", "attention", "--results", str(finished), "--sentence", SENTENCE]
    arguments += ["--beam", str(beam)] if beam else []
    assert run([*arguments, "-o", str(made)]) == 0
    assert capsys.readouterr().out == f"{made}: its numbers are in {tmp_path / 'where.csv'}\n"
    assert made.read_bytes().startswith(b"<?xml")
    with (tmp_path / "where.csv").open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    trained = load_run(runs[0])
    settings = trained.settings.changed(decoding={"beam_size": beam or 1})
    trained = replace(trained, settings=settings)
    (translation,) = trained.translations([SENTENCE], 1, attended=True)
    found = attended(trained, translation)
    assert {row["run"] for row in rows} == {runs[0].name}
    assert {row["sentence"] for row in rows} == {SENTENCE}
    shape = found.weights.shape
    weights = np.array([float(row["weight"]) for row in rows]).reshape(shape)
    np.testing.assert_allclose(weights, found.weights, atol=1e-6)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    assert [row["source"] for row in rows[: shape[1]]] == [*SENTENCE.split(), END]
    assert [row["output"] for row in rows[:: shape[1]]] == found.output


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["length", "--sentence", "a cat"], 2, "--sentence is for figure attention, not length"),
        (["attention", "--sentence", "  "], 2, "the sentence is empty"),
        (["attention", "--beam", "2"], 2, "--beam is for a sentence of your own"),
        (["attention", "--sentence", "a cat", "--where", "attention=none"], 1, "no run with att"),
    ],
)
def test_a_figure_of_a_sentence_that_cannot_be_drawn(
    finished, tmp_path, monkeypatch, capsys, arguments, code, told
):
    monkeypatch.chdir(tmp_path)
    assert run(["plot", *arguments, "--results", str(finished)]) == code
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_has_no_network_to_translate_with(runs, tmp_path, monkeypatch, capsys):
    write_bundle(runs, tmp_path / "bundle", {})
    monkeypatch.chdir(tmp_path)
    arguments = ["plot", "attention", "--results", "bundle", "--sentence", "a cat"]
    assert run(arguments) == 1
    assert "not its network" in capsys.readouterr().err
    assert not (tmp_path / "attention.png").exists()
