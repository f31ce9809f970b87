"""``bottleneck reproduce`` and ``sweep``: what is missing runs, what failed is named.

Really trained, at the smallest size; and a text of two million pairs.
"""

import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
from disturbed import TIMES, Disturbed, begin, numbers, wait
from grids import expand
from listed import relist, write_relisted
from ordinary_user import PROGRAM, bottleneck
from planted import write_begun
from sacrebleu import corpus_bleu, corpus_chrf
from small_sweeps import DIVERGES, FOUR, planted_jobs

import seq2seq_bottleneck
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.runs import pool
from seq2seq_bottleneck.runs.pool import Outcome
from seq2seq_bottleneck.runs.store import run_folders
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION
from seq2seq_bottleneck.settings.sweep import load_sweep

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
def test_arms_and_seeds_share_data_updates_tokens_and_settings(done):
    bundle = Results.open(done[0] / "out")
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
def test_a_second_reproduce_compiles_nothing_and_gives_the_same_numbers(tmp_path):
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
    assert numbers(tmp_path / "second") == numbers(tmp_path / "first")


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
    assert "seeds 1, 2" in " ".join(ok(*smoke, "--seeds 2").out.split())
    again = ok(*smoke, "--set training.learning_rate=1e-3").out
    assert "seeds 1, 2" not in " ".join(again.split())
    assert len(set(Results.open(out).runs["run"])) == 2  # the earlier ones are replaced
    assert pd.read_csv(out / "vindication.csv")["gain"].notna().all()
    for path in (out / "runs").glob("*/environment.json"):
        if not path.parent.name.endswith("at0.001"):
            version = f'"schema": {SCHEMA_VERSION}'
            write_relisted(path, path.read_text().replace(version, '"schema": 0'))
    ok("table vindication --format csv --results", out)
    said = ok("export --results", out).err
    assert "4 runs are left out: " in said


TINY = [
    *("--set", "model.context_size=8", "--set", "corpus.test_pairs=50"),
    *("--set", "training.updates=12", "--set", "training.validations=2"),
]
OF_JAX = {
    "JAX_ENABLE_X64": "1",
    "JAX_DEFAULT_PRNG_IMPL": "rbg",
    "JAX_THREEFRY_PARTITIONABLE": "0",
    "JAX_RANDOM_SEED_OFFSET": "5",
    "JAX_NUMPY_DTYPE_PROMOTION": "strict",
}
"""Each gave another CSV, or failed."""


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
    """The CSV of a sweep in a folder of its own, by so many commands at once; but for times."""
    (place / "four.toml").write_text(FOUR)
    sweep = Disturbed(place / "four.toml", cache, (*TINY, *options))
    for process in [sweep.begin(place / "out") for _ in range(commands)]:
        wait(process)
    wait(begin(["export", "-o", "runs.csv", "--results", "out"], cache, place))
    return untimed(place / "runs.csv")


def untimed(path):
    return pd.read_csv(path, dtype=str).drop(columns=TIMES).to_csv()


@pytest.fixture(scope="module")
def once(tmp_path_factory, cache):
    """The CSV of a sweep in one process."""
    return same_sweep(tmp_path_factory.mktemp("once"), cache, ["--jobs", "1"])


@pytest.mark.exhaustive(minutes=2, sample="session")
@pytest.mark.parametrize("options", [("1",), ("2",), ("2", "--force")])
def test_the_same_sweep_makes_the_same_csv(tmp_path, cache, once, options):
    assert same_sweep(tmp_path, cache, ["--jobs", *options]) == once


@pytest.mark.exhaustive(minutes=2, sample="session")
def test_the_environment_of_jax_makes_no_other_csv(tmp_path, cache, once, monkeypatch):
    for name, other in OF_JAX.items():
        monkeypatch.setenv(name, other)
    assert same_sweep(tmp_path, cache, ["--jobs", "1"]) == once


@pytest.mark.exhaustive(minutes=2, sample="session")
def test_a_log_on_a_full_disk_ends_no_sweep(tmp_path, cache, once):
    (tmp_path / "four.toml").write_text(FOUR)
    sweep = [sys.executable, *PROGRAM, "sweep", "four.toml", *TINY, "--jobs", "1", "--out", "out"]
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    with Path("/dev/full").open("w") as full, Path(os.devnull).open("w") as null:
        subprocess.run(sweep, stdout=null, stderr=full, cwd=tmp_path, env=environment, check=True)
    assert untimed(tmp_path / "out" / "runs.csv") == once


