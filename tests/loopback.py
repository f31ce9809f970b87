"""A local web server, and archives that it serves, for tests of fetching."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from seq2seq_bottleneck.corpus.download import CORPORA


@dataclass
class Site:
    """What is served, by name; ``asked`` has the requested names in order.

    Only half of a file in ``cut`` is sent.
    """

    files: dict[str, bytes]
    address: str = ""
    cut: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)


@contextmanager
def served(files: Mapping[str, bytes]) -> Iterator[Site]:
    """Serve files on a free port, inside a ``with`` block."""
    site = Site(dict(files))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rsplit("/", 1)[-1]
            site.asked.append(name)
            if name not in site.files:
                self.send_error(404, "Not Found")
                return
            data = site.files[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if name in site.cut else data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.address = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def lines(word: str, count: int) -> bytes:
    """Different sentences of 3 to 27 words, one per line."""
    rows = (" ".join([f"{word}{row}", *[word] * (2 + row % 25)]) for row in range(count))
    return "".join(f"{row}\n" for row in rows).encode()


def packed(form: str, members: Mapping[str, bytes]) -> bytes:
    """A ``zip`` archive, or a gzip ``tar``."""
    file = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return file.getvalue()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return file.getvalue()


def real_layouts() -> dict[str, bytes]:
    """A small version of every named corpus, packed as its host packs it."""
    europarl, news = "europarl-v7.fr-en", "training/news-commentary-v9"
    rows = zip(lines("word", 30).splitlines(), lines("mot", 30).splitlines(), strict=True)
    columns = b"".join(b"%s\t%s\tCC-BY 2.0 (France)\n" % row for row in rows)
    sides = {f"{europarl}.en": lines("word", 300), f"{europarl}.fr": lines("mot", 300)}
    papers = {
        f"{news}.de-en.en": lines("other", 9),
        f"./{news}.fr-en.fr": lines("mot", 40),
        f"./{news}.fr-en.en": lines("word", 40),
    }
    layouts = {
        "fr-en.tgz": packed("tar", sides),
        "training-parallel-nc-v9.tgz": packed("tar", papers),
        "fra-eng.zip": packed("zip", {"_about.txt": b"About\n", "fra.txt": columns}),
    }
    for split, count in {"train": 300, "val": 30, "test_2016_flickr": 60}.items():
        for side in ("en", "fr"):
            layouts[f"{split}.{side}.gz"] = gzip.compress(lines(f"{split[:2]}{side}", count))
    return layouts


@contextmanager
def named_corpora(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Serve every corpus of the catalogue from this machine, with the hashes of its files."""
    monkeypatch.setenv("NO_PROXY", "*")
    with served(real_layouts()) as site:
        for corpus in CORPORA.values():
            files = {
                file: known and sha256(site.files[file]).hexdigest()
                for file, known in corpus.files.items()
            }
            monkeypatch.setattr(corpus, "base_url", site.address)
            monkeypatch.setattr(corpus, "files", files)
        yield site
