"""What a sweep prints at its end: scores with n and ranges, as far as there is room."""

import re

import pytest

import seq2seq_bottleneck
from seq2seq_bottleneck.cli.main import run


def test_the_scores_have_n_and_ranges_in_the_order_of_the_file(planted, capsys):
    assert run(["sweep", "mine.toml", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Does a larger context help?"
    named = [line for line in lines if re.search(r"context_size=\d+", line)]
    sizes = [re.search(r"context_size=\d+", line).group() for line in named]
    assert sizes == ["context_size=8", "context_size=16"] * 2
    assert all(len(line) <= 80 for line in lines)
    text = "\n".join(lines)
    assert len(re.findall(r"\bn=12\*", text)) == 5
    runs = seq2seq_bottleneck.load_results(planted / "results" / "runs" / "mine")
    for row in runs.to_dict("records"):
        assert f"{row['bleu']:.1f}" in text
        assert f"{row['bleu_low']:.1f}..{row['bleu_high']:.1f}" in text
    assert "95 % ranges over them (with each)" in " ".join(text.split())
    assert "4 of 4 cells done" in text


def test_ranges_go_where_they_have_no_room_and_numbers_stay_whole(planted, capsys):
    edges = 'scoring.edges="5,6,7,11,16,21,26,31,41"'
    assert run(["sweep", "mine.toml", "--quiet", "--set", edges]) == 0
    text = capsys.readouterr().out
    assert "bleu_low and bleu_high of the tidy table" in " ".join(text.split())
    assert "n=12*" in text
    assert ".." not in text
    runs = seq2seq_bottleneck.load_results(planted / "results" / "runs" / "mine")
    assert all(f"{bleu:.1f}" in text for bleu in runs["bleu"].dropna())


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
def test_one_cell_is_one_cell(capsys):
    one = ["--set", "model.context_size=8", "--set", "model.attention=none"]
    assert run(["sweep", "mine.toml", "--quiet", *one]) == 0
    assert "1 of 1 cell done" in capsys.readouterr().out
    assert run(["sweep", "mine.toml", "--dry-run", "--out", "other", *one]) == 0
    printed = capsys.readouterr().out
    assert "1 cell, " in printed
    assert " kB on disk" in printed