@pytest.mark.exhaustive(minutes=2, sample="session")
def test_two_commands_on_one_folder_at_once(tmp_path, cache, once):
    assert same_sweep(tmp_path, cache, ["--jobs", "1"], commands=2) == once
    sums = list((tmp_path / "out").rglob("SHA256SUMS"))
    assert len(sums) == 1 + 2  # the bundle's and each run's
    for path in sums:
        for line in path.read_text().splitlines():
            digest, name = line.split(maxsplit=1)
            content = (path.parent / name.lstrip("*")).read_bytes()
            assert hashlib.sha256(content).hexdigest() == digest, name


@pytest.mark.slow
def test_a_plan_counts_runs_names_groups_that_are_equal_and_runs_nothing(tmp_path, ok, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FOUR + DIVERGES)
    same = "--set training.learning_rate=1e-3 --set training.clip_norm=1 --seeds 3"
    printed = " ".join(ok("sweep mine.toml --dry-run", same).out.split())
    assert "Which is better" in printed
    assert "group 'wild' has the same runs as group 'steady' here" in printed
    assert "12 runs" in printed
    assert "has the same runs" not in ok("sweep mine.toml --dry-run").out
    single = "--set model.context_size=8 --set model.attention=none --set training.clip_norm=1"
    assert ok("sweep mine.toml --dry-run", single, "--set training.learning_rate=1").out.endswith(
        "1 run\n"
    )
    assert os.listdir(tmp_path) == ["mine.toml"]


@pytest.mark.slow
def test_a_dry_run_says_what_is_done_and_what_is_left(planted, ok, monkeypatch):
    statuses = ["done", "diverged", "running"]
    for cell, status in zip(expand(load_sweep("mine.toml")), statuses, strict=False):
        corpus = load_corpus(cell.settings.corpus, cell.settings.scoring.lower_edges)
        name = cell.settings.identity(corpus.fingerprint)
        write_begun(planted / "out", name, cell.settings, status)
    read = []

    def load(*place):
        read.append(place)
        return load_corpus(*place)

    monkeypatch.setattr("seq2seq_bottleneck.corpus.corpus.load_corpus", load)
    text = ok("sweep mine.toml --dry-run --out out --jobs 1").out
    assert len(read) == 1  # of all cells; and of none where there are no runs
    lines = [line.split() for line in text.splitlines()]
    assert ["run", "status"] in lines
    rows = [line[-1] for line in lines if "=" in " ".join(line)]
    assert rows == ["done", "diverged", "stopped", "-"]
    assert "4 runs, 1 done, 1 diverged, 1 stopped" in " ".join(lines[-1])
    for options in ("--out out --force", "--out none"):
        assert "status" not in ok("sweep mine.toml --dry-run", options).out
    assert len(read) == 1


def test_the_scores_of_every_arm_have_n_and_intervals(planted, ok):
    lines = ok("sweep mine.toml --quiet").out.splitlines()
    assert lines[0] == "Does a larger context help?"
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert len(re.findall(r"\bn=12\*", text)) == 5
    for arm in ("none", "additive"):
        assert text.count(f"{arm} ") >= 2
    runs = seq2seq_bottleneck.Results.open(planted / "results" / "runs" / "mine").runs
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
    assert plan.startswith("BLEU by context size, attention and training length\n")
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
    for row in frame.to_dict("records"):
        size = int(row["arm"].rpartition("=")[2])
        words = {"5-10": 7, "11-20": 15, "21-30": 25, "31-40": 35, "41+": 50}[row["bucket"]]
        assert row["compression_ratio"] == pytest.approx(words * 16 / size)
    text = ok("table").out
    assert all(len(line) <= 80 for line in text.splitlines())
    assert len(re.findall(r"^ ratio .* 14\.0:1", text, re.MULTILINE)) == 4
    assert f"Results: {out}" in " ".join(text.split())
    for name, count in (("vindication", 6), ("failure-pattern", 6), ("context_size", 4)):
        *_, last = ok("table", name).out.strip().split("\n\n")
        assert f"not in this table: {count} arms (choose with --where)" in " ".join(last.split())
    assert json.loads((out / "experiments.json").read_text()).keys() == {out.name}
    ok(TYPED, "--quiet --out elsewhere/mine")
    assert json.loads(Path("elsewhere/mine/experiments.json").read_text()).keys() == {"mine"}


