"""Reading the user's text, messages about what cannot be read, and splits by source sentence."""

import gzip
import os
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.files import (
    pair_files,
    read_lines,
    read_split,
    split_files,
    split_off,
)
from seq2seq_bottleneck.corpus.pair import SentencePair, Splits, sources
from seq2seq_bottleneck.corpus.vocabulary import prepare_source
from seq2seq_bottleneck.settings.concerns import CorpusSettings, bucket_of
from seq2seq_bottleneck.settings.errors import UsageError, UserError

EDGES = (5, 11, 21)
Rows = list[tuple[str, str]]


def write(path: Path, data: str | bytes) -> str:
    """Write text or bytes, packed if the name says so; return the path for a setting."""
    raw = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return str(path)


def two(folder: Path, source: str | bytes, target: str | bytes, end: str = "") -> CorpusSettings:
    """A pair of files."""
    names = write(folder / f"a.txt{end}", source), write(folder / f"b.txt{end}", target)
    return CorpusSettings(name="files", source=names[0], target=names[1])


def texts(files: CorpusSettings, lowercase: bool = False) -> Rows:
    pairs = read_split(files.model_copy(update={"lowercase": lowercase}), "train")
    return [(pair.source, pair.target) for pair in pairs]


@pytest.mark.parametrize("end", ["", ".gz"])
def test_two_files_and_columns(tmp_path: Path, end: str):
    expected = [("A cat.", "Un chat."), ("It sleeps.", "Il dort.")]
    files = two(tmp_path, "A cat.\nIt sleeps.\n", "Un chat.\nIl dort.", end)
    assert texts(files) == expected
    assert texts(files, lowercase=True)[0] == ("a cat.", "un chat.")
    data = "A cat.\tUn chat.\r\n\r\nIt sleeps.\tIl dort.\r\n"
    files = CorpusSettings(name="files", source=write(tmp_path / f"x.TSV{end}", data))
    assert texts(files) == [expected[0], ("", ""), expected[1]]


def test_mark_line_ends_composition_white_space_and_blank_sides(tmp_path: Path):
    source = "\ufeffe\u0301te\u0301\r\na\x85b\u2028c\x0bd  e\r\n"
    files = two(tmp_path, source, "été\na\tb\xa0!\n")
    assert texts(files) == [("été", "été"), ("a b c d e", "a b !")]
    files = two(tmp_path, "a\n\nc\nd\n", "A\nB\n \t\nD\n")
    assert texts(files) == [("a", "A"), ("", "B"), ("c", ""), ("d", "D")]


PACKED = gzip.compress(b"a sentence or two\n" * 40)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"\xef\xbb\xbf", "is empty; give a file with one sentence per line"),
        ("a.txt", b"ab\ncaf\xe9\n", "line 2 is not UTF-8; save the file as UTF-8"),
        ("a.gz", PACKED[:-6], "is not a complete gzip file"),
    ],
)
def test_unreadable_text(tmp_path: Path, name: str, data: bytes, message: str):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UserError, match=re.escape(f"corpus.target {str(path)!r} {message}")):
        read_lines(str(path), "corpus.target")


def test_paths_that_lead_to_no_text():
    with pytest.raises(
        UserError, match=r"^corpus\.source 'no\.txt' does not exist; paths start from"
    ):
        read_lines("no.txt", "corpus.source")
    with pytest.raises(UserError, match=r"'\.' cannot be read \(Is a directory\); name a text"):
        read_lines(".", "corpus.source")


def test_a_pipe_is_no_text_to_train_on(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path / "b.txt", "y\n")
    files = {"source": str(tmp_path / "pipe"), "target": str(tmp_path / "b.txt")}
    with pytest.raises(UsageError, match=r"pipe' is a pipe, which can be read once"):
        pair_files(CorpusSettings(name="files", **files), "train")


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_users_sentence_gets_the_form_of_the_same_sentence_in_a_file(tmp_path, lowercase):
    text = "Cafe\u0301 \xa0 BAR J\u030c"  # only the small letter has a composed form
    corpus = CorpusSettings(name="files", source="a", lowercase=lowercase)
    assert prepare_source(text, corpus) == texts(two(tmp_path, text, "x"), lowercase)[0][0]


def test_sides_that_do_not_go_together(tmp_path: Path):
    files = two(tmp_path, "a\nb\n", "a\nb\nc\n")
    with pytest.raises(UserError, match=r"has 2 lines and corpus\.target .* has 3; each line"):
        read_split(files, "train")
    path = write(tmp_path / "a.tsv", "a\tb\na\tb\tc\n")
    with pytest.raises(UserError, match=r"line 2 has 3 columns; each line must be source<TAB>targ"):
        read_split(CorpusSettings(name="files", source="a", target="b", test_source=path), "test")
    with pytest.raises(UsageError, match=r"^give --source FILE and --target FILE, or one \.tsv"):
        pair_files(CorpusSettings(name="files", source="a"), "train")


# Splits.


