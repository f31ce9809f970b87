"""``bottleneck translate``, ``diagnose`` and ``lecture``: sentences through runs of few updates."""

import io
import json
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from model import numpy_translator
from ordinary_user import bottleneck
from planted import write_planted
from planted_cost import plant_costs
from safetensors.numpy import save

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.vocabulary import BOS, EOS, PAD, build_vocabulary
from seq2seq_bottleneck.lecture.slides import SLIDES
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import arms, finished_runs
from seq2seq_bottleneck.runs.checkpoint import save_weights
from seq2seq_bottleneck.runs.translate import load_run
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION, resolve
from seq2seq_bottleneck.tables.lecture import COLUMNS

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
def copied(out, tmp_path):
    """The same, to be changed."""
    return Path(shutil.copytree(out, tmp_path / "copied"))


@pytest.fixture
def translate(out, capsys, tmp_path, monkeypatch):
    """Arguments and standard input -> what is printed and what is said beside it."""
    (tmp_path / "text").write_text(TEXT)
    (tmp_path / "latin").write_bytes("w1\nété\n".encode("latin1"))
    monkeypatch.chdir(tmp_path)

    def translated(*arguments, given="", code=0, folder=out):
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        assert run(["translate", *arguments, "--run", str(folder)]) == code
        printed = capsys.readouterr()
        return printed.out, printed.err

    return translated


@pytest.mark.slow
def test_a_text_has_as_many_lines_out_as_in_each_as_the_argument_is_translated(translate):
    printed, said = expected = translate("--file", "text")
    lines = printed.removesuffix("\n").split("\n")
    assert [bool(line) for line in lines] == [bool(line.strip()) for line in TEXT.splitlines()]
    assert "arm additive (there are also: none; choose with --arm)" in said
    assert "6 lines translated, 2 of them empty" in said
    assert "of 12 source tokens are not in the training vocabulary" in said
    for arguments in ([], ["-"]):
        assert translate(*arguments, given=TEXT.removesuffix("\n")) == expected
        assert translate(*arguments, given="")[0] == ""
    options = ["--arm", "none", "--beam", "3"]
    lines = translate("--file", "text", *options)[0].splitlines()
    for sentence, line in zip(TEXT.splitlines(), lines, strict=True):
        if sentence.strip():
            printed, said = translate(sentence, *options)
            assert printed.removeprefix("none").strip() == line
            assert ("zyzzyva" in said) == ("zyzzyva" in sentence)


@pytest.mark.slow
def test_every_arm_or_one_translates_and_the_runs_are_named(translate, out, ok):
    both, said = translate("w1 w2 w3")
    assert [line.split()[0] for line in both.splitlines()] == ["none", "additive"]
    (line,) = [line for line in said.splitlines() if line.startswith("Runs of")]
    runs = sorted(path.name for path in (out / "runs").iterdir() if path.is_dir())
    assert sorted(re.findall(r"[0-9a-f]{12}", line.partition(": ")[2])) == runs
    assert str(out) in line
    assert translate("w1 w2 w3", "--arm", "additive")[0].split() == both.splitlines()[1].split()
    single = sorted((out / "runs").glob("*/weights.safetensors"))[0].parent
    text = ok("translate 'w1 w2 w3' --results", single).out
    assert text in both.replace("none      ", "none  ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "arms"),
    [(None, 2), (("5.0", "0.1"), 0), (("", "5.0"), 0), (("4.99", "9"), 2), (("", "1"), 2)],
)
def test_the_shortest_filled_bucket_says_whether_an_arm_has_learned(
    scores, arms, copied, translate
):
    """The arms as they are have not: a few updates."""
    for path in copied.glob("runs/*/scores.csv") if scores else ():
        rows = pd.read_csv(path, dtype=str)
        rows["bleu"] = scores
        rows.to_csv(path, index=False)
        relist(path)
    for arguments, count in ((["w1 w2 w3"], arms), (["--file", "text"], min(arms, 1))):
        _, said = translate(*arguments, folder=copied)
        lines = [line for line in said.splitlines() if line.startswith("not learned to translate")]
        assert len(lines) == bool(arms)
        assert said.count("(BLEU ") == count


@pytest.mark.slow
def test_the_alignment_of_an_argument_is_a_picture_and_of_a_text_links(translate):
    printed, _ = translate("w1 w2 w3", "--alignment")
    assert "there are no weights to show" in printed
    assert "weight:" in printed
    texts = [translate("--file", "text", *flag)[0] for flag in ([], ["--alignment"])]
    for sentence, text, line in zip(TEXT.splitlines(), *map(str.splitlines, texts), strict=True):
        if not sentence.strip():
            assert line == ""
            continue
        first, links, source, output = line.split("\t")
        assert (first, source) == (text, sentence)
        ends = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert [j for _, j in ends] == list(range(len(output.split())))
        assert all(0 <= i < len(source.split()) for i, _ in ends)


