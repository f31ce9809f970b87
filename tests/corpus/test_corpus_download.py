"""Fetching named corpora from a local server: whole, or not at all with the reason."""

import gzip
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Site, lines, named_corpora, packed, real_layouts

from seq2seq_bottleneck.corpus.download import CORPORA, fetch, folder_of
from seq2seq_bottleneck.corpus.files import read_split
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError

ARCHIVE = "fr-en.tgz"
SIDES = CORPORA["europarl"].splits["train"]


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A local server with every corpus, and the hashes of its files where the catalogue has any."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with named_corpora(monkeypatch) as site:
        yield site


def texts(name: str, split: str) -> list[tuple[str, str]]:
    """The pairs of a split as a run reads them."""
    return [(pair.source, pair.target) for pair in read_split(CorpusSettings(name=name), split)]


def sentences(count: int, *words: str) -> list[tuple[str, ...]]:
    """The pairs that the server has."""
    sides = [lines(word, count).decode().splitlines() for word in words]
    return list(zip(*sides, strict=True))


def left_over() -> list[str]:
    """What is in the folder of all corpora."""
    return sorted(path.name for path in folder_of("any").parent.iterdir())


@pytest.mark.parametrize(
    ("name", "count"), [("tatoeba", 30), ("europarl", 300), ("news-commentary", 40)]
)
def test_an_archive_or_the_files_of_splits_become_texts(site: Site, name: str, count: int):
    fetch(name)
    pairs = texts(name, "train")
    assert [pair for pair in pairs if pair != ("", "")] == sentences(count, "word", "mot")
    assert read_split(CorpusSettings(name=name), "test") is None
    assert len(site.asked) == 1
    fetch("multi30k")
    assert texts("multi30k", "test") == sentences(60, "teen", "tefr")
    assert (folder_of("multi30k") / "valid.en.gz").is_file()
    assert left_over() == sorted([name, "multi30k"])


@pytest.mark.parametrize(
    ("fault", "reason"), [("cut", "Incomplete"), ("offline", "Connection refused")]
)
def test_a_failing_fetch_leaves_nothing(site, monkeypatch, fault, reason):
    if fault == "cut":
        site.cut.add(ARCHIVE)
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{free.getsockname()[1]}/"
        monkeypatch.setattr(CORPORA["europarl"], "base_url", address)
    match = rf"^cannot fetch europarl from .*{reason}.*; nothing is kept: is this"
    with pytest.raises(UserError, match=match):
        fetch("europarl")
    assert left_over() == []


@pytest.mark.parametrize(
    ("name", "file", "data"),
    [
        ("multi30k", "val.fr.gz", gzip.compress(lines("forged", 30))),
        ("europarl", ARCHIVE, packed("tar", {SIDES[0]: b"a\nb\n"})),
        ("europarl", ARCHIVE, real_layouts()[ARCHIVE][:-400]),
    ],
)
def test_files_that_are_not_what_they_should_be(site: Site, name: str, file: str, data: bytes):
    site.files[file] = data
    with pytest.raises(UserError, match=r"^cannot fetch .*; nothing is kept"):
        fetch(name)
    assert left_over() == []


@pytest.mark.parametrize("name", ["../up.txt", "/up.txt"])
def test_no_member_of_an_archive_is_written_outside_its_folder(site, tmp_path, name):
    site.files[ARCHIVE] = packed("tar", {name: b"x\n", SIDES[0]: b"a\n", SIDES[1]: b"b\n"})
    fetch("europarl")
    assert texts("europarl", "train") == [("a", "b")]
    assert not [*tmp_path.rglob("up.txt"), *tmp_path.parent.glob("up.txt")]
    assert not Path("/up.txt").exists()