def sentences(count: int, words: int) -> Rows:
    """Different sentences of one length, each with its translation."""
    return [(f"s{n} " + "x " * (words - 2) + f"l{words}", f"t{n}") for n in range(count)]


def pairs_of(rows: Rows) -> tuple[SentencePair, ...]:
    return tuple(SentencePair(*row) for row in rows)


def rows_of(pairs: tuple[SentencePair, ...]) -> Rows:
    return [(pair.source, pair.target) for pair in pairs]


def split(folder: Path, rows: Rows, **settings) -> Splits:
    """The splits of a text with these rows."""
    files = {"source": rows}
    files |= {key: settings.pop(key) for key in ("valid_source", "test_source") if key in settings}
    for key, lines in files.items():
        text = "".join(f"{ours}\t{theirs}\n" for ours, theirs in lines)
        settings[key] = write(folder / f"{key}.tsv", text)
    return split_files(CorpusSettings(name="files", **settings), EDGES)


def test_even_over_buckets_and_by_seed_and_sentences_alone():
    pairs = pairs_of(sentences(900, 3) + sentences(500, 7) + sentences(200, 15) + sentences(40, 30))
    test = split_off(pairs, 60, "s", EDGES)
    counts = [sum(bucket_of(pair.words, EDGES) == place for pair in test) for place in range(-1, 3)]
    assert counts == [0, 36, 20, 4]  # rare buckets give a tenth of their sentences
    assert sources(test) == sources(split_off(pairs[::-1], 60, "s", EDGES))
    assert sources(test) != sources(split_off(pairs, 60, "t", EDGES))


def test_split_off_counts_and_notes(tmp_path):
    rows = sentences(100, 7) + sentences(100, 15) + sentences(50, 70) + [("", "t"), ("s", "")]
    rows += [(source, f"{target} again") for source, target in sentences(100, 7)]
    splits = split(tmp_path, rows, test_pairs=12, valid_pairs=5, train_pairs=200)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert (len(splits.valid), len(splits.test)) == (5, len(test)) == (5, 12)
    # A short sentence has two pairs.
    used = sum(1 + (pair.words == 7) for pair in (*splits.test, *splits.valid))
    reason = "not trained on: empty, not of 2-60 words, or tested or validated on"
    outside = 50 - sum(pair.words == 70 for pair in splits.test)
    assert splits.notes == (f"{2 + used + outside} pairs {reason}",)
    assert len(splits.train) == 200
    fewer = split(tmp_path, rows, test_pairs=12, valid_pairs=5, train_pairs=50).train
    assert fewer == tuple(pair for pair in splits.train if pair in fewer)


def test_training_pairs_with_subwords_are_counted(tmp_path):
    cut = [(f"the {number} ch@@ ats", "le chat") for number in range(20)]
    whole = [(source, f"▁le {target}") for source, target in sentences(70, 7)]
    splits = split(tmp_path, cut + whole, test_pairs=1, valid_pairs=1)
    kept = sum("@@" in pair.source for pair in splits.train)
    first, second = splits.notes[1:]
    assert first.startswith(f"Subwords ('@@ ') in source ({kept} lines): join them first, `sed ")
    assert second.startswith(f"Subwords ('▁') in target ({88 - kept} lines): join them first, ")


def test_given_sets_are_used_and_share_nothing(tmp_path):
    rows = sentences(100, 7)
    others = [(rows[0][0], "other"), ("hi", "salut"), ("x " * 80, "y"), ("", "")]
    given = [*rows[:10], rows[0], *others]
    splits = split(tmp_path, rows, test_source=given, test_pairs=2, valid_pairs=50)
    targets = [pair.target for pair in splits.test]
    assert targets == [*(f"t{n}" for n in range(10)), "other", "salut", "y"]
    assert len(splits.valid) == 9
    reason = "not trained on: empty, not of 2-60 words, or tested or validated on"
    assert splits.notes == ("2 test pairs empty or repeated: dropped", f"19 pairs {reason}")
    given = rows[5:20] + sentences(3, 9) + sentences(2, 80) + [("", "t"), rows[15]]
    splits = split(tmp_path, rows, valid_source=given, test_source=rows[:10], valid_pairs=50)
    assert rows_of(splits.valid) == rows[10:20] + sentences(3, 9)
    assert rows_of(splits.train) == rows[20:]


def test_text_that_leaves_nothing_to_train_on(tmp_path):
    with pytest.raises(UserError, match=r"^corpus\.source leaves no pairs of 2-60 words to train"):
        split(tmp_path, sentences(10, 7), test_source=sentences(10, 7))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), kinds=st.integers(2, 60), count=st.integers(40, 200))
def test_no_source_is_in_two_splits(tmp_path_factory, seed, kinds, count):
    random = Random(seed)
    lines = [f"s{random.randrange(kinds)}" + " x" * random.randrange(30) for _ in range(count)]
    rows = [(line, str(n)) for n, line in enumerate(lines)]
    splits = split(tmp_path_factory.mktemp("d"), rows, seed=seed, min_words=1)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert min(len(train), len(valid), len(test)) > 0
    assert train | valid | test == set(lines)