@pytest.mark.slow
def test_unknown_words_of_the_output_are_copied_when_asked(translate):
    text = "w1 w2 Zyzzyva w3\n" * 3 + "w4 w5 w6 w7 w8\n"
    plain, copying = (translate("-", *flag, given=text)[0] for flag in ([], ["--copy-unknown"]))
    assert "⁇" in plain
    assert "⁇" not in copying
    for source, before, after in zip(
        text.splitlines(), plain.splitlines(), copying.splitlines(), strict=True
    ):
        for word, filled in zip(before.split(), after.split(), strict=True):
            assert filled in source.split() if word == "⁇" else filled == word
    assert translate("-", "--no-copy-unknown", given=text)[0] == plain


@pytest.mark.slow
def test_long_lines_are_named_and_not_cut_and_the_text_is_utf8(translate, monkeypatch):
    text = " ".join(["w1"] * 40) + "\nw1 w2 Zyzzyva w3\n"
    expected, said = translate("-", given=text)
    assert len(expected.splitlines()) == 2
    assert "1 line longer than any trained on (12 words), translated all the same: line 1" in said
    assert "⁇" in expected
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")  # the terminal's
    monkeypatch.setattr(sys, "stdout", stdout)
    translate("-", given=text)
    assert stdout.buffer.getvalue().decode() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["w1", "--file", "text"], 2, ["--file", "one of them"]),
        (["--file", "none"], 1, ["none", "No such file"]),
        (["--file", "latin", "--arm", "none"], 1, ["line 2 is not UTF-8"]),
        (["w1", "--arm", "aditive"], 2, ["'aditive'", "did you mean 'additive'"]),
        (["w1", "--copy-unknown"], 2, ["--copy-unknown", "arm none", "--arm"]),
        (["--file", "text", "--arm", "none", "--alignment"], 2, ["--alignment", "arm none"]),
    ],
)
def test_what_cannot_be_is_one_line(translate, arguments, code, parts):
    printed, said = translate(*arguments, code=code)
    assert printed == ""
    assert len(said.splitlines()) == 1
    assert all(part in said for part in parts), said


TERMINAL = SimpleNamespace(isatty=lambda: True)


@pytest.mark.slow
@pytest.mark.parametrize(("stdin", "arguments"), [(None, ""), (None, "-"), (TERMINAL, "")])
def test_standard_input_may_be_closed_and_at_a_terminal_nobody_waits(
    stdin, arguments, monkeypatch, fails
):
    monkeypatch.setattr(sys, "stdin", stdin)
    assert "give a sentence in quotes" in fails("translate", arguments, code=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change", "part"),
    [
        ("weights.safetensors", lambda data: data[:-4], "cannot be read"),
        ("weights.safetensors", lambda _: save({"other": np.zeros(3)}), "cannot be read (it has"),
        ("source.vocabulary", lambda data: data + b"another\n", "its sizes are not those of"),
        ("settings.json", lambda data: data.replace(b'"gru"', b'"gro"'), "model.cell"),
    ],
)
def test_a_damaged_run_is_one_line(copied, fails, name, change, part):
    folder = sorted((copied / "runs").glob("*/weights.safetensors"))[0].parent
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    relist(path)
    message = fails("translate 'w1 w2' --run", folder)
    assert part in message
    assert "weights.safetensors" in message or name in message


@pytest.mark.slow
def test_a_run_of_another_version_is_one_line(copied, fails):
    """Its weights could be read, and mean something else."""
    for path in copied.glob("runs/*/environment.json"):
        known = json.loads(path.read_text())
        path.write_text(json.dumps(known | {"schema": known["schema"] - 1}))
        relist(path)
    message = fails("translate 'w1 w2' --run", copied)
    assert "was made by another version of this program" in message


TINY = """# Has it learned?
preset = "smoke"
corpus = { train_pairs = 300, valid_pairs = 20, test_pairs = 20 }
training = { updates = 2, validations = 1 }
model = """


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """An output folder with both arms."""
    out = tmp_path_factory.mktemp("trained")
    (out / "arms.toml").write_text(TINY + '{ attention = ["none", "additive"] }\n')
    assert run(["sweep", str(out / "arms.toml"), "--quiet", "--out", str(out / "out")]) == 0
    return out / "out"


