"""``bottleneck translate``: an argument, a file, standard input; real runs, hardly trained."""

import csv
import io
import json
import re
import shutil
import sys

import numpy as np
import pytest
from listed import relist
from safetensors.numpy import save

from seq2seq_bottleneck.cli.main import run

pytestmark = pytest.mark.slow

SETTINGS = [
    "corpus.copy_words=20",
    "corpus.target_vocabulary=8",
    "corpus.max_words=12",
    "corpus.test_pairs=40",
    "training.shapes=1",
    "scoring.edges=3,7",
    "training.updates=40",
    "training.validations=1",
    "scoring.resamples=9",
]
TEXT = "w1 w2 w3\n\nw4 W5 w6 w7\n  \nw1 zyzzyva w3 w2\nw9\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Both arms of one comparison."""
    folder = tmp_path_factory.mktemp("translate") / "out"
    changes = [part for setting in SETTINGS for part in ("--set", setting)]
    arguments = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--quiet"]
    assert run([*arguments, *changes, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def translate(out, capsys, tmp_path, monkeypatch):
    """Arguments and standard input -> output and what was told."""
    capsys.readouterr()
    (tmp_path / "text").write_text(TEXT)
    monkeypatch.chdir(tmp_path)

    def translated(*arguments, given="", code=0):
        held = io.TextIOWrapper(io.BytesIO(given.encode()))
        monkeypatch.setattr(sys, "stdin", held)
        assert run(["translate", *arguments, "--run", str(out)]) == code
        printed = capsys.readouterr()
        return printed.out, printed.err

    return translated


def test_a_file_has_as_many_lines_out_as_in(translate):
    printed, told = translate("--file", "text")
    lines = printed.split("\n")
    assert lines.pop() == ""
    assert [bool(line) for line in lines] == [bool(line.strip()) for line in TEXT.splitlines()]
    assert "arm additive (there are also: none; choose with --arm)" in told
    assert "6 lines translated, 2 of them empty" in told
    assert "of 12 source tokens are not in the training vocabulary" in told


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_gives_what_the_file_gives(translate, arguments):
    expected = translate("--file", "text")
    assert translate(*arguments, given=TEXT) == expected
    assert translate(*arguments, given=TEXT.removesuffix("\n")) == expected
    assert translate(*arguments, given="")[0] == ""


def test_a_line_is_translated_as_the_argument_is(translate):
    lines = translate("--file", "text", "--arm", "none", "--beam", "3")[0].splitlines()
    for sentence, line in zip(TEXT.splitlines(), lines, strict=True):
        if sentence.strip():
            printed, _ = translate(sentence, "--arm", "none", "--beam", "3")
            assert printed.removeprefix("none").strip() == line


def test_an_argument_goes_through_every_arm_or_one(translate):
    both, _ = translate("w1 w2 w3")
    assert [line.split()[0] for line in both.splitlines()] == ["none", "additive"]
    one, _ = translate("w1 w2 w3", "--arm", "additive")
    assert one.split() == both.splitlines()[1].split()


def test_results_and_run_name_the_same_folder(translate, out, capsys):
    """``--run`` is what the other tests give."""
    by_run = translate("w1 w2 w3")
    (told,) = [line for line in by_run[1].splitlines() if line.startswith("Runs of")]
    runs = sorted(path.name for path in (out / "runs").iterdir() if path.is_dir())
    assert sorted(re.findall(r"[0-9a-f]{12}", told.partition(": ")[2])) == runs
    assert str(out) in told
    assert run(["translate", "w1 w2 w3", "--results", str(out)]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == by_run
    one = sorted((out / "runs").glob("*/weights.safetensors"))[0].parent
    assert run(["translate", "w1 w2 w3", "--results", str(one)]) == 0
    assert capsys.readouterr().out in by_run[0].replace("none      ", "none  ")


def test_arms_that_have_not_learned_are_told_of(translate):
    """Those of the fixture have not: a few updates."""
    for arguments in (["w1 w2 w3"], ["--file", "text"]):
        _, told = translate(*arguments)
        lines = [line for line in told.splitlines() if line.startswith("not learned to translate")]
        assert len(lines) == 1
        assert "bottleneck reproduce" in lines[0]
        assert "--results" in lines[0]
        assert ("none (BLEU" in lines[0]) == (arguments[0] != "--file")
        assert "additive (BLEU" in lines[0]


@pytest.mark.parametrize(
    ("scores", "arms"), [(("5.0", "0.1"), 0), (("", "5.0"), 0), (("4.99", "9"), 2), (("", "1"), 2)]
)
def test_the_shortest_filled_bucket_says_whether_an_arm_has_learned(
    scores, arms, tmp_path, out, capsys
):
    learned = shutil.copytree(out, tmp_path / "learned")
    for path in learned.glob("runs/*/scores.csv"):
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows({**row, "bleu": each} for row, each in zip(rows, scores, strict=True))
        path.write_text(text.getvalue())
        relist(path)
    assert run(["translate", "w1 w2 w3", "--results", str(learned)]) == 0
    assert capsys.readouterr().err.count("(BLEU ") == arms


def test_the_alignment_of_an_argument_is_a_picture(translate):
    printed, _ = translate("w1 w2 w3", "--alignment")
    assert "there are no weights to show" in printed
    assert "weight:" in printed


def test_the_alignment_of_a_text_is_links(translate):
    plain, _ = translate("--file", "text")
    aligned, _ = translate("--file", "text", "--alignment")
    for sentence, text, line in zip(
        TEXT.splitlines(), plain.splitlines(), aligned.splitlines(), strict=True
    ):
        if not sentence.strip():
            assert line == ""
            continue
        first, links, source, output = line.split("\t")
        assert first == text
        assert source == sentence
        ends = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert [j for _, j in ends] == list(range(len(output.split())))
        assert all(0 <= i < len(source.split()) for i, _ in ends)


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


def test_long_lines_are_told_and_not_cut(translate):
    printed, told = translate("-", given=" ".join(["w1"] * 40) + "\nw1 w2\n")
    assert len(printed.splitlines()) == 2
    assert "1 line longer than any trained on (12 words), translated all the same: line 1" in told


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["w1", "--file", "text"], 2, ["--file", "one of them"]),
        (["--file", "none"], 1, ["none", "No such file"]),
        (["w1", "--arm", "aditive"], 2, ["'aditive'", "did you mean 'additive'"]),
        (["w1", "--copy-unknown"], 2, ["--copy-unknown", "arm none", "--arm"]),
        (["--file", "text", "--arm", "none", "--alignment"], 2, ["--alignment", "arm none"]),
    ],
)
def test_what_cannot_be_is_one_line(translate, arguments, code, parts):
    printed, told = translate(*arguments, code=code)
    assert printed == ""
    assert len(told.splitlines()) == 1
    assert all(part in told for part in parts), told


