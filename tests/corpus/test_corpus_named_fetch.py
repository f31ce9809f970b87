"""Fetching named corpora from a server of this machine: whole or not at all, and why not."""

import gzip
import json
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import requests
from loopback import (
    Site,
    europarl_tgz,
    lines,
    multi30k_files,
    news_tgz,
    served,
    tatoeba_zip,
    tgz,
    zipped,
)

from seq2seq_bottleneck.corpus.named import download as downloading
from seq2seq_bottleneck.corpus.named.catalogue import CATALOGUE, NamedCorpus
from seq2seq_bottleneck.corpus.named.download import Remote
from seq2seq_bottleneck.corpus.named.fetch import fetch
from seq2seq_bottleneck.corpus.named.listing import listed, summary
from seq2seq_bottleneck.corpus.named.places import corpora_folder, folder_of, split_files_of
from seq2seq_bottleneck.settings.concerns import NAMED
from seq2seq_bottleneck.settings.errors import UserError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own, and no proxy between it and its server."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path


@pytest.fixture
def site() -> Iterator[Site]:
    """Every corpus in its real layout, small."""
    archives = {
        "fr-en.tgz": europarl_tgz(),
        "training-parallel-nc-v9.tgz": news_tgz(),
        "fra-eng.zip": tatoeba_zip(),
    }
    with served({**archives, **multi30k_files()}) as site:
        yield site


def moved(name: str, site: Site, most: int = 10_000_000) -> NamedCorpus:
    """A corpus of the catalogue whose files are the site's, with their own hashes if it has any."""
    corpus = CATALOGUE[name]
    remotes = []
    for remote in corpus.remotes:
        known = sha256(site.files[remote.name]).hexdigest() if remote.sha256 else None
        remotes.append(Remote(site.url(remote.name), known, most))
    return replace(corpus, remotes=tuple(remotes))


def text(name: str, split: str, side: str) -> bytes:
    return gzip.decompress((folder_of(name) / f"{split}.{side}.gz").read_bytes())


def left_over() -> list[str]:
    """What lies in the folder of all corpora, the locks aside."""
    return sorted(path.name for path in corpora_folder().iterdir() if path.suffix != ".lock")


def test_the_catalogue_holds_every_name() -> None:
    assert tuple(CATALOGUE) == NAMED
    assert all(remote.url.startswith("https://") for each in CATALOGUE.values()
               for remote in each.remotes)  # fmt: skip


def test_two_files_of_a_tar_archive(site: Site) -> None:
    held = fetch(moved("europarl", site))
    assert held["pairs"] == {"train": 300}
    assert text("europarl", "train", "en") == lines("word", 300)
    assert text("europarl", "train", "fr") == lines("mot", 300)
    assert left_over() == ["europarl"]


def test_two_files_among_others_in_a_folder(site: Site) -> None:
    fetch(moved("news-commentary", site))
    assert text("news-commentary", "train", "en") == lines("word", 40)
    assert text("news-commentary", "train", "fr") == lines("mot", 40)


def test_columns_of_a_zip_archive(site: Site) -> None:
    assert fetch(moved("tatoeba", site))["pairs"] == {"train": 30}
    assert text("tatoeba", "train", "en") == lines("word", 30)
    assert text("tatoeba", "train", "fr") == lines("mot", 30)


def test_a_corpus_with_splits_of_its_own(site: Site) -> None:
    held = fetch(moved("multi30k", site))
    assert held["pairs"] == {"train": 300, "valid": 30, "test": 60}
    assert text("multi30k", "test", "fr") == lines("tefr", 60)
    assert split_files_of("multi30k", "valid") == (
        str(folder_of("multi30k") / "valid.en.gz"),
        str(folder_of("multi30k") / "valid.fr.gz"),
    )


def test_what_is_recorded(site: Site) -> None:
    fetch(moved("europarl", site))
    held = json.loads((folder_of("europarl") / "SOURCE.json").read_text())
    digest = sha256(site.files["fr-en.tgz"]).hexdigest()
    assert held["sources"] == [{"url": site.url("fr-en.tgz"), "sha256": digest, "known": False}]
    assert held["licence"] == CATALOGUE["europarl"].licence
    written = (folder_of("europarl") / "train.fr.gz").read_bytes()
    assert held["files"]["train.fr.gz"] == sha256(written).hexdigest()
    assert any(digest in line for line in summary(held))
    known = fetch(moved("multi30k", site))
    assert not any("sha256" in line for line in summary(known))