@pytest.mark.exhaustive(sample="session")
def test_the_lectures_sentence_is_the_default_and_has_30_words(trained, ok):
    lines = ok("diagnose --results", trained).out.splitlines()
    assert "Sentence: 30 words (the slide says 40, elsewhere 42)." in lines
    assert max(map(len, lines)) <= 80
    for arm in ("none", "additive"):
        assert any(line.startswith(f"{arm} ") for line in lines)
    rows = [line.split()[0] for line in lines if line.startswith(" ") and line.strip()]
    words = SLIDES["L14"]["sentence"].lower().replace(",", "").removesuffix(".").split()
    assert [row for row in rows if row in words] == words


@pytest.mark.exhaustive(sample="session")
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


@pytest.mark.exhaustive(sample="session")
def test_a_single_run_and_a_hidden_source(trained, ok, tmp_path):
    """One run is diagnosed alone; a translator without a source takes no arm's place."""
    folder = next(path for path in (trained / "runs").iterdir() if (path / "status.json").is_file())
    command = "diagnose 'the cat sat' --format csv --results"
    assert len(ok(command, folder).out.splitlines()[0].split(",")) == 6
    out = tmp_path / "out"
    shutil.copytree(trained, out)
    (tmp_path / "hidden.toml").write_text(TINY + '{ attention = "none", source = "hidden" }\n')
    ok("sweep", tmp_path / "hidden.toml", "--quiet --out", out)
    head = ok(command, out).out.splitlines()[0].split(",")
    assert [name for name in head if name in ("none", "additive")] == ["none", "additive"]
    assert {run.name for run in arms(trained).values()} == {run.name for run in arms(out).values()}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def lecture(ok):
    """What the command prints, its lines joined."""
    return lambda *arguments: " ".join(ok("lecture", *arguments).out.split())


def csv_of(ok, *arguments):
    return pd.read_csv(io.StringIO(ok("lecture --format csv", *arguments).out))


def test_the_audit_and_one_id_are_printed_and_are_csv(ok, lecture):
    assert "4.876" in lecture()
    frame = csv_of(ok)
    assert list(frame.columns) == list(COLUMNS)
    assert list(frame["id"]) == list(SLIDES)
    assert frame.set_index("id").loc["L15", "verdict"] == "not measured"
    text = lecture("l7")
    assert text.startswith("L7 ")
    assert "= (0.493, 0.173, 0.440)" in text
    assert list(csv_of(ok, "l-fail")["id"]) == ["L-FAIL"]


@pytest.mark.slow
def test_every_id_can_be_walked_through(ok):
    for name in SLIDES:
        printed = ok("lecture", name)
        assert "Verdict: " in printed.out
        assert printed.err == ""


def test_a_benchmark_decides_on_the_cost(tmp_path, ok, lecture):
    plant_costs(tmp_path / "results" / "runs" / "bench")
    for arguments in ("", "--results results/runs/bench"):
        text = lecture("L15", arguments)
        assert "Verdict: in part" in text
        assert "T^2.00 [2.00, 2.00] with T tokens per side (results/runs/bench)" in text
    assert "(results/runs/bench)" in csv_of(ok, "L15").loc[0, "why"]


@pytest.mark.parametrize(
    ("name", "run"),
    [("L10", "with attention"), ("L17", "of English to French"), ("L-SHORT", "of English to Fre")],
)
def test_without_a_trained_run_the_command_that_makes_one_is_named(name, run, tmp_path, lecture):
    """Nothing, a bundle, and a run that cannot be asked: no attention to learn, or the reverse."""
    write_planted(tmp_path / "store", {"none": [0.5] * 5, "additive": [0.1] * 5})
    write_bundle(finished_runs(tmp_path / "store"), tmp_path / "bundle")
    write_trained(tmp_path / "run", "uniform", "corpus.reverse_direction=true")
    for options in ("", "--results bundle", "--results run"):
        text = lecture(name, options)
        folder = options.rpartition(" ")[2] or "results/runs/lecture"
        assert f"No trained run to compare with: {folder!r} has no run {run}" in text
        assert f"`bottleneck reproduce` trains a run {run}" in text
        assert "Runs of" not in text


def write_trained(folder, attention, *assignments):
    """A run's folder with fresh weights, as if it had been trained."""
    settings = resolve("smoke", [f"model.attention={attention}", *assignments])
    source = build_vocabulary([["the", "cat", "on", "mat"]], 100)
    target = build_vocabulary([["le", "chat", "était", "assis", "sur", "tapis", "bonjour"]], 100)
    _, weights = create(settings.model, len(source), len(target), 7)
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps(settings.model_dump()))
    (folder / "source.vocabulary").write_bytes(source.to_bytes())
    (folder / "target.vocabulary").write_bytes(target.to_bytes())
    save_weights(folder / "weights.safetensors", weights)
    return settings, source, target, weights


