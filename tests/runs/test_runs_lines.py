"""Text line by line: counts equal, the stream never whole in memory, nothing cut in silence."""

import gzip
import io
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest
from random_run import never_ending, random_run

from seq2seq_bottleneck.runs import lines as module
from seq2seq_bottleneck.runs.translate import (
    Tally,
    Translation,
    open_file,
    read_lines,
    translate_lines,
    with_links,
)
from seq2seq_bottleneck.settings.errors import UserError

TEXT = ["w1 w0 w3", "", "w4", "   ", "w2 w2 w9 w1 w0 w3 w4 w1", "w0 w1", "\t"]


def read(data):
    return list(read_lines(io.BytesIO(data), "text"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\n\r\nb\r\n", ["a", "", "b"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        ("a\u2028b\x0cc\rd\n".encode(), ["a\u2028b\x0cc\rd"]),
    ],
)
def test_only_line_feeds_end_a_line(data, expected):
    assert read(data) == expected


def test_what_is_no_text_is_named_by_its_line():
    with pytest.raises(UserError, match=r"text line 3 is not UTF-8"):
        read(b"a\nb\n\xff\xfe\nd\n")


def test_a_file_may_be_packed(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a\nb\n"))
    (tmp_path / "a.txt").write_bytes(b"a\nb\n")
    for name in ("a.gz", "a.txt"):
        with open_file(tmp_path / name) as lines:
            assert list(lines) == ["a", "b"]


def test_what_never_ends_is_no_text(tmp_path, monkeypatch):
    """A device, by its own name or by another, and a line without an end."""
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in (Path("/dev/zero"), Path("/dev/null"), tmp_path / "link"):
        with pytest.raises(UserError, match="is a device"), open_file(path):
            pass
    monkeypatch.setattr(module, "LONGEST", 100)
    assert read(b"a" * 99 + b"\n" + b"b" * 100) == ["a" * 99, "b" * 100]
    with pytest.raises(UserError, match=r"text line 2 is over 100 bytes"):
        read(b"a\n" + b"b" * 101)


CUT = gzip.compress(b"a", mtime=0)[:-9]


@pytest.mark.parametrize(("name", "data"), [("none", None), ("cut.gz", CUT),
                                            ("plain.gz", b"a\n")])  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, data):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with (
        pytest.raises(UserError, match=rf"{name}.* cannot be read"),
        open_file(tmp_path / name) as lines,
    ):
        list(lines)


@pytest.fixture(scope="module")
def run():
    return random_run()


def translated(run, lines, **options):
    tally = Tally()
    chunks = list(translate_lines(run, lines, tally, **options))
    return [line for chunk in chunks for line in chunk], tally


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1, 3, 7, 4096])
def test_every_line_has_its_own_translation(run, monkeypatch, chunk):
    monkeypatch.setattr(module, "CHUNK", chunk)
    found, tally = translated(run, TEXT)
    assert len(found) == len(TEXT) == tally.lines
    assert [bool(line.strip()) for line in TEXT] == [bool(line) for line in found]
    for line, text in zip(TEXT, found, strict=True):
        assert text == (run.translate([line])[0] if line.strip() else "")
    assert len(set(found)) > 3


def test_a_stream_is_read_no_further_than_needed(run, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 5)
    numbers = count()
    endless = (f"w{number % 5}" for number in numbers)
    chunks = list(islice(translate_lines(run, endless, Tally()), 2))
    assert [len(chunk) for chunk in chunks] == [5, 5]
    assert next(numbers) == 10


def test_what_is_to_be_told_is_counted():
    run = never_ending(random_run(corpus={"max_words": 6, "min_words": 2}))
    _, tally = translated(run, TEXT)
    assert (tally.lines, tally.empty, tally.tokens, tally.unknown) == (7, 3, 14, 1)
    lines, unknown, long, cut = tally.notes(run.settings)
    assert "7 lines translated, 3 of them empty" in lines
    assert "1 of 14 source tokens" in unknown
    assert "1 line longer than any trained on (6 words)" in long
    assert long.endswith("line 5")
    assert "4 translations without an end, cut at the cap" in cut
    assert cut.endswith("line 1 and others")


def test_nothing_is_told_where_there_is_nothing(run):
    _, tally = translated(run, [])
    assert tally.notes(run.settings) == []


def test_links_are_the_largest_weights_without_the_ends(run):
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.9, 0.1, 0.0]])
    found = Translation(["One", "two￭"], ["un", "￭,", "deux"], "un, deux", True, 0, weights)
    assert with_links(run, found) == "un, deux\t1-0 0-1 1-2\tOne two\tun , deux"


@pytest.mark.slow
@pytest.mark.parametrize("model", [{}, {"reverse_source": True, "placement": "output"}])
def test_aligned_lines_hold_what_plain_ones_do_and_their_links(model):
    run = random_run(**model)
    plain, _ = translated(run, TEXT)
    aligned, _ = translated(run, TEXT, aligned=True)
    for line, text, row in zip(TEXT, plain, aligned, strict=True):
        if not line.strip():
            assert row == ""
            continue
        first, links, source, output = row.split("\t")
        assert (first, source.split()) == (text, line.split())
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        (found,) = run.translations([line], 1, attended=True)
        words = len(found.source)
        best = found.weights[: len(found.output), :words].argmax(axis=1)
        assert pairs == [(int(i), j) for j, i in enumerate(best)]
        assert len(output.split()) == len(pairs)