def test_a_text_comes_out_in_utf8_whatever_the_terminals_encoding(translate, monkeypatch):
    text = "w1 w2 Zyzzyva w3\n"
    expected, _ = translate("-", given=text)
    assert "⁇" in expected
    held = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", held)
    translate("-", given=text)
    assert held.buffer.getvalue().decode() == expected


def test_a_sentence_that_is_no_text_is_refused(translate):
    printed, told = translate("w1 \udce9t\udce9", code=2)
    assert printed == ""
    assert told.splitlines() == ["bottleneck: the sentence is not UTF-8; write it in UTF-8"]


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_may_be_closed(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["translate", *arguments]) == 2
    assert "give a sentence in quotes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("weights.safetensors", lambda data: data[:100], "cannot be read"),
        ("weights.safetensors", lambda data: data[:-4], "cannot be read"),
        ("weights.safetensors", lambda _: save({"other": np.zeros(3)}), "cannot be read (it has"),
        ("source.vocabulary", lambda data: data + b"another\n", "its sizes are not those of"),
        ("settings.json", lambda data: data.replace(b'"gru"', b'"gro"'), "model.cell"),
    ],
)
def test_a_damaged_run_is_one_line(out, tmp_path, capsys, name, change, told):
    whole = next(iter(sorted((out / "runs").glob("*/weights.safetensors")))).parent
    folder = shutil.copytree(whole, tmp_path / "runs" / "one")
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    relist(path)
    capsys.readouterr()
    assert run(["translate", "w1 w2", "--run", str(folder)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert "weights.safetensors" in line or name in line


def test_a_run_of_another_version_is_one_line(out, tmp_path, capsys):
    """Its weights could be read, and mean something else."""
    folder = shutil.copytree(out, tmp_path / "out")
    for path in folder.glob("runs/*/environment.json"):
        known = json.loads(path.read_text())
        path.write_text(json.dumps(known | {"schema": known["schema"] - 1}))
        relist(path)
    capsys.readouterr()
    assert run(["translate", "w1 w2", "--run", str(folder)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "was made by another version of this program" in line


def test_at_a_terminal_nobody_waits_for_text(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    assert run(["translate"]) == 2
    assert "sentence" in capsys.readouterr().err


def test_text_that_is_not_utf8_is_named_by_its_line(out, capsys, tmp_path):
    (tmp_path / "latin").write_bytes("w1\nété\n".encode("latin1"))
    assert run(["translate", "--file", str(tmp_path / "latin"), "--run", str(out)]) == 1
    assert "line 2 is not UTF-8" in capsys.readouterr().err