def test_the_list_says_what_is_here(site: Site) -> None:
    before = {row.name: row for row in listed()}
    assert [row.here for row in before.values()] == [True, True, *[False] * 5]
    fetch(moved("europarl", site))
    row = next(row for row in listed() if row.name == "europarl")
    assert (row.here, row.pairs, row.folder) == (True, 300, str(folder_of("europarl")))


def test_what_is_here_is_not_fetched_again(site: Site) -> None:
    first = fetch(moved("europarl", site))
    assert fetch(moved("europarl", site)) == first
    assert len(site.asked) == 1
    fetch(moved("europarl", site), again=True)
    assert len(site.asked) == 2


def test_a_damaged_file_is_fetched_again(site: Site) -> None:
    fetch(moved("europarl", site))
    (folder_of("europarl") / "train.en.gz").write_bytes(b"damaged")
    fetch(moved("europarl", site))
    assert text("europarl", "train", "en") == lines("word", 300)


def test_a_limit_keeps_pairs_spread_over_the_text(site: Site) -> None:
    assert fetch(moved("europarl", site), limit=10)["pairs"] == {"train": 10}
    kept = text("europarl", "train", "en").splitlines(keepends=True)
    all_lines = lines("word", 300).splitlines(keepends=True)
    assert kept == all_lines[29::30]
    assert text("europarl", "train", "fr") == b"".join(
        lines("mot", 300).splitlines(keepends=True)[29::30]
    )
    assert fetch(moved("europarl", site))["pairs"] == {"train": 300}
    assert fetch(moved("europarl", site), limit=1_000)["pairs"] == {"train": 300}


def test_a_cut_off_transfer_leaves_nothing_and_the_next_one_succeeds(site: Site) -> None:
    site.cut.add("fr-en.tgz")
    with pytest.raises(UserError, match=r"fr-en\.tgz was cut off; run the same command again$"):
        fetch(moved("europarl", site))
    assert left_over() == []
    site.cut.clear()
    assert fetch(moved("europarl", site))["pairs"] == {"train": 300}


def test_what_a_killed_process_left_is_no_hindrance(site: Site) -> None:
    aside = corpora_folder() / ".europarl.part"
    (aside / "text").mkdir(parents=True)
    (aside / "fr-en.tgz").write_bytes(site.files["fr-en.tgz"][:90])
    fetch(moved("europarl", site))
    assert left_over() == ["europarl"]