def test_each_reproduction_with_different_settings_has_a_folder_of_its_own(
    tmp_path, ok, monkeypatch
):
    def describe(job, _):
        model, seed = job.settings.model, job.settings.training.seed
        return f"{model.attention}{model.context_size}s{seed}", [0.1] * 5, seed

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2seq_bottleneck.runs.sweep.run_jobs", planted_jobs(describe))
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
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scores.csv", "bucket,n,bleu\n5-10,two,1\n"),
        ("status.json", "{"),
        ("settings.json", "{}"),
    ],
)
def test_a_damaged_run_is_named_with_the_way_out(ok, fails, name, content):
    """Also where a sweep has just ended, and what is proposed does help."""
    ok("sweep mine.toml --quiet --out out")
    path = Path("out", "runs", "run2", name)
    path.write_text(content)
    if name != "status.json":
        relist(path)
    for store in Path("out", "runs").glob("run[013]"):
        shutil.rmtree(store)
    again = "sweep mine.toml --quiet --out out --set model.context_size=32"
    for command in ("export --results out", again):
        message = fails(command)
        assert str(path) in message
        assert "`bottleneck runs run2 --remove --results out`" in message
    ok("runs run2 --remove --results out --yes")
    ok("export --results out")


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", (1, 1, 2)),
        ("--seeds-together 3", (3, 1, 2)),
        ("--threads 2", (1, 2, 1)),
        ("--jobs 1", (1, 1, 1)),
    ],
)
def test_seeds_threads_and_jobs_are_handed_on(ok, monkeypatch, options, expected):
    """With ``auto`` a core trains each seed alone."""
    handed, planted = [], pool.run_jobs

    def run_jobs(*arguments, **choices):
        handed.append(tuple(choices[name] for name in ("together", "threads", "width")))
        return planted(*arguments, **choices)

    monkeypatch.setattr(pool, "run_jobs", run_jobs)
    monkeypatch.setattr(pool, "has_accelerator", lambda: False)
    monkeypatch.setattr(pool, "cores", lambda: 2)
    ok("sweep mine.toml --quiet", options)
    assert handed == [expected]


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("address", "quiet"), [("tls://head.node:8786", []), ("tcp://[::1]:1", ["--quiet"])]
)
def test_a_scheduler_is_handed_on_and_what_it_says(capsys, monkeypatch, address, quiet):
    def on_cluster(jobs, _store, _listener, scheduler, force, tell):
        tell(f"waiting for workers at {scheduler}")
        assert not force
        return [Outcome(job, "failed", reason="no worker") for job in jobs]

    monkeypatch.setattr("seq2seq_bottleneck.runs.cluster.run_jobs_on_cluster", on_cluster)
    assert run(["sweep", "mine.toml", "--scheduler", address, *quiet]) == 3
    assert (f"waiting for workers at {address}\n" in capsys.readouterr().err) != bool(quiet)


PAIRS = 2_000_000
WORDS = [f"w{number}" for number in range(20_000)]
SWEEP = f"""# Does a large text fit?
preset = "smoke"
[corpus]
name = "files"
source = "large.tsv"
train_pairs = {PAIRS}
[model]
attention = "none"
"""


def pairs():
    """Random sentences of 5 to 12 words, common words commoner, each with itself reversed."""
    draw = random.Random(1)
    for _ in range(PAIRS):
        words = [WORDS[int(20_000 * draw.random() ** 3)] for _ in range(draw.randint(5, 12))]
        yield f"{' '.join(words)}\t{' '.join(reversed(words))}\n"


def resident(process):
    """Bytes of a process and its children."""
    try:
        return sum(
            member.memory_info().rss for member in (process, *process.children(recursive=True))
        )
    except psutil.NoSuchProcess:  # one ended meanwhile
        return 0


@pytest.mark.exhaustive(minutes=5)
def test_two_million_pairs_are_trained_on_within_four_gigabytes(tmp_path):
    with (tmp_path / "large.tsv").open("w") as file:
        file.writelines(pairs())
    (tmp_path / "large.toml").write_text(SWEEP)
    command = [sys.executable, "-m", "seq2seq_bottleneck", "sweep", "large.toml", "--quiet"]
    most = 0
    with subprocess.Popen([*command, "--out", "out"], cwd=tmp_path) as running:
        while running.poll() is None:
            most = max(most, resident(psutil.Process(running.pid)))
            time.sleep(0.1)
    assert running.returncode == 0
    assert most < 4 * 10**9
    assert Results.open(tmp_path / "out").runs["train_pairs"].iloc[0] > 0.99 * PAIRS
