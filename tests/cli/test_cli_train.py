"""``bottleneck reproduce`` and ``sweep``: missing cells are trained, failed ones are named."""

import io
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
from disturbed import TIMES, Disturbed, begin, wait
from grids import expand
from ordinary_user import bottleneck
from planted import write_begun
from sacrebleu import corpus_bleu, corpus_chrf
from small_sweeps import DIVERGES, FOUR, planted_cells

import seq2seq_bottleneck
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.folders import runs_in
from seq2seq_bottleneck.runs import pool
from seq2seq_bottleneck.settings.sweep import load_sweep

COMMAND = Path(sys.executable).with_name("bottleneck")
REPRODUCE = ["reproduce", "--preset", "smoke", "--seeds", "2", "--set", "training.updates=60",
             "--set", "corpus.train_pairs=300"]  # fmt: skip


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """One reproduction with two seeds in its own folder, and what it printed."""
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
    names += "sentences.csv.gz examples.json.gz environment.json experiments.json "
    names += "SHA256SUMS runs"
    files = [name for name in os.listdir(folder / "out") if not name.startswith(".")]
    assert sorted(files) == sorted(names.split())
    assert os.listdir(folder) == ["out"]


@pytest.mark.slow
def test_scores_are_sacrebleus_own_on_the_written_hypotheses(done):
    out = done[0] / "out"
    for name, rows in Results.open(out).runs.groupby("run"):
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
def test_translate_repeats_the_runs_own_hypotheses(done, ok):
    folder = runs_in(done[0] / "out" / "runs")[0]
    lines = [json.loads(line) for line in (folder / "hypotheses.jsonl").read_text().splitlines()]
    for line in lines[:3]:
        arm_and_text = ok("translate", [line["source"]], "--results", folder).out.split(maxsplit=1)
        assert (arm_and_text[1:] or [""])[0].strip() == line["hypothesis"]


TINY = [
    *("--set", "model.context_size=8", "--set", "corpus.test_pairs=50"),
    *("--set", "training.updates=12", "--set", "training.validations=2"),
]


@pytest.mark.exhaustive(sample="session")
def test_a_cell_that_diverges_stops_no_other_and_what_is_done_is_not_done_again(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(FOUR + DIVERGES)
    done, out = bottleneck(["sweep", "mine.toml", "--out", "out"], tmp_path), tmp_path / "out"
    assert done.returncode == 3
    assert "4 of 5 runs done" in done.stdout
    assert "none, wild seed 1: diverged: the loss was no longer finite" in done.stdout
    assert "4 of 5 done" in done.stderr
    assert "Traceback" not in done.stderr
    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("status.json")}
    assert run(["sweep", str(tmp_path / "mine.toml"), "--out", str(out), "--quiet"]) == 3
    assert {path: path.stat().st_mtime_ns for path in out.rglob("status.json")} == stamps
    assert "4 of 5 runs done" in capsys.readouterr().out


def same_sweep(place, cache, options, commands=1):
    """The CSV, without times, of a sweep in its own folder, run by this many commands at once."""
    (place / "four.toml").write_text(FOUR)
    sweep = Disturbed(place / "four.toml", cache, (*TINY, *options))
    for process in [sweep.begin(place / "out") for _ in range(commands)]:
        wait(process)
    wait(begin(["export", "-o", "runs.csv", "--results", "out"], cache, place))
    return pd.read_csv(place / "runs.csv", dtype=str).drop(columns=TIMES).to_csv()


@pytest.fixture(scope="module")
def once(tmp_path_factory, cache):
    """The CSV of a sweep in one process."""
    return same_sweep(tmp_path_factory.mktemp("once"), cache, ["--jobs", "1"])


@pytest.mark.exhaustive(minutes=2, sample="session")
def test_the_same_sweep_makes_the_same_csv(tmp_path, cache, once):
    assert same_sweep(tmp_path, cache, ["--jobs", "2"]) == once


@pytest.mark.exhaustive(minutes=2, sample="session")
def test_two_commands_on_one_folder_at_once(tmp_path, cache, once):
    assert same_sweep(tmp_path, cache, ["--jobs", "1"], commands=2) == once


@pytest.mark.slow
def test_a_plan_counts_runs_names_equal_groups_and_runs_nothing(tmp_path, ok, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FOUR + DIVERGES)
    same = "--set training.learning_rate=1e-3 --set training.clip_norm=1 --seeds 3"
    printed = " ".join(ok("sweep mine.toml --dry-run", same).out.split())
    assert "Which is better" in printed
    assert "group 'wild' has the same runs as group 'steady' here" in printed
    assert "12 runs" in printed
    assert "has the same runs" not in ok("sweep mine.toml --dry-run").out
    assert os.listdir(tmp_path) == ["mine.toml"]


