"""Sweeps through the command: what is missing runs, what failed is named, what is cut goes on."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from disturbed import TIMES, Disturbed, begin, wait
from grids import expand
from listed import relist
from ordinary_user import PROGRAM, bottleneck
from planted import write_begun
from small_sweeps import DIVERGES, FOUR

import seq2seq_bottleneck
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.runs import pool
from seq2seq_bottleneck.runs.pool import Outcome
from seq2seq_bottleneck.settings.sweep import load_sweep

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


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep of four cells and one that diverges, undisturbed: its folder, and what it said."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "mine.toml").write_text(FOUR + DIVERGES)
    return folder / "out", bottleneck(["sweep", "mine.toml", "--out", "out"], folder)


@pytest.mark.exhaustive(sample="session")
def test_a_cell_that_diverges_stops_no_other_and_what_is_done_is_not_done_again(swept, capsys):
    out, done = swept
    assert done.returncode == 3
    assert "4 of 5 cells done" in done.stdout
    assert "wild: diverged: the loss was no longer finite" in done.stdout
    assert "4 of 5 done" in done.stderr
    assert "Traceback" not in done.stderr
    stamps = {path: path.stat().st_mtime_ns for path in out.rglob("status.json")}
    assert run(["sweep", str(out.parent / "mine.toml"), "--out", str(out), "--quiet"]) == 3
    assert {path: path.stat().st_mtime_ns for path in out.rglob("status.json")} == stamps
    assert "4 of 5 cells done" in capsys.readouterr().out


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
def test_a_plan_counts_cells_names_groups_that_are_equal_and_runs_nothing(
    tmp_path, ok, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FOUR + DIVERGES)
    same = "--set training.learning_rate=1e-3 --set training.clip_norm=1 --seeds 3"
    printed = " ".join(ok("sweep mine.toml --dry-run", same).out.split())
    assert "Which is better" in printed
    assert "group 'wild' has the same cells as group 'steady' here" in printed
    assert "12 cells" in printed
    assert "has the same cells" not in ok("sweep mine.toml --dry-run").out
    single = "--set model.context_size=8 --set model.attention=none --set training.clip_norm=1"
    assert ok("sweep mine.toml --dry-run", single, "--set training.learning_rate=1").out.endswith(
        "1 cell\n"
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
    assert ["cell", "status"] in lines
    rows = [line[-1] for line in lines if "=" in " ".join(line)]
    assert rows == ["done", "diverged", "stopped", "-"]
    assert "4 cells, 1 done, 1 diverged, 1 stopped" in " ".join(lines[-1])
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
    runs = seq2seq_bottleneck.load_results(planted / "results" / "runs" / "mine")
    for row in runs.to_dict("records"):
        assert f"{row['bleu']:.1f}" in text
        assert f"{row['bleu_low']:.1f}..{row['bleu_high']:.1f}" in text
    assert "4 of 4 cells done" in text


@pytest.mark.usefixtures("planted")
def test_runs_with_different_buckets_are_not_one_table(ok):
    edges = ["--set", 'scoring.edges=["5,21", "5,31"]']
    text = " ".join(ok("sweep mine.toml --quiet", edges).out.split())
    assert "No table: the runs were scored in other buckets" in text
    assert "8 of 8 cells done" in text
    single = "--set model.context_size=8 --set model.attention=none --out one"
    assert "1 of 1 cell done" in ok("sweep mine.toml --quiet", single).out


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
    ("address", "quiet"),
    [("tcp://10.0.0.1:8786", []), ("tls://head.node:8786", ["--quiet"]), ("tcp://[::1]:1", [])],
)
def test_a_scheduler_is_handed_on_and_what_it_says(capsys, monkeypatch, address, quiet):
    def on_cluster(jobs, _store, _listener, scheduler, force, tell):
        tell(f"waiting for workers at {scheduler}")
        assert not force
        return [Outcome(job, "failed", reason="no worker") for job in jobs]

    monkeypatch.setattr("seq2seq_bottleneck.runs.cluster.run_jobs_on_cluster", on_cluster)
    assert run(["sweep", "mine.toml", "--scheduler", address, *quiet]) == 3
    assert (f"waiting for workers at {address}\n" in capsys.readouterr().err) != bool(quiet)


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
