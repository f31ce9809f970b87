"""Fetching named corpora from a server of this machine: whole or not at all, and why not."""

import gzip
import json
import socket
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from loopback import Site, lines, named_corpora, packed, real_layouts

from seq2seq_bottleneck.corpus.download import CORPORA, SOURCE, fetch, folder_of, named_files
from seq2seq_bottleneck.settings.errors import UserError

ARCHIVE = "fr-en.tgz"
SIDES = CORPORA["europarl"].splits["train"]


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Every corpus at a server of this machine, with hashes of its own files if it has any."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with named_corpora(monkeypatch) as site:
        yield site


def text(name: str, split: str, side: str) -> bytes:
    return gzip.decompress((folder_of(name) / f"{split}.{side}.gz").read_bytes())


def left_over() -> list[str]:
    """What lies in the folder of all corpora."""
    return sorted(path.name for path in folder_of("any").parent.iterdir())


@pytest.mark.parametrize(
    ("name", "count"), [("tatoeba", 30), ("europarl", 300), ("news-commentary", 40)]
)
def test_an_archive_or_the_files_of_splits_become_two_files_each(name: str, count: int):
    assert fetch(name)["pairs"] == {"train": count}
    assert text(name, "train", "en") == lines("word", count)
    assert text(name, "train", "fr") == lines("mot", count)
    assert named_files(name, "test") is None
    assert left_over() == [name]
    assert fetch("multi30k")["pairs"] == {"train": 300, "valid": 30, "test": 60}
    assert text("multi30k", "test", "fr") == lines("tefr", 60)
    folder = folder_of("multi30k")
    assert named_files("multi30k", "valid")[0] == str(folder / "valid.en.gz")


def test_what_is_here_is_recorded_and_not_fetched_again(site: Site):
    source = fetch("europarl")
    assert source == fetch("europarl") == json.loads((folder_of("europarl") / SOURCE).read_text())
    digest = sha256(site.files[ARCHIVE]).hexdigest()
    assert source["sources"] == [{"url": f"{site.address}{ARCHIVE}", "sha256": digest}]
    assert len(site.asked) == 1
    fetch("europarl", limit=5)
    assert len(site.asked) == 2


def test_a_limit_keeps_pairs_spread_over_the_text():
    assert fetch("europarl", limit=10)["pairs"] == {"train": 10}
    for side, word in (("en", "word"), ("fr", "mot")):
        expected = lines(word, 300).splitlines(keepends=True)[29::30]
        assert text("europarl", "train", side).splitlines(keepends=True) == expected


@pytest.mark.parametrize(
    ("fault", "reason"), [("cut", "Incomplete"), ("offline", "Connection refused")]
)
def test_a_failing_fetch_leaves_what_was_there(site, monkeypatch, fault, reason):
    fetch("europarl")
    if fault == "cut":
        site.cut.add(ARCHIVE)
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{free.getsockname()[1]}/"
        monkeypatch.setitem(CORPORA, "europarl", CORPORA["europarl"]._replace(base_url=address))
    match = rf"^cannot fetch europarl from .*{reason}.*; nothing is kept: is this"
    with pytest.raises(UserError, match=match):
        fetch("europarl", limit=5)
    assert left_over() == ["europarl"]
    assert text("europarl", "train", "en") == lines("word", 300)


@pytest.mark.parametrize(
    ("name", "file", "data"),
    [
        ("multi30k", "val.fr.gz", gzip.compress(lines("forged", 30))),
        ("europarl", ARCHIVE, packed("tar", {SIDES[0]: b"a\nb\n", SIDES[1]: b"a\n"})),
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
    assert fetch("europarl")["pairs"] == {"train": 1}
    assert not [*tmp_path.rglob("up.txt"), *tmp_path.parent.glob("up.txt")]
    assert not Path("/up.txt").exists()
