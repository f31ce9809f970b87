"""Parallel text by name: pooch downloads it once, and runs read it from the user's cache.

A corpus is a folder of one gzip file for each language and split (``train.en.gz``) and of
``SOURCE.json``, which says where the text came from.
"""

import gzip
import json
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ..settings.errors import UserError
from ..settings.machine import cache_root

SOURCE = "SOURCE.json"
SIDES = ("en", "fr")
"""Languages of the two files of a split, English first."""
# manythings.org refuses the names of libraries. A hash is of the packed file.
HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; seq2seq-bottleneck)",
    "Accept-Encoding": "identity",
}
DAMAGED = (
    EOFError,
    FileNotFoundError,  # no such member
    ValueError,  # another sha256; sides of unequal length
    gzip.BadGzipFile,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What a file that is not the expected one raises."""

_MULTI30K = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
}


class NamedCorpus(NamedTuple):
    """What a download brings: about so many pairs, so many MB to download.

    ``files`` are the names at ``base_url`` and their sha256, None where the host publishes none.
    ``splits`` give the English and the French text of each split, a file or a member of the
    archive; one text alone has tab-separated columns, English and French the first two.
    """

    pairs: int
    megabytes: float
    licence: str
    citation: str
    base_url: str
    files: Mapping[str, str | None]
    splits: Mapping[str, tuple[str, ...]]


CORPORA = {
    "multi30k": NamedCorpus(
        31_014,
        1.3,
        "research and education, non-commercial",
        "Elliott et al. 2016; French: Elliott et al. 2017",
        "https://raw.githubusercontent.com/multi30k/dataset/"
        "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/",
        _MULTI30K,
        {
            "train": ("train.en.gz", "train.fr.gz"),
            "valid": ("val.en.gz", "val.fr.gz"),
            "test": ("test_2016_flickr.en.gz", "test_2016_flickr.fr.gz"),
        },
    ),
    "tatoeba": NamedCorpus(
        230_000,
        8.0,
        "CC BY 2.0 FR",
        "tatoeba.org, manythings.org",
        "https://www.manythings.org/anki/",
        {"fra-eng.zip": None},
        {"train": ("fra.txt",)},
    ),
    "europarl": NamedCorpus(
        2_007_723,
        194.0,
        "no copyright restrictions known",
        "Koehn 2005",
        "https://www.statmt.org/europarl/v7/",
        {"fr-en.tgz": None},
        {"train": ("europarl-v7.fr-en.en", "europarl-v7.fr-en.fr")},
    ),
    "news-commentary": NamedCorpus(
        183_251,
        80.0,
        "research",
        "Bojar et al. 2014 (WMT14)",
        "https://www.statmt.org/wmt14/",
        {"training-parallel-nc-v9.tgz": None},
        {"train": tuple(f"training/news-commentary-v9.fr-en.{side}" for side in SIDES)},
    ),
}
"""Every corpus of ``settings.concerns.NAMED``."""


def folder_of(name: str) -> Path:
    """The folder of a corpus in the user's cache; a UserError where there is no such cache."""
    root = cache_root()
    if root is None:
        raise UserError("your home folder is not known; set XDG_CACHE_HOME to a folder for corpora")
    return root / "corpora" / name


def read_source(name: str) -> dict[str, Any] | None:
    """What ``SOURCE.json`` says of a corpus, None where it is not on this machine."""
    path = None if cache_root() is None else folder_of(name) / SOURCE
    return json.loads(path.read_text(encoding="utf8")) if path and path.is_file() else None


def split_files(name: str, split: str) -> tuple[str, str] | None:
    """English and French file of a split, None where the corpus has no such split.

    Raises UserError where the corpus is not on this machine.
    """
    source = read_source(name)
    if source is None:
        raise UserError(
            f"corpus {name!r} is not on this machine; `bottleneck corpus fetch {name}` brings it"
        )
    if split not in source["pairs"]:
        return None
    english, french = (str(folder_of(name) / f"{split}.{side}.gz") for side in SIDES)
    return english, french


def fetch(
    name: str,
    limit: int | None = None,
    again: bool = False,
    make_bar: Callable[[str], Any] = lambda _: False,
) -> dict[str, Any]:
    """Download a corpus unless it is here already with this limit; returns its ``SOURCE.json``.

    ``limit`` training pairs are kept, evenly spread over the text. ``make_bar`` gives pooch a
    progress bar for a file. The folder takes its place when it is whole: a fetch that fails leaves
    what was there. Raises UserError in one line.
    """
    from requests import RequestException

    existing = read_source(name)
    if existing is not None and not again and existing["limit"] == limit:
        return existing
    corpus, folder = CORPORA[name], folder_of(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{name}.", dir=folder.parent) as temporary:
        packed, text = Path(temporary, "packed"), Path(temporary, "text")
        text.mkdir()
        try:
            sources = _download(corpus, packed, make_bar)
            pairs = {
                split: _write(packed, texts, text, split, limit if split == "train" else None)
                for split, texts in corpus.splits.items()
            }
        except RequestException as error:
            raise UserError(
                f"{name} cannot be downloaded from {corpus.base_url} ({_reason(error)}); is this "
                "machine online? Try again later"
            ) from None
        except DAMAGED:
            raise UserError(
                f"{corpus.base_url} sent a file that is damaged or is not the known one; nothing "
                "was kept: try again later, or give any text with --corpus files"
            ) from None
        source = {
            "name": name,
            "licence": corpus.licence,
            "citation": corpus.citation,
            "fetched": datetime.now(UTC).date().isoformat(),
            "sources": sources,
            "pairs": pairs,
            "limit": limit,
        }
        (text / SOURCE).write_text(json.dumps(source, indent=1) + "\n", encoding="utf8")
        if folder.exists():
            folder.rename(Path(temporary, "old"))
        text.rename(folder)
    return source


def _download(
    corpus: NamedCorpus, folder: Path, make_bar: Callable[[str], Any]
) -> list[dict[str, str]]:
    """Bring the files of a corpus into a folder, unpacked; returns their addresses and sha256."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    host = pooch.create(folder, corpus.base_url, registry=dict(corpus.files))
    texts = [text for split in corpus.splits.values() for text in split]
    unpack = {".zip": pooch.Unzip, ".tgz": pooch.Untar}
    for file in corpus.files:
        bar, kind = make_bar(file), unpack.get(Path(file).suffix)
        load = pooch.HTTPDownloader(bar, chunk_size=1 << 16, timeout=30, headers=HEADERS)
        host.fetch(file, kind and kind(texts, extract_dir="."), load)
    return [
        {"url": host.get_url(file), "sha256": pooch.file_hash(str(folder / file))}
        for file in corpus.files
    ]


def _reason(error: BaseException) -> str:
    """What a network error goes back to."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return str(getattr(error, "strerror", None) or error)


def _write(packed: Path, texts: Sequence[str], folder: Path, split: str, limit: int | None) -> int:
    """Write the two files of a split, of no more pairs than ``limit``; returns how many."""
    paths = [packed / text for text in texts]
    count = sum(1 for _ in _pairs(paths))
    kept = min(limit or count, count)
    first, second = (folder / f"{split}.{side}.gz" for side in SIDES)
    with gzip.open(first, "wb", 6) as ours, gzip.open(second, "wb", 6) as theirs:
        for place, (english, french) in enumerate(_pairs(paths)):
            if place * kept // count != (place + 1) * kept // count:
                ours.write(english.strip(b"\r\n") + b"\n")
                theirs.write(french.strip(b"\r\n") + b"\n")
    return kept


def _pairs(paths: Sequence[Path]) -> Iterator[Sequence[bytes]]:
    """English and French line of each pair."""
    opened = gzip.open if paths[0].suffix == ".gz" else open
    with opened(paths[0], "rb") as first, opened(paths[-1], "rb") as second:
        if len(paths) == 2:
            yield from zip(first, second, strict=True)
        else:
            yield from (line.split(b"\t")[:2] for line in first)
