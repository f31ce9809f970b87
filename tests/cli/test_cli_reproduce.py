"""The main job through the installed command, at the preset ``smoke``: the whole path, really."""

import json
import os
import sys
from pathlib import Path

import pandas as pd
import pytest
from listed import write_relisted
from ordinary_user import bottleneck
from sacrebleu import corpus_bleu, corpus_chrf
from small_sweeps import planted_jobs

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION

COMMAND = Path(sys.executable).with_name("bottleneck")
REPRODUCE = ["reproduce", "--preset", "smoke", "--seeds", "2", "--set", "training.updates=60",
             "--set", "corpus.train_pairs=300"]  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """One reproduction with two seeds, in a folder of its own, and what it printed."""
    folder = tmp_path_factory.mktemp("main_job")
    done = bottleneck([*REPRODUCE, "--out", "out"], folder, program=[COMMAND], NO_COLOR=1)
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.mark.slow
def test_tables_go_to_stdout_progress_to_stderr_and_files_into_the_folder(done):
    folder, printed = done
    for text in ("The failure pattern (L-FAIL)", "The vindication (L-VIND)", "Add --details for"):
        assert text in printed.stdout
    assert "sacreBLEU:" not in printed.stdout
    assert "\x1b" not in printed.stdout
    for name in ("none seed 1", "additive seed 2"):
        assert f"{name}: training" in printed.stderr
    assert "L-FAIL" not in printed.stderr
    names = "failure_pattern.csv failure_pattern.md vindication.csv vindication.md runs.csv "
    names += "sentences.csv.gz learning.csv examples.json.gz environment.json SHA256SUMS runs"
    files = [name for name in os.listdir(folder / "out") if not name.startswith(".")]
    assert sorted(files) == sorted(names.split())
    assert os.listdir(folder) == ["out"]


@pytest.mark.slow
def test_scores_are_sacrebleus_own_on_the_written_hypotheses(done):
    out = done[0] / "out"
    for name, rows in load_bundle(out).runs.groupby("run"):
        lines = (out / "runs" / name / "hypotheses.jsonl").read_text().splitlines()
        frame = pd.DataFrame([json.loads(line) for line in lines])
        words = frame["source"].str.split().str.len()
        for row in rows.to_dict("records"):
            low, _, high = row["bucket"].replace("+", "-999").partition("-")
            inside = frame[words.between(int(low), int(high))]
            texts = (list(inside["hypothesis"]), [list(inside["reference"])])
            assert row["n"] == len(inside)
            assert row["bleu"] == pytest.approx(corpus_bleu(*texts).score, abs=1e-9)
            assert row["chrf"] == pytest.approx(corpus_chrf(*texts).score, abs=1e-9)
            assert row["source_words"] == pytest.approx(words[inside.index].mean())


@pytest.mark.slow
def test_arms_and_seeds_share_data_updates_tokens_and_settings(done):
    bundle = load_bundle(done[0] / "out")
    runs = bundle.runs.drop_duplicates("run")
    assert sorted(zip(runs["attention"], runs["seed"], strict=True)) == [
        ("additive", 1), ("additive", 2), ("none", 1), ("none", 2),
    ]  # fmt: skip
    assert runs["updates"].nunique() == 1
    assert (runs.groupby("seed")["train_tokens"].nunique() == 1).all()
    facts = bundle.environment["runs"].values()
    assert len({run["environment"]["fingerprint"] for run in facts}) == 1
    assert {run["settings"]["training"]["updates"] for run in facts} == {60}
    assert {run["environment"]["threads"] for run in facts} == {1}


@pytest.mark.slow
def test_translate_repeats_the_runs_own_hypotheses(done, ok):
    folder = run_folders(done[0] / "out" / "runs")[0].path
    lines = [json.loads(line) for line in (folder / "hypotheses.jsonl").read_text().splitlines()]
    for line in lines[:3]:
        arm_and_text = ok("translate", [line["source"]], "--run", folder).out.split(maxsplit=1)
        assert (arm_and_text[1:] or [""])[0].strip() == line["hypothesis"]


@pytest.mark.exhaustive(sample="session")
def test_beam_and_a_checked_schedule(tmp_path, ok):
    options = "--set decoding.beam_size=3 --check-schedule --quiet --out"
    printed = ok("reproduce --preset smoke --corpus copy", options, tmp_path / "out").out
    assert "beam 3" in printed
    assert "Schedule: " in printed
    assert "not shown" not in printed


@pytest.mark.exhaustive(sample="session")
def test_a_second_reproduce_compiles_nothing(tmp_path):
    """The cache is a folder of this test, so what others have compiled is of no use here."""
    cache = tmp_path / "cache"

    def compiled(out):
        """When each of the programs of both arms was written into the cache."""
        reproduce = ["reproduce", "--preset", "smoke", "--quiet", "--out", out]
        assert bottleneck(reproduce, tmp_path, XDG_CACHE_HOME=cache).returncode == 0
        return {path: path.stat().st_mtime_ns for path in cache.rglob("*-cache")}

    first = compiled("first")
    assert len(first) > 20
    assert compiled("second") == first


@pytest.mark.slow
def test_only_the_runs_just_asked_for_are_shown_whatever_else_is_in_the_store(
    tmp_path, ok, monkeypatch
):
    def describe(job, _):
        training, arm = job.settings.training, job.settings.model.attention
        shares = [0.1] * 5 if arm == "additive" else [0.2, 0.4, 0.6, 0.7, 0.8]
        return f"{arm}{training.seed}at{training.learning_rate:g}", shares, training.seed

    run_jobs = planted_jobs(describe)
    monkeypatch.setattr("seq2seq_bottleneck.runs.sweep.run_jobs", run_jobs)
    out = tmp_path / "out"
    smoke = ["reproduce --preset smoke --quiet --out", out]
    assert "seed 1, 2" in " ".join(ok(*smoke, "--seeds 2").out.split())
    again = ok(*smoke, "--set training.learning_rate=1e-3").out
    assert "seed 1, 2" not in " ".join(again.split())
    assert len(set(load_bundle(out).runs["run"])) == 6
    assert pd.read_csv(out / "vindication.csv")["gain"].notna().all()
    for path in (out / "runs").glob("*/environment.json"):
        if not path.parent.name.endswith("at0.001"):
            version = f'"schema": {SCHEMA_VERSION}'
            write_relisted(path, path.read_text().replace(version, '"schema": 0'))
    ok("table vindication --format csv --results", out)
    said = ok("export --results", out).err
    assert "4 runs are left out: made by another version" in said
