"""Parallel text by name: pooch downloads it once, and runs read it from the user's cache.

A corpus is a folder of one gzip file for each language and split (``train.en.gz``) and of
``SOURCE.json``, which says where the text came from.
"""

import gzip
import json
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ..settings.errors import UserError
from ..settings.machine import cache_root

SOURCE = "SOURCE.json"
SIDES = ("en", "fr")
BROKEN = (EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile)


class NamedCorpus(NamedTuple):
    """A corpus of ``corpora.toml``, which explains the fields."""

    pairs: int
    megabytes: float
    licence: str
    citation: str
    base_url: str
    files: Mapping[str, str]
    splits: Mapping[str, Sequence[str]]


_CATALOGUE = tomllib.loads(files(__package__).joinpath("corpora.toml").read_text("utf8"))
CORPORA = {name: NamedCorpus(**fields) for name, fields in _CATALOGUE.items()}
"""Every corpus of ``settings.concerns.NAMED``."""


def folder_of(name: str) -> Path:
    """The folder of a corpus in the user's cache; a UserError where there is no such cache."""
    root = cache_root()
    if root is None:
        raise UserError("your home folder is not known; set XDG_CACHE_HOME to a folder for corpora")
    return root / "corpora" / name


def read_source(name: str) -> dict[str, Any] | None:
    """What ``SOURCE.json`` says of a corpus, None where it is not on this machine."""
    path = cache_root() and folder_of(name) / SOURCE
    return json.loads(path.read_text(encoding="utf8")) if path and path.is_file() else None


def named_files(name: str, split: str) -> tuple[str, str] | None:
    """English and French file of a split, None where the corpus has no such split."""
    source = read_source(name)
    if source is None:
        raise UserError(
            f"corpus {name!r} is not on this machine; `bottleneck corpus {name} --fetch` brings it"
        )
    if split not in source["pairs"]:
        return None
    english, french = (str(folder_of(name) / f"{split}.{side}.gz") for side in SIDES)
    return english, french


def fetch(
    name: str, limit: int | None = None, report: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Download a corpus unless it is here already with this limit; returns its ``SOURCE.json``.

    ``limit`` training pairs are kept, evenly spread over the text; ``report`` gets the name of each
    file. A fetch that fails leaves what was there.
    """
    existing = read_source(name)
    if existing is not None and existing["limit"] == limit:
        return existing
    corpus, folder, pairs = CORPORA[name], folder_of(name), {}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{name}.", dir=folder.parent) as temporary:
        packed, text = Path(temporary, "packed"), Path(temporary, "text")
        text.mkdir()
        try:
            sources = _download(corpus, packed, report)
            for split, texts in corpus.splits.items():
                sides = [text / f"{split}.{side}.gz" for side in SIDES]
                most = limit if split == "train" else None
                pairs[split] = _write([packed / part for part in texts], sides, most)
        except (*BROKEN, OSError, ValueError) as error:
            raise UserError(
                f"cannot fetch {name} from {corpus.base_url} ({error}); nothing is kept: is this "
                "machine online?"
            ) from None
        source = {
            "name": name, "licence": corpus.licence, "citation": corpus.citation,
            "fetched": datetime.now(UTC).date().isoformat(), "sources": sources, "pairs": pairs,
            "limit": limit,
        }  # fmt: skip
        (text / SOURCE).write_text(json.dumps(source, indent=1) + "\n", encoding="utf8")
        if folder.exists():
            folder.rename(Path(temporary, "old"))
        text.rename(folder)
    return source


def _download(
    corpus: NamedCorpus, folder: Path, report: Callable[[str], None]
) -> list[dict[str, str]]:
    """Bring the files of a corpus into a folder, unpacked; returns their addresses and sha256."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    registry = {file: known or None for file, known in corpus.files.items()}
    host = pooch.create(folder, corpus.base_url, registry=registry)
    # manythings.org refuses the names of libraries.
    agent = "Mozilla/5.0 (compatible; seq2seq-bottleneck)"
    headers = {"User-Agent": agent, "Accept-Encoding": "identity"}
    load = pooch.HTTPDownloader(timeout=30, headers=headers)
    texts, unpack = [*chain(*corpus.splits.values())], {".zip": pooch.Unzip, ".tgz": pooch.Untar}
    sources = []
    for file in corpus.files:
        report(file)
        kind = unpack.get(Path(file).suffix)
        host.fetch(file, kind and kind(texts, extract_dir="."), load)
        digest = pooch.file_hash(str(folder / file))
        sources.append({"url": host.get_url(file), "sha256": digest})
    return sources


def _write(texts: Sequence[Path], sides: Sequence[Path], limit: int | None) -> int:
    """Write the two files of a split, of no more pairs than ``limit``; returns how many."""

    def pairs() -> Iterator[Sequence[bytes]]:
        opened = gzip.open if texts[0].suffix == ".gz" else open
        with opened(texts[0], "rb") as first, opened(texts[-1], "rb") as second:
            if len(texts) == 2:
                yield from zip(first, second, strict=True)
            else:
                yield from (line.split(b"\t")[:2] for line in first)

    count = sum(1 for _ in pairs())
    kept = min(limit or count, count)
    with gzip.open(sides[0], "wb", 6) as ours, gzip.open(sides[1], "wb", 6) as theirs:
        for place, (english, french) in enumerate(pairs()):
            if place * kept // count != (place + 1) * kept // count:
                ours.write(english.strip(b"\r\n") + b"\n")
                theirs.write(french.strip(b"\r\n") + b"\n")
    return kept
