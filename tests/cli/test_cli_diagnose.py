"""``bottleneck diagnose`` on runs of a few updates."""

import json
import shutil

import pytest

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.results.folders import STORE, arms

pytestmark = pytest.mark.exhaustive(sample="session")

TINY = """# Has it learned?
preset = "smoke"
corpus.train_pairs = 300
corpus.valid_pairs = 20
corpus.test_pairs = 20
training.updates = 2
training.validations = 1
"""
ARMS = 'model.attention = ["none", "additive"]'
HIDDEN = 'model.attention = "none"\nmodel.source = "hidden"'


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """An output folder with both arms."""
    out = tmp_path_factory.mktemp("trained")
    (out / "arms.toml").write_text(f"{TINY}{ARMS}\n")
    assert run(["sweep", str(out / "arms.toml"), "--quiet", "--out", str(out / "out")]) == 0
    return out / "out"


def test_the_lectures_sentence_is_the_default_and_has_30_words(trained, ok):
    lines = ok("diagnose --results", trained).out.splitlines()
    assert "Sentence: 30 words (the slide says 40, elsewhere 42)." in lines
    assert max(map(len, lines)) <= 80
    for arm in ("none", "additive"):
        assert any(line.startswith(f"{arm} ") for line in lines)
    rows = [line.split()[0] for line in lines if line.startswith(" ") and line.strip()]
    words = SLIDES["L14"]["sentence"].lower().replace(",", "").removesuffix(".").split()
    assert [row for row in rows if row in words] == words


def test_another_sentence_as_json_with_the_runs_that_were_asked(trained, ok):
    printed = ok("diagnose 'the cat sat' --format json --results", trained)
    page = json.loads(printed.out)
    assert [row["word"] for row in page["rows"]] == ["the", "cat", "sat"]
    assert page["rows"][1]["reference"] == "chat"
    assert "Sentence: 3 words." in page["caption"]
    names = {arm: folder.name for arm, folder in arms(trained).items()}
    runs = f"Runs of {trained}: none {names['none']}, additive {names['additive']}."
    assert runs in page["caption"]
    (line,) = printed.err.splitlines()
    assert line.startswith("not learned to translate: none (BLEU ")
    assert "and additive (BLEU " in line


def test_a_single_run_and_a_hidden_source(trained, ok, tmp_path):
    """One run is diagnosed alone; a translator without a source takes no arm's place."""
    folder = next(path for path in (trained / STORE).iterdir() if (path / "status.json").is_file())
    command = "diagnose 'the cat sat' --format csv --results"
    assert len(ok(command, folder).out.splitlines()[0].split(",")) == 6
    out = tmp_path / "out"
    shutil.copytree(trained, out)
    (tmp_path / "hidden.toml").write_text(f"{TINY}{HIDDEN}\n")
    ok("sweep", tmp_path / "hidden.toml", "--quiet --out", out)
    head = ok(command, out).out.splitlines()[0].split(",")
    assert [name for name in head if name in ("none", "additive")] == ["none", "additive"]
    assert {run.name for run in arms(trained).values()} == {run.name for run in arms(out).values()}
