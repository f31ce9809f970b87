"""What a sweep prints at its end: scores with n and ranges, as far as there is room."""

import re

import pytest

import seq2seq_bottleneck
from seq2seq_bottleneck.cli.main import run


def test_the_scores_of_every_arm_have_n_and_intervals(planted, capsys):
    assert run(["sweep", "mine.toml", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
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
def test_runs_with_different_buckets_are_not_one_table(capsys):
    edges = 'scoring.edges=["5,21", "5,31"]'
    assert run(["sweep", "mine.toml", "--quiet", "--set", edges]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "No table: the runs were scored in other buckets" in text
    assert "8 of 8 cells done" in text


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
def test_one_cell_is_one_cell(capsys):
    one = ["--set", "model.context_size=8", "--set", "model.attention=none"]
    assert run(["sweep", "mine.toml", "--quiet", *one]) == 0
    assert "1 of 1 cell done" in capsys.readouterr().out
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "other", *one]) == 0
    assert capsys.readouterr().out.endswith("1 cell\n")
