"""``bottleneck translate`` and ``lecture``: sentences through runs of few updates."""

import io
import json
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from model import numpy_translator
from ordinary_user import bottleneck
from planted import write_planted
from planted_cost import plant_costs

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.vocabulary import BOS, EOS, PAD, build_vocabulary
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.results.folders import SHIPPED
from seq2seq_bottleneck.runs.checkpoint import save_vocabularies, save_weights
from seq2seq_bottleneck.settings.run import resolve

SMALL = [
    *("corpus.copy_words=20", "corpus.target_vocabulary=8", "corpus.max_words=12"),
    *("corpus.test_pairs=40", "training.shapes=1", "training.updates=40", "training.validations=1"),
    *("scoring.edges=3,7", "scoring.resamples=9"),
]
TEXT = "w1 w2 w3\n\nw4 W5 w6 w7\n  \nw1 zyzzyva w3 w2\nw9\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Both arms of one comparison."""
    folder = tmp_path_factory.mktemp("translate") / "out"
    changes = [part for setting in SMALL for part in ("--set", setting)]
    arguments = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--quiet"]
    assert run([*arguments, *changes, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def translate(out, capsys, tmp_path, monkeypatch):
    """From arguments and standard input to what is printed on both streams."""
    (tmp_path / "text").write_text(TEXT)
    (tmp_path / "latin").write_bytes("w1\nété\n".encode("latin1"))
    monkeypatch.chdir(tmp_path)

    def translated(*arguments, given="", code=0):
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        assert run(["translate", *arguments, "--results", str(out)]) == code
        printed = capsys.readouterr()
        return printed.out, printed.err

    return translated


@pytest.mark.slow
def test_each_line_of_a_text_is_translated_as_an_argument_is(translate, monkeypatch):
    """In UTF-8, whatever the encoding of the terminal."""
    printed, said = expected = translate("--file", "text")
    lines = printed.removesuffix("\n").split("\n")
    assert [bool(line) for line in lines] == [bool(line.strip()) for line in TEXT.splitlines()]
    assert "⁇" in printed
    assert re.search("6 lines translated, . translations? cut at the cap; . of 12 source", said)
    assert "Runs of" in said
    for arguments in ([], ["-"]):
        assert translate(*arguments, given=TEXT.removesuffix("\n")) == expected
    lines = translate("--file", "text", "--arm", "none", "--beam", "3")[0].splitlines()
    printed, said = translate("w1 zyzzyva w3 w2", "--arm", "none", "--beam", "3")
    assert printed.removeprefix("none").strip() == lines[4]
    assert "zyzzyva" in said
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")  # the terminal's
    monkeypatch.setattr(sys, "stdout", stdout)
    translate("-", given=TEXT)
    assert stdout.buffer.getvalue().decode() == expected[0]


@pytest.mark.slow
def test_a_line_in_is_a_line_out_while_the_pipe_stays_open(out, translate):
    lines = ["w1 w2 w3\n", "\n", "w4 zyzzyva\n"]
    command = [sys.executable, "-m", "seq2seq_bottleneck", "translate", "-", "--results", str(out)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    answers = []
    with subprocess.Popen(command, **pipes, text=True, encoding="utf8") as running:
        for line in lines:
            running.stdin.write(line)
            running.stdin.flush()
            assert select.select([running.stdout], [], [], 120)[0]
            answers.append(running.stdout.readline())
        running.stdin.write("w9")  # the last line may have no end
        rest, _ = running.communicate()
    assert "".join([*answers, rest]) == translate("-", given="".join(lines) + "w9\n")[0]


@pytest.mark.slow
def test_every_arm_or_one_translates_and_the_runs_are_named(translate, out):
    both, said = translate("w1 w2 w3", "--alignment")
    assert "it has no weights to show" in both
    assert "weight:" in both
    both, said = translate("w1 w2 w3")
    assert [line.split()[0] for line in both.splitlines()] == ["none", "additive"]
    (line,) = [line for line in said.splitlines() if line.startswith("Runs of")]
    runs = sorted(path.name for path in (out / "runs").iterdir() if path.is_dir())
    assert sorted(re.findall(r"[0-9a-f]{12}", line.partition(": ")[2])) == runs
    assert str(out) in line
    assert translate("w1 w2 w3", "--arm", "additive")[0].split() == both.splitlines()[1].split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["w1", "--file", "text"], 2, ["--file", "one of them"]),
        (["--file", "latin", "--arm", "none"], 1, ["line 2 is not UTF-8"]),
        (["--file", "text", "--alignment"], 2, ["--alignment", "in quotes"]),
    ],
)
def test_impossible_options_are_one_line(translate, arguments, code, parts):
    printed, said = translate(*arguments, code=code)
    assert printed == ""
    assert len(said.splitlines()) == 1
    assert all(part in said for part in parts), said