@pytest.mark.slow
def test_a_dry_run_says_what_is_done_and_what_is_left(planted, ok):
    statuses = ["done", "diverged", "running"]
    for cell, status in zip(expand(load_sweep("mine.toml")), statuses, strict=False):
        corpus = load_corpus(cell.settings.corpus, cell.settings.scoring.lower_edges)
        name = cell.settings.identity(corpus.fingerprint)
        write_begun(planted / "out", name, cell.settings, status)
    text = ok("sweep mine.toml --dry-run --out out --jobs 1").out
    lines = [line.split() for line in text.splitlines()]
    assert ["run", "status"] in lines
    rows = [line[-1] for line in lines if "=" in " ".join(line)]
    assert rows == ["done", "diverged", "stopped", "missing"]
    assert "4 runs, 1 done, 1 diverged, 1 stopped" in " ".join(lines[-1])


def test_the_scores_of_every_arm_have_n_and_intervals(planted, ok):
    lines = ok("sweep mine.toml --quiet").out.splitlines()
    assert lines[0] == "Does a larger context help?"
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert len(re.findall(r"\bn=12\*", text)) == 5
    for arm in ("none", "additive"):
        assert text.count(f"{arm} ") >= 2
    runs = seq2seq_bottleneck.load(planted / "results" / "runs" / "mine").runs
    for row in runs.to_dict("records"):
        assert f"{row['bleu']:.1f}" in text
        assert f"{row['bleu_low']:.1f}..{row['bleu_high']:.1f}" in text
    assert "4 of 4 runs done" in text


TYPED = (
    "sweep --preset smoke --corpus copy --context-size 8,16 "
    "--attention none,additive --train-length 20,60"
)


@pytest.mark.usefixtures("planted")
def test_a_typed_sweep_has_a_folder_of_its_own_a_file_and_a_table_of_all_its_arms(ok):
    plan = ok(TYPED, "--dry-run --save typed.toml").out
    assert plan.startswith("BLEU by context size, attention, train max words\n")
    assert plan.endswith("\n8 runs\n")
    assert ok("sweep typed.toml --dry-run").out == plan
    assert not Path("results").exists()
    printed = ok(TYPED, "--quiet").out
    (out,) = Path("results", "runs").iterdir()
    assert out.name.startswith("smoke-by-corpus=copy-context_size-attention-train_max_words")
    assert f"8 of 8 runs done. Results in {out}" in " ".join(printed.split())
    frame = pd.read_csv(io.StringIO(ok("table --format csv").out))
    assert frame["arm"].nunique() == 8
    assert "none train_max_words=20 context_size=8" in set(frame["arm"])
    text = ok("table").out
    assert all(len(line) <= 80 for line in text.splitlines())
    assert len(re.findall(r"^ ratio .* 14\.0:1", text, re.MULTILINE)) == 4
    assert f"Results: {out}" in " ".join(text.split())
    ok(TYPED, "--quiet --out elsewhere/mine")
    assert json.loads(Path("elsewhere/mine/experiments.json").read_text()).keys() == {"mine"}


def test_each_reproduction_with_different_settings_has_a_folder_of_its_own(
    tmp_path, ok, monkeypatch
):
    def describe(cell, _):
        model, seed = cell.settings.model, cell.settings.training.seed
        return f"{model.attention}{model.context_size}s{seed}", [0.1] * 5, seed

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2seq_bottleneck.runs.pool.run_cells", planted_cells(describe))
    for options, name in (
        ("", "smoke"),
        ("--context-size 16 --seeds 2", "smoke-context_size=16"),
        ("--attention dot --train-length 20", "smoke-train_max_words=20-attention=dot"),
    ):
        assert f"Written to results/runs/{name}: " in ok("reproduce --preset smoke", options).out
        assert "The vindication" in ok("table").out
    assert len(os.listdir("results/runs")) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
def test_a_damaged_run_is_named_with_the_way_out_which_helps(ok, fails):
    ok("sweep mine.toml --quiet --out out")
    path = Path("out", "runs", "run2", "scores.csv")
    path.write_text("bucket,n,bleu\n5-10,two,1\n")
    shutil.rmtree("out/runs/run0")  # the bundle is made again
    message = fails("export --results out")
    assert str(path) in message
    assert "`rm -r out/runs/run2`" in message
    shutil.rmtree("out/runs/run2")
    ok("export --results out")


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", (None, None, None)),
        ("--seeds-together 3 --jobs 2", (3, None, 2)),
        ("--threads 2", (None, 2, None)),
    ],
)
def test_seeds_threads_and_jobs_are_passed_on(ok, monkeypatch, options, expected):
    handed, planted = [], pool.run_cells

    def run_cells(*arguments, **choices):
        handed.append(tuple(choices[name] for name in ("together", "threads", "width")))
        return planted(*arguments, **choices)

    monkeypatch.setattr(pool, "run_cells", run_cells)
    ok("sweep mine.toml --quiet", options)
    assert handed == [expected]
