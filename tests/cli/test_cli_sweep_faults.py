"""What a sweep refuses, before it runs anything, and what it says of a damaged store."""

import os
import shutil
from pathlib import Path

import pytest
from listed import relist
from small_sweeps import FOUR

from seq2seq_bottleneck.cli.main import run


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (FOUR + "contxt = 3\n", ["mine.toml", "model.contxt", "model.context_size"]),
        (FOUR.replace("smoke", "smok"), ["smok", "smoke"]),
        (FOUR.replace('"dot"', '"dott"'), ["mine.toml", "model.attention", "dott"]),
        ("model = [", ["mine.toml", "TOML"]),
    ],
)
def test_a_faulty_sweep_stops_before_anything_runs(tmp_path, capsys, monkeypatch, content, parts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(content)
    assert run(["sweep", "mine.toml"]) == 2
    message = capsys.readouterr().err
    assert all(part in message for part in parts), message
    assert os.listdir(tmp_path) == ["mine.toml"]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ["mine.toml sets nothing"]),
        ("# Why?\n", ["mine.toml sets nothing"]),
        ('preset = "smoke"\n', ["mine.toml: no question"]),
        ('# Why?\ncorpus.name = "files"\n', ["--set corpus.source=FILE"]),
    ],
)
def test_what_cannot_be_a_sweep_is_refused(planted, capsys, content, parts):
    (planted / "mine.toml").write_text(content)
    assert run(["sweep", "mine.toml", "--quiet"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert all(part in printed.err for part in parts), printed.err
    assert "--source" not in printed.err


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("scores.csv", ""),
        ("scores.csv", "bucket,n,bleu\n5-10,two,1\n"),
        ("status.json", "{"),
        ("status.json", "3"),
        ("settings.json", "{}"),
    ],
)
def test_a_damaged_run_is_named_with_the_way_out(capsys, name, content):
    """Also where a sweep has just ended, and what is proposed does help."""
    assert run(["sweep", "mine.toml", "--quiet", "--out", "out"]) == 0
    path = Path("out", "runs", "run2", name)
    path.write_text(content)
    if name != "status.json":
        relist(path)
    again = ["sweep", "mine.toml", "--quiet", "--out", "out", "--set", "model.context_size=32"]
    for store in Path("out", "runs").glob("run[013]"):
        shutil.rmtree(store)
    for arguments in (["export", "--results", "out"], again):
        capsys.readouterr()
        assert run(arguments) == 1
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1
        assert str(path) in said[0]
        assert "`bottleneck runs run2 --remove --results out`" in said[0]
    assert run(["runs", "run2", "--remove", "--results", "out", "--yes"]) == 0
    assert run(["export", "--results", "out"]) == 0
