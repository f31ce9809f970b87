"""``bottleneck translate``: an argument, a file, standard input; real runs, hardly trained."""

import io
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from listed import relist
from safetensors.numpy import save

from seq2seq_bottleneck.cli.main import run

pytestmark = pytest.mark.slow

SETTINGS = [
    *("corpus.copy_words=20", "corpus.target_vocabulary=8", "corpus.max_words=12"),
    *("corpus.test_pairs=40", "training.shapes=1", "training.updates=40", "training.validations=1"),
    *("scoring.edges=3,7", "scoring.resamples=9"),
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("stdin", "arguments"), [(None, ""), (None, "-"), (Terminal(), "")])
def test_standard_input_may_be_closed_and_at_a_terminal_nobody_waits(
    stdin, arguments, monkeypatch, fails
):
    monkeypatch.setattr(sys, "stdin", stdin)
    assert "give a sentence in quotes" in fails("translate", arguments, code=2)


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


def test_a_run_of_another_version_is_one_line(copied, fails):
    """Its weights could be read, and mean something else."""
    for path in copied.glob("runs/*/environment.json"):
        known = json.loads(path.read_text())
        path.write_text(json.dumps(known | {"schema": known["schema"] - 1}))
        relist(path)
    message = fails("translate 'w1 w2' --run", copied)
    assert "was made by another version of this program" in message
