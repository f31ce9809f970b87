"""Whatever a user gets wrong: one plain line on stderr, the right exit code, nothing left over."""

import gzip
import os
import subprocess
import sys

import pytest

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.settings.machine import NUMBERS

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "the",
    "mat",
    "and",
    "the",
    "dog",
    "ran",
    "to",
    "the",
    "house",
    "of",
    "my",
    "old",
    "friend",
    "in",
    "town",
]


def sentences(count: int) -> str:
    """Distinct lines of 5 to 16 words."""
    lines = [" ".join([*WORDS[: 5 + n % 12], f"x{n}"]) for n in range(count)]
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture
def parallel(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.en").write_text(sentences(60))
    (tmp_path / "a.fr").write_text(sentences(60))
    return tmp_path


def fails(capsys, arguments: list[str], code: int, *parts: str) -> None:
    """Run, and check the one line and the exit code."""
    assert run(arguments) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if line.startswith("bottleneck: ")]
    assert len(lines) == 1
    assert "Traceback" not in printed.err
    for part in parts:
        assert part in lines[0], lines[0]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["reproduse"], ["reproduse"]),
        (["reproduce", "--sedes", "3"], ["--sedes"]),
        (["reproduce", "--seeds", "none"], ["--seeds", "integer"]),
        (["reproduce", "--seeds", "0"], ["--seeds", "1"]),
        (["reproduce", "--preset", "lectur"], ["'lectur'", "'lecture'"]),
        (["reproduce", "--set", "model.contxt_size=3"], ["contxt_size", "context_size"]),
        (["reproduce", "--set", "model.context_size"], ["section.key=value"]),
        (["reproduce", "--set", "corpus.source_vocabulary=0"], ["source_vocabulary"]),
        (["reproduce", "--set", "model.attention=none"], ["attention=none", "additive"]),
        (["reproduce", "--corpus", "grammer"], ["corpus.name", "'grammar'"]),
        (["reproduce", "--preset", "smoke", "--corpus", "files"], ["corpus.source"]),
        (["corpus", "show", "grammar", "-n", "0"], ["-n", "1"]),
        (["corpus", "shw"], ["shw"]),
        (["translate", "   "], ["empty"]),
        (["translate", "a \udc80"], ["not UTF-8"]),
        (["diagnose", "the\udc80cat sat"], ["not UTF-8"]),
        (["diagnose", "  "], ["empty"]),
        (["plot", "attention", "--sentence", "\udc80", "-o", "a.png"], ["not UTF-8"]),
        (["sweep", "vindication", "--jobs", "9" * 20, "--dry-run"], ["--jobs", "9999"]),
        (["sweep", "none.toml"], ["none.toml", "or one of attention_types, "]),
        (["corpus", "fetch", "grammar", "--again"], ["no corpus 'grammar' to fetch"]),
        (["study", "length", "--gold", "g"], ["not length", "leave them out"]),
        (["corpus", "list", "--format", "cvs"], ["unknown format 'cvs'", "did you mean 'csv'"]),
    ],
)
def test_usage_errors_end_with_two(capsys, tmp_path, monkeypatch, arguments, parts):
    monkeypatch.chdir(tmp_path)
    fails(capsys, arguments, 2, *parts)
    assert os.listdir(tmp_path) == []


