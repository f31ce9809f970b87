"""A web server of this machine alone, and archives to serve: what fetching is tested against."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Site:
    """What is served under which name; ``asked`` are the names in the order of the requests.

    ``cut`` names are sent half, ``hung`` ones never answered while the server runs.
    """

    files: dict[str, bytes]
    address: str = ""
    cut: set[str] = field(default_factory=set)
    hung: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    closing: Event = field(default_factory=Event)

    def url(self, name: str) -> str:
        """The address of a file."""
        return f"{self.address}/some/where/{name}"


@contextmanager
def served(files: Mapping[str, bytes]) -> Iterator[Site]:
    """Serve files on a free port while the block lasts."""
    site = Site(dict(files))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rsplit("/", 1)[-1]
            site.asked.append(name)
            if name in site.hung:
                site.closing.wait(60)
                return
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
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def lines(word: str, count: int) -> bytes:
    """Different sentences of 3 to 27 words, one a line."""
    rows = (" ".join([f"{word}{row}", *[word] * (2 + row % 25)]) for row in range(count))
    return "".join(f"{row}\n" for row in rows).encode()


def tgz(members: Iterable[tuple[str | tarfile.TarInfo, bytes]]) -> bytes:
    """A gzip tar archive; a member given as TarInfo is written as it is."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            if isinstance(name, str):
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return held.getvalue()


def zipped(members: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    """A zip archive."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return held.getvalue()


def europarl_tgz(count: int = 300) -> bytes:
    """Europarl's own layout."""
    return tgz(
        [
            ("europarl-v7.fr-en.en", lines("word", count)),
            ("europarl-v7.fr-en.fr", lines("mot", count)),
        ]
    )


def news_tgz() -> bytes:
    """News Commentary as WMT 2014 packed it: a folder, other languages too."""
    folder = tarfile.TarInfo("training/")
    folder.type = tarfile.DIRTYPE
    return tgz(
        [
            (folder, b""),
            ("training/news-commentary-v9.de-en.de", lines("wort", 9)),
            ("training/news-commentary-v9.de-en.en", lines("other", 9)),
            ("training/news-commentary-v9.fr-en.fr", lines("mot", 40)),
            ("training/news-commentary-v9.fr-en.en", lines("word", 40)),
        ]
    )


def tatoeba_zip() -> bytes:
    """Tatoeba as manythings.org packs it: a note, and columns of which the third names authors."""
    ours, theirs = (lines(word, 30).decode().splitlines() for word in ("word", "mot"))
    rows = zip(ours, theirs, strict=True)
    text = "".join(f"{one}\t{other}\tCC-BY 2.0 (France)\n" for one, other in rows)
    return zipped([("_about.txt", b"About\n"), ("fra.txt", text.encode())])


def multi30k_files() -> dict[str, bytes]:
    """The six files of Multi30k's task 1."""
    counts = {"train": 300, "val": 30, "test_2016_flickr": 60}
    return {
        f"{split}.{side}.gz": gzip.compress(lines(f"{split[:2]}{side}", count))
        for split, count in counts.items()
        for side in ("en", "fr")
    }
