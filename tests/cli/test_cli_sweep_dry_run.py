"""A sweep's plan: which cells it would run, what of them is done, and that it runs nothing."""

import os
import re

import pytest
from grids import expand
from planted import write_begun
from small_sweeps import DIVERGES, FOUR

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.cli.planned import Texts
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
    assert "group 'wild' has cells that are those of group 'steady' here" in printed
    assert "4 cells" in printed
    assert run(["sweep", "mine.toml", "--dry-run"]) == 0
    assert "has cells" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_dry_run_says_what_is_done_and_what_is_left(planted, capsys):
    texts = Texts()
    cells = expand(load_sweep("mine.toml"))
    for cell, status in zip(cells, ["done", "diverged", "running"], strict=False):
        write_begun(
            planted / "out",
            cell.settings.identity(texts.of(cell).fingerprint),
            cell.settings,
            status,
        )
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", "--jobs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["cell", "parameters", "disk", "status"]
    shown = [line.split()[-1] for line in lines if " kB" in line and "=" in line]
    assert shown == ["done", "diverged", "stopped", "-"]
    words = " ".join(" ".join(lines).split())
    assert re.search(r"4 cells, \d+ [kM]B on disk, 1 done, 1 diverged, 1 stopped", words)
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", "--force"]) == 0
    assert "status" not in capsys.readouterr().out


def test_a_dry_run_reads_each_corpus_once(planted, capsys, monkeypatch):
    write_begun(planted / "out", "another", resolve("smoke"))
    read = []

    def load(*place):
        read.append(place)
        return load_corpus(*place)

    monkeypatch.setattr("seq2seq_bottleneck.corpus.corpus.load_corpus", load)
    seeds = ["--set", "corpus.seed=1,2"]
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "out", *seeds]) == 0
    assert "8 cells" in capsys.readouterr().out
    assert len(read) == len(set(read)) == 2