def test_translate_without_a_run_says_what_to_do(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(capsys, ["translate", "hello"], 1, "bottleneck reproduce", "--results")


def test_translate_with_a_folder_that_holds_no_run(capsys, tmp_path):
    for option in ("--results", "--run"):
        fails(capsys, ["translate", "hello", option, str(tmp_path)], 1, str(tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ["diagnose", "the", "black", "cat"],
        ["translate", "the", "black", "cat", "--beam", "2"],
        ["plot", "attention", "--sentence", "the", "black", "cat"],
    ],
)
def test_a_sentence_without_quotes_is_told_to_go_into_quotes(capsys, arguments):
    fails(capsys, arguments, 2, "black cat", "in quotes", f"bottleneck {arguments[0]} --help")
    with_name = ["table", "vindication", "black"]
    assert run(with_name) == 2
    assert "quotes" not in capsys.readouterr().err


FILES = ["--preset", "smoke", "--source", "a.en", "--target", "a.fr"]


@pytest.mark.parametrize("command", [["corpus", "describe", "files"], ["corpus", "show", "files"]])
def test_parallel_text_of_unequal_length_says_both_counts(capsys, parallel, command):
    (parallel / "a.fr").write_text(sentences(59))
    fails(capsys, [*command, *FILES], 1, "60", "59", "a.en", "a.fr")


def test_a_missing_file_is_named(capsys, parallel):
    (parallel / "a.fr").unlink()
    fails(capsys, ["corpus", "describe", "files", *FILES], 1, "a.fr")


def test_an_empty_file_is_named(capsys, parallel):
    (parallel / "a.en").write_text("")
    fails(capsys, ["corpus", "describe", "files", *FILES], 1, "a.en", "empty")


def test_bytes_that_are_no_utf8_are_named_by_line(capsys, parallel):
    lines = (parallel / "a.fr").read_bytes().split(b"\n")
    lines[6] = b"caf\xe9 " + lines[6]
    (parallel / "a.fr").write_bytes(b"\n".join(lines))
    fails(capsys, ["corpus", "describe", "files", *FILES], 1, "a.fr", "7", "UTF-8")


def test_a_broken_gzip_is_named(capsys, parallel):
    (parallel / "b.en.gz").write_bytes(gzip.compress(sentences(60).encode())[:-20])
    arguments = ["--preset", "smoke", "--source", "b.en.gz", "--target", "a.fr"]
    fails(capsys, ["corpus", "describe", "files", *arguments], 1, "b.en.gz")


@pytest.mark.usefixtures("parallel")
def test_fewer_than_two_filled_buckets(capsys):
    arguments = [*FILES, "--set", "scoring.edges=5,40"]
    fails(capsys, ["corpus", "describe", "files", *arguments], 1, "5-39", "two")


@pytest.mark.exhaustive(sample="session")
def test_an_error_in_a_worker_reaches_the_user_as_one_line(capsys, parallel):
    arguments = [*FILES, "--set", "scoring.edges=5,40", "--out", "out", "--quiet"]
    fails(capsys, ["reproduce", *arguments], 1, "5-39", "two")
    assert sorted(os.listdir(parallel)) == ["a.en", "a.fr"]


@pytest.mark.parametrize("command", [["reproduce"], ["sweep", "vindication"]])
@pytest.mark.parametrize(
    ("source", "target", "code", "parts"),
    [
        ("nofile.en", "a.fr", 1, ["nofile.en", "does not exist"]),
        ("a.en", "nofile.fr", 1, ["nofile.fr", "does not exist"]),
        ("a.en", "short.fr", 1, ["60", "59"]),
        ("a.en", None, 2, ["corpus.target"]),
        (None, None, 2, ["corpus.source"]),
    ],
)
def test_a_mistake_in_the_text_is_told_before_any_run_starts(
    capsys, parallel, command, source, target, code, parts
):
    """With progress shown, that is: not a line of it."""
    (parallel / "short.fr").write_text(sentences(59))
    given = {"name": "files", "source": source, "target": target}
    changes = [f"corpus.{key}={value}" for key, value in given.items() if value]
    arguments = [part for change in changes for part in ("--set", change)]
    before = sorted(os.listdir(parallel))
    assert run([*command, "--preset", "smoke", *arguments, "--out", "out"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert all(part in line for part in parts), line
    assert sorted(os.listdir(parallel)) == before


def test_a_named_corpus_that_is_not_here_is_told_before_any_run_starts(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    arguments = ["reproduce", "--preset", "smoke", "--corpus", "multi30k", "--out", "out"]
    assert run(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "bottleneck corpus fetch multi30k" in line
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_cannot_be_written(capsys, parallel):
    (parallel / "taken").write_text("x")
    arguments = ["reproduce", "--preset", "smoke", "--out", "taken/out", "--quiet"]
    fails(capsys, arguments, 1, "taken/out", "cannot write")


@pytest.mark.exhaustive(sample="session")
def test_a_run_that_diverges_ends_with_a_clear_word(capsys, tmp_path):
    out = tmp_path / "out"
    arguments = ["--set", "training.learning_rate=3e38", "--set", "training.clip_norm=1e30"]
    smoke = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--out", str(out), "--quiet"]
    fails(capsys, [*smoke, *arguments], 1, "diverged", "learning_rate")
    assert not (out / "runs.csv").exists()


ELSE_WRONG = ["--format", "txt"]
ALIGNMENT_ONLY = ["--gold", "links", "--source", "a.en", "--target", "a.fr"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["table", "failurepattern"], "unknown table 'failurepattern'; did you mean 'failure-pat"),
        (["table", "cots", *ELSE_WRONG], "unknown table 'cots'; did you mean 'cost'?"),
        (["table", "vindicate", "--results", "nowhere"], "unknown table 'vindicate'; did you mean"),
        (["plot", "blue"], "unknown figure 'blue'; did you mean 'bleu'?"),
        (["study", "fits"], "unknown study 'fits'; did you mean 'fit'?"),
        (["study", "fits", *ELSE_WRONG], "unknown study 'fits'; did you mean 'fit'?"),
        (["study", "fits", *ALIGNMENT_ONLY], "unknown study 'fits'; did you mean 'fit'?"),
        (["lecture", "L77", *ELSE_WRONG], "unknown id 'L77'; did you mean 'L7'?"),
        (["sweep", "vindicate", "--threads", "x"], "unknown sweep 'vindicate'; did you mean"),
    ],
    ids=lambda held: " ".join(held[:3]) if isinstance(held, list) else "",
)
def test_a_misspelt_name_is_told_before_all_else(arguments, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(capsys, arguments, 2, told)


def test_a_group_of_commands_alone_prints_its_help(capsys):
    assert run(["corpus"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith("Usage: bottleneck corpus")
    assert any(line.strip().startswith("describe") for line in printed.out.splitlines())


def test_an_error_that_cannot_be_written_is_one_all_the_same():
    command = 'exec "$0" -m seq2seq_bottleneck sweep nothing 2>/dev/full'
    done = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_what_would_make_other_numbers_is_not_taken_from_the_environment(name):
    code = (
        "import os, sys, seq2seq_bottleneck.cli.main as cli\n"
        "cli.run = lambda _: print(os.environ[sys.argv[1]]) or 0\n"
        "cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, name],
        capture_output=True, text=True, check=True, env=os.environ | {name: "other"},
    )  # fmt: skip
    assert done.stdout.strip() == NUMBERS[name]


@pytest.mark.parametrize(
    "arguments",
    [
        "--version",
        pytest.param("lecture L7", marks=pytest.mark.exhaustive(sample="test")),
        "--help",
        "",
    ],
)
def test_an_answer_for_a_closed_standard_output_is_an_error(arguments):
    command = f'exec "$0" -m seq2seq_bottleneck {arguments} >&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "bottleneck: the output: Bad file descriptor\n"
