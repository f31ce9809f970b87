"""A sweep's plan: which cells it would run, what of them is done, and that it runs nothing."""

import os

import pytest
from grids import expand
from planted import write_begun
from small_sweeps import DIVERGES, FOUR

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import load_sweep


@pytest.mark.exhaustive(sample="session")
def test_a_dry_run_prints_the_cells_and_runs_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FOUR)
    assert run(["sweep", "mine.toml", "--seeds", "3", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "Which is better" in printed
    assert "12 cells" in printed
    assert os.listdir(tmp_path) == ["mine.toml"]


@pytest.mark.slow
def test_a_plan_says_which_groups_fall_together(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(FOUR + DIVERGES)
    same = ["--set", "training.learning_rate=1e-3", "--set", "training.clip_norm=1"]
    assert run(["sweep", "mine.toml", "--dry-run", *same]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "group 'wild' has the same cells as group 'steady' here" in printed
    assert "4 cells" in printed
    assert run(["sweep", "mine.toml", "--dry-run"]) == 0
    assert "has cells" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_dry_run_says_what_is_done_and_what_is_left(planted, capsys):
    statuses = ["done", "diverged", "running"]
    for cell, status in zip(expand(load_sweep("mine.toml")), statuses, strict=False):
        corpus = load_corpus(cell.settings.corpus, cell.settings.scoring.lower_edges)
        name = cell.settings.identity(corpus.fingerprint)
        write_begun(planted / "out", name, cell.settings, status)
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", "--jobs", "1"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["cell", "status"] in lines
    shown = [line[-1] for line in lines if "=" in " ".join(line)]
    assert shown == ["done", "diverged", "stopped", "-"]
    assert "4 cells, 1 done, 1 diverged, 1 stopped" in " ".join(lines[-1])
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", "--force"]) == 0
    assert "status" not in capsys.readouterr().out


def test_a_dry_run_reads_a_corpus_only_if_there_are_runs_and_then_once(
    planted, capsys, monkeypatch
):
    read = []

    def load(*place):
        read.append(place)
        return load_corpus(*place)

    monkeypatch.setattr("seq2seq_bottleneck.corpus.corpus.load_corpus", load)
    command = ["sweep", "mine.toml", "--dry-run", "--out", "out", "--set", "corpus.seed=1,2"]
    assert run(command) == 0
    assert not read
    write_begun(planted / "out", "another", resolve("smoke"))
    assert run(command) == 0
    assert "8 cells" in capsys.readouterr().out
    assert len(read) == len(set(read)) == 2
