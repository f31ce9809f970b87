"""The main job through the installed command, at the preset ``smoke``: the whole path, really."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from sacrebleu import corpus_bleu, corpus_chrf

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.runs.store import run_folders

COMMAND = Path(sys.executable).parent / "bottleneck"
LEARNING = ["--set", "training.updates=60", "--set", "corpus.train_pairs=300"]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """One reproduction with two seeds, in a folder of its own, and what it printed."""
    folder = tmp_path_factory.mktemp("main_job")
    arguments = ["reproduce", "--preset", "smoke", "--seeds", "2", "--out", "out", *LEARNING]
    finished = subprocess.run(
        [COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert finished.returncode == 0, finished.stderr
    return folder, finished


@pytest.mark.slow
def test_tables_go_to_stdout_and_progress_to_stderr(done):
    _, finished = done
    assert "The failure pattern (L-FAIL)" in finished.stdout
    assert "The vindication (L-VIND)" in finished.stdout
    assert "Add --details for the rules" in finished.stdout
    assert "sacreBLEU:" not in finished.stdout
    assert "\x1b" not in finished.stdout
    for name in ("none seed 1", "additive seed 2"):
        assert f"{name}: training" in finished.stderr
    assert "L-FAIL" not in finished.stderr


@pytest.mark.slow
def test_every_file_that_the_readme_names_is_written(done):
    folder, _ = done
    names = "failure_pattern.csv failure_pattern.md vindication.csv vindication.md runs.csv "
    names += "sentences.csv.gz learning.csv examples.json.gz "
    names += "environment.json SHA256SUMS runs"
    shown = [name for name in os.listdir(folder / "out") if not name.startswith(".")]
    assert sorted(shown) == sorted(names.split())
    assert sorted(os.listdir(folder)) == ["out"]


@pytest.mark.slow
def test_scores_are_sacrebleus_own_on_the_written_hypotheses(done):
    bundle = load_bundle(done[0] / "out")
    for run_name, rows in bundle.runs.groupby("run"):
        lines = (done[0] / "out" / "runs" / run_name / "hypotheses.jsonl").read_text().splitlines()
        held = pd.DataFrame([json.loads(line) for line in lines])
        words = held["source"].str.split().str.len()
        for row in rows.to_dict("records"):
            low, _, high = row["bucket"].replace("+", "-999").partition("-")
            inside = held[words.between(int(low), int(high))]
            given = (list(inside["hypothesis"]), [list(inside["reference"])])
            assert row["n"] == len(inside)
            assert row["bleu"] == pytest.approx(corpus_bleu(*given).score, abs=1e-9)
            assert row["chrf"] == pytest.approx(corpus_chrf(*given).score, abs=1e-9)
            assert row["source_words"] == pytest.approx(words[inside.index].mean())


@pytest.mark.slow
def test_arms_and_seeds_share_data_updates_and_tokens(done):
    runs = load_bundle(done[0] / "out").runs.drop_duplicates("run")
    assert sorted(zip(runs["attention"], runs["seed"], strict=True)) == [
        ("additive", 1), ("additive", 2), ("none", 1), ("none", 2),
    ]  # fmt: skip
    assert runs["updates"].nunique() == 1
    by_seed = runs.groupby("seed")["train_tokens"].nunique()
    assert (by_seed == 1).all()


@pytest.mark.slow
def test_the_fingerprint_is_one_and_the_settings_are_kept(done):
    bundle = load_bundle(done[0] / "out")
    held = bundle.environment["runs"].values()
    assert len({facts["environment"]["fingerprint"] for facts in held}) == 1
    assert {facts["settings"]["training"]["updates"] for facts in held} == {60}
    assert all(facts["environment"]["threads"] == 1 for facts in held)


@pytest.mark.slow
def test_examples_hold_weights_that_sum_to_one(done):
    for examples in load_bundle(done[0] / "out").examples().values():
        assert len(examples) == 10
        for example in examples:
            assert example["source"][-1] == "</s>"
            assert len(example["weights"]) == len(example["hypothesis"])
            for row in example["weights"]:
                assert len(row) == len(example["source"])
                assert sum(row) == pytest.approx(1, abs=0.05)


@pytest.mark.slow
def test_translate_answers_for_both_arms(done, capsys):
    assert run(["translate", "the black cat sat on the mat", "--run", str(done[0] / "out")]) == 0
    printed = capsys.readouterr()
    assert [line.split()[0] for line in printed.out.splitlines()] == ["none", "additive"]


@pytest.mark.slow
def test_translate_repeats_the_runs_own_hypotheses(done, capsys):
    store = done[0] / "out" / "runs"
    folder = run_folders(store)[0].path
    lines = [json.loads(line) for line in (folder / "hypotheses.jsonl").read_text().splitlines()]
    for line in lines[:3]:
        assert run(["translate", line["source"], "--run", str(folder)]) == 0
        printed = capsys.readouterr().out.split(maxsplit=1)
        assert (printed[1:] or [""])[0].strip() == line["hypothesis"]


@pytest.mark.slow
def test_unknown_words_are_named(done, capsys):
    assert run(["translate", "the zyzzyva sat", "--run", str(done[0] / "out")]) == 0
    assert "zyzzyva" in capsys.readouterr().err


@pytest.mark.exhaustive(sample="session")
def test_the_same_command_gives_the_same_numbers(done, tmp_path, capsys):
    arguments = ["reproduce", "--preset", "smoke", "--seeds", "2", *LEARNING]
    assert run([*arguments, "--quiet", "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == ""
    first, second = (load_bundle(folder).runs for folder in (done[0] / "out", tmp_path / "out"))
    timing = [name for name in first.columns if "seconds" in name or "tokens_per" in name]
    pd.testing.assert_frame_equal(first.drop(columns=timing), second.drop(columns=timing))


@pytest.mark.exhaustive(sample="session")
def test_beam_and_a_checked_schedule(tmp_path, capsys):
    arguments = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--quiet"]
    changed = ["--set", "decoding.beam_size=3", "--check-schedule", "--out", str(tmp_path / "out")]
    assert run([*arguments, *changed]) == 0
    printed = capsys.readouterr().out
    assert "beam 3" in printed
    assert "Schedule: " in printed
    assert "not shown" not in printed
