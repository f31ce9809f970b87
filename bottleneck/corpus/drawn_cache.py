"""Drawn corpora, kept on this machine: reading one takes a twentieth of the time of drawing it.

A file is JSON under gzip, whose check sum tells damage: a list of pairs for each split (source,
target, links as ``0-0 1-2``, bits), and the notes. Its name is a hash of all that the pairs depend
on, this package's code included. A file that is damaged or cannot be written is as none: the corpus
is drawn. Processes that want the same new corpus at the same time draw it each.
"""

import gzip
import json
import os
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..settings.concerns import FILES, CorpusSettings
from ..settings.errors import UserError
from ..settings.files import write_bytes
from ..settings.machine import cache_root
from .pair import Link, SentencePair, Splits

PAIRS = range(5_000, 1_000_001)
"""Training pairs worth a file: fewer are drawn in a second, more take too much room."""
MOST_BYTES = 500_000_000
"""Of all files together; those that were not read for the longest time make room."""


def cached_splits(
    corpus: CorpusSettings, edges: tuple[int, ...], draw: Callable[[], Splits]
) -> Splits:
    """The splits from their file or, where there is none, drawn and written to it."""
    path = cache_file(corpus, edges)
    if path is None or corpus.train_pairs not in PAIRS:
        return draw()
    with suppress(OSError, EOFError, zlib.error, ValueError):
        *splits, notes = json.loads(gzip.decompress(path.read_bytes()))
        train, valid, test = (
            tuple(
                SentencePair(source, target, tuple(map(_link, links.split())), bits)
                for source, target, links, bits in pairs
            )
            for pairs in splits
        )
        with suppress(OSError):
            os.utime(path)
        return Splits(train, valid, test, tuple(notes))
    splits = draw()
    rows = [
        [(p.source, p.target, " ".join([f"{i}-{j}" for i, j in p.links]), p.bits) for p in pairs]
        for pairs in splits[:3]
    ]
    content = json.dumps([*rows, splits.notes], ensure_ascii=False).encode()
    with suppress(OSError, UserError):  # no room or no right to write there
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, gzip.compress(content, 1, mtime=0))
        total = 0
        for file in sorted(path.parent.glob("*.gz"), key=os.path.getmtime, reverse=True):
            total += file.stat().st_size
            if total > MOST_BYTES:
                file.unlink(missing_ok=True)
    return splits


def cache_file(corpus: CorpusSettings, edges: tuple[int, ...]) -> Path | None:
    """Where a drawn corpus is kept; None where nothing is."""
    root = cache_root()
    later = {"test", "tokens", "source_vocabulary", "target_vocabulary", "lowercase", *FILES}
    digest = sha256(f"{corpus.model_dump_json(exclude=later)} {edges}".encode())
    for path in sorted(Path(__file__).parent.rglob("*")):
        if path.suffix in (".py", ".toml", ".txt"):
            digest.update(path.read_bytes())
    return root and root / "drawn" / f"{digest.hexdigest()[:16]}.json.gz"


@cache  # the same link is one object, which makes reading quick
def _link(text: str) -> Link:
    source, target = map(int, text.split("-"))
    return source, target