def test_an_interrupt_between_the_two_renames_leaves_what_was_there(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(moved("europarl", site))
    rename, done = Path.rename, []

    def interrupted(self: Path, target: Path) -> Path:
        done.append(rename(self, target))
        if len(done) == 1:
            raise KeyboardInterrupt
        return done[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch(moved("europarl", site), again=True)
    assert text("europarl", "train", "en") == lines("word", 300)
    assert left_over() == ["europarl"]


def test_what_a_process_killed_between_them_moved_aside_is_put_back(site: Site) -> None:
    corpus = moved("europarl", site)
    fetch(corpus)
    aside = corpora_folder() / ".europarl.part"
    aside.mkdir()
    folder_of("europarl").rename(aside / "old")
    site.files.clear()
    assert fetch(corpus)["pairs"] == {"train": 300}
    assert text("europarl", "train", "en") == lines("word", 300)
    assert left_over() == ["europarl"]


def test_a_failing_fetch_leaves_what_was_there(site: Site) -> None:
    fetch(moved("europarl", site))
    site.cut.add("fr-en.tgz")
    with pytest.raises(UserError, match="cut off"):
        fetch(moved("europarl", site), again=True)
    assert text("europarl", "train", "en") == lines("word", 300)
    assert left_over() == ["europarl"]


def test_another_file_than_the_known_one(site: Site) -> None:
    corpus = moved("multi30k", site)
    site.files["val.fr.gz"] = gzip.compress(lines("forged", 30))
    with pytest.raises(UserError, match=r"val\.fr\.gz gives a file that is not the known one"):
        fetch(corpus)
    assert left_over() == []


def test_another_file_than_the_recorded_one(site: Site) -> None:
    corpus = moved("tatoeba", site)
    fetch(corpus)
    site.files["fra-eng.zip"] = zipped([("fra.txt", b"New .\tNouveau .\tCC\n")])
    with pytest.raises(UserError, match=r"another text than the one recorded here .* delete"):
        fetch(corpus, again=True)
    assert text("tatoeba", "train", "en") == lines("word", 30)
    for path in folder_of("tatoeba").iterdir():
        path.unlink()
    folder_of("tatoeba").rmdir()
    assert fetch(corpus)["pairs"] == {"train": 1}


def test_not_found(site: Site) -> None:
    corpus = moved("europarl", site)
    del site.files["fr-en.tgz"]
    with pytest.raises(UserError, match=r"/fr-en\.tgz answers 404 \(Not Found\); try later"):
        fetch(corpus)
    assert left_over() == []


def test_connection_refused(site: Site) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    remote = Remote(f"http://127.0.0.1:{port}/fr-en.tgz", None, 10_000)
    with pytest.raises(UserError, match=r"^'127\.0\.0\.1' cannot be reached \(Connection refused"):
        fetch(replace(moved("europarl", site), remotes=(remote,)))
    assert left_over() == []


def test_a_silent_host(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "TIMEOUT", 0.2)
    site.hung.add("fr-en.tgz")
    with pytest.raises(UserError, match=r"cannot be reached \(.*timed out.*\); is this machine"):
        fetch(moved("europarl", site))


def test_a_host_that_no_one_knows() -> None:
    """The network's error as requests raises it; asking for a name would leave this machine."""
    error = requests.ConnectionError("many words")
    error.__cause__ = socket.gaierror(-2, "Name or service not known")
    remote = Remote("https://host.invalid/fr-en.tgz", None, 1)
    assert downloading._unreached(remote, error) == (
        "'host.invalid' cannot be found (Name or service not known); is this machine online? "
        "Try again then"
    )


def test_a_file_without_end_is_not_written_to_its_end(site: Site) -> None:
    with pytest.raises(UserError, match=r"'fr-en\.tgz' was refused: it is far longer than"):
        fetch(moved("europarl", site, most=500))
    assert left_over() == []


@contextmanager
def largest_file(most: int) -> Iterator[None]:
    """No file may grow beyond so many bytes: writing fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_without_room(site: Site) -> None:
    site.files["fr-en.tgz"] = tgz([("noise", bytes(range(256)) * 40), ("n", sha256().digest())])
    with largest_file(300), pytest.raises(UserError, match=r"^cannot write .*: File too large; "):
        fetch(moved("europarl", site))
    assert left_over() == []


def test_a_cache_folder_that_cannot_be_made(site: Site, cache: Path) -> None:
    (cache / "seq2seq-bottleneck").write_text("a file")
    with pytest.raises(UserError, match=r"^cannot write .*; the cache folder is XDG_CACHE_HOME"):
        fetch(moved("europarl", site))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("fr-en.tgz", tgz([("a.txt", b"x\n")]), r"a French line for each English one \(none\)"),
        (
            "fr-en.tgz",
            tgz([("europarl-v7.fr-en.en", b"a\nb\n"), ("europarl-v7.fr-en.fr", b"a\n")]),
            r"\(2 en, 1 fr\)",
        ),
        ("fr-en.tgz", europarl_tgz()[:-400], r"'fr-en\.tgz' is damaged or cut off"),
        ("fr-en.tgz", b"<html>moved</html>", r"'fr-en\.tgz' is damaged or cut off"),
        ("fra-eng.zip", tatoeba_zip()[:-40], r"'fra-eng\.zip' is damaged or cut off"),
        ("fra-eng.zip", zipped([("other.txt", b"a\tb\n")]), r"holds no 'fra\.txt'"),
        ("fra-eng.zip", zipped([("fra.txt", b"a\tb\nalone\n")]), "line 2 has one column, not two"),
        ("fra-eng.zip", zipped([("fra.txt", b"")]), "is empty"),
        ("fra-eng.zip", zipped([("fra.txt", b"caf\xe9\tb\n")]), "is not UTF-8"),
    ],
)
def test_archives_that_are_not_what_they_should_be(
    site: Site, name: str, data: bytes, message: str
) -> None:
    site.files[name] = data
    with pytest.raises(UserError, match=message):
        fetch(moved("tatoeba" if name.endswith("zip") else "europarl", site))
    assert left_over() == []


def test_progress_is_told_to_the_bar(site: Site) -> None:
    class Bar:
        total = 0
        done = 0
        closed = False

        def update(self, count: int) -> None:
            self.done += count

        def reset(self) -> None:
            self.done = 0

        def close(self) -> None:
            self.closed = True

    bars = {name: Bar() for name in ("fr-en.tgz",)}
    told: list[str] = []
    fetch(moved("europarl", site), tell=told.append, make_bar=bars.get)
    bar = bars["fr-en.tgz"]
    assert bar.closed
    assert bar.done == bar.total == len(site.files["fr-en.tgz"])
    assert told == [f"europarl: {site.url('fr-en.tgz')}", "europarl: reading the text"]