def test_at_a_terminal_without_input_nobody_waits(monkeypatch, fails):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    assert "give a sentence in quotes" in fails("translate", code=2)


NAMED = (
    r"Runs of the shipped pair \(preset lecture, .*seed \d+, trained \d{4}-\d\d-\d\d; "
    r"train your own with `bottleneck reproduce`\): "
)


def test_the_shipped_pair_translates_the_lectures_sentences(ok, lecture):
    """Without training, in an empty folder; each command names the pair."""
    english, french = (SLIDES["L16"][side] for side in ("english", "french"))
    printed = ok("translate", [english])
    assert f"additive  {french.lower()}\n" in printed.out
    assert re.fullmatch(f"{NAMED}none [0-9a-f]{{12}}, additive [0-9a-f]{{12}}.\n", printed.err)
    for name in ("L10", "L17", "L-SHORT"):
        text = lecture(name)
        assert re.search(NAMED, text)
    assert int(re.search("additive: ([0-5]) of 5 translated", text)[1]) >= 3


@pytest.mark.slow
def test_the_shipped_pair_is_asked_any_sentence(ok):
    printed = ok("plot attention --sentence 'my tailor is rich' -o where.svg")
    assert re.match(NAMED, printed.err)
    weights = pd.read_csv("where.csv").pivot(
        index="output_place", columns="source", values="weight"
    )
    assert set(weights) == {"my", "tailor", "is", "rich", "</s>"}
    assert re.match(NAMED, ok("plot attention").err)  # of the lecture's sentence
    drawn = set(pd.read_csv("attention.csv")["source"])
    assert drawn == {"the", "black", "cat", "sat", "on", "mat", "</s>"}
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    "command",
    ["translate 'the cat'", "lecture L17", "plot attention --sentence 'the cat'"],
)
def test_the_users_runs_come_before_the_shipped_pair_which_has_a_name(command, ok, fails):
    write_planted(Path("results/runs/own"), {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    assert "'results/runs/own/runs/" in fails(command)  # these runs have no weights
    assert "of the shipped pair" in " ".join("".join(ok(command, "--results shipped")).split())


@pytest.mark.parametrize("name", ["experiments.json", "weights.safetensors"])
def test_a_damaged_pair_is_one_line_with_the_file(name, tmp_path, monkeypatch, fails):
    pair = Path(shutil.copytree(SHIPPED, tmp_path / "pair"))
    monkeypatch.setattr("seq2seq_bottleneck.results.folders.SHIPPED", pair)
    path = next(pair.rglob(name))
    path.write_bytes(path.read_bytes()[:-1])
    message = fails("translate 'the cat'")
    assert f"{str(path)!r} cannot be read" in message
    assert message.endswith("install the package again")


@pytest.mark.slow
def test_a_sentence_is_diagnosed_word_by_word_as_json(ok):
    page = json.loads(ok("translate --diagnose 'the cat sat' --format json").out)
    assert [row["word"] for row in page["rows"]] == ["the", "cat", "sat"]
    assert page["rows"][1]["reference"] == "chat"
    assert "Sentence: 3 words." in page["caption"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lecture(ok):
    """What the command prints, with its lines joined."""
    return lambda *arguments: " ".join(ok("lecture", *arguments).out.split())


def csv_of(ok, *arguments):
    return pd.read_csv(io.StringIO(ok("lecture --format csv", *arguments).out))


def test_the_audit_and_one_id_are_printed_and_are_csv(ok, lecture):
    assert "4.876" in lecture()
    frame = csv_of(ok)
    assert list(frame.columns) == ["id", "topic", "printed", "recomputed", "verdict", "why"]
    assert list(frame["id"]) == list(SLIDES)
    assert frame.set_index("id").loc["L15", "verdict"] == "not measured"
    text = lecture("l7")
    assert text.startswith("L7 ")
    assert "= (0.493, 0.173, 0.440)" in text
    assert list(csv_of(ok, "l-fail")["id"]) == ["L-FAIL"]


def test_a_benchmark_decides_on_the_cost(tmp_path, ok, lecture):
    plant_costs(tmp_path / "results" / "runs" / "bench")
    for arguments in ("", "--results results/runs/bench"):
        text = lecture("L15", arguments)
        assert "Verdict: in part" in text
        assert "T^2.00 [2.00, 2.00] with T tokens per side" in text
    assert "T^2.00" in csv_of(ok, "L15").loc[0, "why"]


def write_trained(folder, attention, *assignments):
    """A run's folder with fresh weights, as if it had been trained."""
    settings = resolve("smoke", [f"model.attention={attention}", *assignments])
    source = build_vocabulary([["the", "cat", "on", "mat"]], 100)
    target = build_vocabulary([["le", "chat", "était", "assis", "sur", "tapis", "bonjour"]], 100)
    _, weights = create(settings.model, len(source), len(target), 7)
    folder.mkdir()
    (folder / "status.json").write_text('{"status": "running"}')  # so that it needs no checksums
    (folder / "settings.json").write_text(json.dumps(settings.model_dump()))
    save_vocabularies(folder, (source, target))
    save_weights(folder / "weights.safetensors", weights)
    return settings, source, target, weights


@pytest.mark.slow
def test_first_steps_are_those_of_the_formulas(tmp_path, ok):
    """Each step gets the words that the run itself chose before."""
    written = write_trained(
        tmp_path / "run", "dot", "model.placement=output", "model.reverse_source=true"
    )
    settings, source, target, weights = written
    arrays = numpy_translator.arrays(weights)
    rows = [" ".join(line.split()) for line in ok("lecture L17 --results run").out.splitlines()]
    words = [*source.numbers("the cat sat")[::-1], EOS]
    before = [BOS]
    for after in ("dot ", "dot after {} "):
        logits, _ = numpy_translator.translate(arrays, settings.model, words, before)
        logits[-1][[PAD, BOS]] = -np.inf  # never output words
        shares = numpy_translator.softmax(logits[-1])
        best = np.argsort(-shares)[:3]
        step = ", ".join(f"{target.tokens[place]} {shares[place]:.3f}" for place in best)
        assert any(row.startswith(after.format(target.tokens[before[-1]]) + step) for row in rows)
        before.append(int(best[0]))
    assert "Runs of run: dot run." in rows


@pytest.mark.exhaustive(sample="session")
def test_a_device_that_is_not_there_is_named_in_one_line(tmp_path):
    done = bottleneck(
        ["reproduce", "--preset", "smoke", "--quiet"], tmp_path, JAX_PLATFORMS="nosuch"
    )
    assert done.returncode == 1
    message = "failed: jax finds no device for JAX_PLATFORMS='nosuch' here: unset it\n"
    assert done.stderr.endswith(message)
    assert "Traceback" not in done.stderr
