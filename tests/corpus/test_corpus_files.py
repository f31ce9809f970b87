"""Reading the user's text: what is understood, and every message where it is not."""

import gzip
import os
from pathlib import Path

import pytest

from seq2seq_bottleneck.corpus.files import PairFiles, pair_files, read_lines, read_pairs
from seq2seq_bottleneck.corpus.vocabulary import prepare_source
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError


def write(path: Path, data: str | bytes) -> str:
    """Write text or bytes, packed where the name says so; returns the path for a setting."""
    raw = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return str(path)


def two(folder: Path, source: str | bytes, target: str | bytes, end: str = "") -> PairFiles:
    """A pair of files."""
    names = write(folder / f"a.txt{end}", source), write(folder / f"b.txt{end}", target)
    return PairFiles("corpus.source", *names)


def texts(files: PairFiles, lowercase: bool = False) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in read_pairs(files, lowercase)[0]]


@pytest.mark.parametrize("end", ["", ".gz"])
def test_two_files(tmp_path: Path, end: str):
    files = two(tmp_path, "A cat.\nIt sleeps.\n", "Un chat.\nIl dort.", end)
    assert texts(files) == [("A cat.", "Un chat."), ("It sleeps.", "Il dort.")]
    assert texts(files, lowercase=True)[0] == ("a cat.", "un chat.")


@pytest.mark.parametrize("name", ["x.tsv", "x.TSV", "x.tsv.gz"])
def test_columns(tmp_path: Path, name: str):
    path = write(tmp_path / name, "A cat.\tUn chat.\r\n\r\nIt sleeps.\tIl dort.\r\n")
    files = PairFiles("corpus.source", path, None)
    assert texts(files) == [("A cat.", "Un chat."), ("It sleeps.", "Il dort.")]
    assert read_pairs(files, False)[1] == 1


def test_mark_line_ends_composition_and_white_space(tmp_path: Path):
    source = "\ufeffe\u0301te\u0301\r\na\x85b\u2028c\x0bd  e\r\n"
    files = two(tmp_path, source, "été\na\tb\xa0!\n")
    assert texts(files) == [("été", "été"), ("a b c d e", "a b !")]


def test_blank_sides_are_dropped_and_counted(tmp_path: Path):
    pairs, blank = read_pairs(two(tmp_path, "a\n\nc\nd\n", "A\nB\n \t\nD\n"), False)
    assert ([pair.source for pair in pairs], blank) == (["a", "d"], 2)


PACKED = gzip.compress(b"a sentence or two\n" * 40)
EMPTY = "is empty; give a file with one sentence per line"
BROKEN = "is no whole gzip file; pack it again or unpack it"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"\xef\xbb\xbf \r\n", EMPTY),
        ("a.txt.gz", gzip.compress(b""), EMPTY),
        ("a.txt", b"ab\ncaf\xe9\n", "line 2 is not UTF-8; save the file as UTF-8"),
        ("a.txt", "été\n".encode("utf-16"), "line 1 is not UTF-8; save the file as UTF-8"),
        ("a.gz", PACKED[:-6], BROKEN),
        ("a.gz", b"plain" + PACKED, BROKEN),
        ("a.gz", PACKED[:12] + b"\xff" * 8 + PACKED[20:], BROKEN),
    ],
)
def test_unreadable_text(tmp_path: Path, name: str, data: bytes, message: str):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UserError) as caught:
        read_lines(str(path), "corpus.target")
    assert str(caught.value) == f"corpus.target {str(path)!r} {message}"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("no.txt", r"^corpus\.source 'no\.txt' does not exist; paths start at '/.*'$"),
        (".", r"'\.' cannot be read \(Is a directory\); name a text file$"),
        ("/dev/zero", "is a device and not a text"),
        ("/dev/full", "is a device and not a text"),
        ("link-to-a-device", "is a device and not a text"),
        ("~no_such_user/a.txt", r"^corpus\.source '~no_such_user/a\.txt' cannot be read"),
        ("a\0b", r"^corpus\.source 'a\\x00b' cannot be read"),
    ],
)
def test_paths_that_lead_to_no_text(tmp_path: Path, monkeypatch, path: str, message: str):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link-to-a-device").symlink_to("/dev/zero")
    with pytest.raises(UserError, match=message):
        read_lines(path, "corpus.source")


def test_home_and_a_pipe_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "a.txt", "x\n")
    assert read_lines("~/a.txt", "corpus.source") == ["x"]
    reading, writing = os.pipe()
    os.write(writing, b"x\ny\n")
    os.close(writing)
    assert read_lines(f"/dev/fd/{reading}", "corpus.source") == ["x", "y"]
    os.close(reading)


def test_a_pipe_is_no_text_to_train_on(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path / "b.txt", "y\n")
    corpus = CorpusSettings(
        name="files", source=str(tmp_path / "pipe"), target=str(tmp_path / "b.txt")
    )
    with pytest.raises(UsageError, match=r"pipe' is a pipe, which can be read once, .* a file"):
        pair_files(corpus, "train")


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("text", ["Cafe\u0301 \xa0 BAR", "\u03aa\u0301 J\u030c", "I\u0307STANBUL"])
def test_a_users_sentence_gets_the_form_of_the_same_sentence_in_a_file(tmp_path, text, lowercase):
    """Also where a capital has no letter of its own with that accent and the small letter has."""
    read = texts(two(tmp_path, text, "x"), lowercase)
    corpus = CorpusSettings(name="files", source="a", lowercase=lowercase)
    assert prepare_source(text, corpus) == read[0][0]


def test_sides_that_do_not_go_together(tmp_path: Path):
    files = two(tmp_path, "a\nb\n", "a\nb\nc\n")
    with pytest.raises(UserError) as caught:
        read_pairs(files, False)
    assert str(caught.value) == (
        f"corpus.source {files.source!r} has 2 lines and corpus.target {files.target!r} has 3; "
        "line by line one must translate the other: give two files of as many lines"
    )
    for line, columns in (("no tab", "1 column"), ("a\tb\tc", "3 columns")):
        path = write(tmp_path / "a.tsv", f"a\tb\n{line}\n")
        with pytest.raises(UserError) as caught:
            read_pairs(PairFiles("corpus.test_source", path, None), False)
        assert str(caught.value) == (
            f"corpus.test_source {path!r} line 2 has {columns}; each line must be source<TAB>target"
        )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"source": "a"},
        {"target": "a"},
        {"source": "a.tsv", "target": "b"},
        {"test_source": "a"},
        {"test_target": "a"},
        {"valid_source": "a"},
    ],
)
def test_files_go_together(given: dict[str, str]):
    split = next(iter(given), "").rpartition("_")[0]
    settings = [f"corpus.{split}{'_' * bool(split)}{side}" for side in ("source", "target")]
    message = rf"^give --set {settings[0]}=FILE and --set {settings[1]}=FILE, or one \.tsv file"
    with pytest.raises(UsageError, match=message):
        pair_files(CorpusSettings(name="files", **given), split or "train")


def test_files_of_the_settings():
    corpus = CorpusSettings(name="files", source="a.tsv", test_source="b", test_target="c")
    assert pair_files(corpus, "train") == ("corpus.source", "a.tsv", None)
    assert pair_files(corpus, "test") == ("corpus.test_source", "b", "c")
    assert pair_files(corpus, "valid") is None
