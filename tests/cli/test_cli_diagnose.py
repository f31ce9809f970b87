"""``bottleneck diagnose`` on a run of a few updates, and what it says to mistakes."""

import json
import shutil

import pytest

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.results.discovery import arms
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.runs.pool import Job, run_jobs
from seq2seq_bottleneck.runs.reproduce import plan
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.run import resolve

pytestmark = pytest.mark.exhaustive(sample="session")

TINY = ["training.updates=2", "corpus.test_pairs=20", "training.validations=1",
        "corpus.train_pairs=300", "corpus.valid_pairs=20"]  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """An output folder with both arms."""
    out = tmp_path_factory.mktemp("trained")
    outcomes = run_jobs(plan(resolve("smoke", TINY), 1, False), out / STORE, lambda *_: None)
    assert [outcome.phase for outcome in outcomes] == ["done"] * 2
    gather(out, {})
    return out


def test_the_lectures_sentence_is_the_default_and_has_30_words(trained, capsys):
    assert run(["diagnose", "--results", str(trained)]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert "Sentence: 30 words (the slide says 40, elsewhere 42)." in lines
    assert "premier venues" in text
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("none ") for line in lines)
    assert any(line.startswith("additive ") for line in lines)
    rows = [line.split()[0] for line in lines if line.startswith(" ") and line.strip()]
    words = SLIDES["L14"]["sentence"].lower().replace(",", "").removesuffix(".").split()
    assert [row for row in rows if row in words] == words


def test_another_sentence_as_json(trained, capsys):
    arguments = ["diagnose", "the cat sat", "--results", str(trained), "--format", "json"]
    assert run(arguments) == 0
    held = json.loads(capsys.readouterr().out)
    assert [row["word"] for row in held["rows"]] == ["the", "cat", "sat"]
    assert held["rows"][1]["reference"] == "chat"
    assert "Sentence: 3 words." in held["caption"]
    names = {arm: folder.name for arm, folder in arms(trained).items()}
    told = f"Runs of {trained}: none {names['none']}, additive {names['additive']}."
    assert told in held["caption"]


@pytest.mark.parametrize("form", ["rich", "csv"])
def test_arms_that_have_not_learned_are_told_of_beside_the_table(trained, capsys, form):
    assert run(["diagnose", "the cat sat", "--results", str(trained), "--format", form]) == 0
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert line.startswith("not learned to translate: none (BLEU ")
    assert "and additive (BLEU " in line
    assert "not learned" not in printed.out


def test_a_single_run_is_diagnosed_alone(trained, capsys):
    folder = next(path for path in (trained / STORE).iterdir() if (path / "status.json").is_file())
    assert run(["diagnose", "the cat sat", "--run", str(folder), "--format", "csv"]) == 0
    head = capsys.readouterr().out.splitlines()[0]
    assert head.split(",")[:3] == ["word", "class", "reference"]
    assert len(head.split(",")) == 6


def test_a_translator_whose_source_is_hidden_does_not_take_the_arms_place(
    trained, capsys, tmp_path
):
    """The table of the study `information` asks for one in the same folder; it ends last."""
    out = tmp_path / "out"
    shutil.copytree(trained, out)
    hidden = resolve("smoke", [*TINY, "model.attention=none", "model.source=hidden"])
    run_jobs([Job("hidden", hidden)], out / STORE, lambda *_: None)
    gather(out, {})
    assert run(["diagnose", "the cat sat", "--results", str(out), "--format", "csv"]) == 0
    head = capsys.readouterr().out.splitlines()[0].split(",")
    assert [name for name in head if name in ("none", "additive")] == ["none", "additive"]
    kept = [path.name for path in arms(trained).values()]
    assert sorted(path.name for path in arms(out).values()) == sorted(kept)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["  "], 2, "empty"),
        (["?!"], 2, "no words"),
        (["the cat", "--format", "word"], 2, "'word'"),
        (["the cat", "--results", "nowhere"], 1, "nowhere"),
        ([], 1, "bottleneck reproduce"),
    ],
)
def test_a_mistake_is_one_line(arguments, code, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["diagnose", *arguments]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert told in printed.err
