"""Parallel text by name: pooch downloads it once, and runs read it from the user's cache.

A corpus is a folder with two files per split, English and French (``train.en.gz``,
``train.fr.gz``), or one file with both (``train.tsv``).
"""

import tomllib
from collections.abc import Callable
from importlib.resources import files
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from ..settings.errors import UserError
from ..settings.machine import cache_root

CORPORA = {
    name: SimpleNamespace(**fields)
    for name, fields in tomllib.loads(
        files(__package__).joinpath("corpora.toml").read_text("utf8")
    ).items()
}
"""Every corpus of ``settings.concerns.NAMED``; ``corpora.toml`` explains the fields."""


def folder_of(name: str) -> Path:
    """The folder of a corpus in the user's cache; a UserError if there is no cache."""
    root = cache_root()
    if root is None:
        raise UserError("your home folder is not known; set XDG_CACHE_HOME to a folder for corpora")
    return root / "corpora" / name


def fetch(name: str, report: Callable[[str], None] = lambda _: None) -> None:
    """Download a corpus, whole or not at all; ``report`` gets the name of each file."""
    import pooch

    corpus, folder = CORPORA[name], folder_of(name)
    pooch.get_logger().setLevel("WARNING")
    registry = {file: known or None for file, known in corpus.files.items()}
    # manythings.org refuses user agents of libraries.
    agent = "Mozilla/5.0 (compatible; seq2seq-bottleneck)"
    headers = {"User-Agent": agent, "Accept-Encoding": "identity"}
    load = pooch.HTTPDownloader(timeout=30, headers=headers)
    members, unpack = [*chain(*corpus.splits.values())], {".zip": pooch.Unzip, ".tgz": pooch.Untar}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{name}.", dir=folder.parent) as temporary:
        packed, text = Path(temporary, "packed"), Path(temporary, "text")
        text.mkdir()
        try:
            host = pooch.create(packed, corpus.base_url, registry=registry)
            for file in corpus.files:
                report(file)
                kind = unpack.get(Path(file).suffix)
                host.fetch(file, kind and kind(members, extract_dir="."), load)
            for split, texts in corpus.splits.items():
                if len(texts) == 1:  # columns; the first two are the pair
                    lines = (packed / texts[0]).read_text("utf8").split("\n")
                    rows = ["\t".join(line.split("\t")[:2]) for line in lines]
                    (text / f"{split}.tsv").write_text("\n".join(rows), "utf8")
                    continue
                for side, file in zip(("en", "fr"), texts, strict=True):
                    end = ".gz" if file.endswith(".gz") else ""
                    (packed / file).rename(text / f"{split}.{side}{end}")
            text.rename(folder)
        except Exception as error:
            raise UserError(
                f"cannot fetch {name} from {corpus.base_url} ({error}); nothing is kept: is this "
                "machine online?"
            ) from None