def prefer(folder, token, by=100.0):
    """Make a run choose this token whatever is before it, or never with ``by`` far below 0."""
    trained = load_run(folder)
    bias = trained.weights["decoder"]["output_bias"]
    bias.set_value(bias.get_value().at[token].set(by))
    save_weights(folder / "weights.safetensors", trained.weights)
    return trained.weights


@pytest.fixture
def store(tmp_path):
    """An output folder with a run of both arms."""
    runs = tmp_path / "store" / "runs"
    runs.mkdir(parents=True)
    for arm in ("additive", "none"):
        write_trained(runs / f"run-{arm}", arm)
        (runs / f"run-{arm}" / "status.json").write_text('{"status": "done", "reason": ""}')
        environment = json.dumps({"schema": SCHEMA_VERSION})
        (runs / f"run-{arm}" / "environment.json").write_text(environment)
        relist(*(runs / f"run-{arm}").iterdir())
    rows = "run-additive,additive,seen\nrun-none,none,seen\n"
    write_relisted(tmp_path / "store" / "runs.csv", f"run,attention,source\n{rows}")
    return runs


@pytest.mark.slow
def test_a_trained_runs_matrix_is_that_of_the_formulas_beside_the_slide(tmp_path, ok):
    settings, source, target, weights = write_trained(tmp_path / "run", "dot")
    text = ok("lecture L10 --results run").out
    rows = {
        tuple(line.split()[1:]) for line in text.replace("[", " ").replace("]", " ").splitlines()
    }
    words = [*source.encode(["the", "cat", "sat", "on", "the", "mat"]), EOS]
    before = [BOS, *target.encode(["le", "chat", "était", "assis", "sur", "le", "tapis"])][:-1]
    arrays = numpy_translator.arrays(weights)
    _, expected = numpy_translator.translate(arrays, settings.model, words, before)
    assert expected.shape == (7, 7)
    for row in expected:
        cells = [f"{cell:.2f}" for cell in row]
        assert any([cell.strip("*") for cell in line if cell != "*"] == cells for line in rows)
    assert "learned: dot" in text
    assert "Not in its vocabulary: sat." in " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "assignments"),
    [("additive", []), ("dot", ["model.placement=output", "model.reverse_source=true"])],
)
def test_first_steps_are_those_of_the_formulas(arm, assignments, tmp_path, ok):
    """Each is given the words that the run itself took before."""
    settings, source, target, _ = write_trained(tmp_path / "run", arm, *assignments)
    arrays = numpy_translator.arrays(prefer(tmp_path / "run", EOS, -100.0))
    rows = [" ".join(line.split()) for line in ok("lecture L17 --results run").out.splitlines()]
    order = -1 if settings.model.reverse_source else 1
    words = [*source.encode(["the", "cat", "sat"])[::order], EOS]
    before = [BOS]
    for after in (f"{arm} ", f"{arm} after {{}} "):
        logits, _ = numpy_translator.translate(arrays, settings.model, words, before)
        logits[-1][[PAD, BOS]] = -np.inf  # never words of an output
        shares = numpy_translator.softmax(logits[-1])
        best = np.argsort(-shares)[:3]
        step = ", ".join(f"{target.tokens[place]} {shares[place]:.3f}" for place in best)
        assert any(row.startswith(after.format(target.tokens[before[-1]]) + step) for row in rows)
        before.append(int(best[0]))
    assert f"Note: {arm} has no token for sat, Un, chien." in " ".join(rows)
    assert f"Runs of run: {arm} run." in rows


def test_every_arm_has_its_steps_the_one_without_attention_first_and_none_is_left_out(
    store, ok, fails
):
    rows = [line.split() for line in ok("lecture L17 --results store").out.splitlines()]
    arms = [row[0] for row in rows if row and row[0] in ("none", "additive")]
    assert arms == ["none", "additive"] * 3
    assert ["Runs", "of", "store:", "none", "run-none,", "additive", "run-additive."] in rows
    (store / "run-none" / "settings.json").unlink()
    message = fails("lecture L17 --results store")
    assert "run-none/settings.json' cannot be read (No such file" in message


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("platform", ["cuda", "nosuch"])
@pytest.mark.parametrize("line", ["translate a --run run", "reproduce --preset smoke --quiet"])
def test_a_device_that_is_not_there_is_told_in_a_line(line, platform, tmp_path):
    write_trained(tmp_path / "run", "none")
    done = bottleneck(line.split(), tmp_path, JAX_PLATFORMS=platform)
    assert done.returncode == 1
    message = f"bottleneck: jax finds no device of JAX_PLATFORMS={platform!r} here: unset it\n"
    assert done.stderr.endswith(message)
    assert "Traceback" not in done.stderr
