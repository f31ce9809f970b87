"""Drawn corpora, kept on this machine: reading one takes a twentieth of the time of drawing it.

A file is TSV under gzip, whose check sum tells damage: one row per pair with its split, both
sentences, links (``0-0 1-2``) and bits to the last digit, and one row per note. Its name is a hash
of all that the pairs depend on, this package's code included. A file that is damaged or cannot be
written is as none: the corpus is drawn.
"""

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from filelock import FileLock

from ..settings.concerns import FILES, CorpusSettings
from ..settings.errors import UserError
from ..settings.files import write_bytes
from ..settings.machine import cache_root
from .pair import Link, SentencePair, Splits

PAIRS = range(5_000, 1_000_001)
"""Training pairs worth a file: fewer are drawn in a second, more take too much room."""
MOST_BYTES = 500_000_000
"""Of all files together; those that were not read for the longest time make room."""
WAIT = 600
"""Seconds that a process waits for another one that draws the same corpus."""
HEAD = "split\tsource\ttarget\tlinks\tbits"
NOTE = "note"
_LATER = {"test", "tokens", "source_vocabulary", "target_vocabulary", "lowercase", *FILES}
"""Settings that matter for no drawn pair."""


def cached_splits(
    corpus: CorpusSettings, edges: tuple[int, ...], draw: Callable[[], Splits]
) -> Splits:
    """The splits from their file or, where there is none, drawn and written to it.

    Of several processes that want the same corpus one draws and the others wait.
    """
    path = cache_file(corpus, edges)
    if path is None or corpus.train_pairs not in PAIRS:
        return draw()
    with ExitStack() as stack:
        with suppress(OSError, NotImplementedError):  # no lock can be had there
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(path.with_suffix(".lock"), timeout=WAIT))
        splits = read_splits(path)
        if splits is None:
            splits = draw()
            rows = "".join(f"{row}\n" for row in _rows(splits))
            with suppress(UserError):  # no room or no right to write there
                write_bytes(path, gzip.compress(rows.encode(), 1, mtime=0))
                _make_room(path.parent)
        return splits


def cache_file(corpus: CorpusSettings, edges: tuple[int, ...]) -> Path | None:
    """Where a drawn corpus is kept; None where nothing is."""
    root = cache_root()
    digest = sha256(f"{corpus.model_dump_json(exclude=_LATER)} {edges}".encode())
    folder = Path(__file__).parent
    for module in (*sorted(folder.glob("*.py")), *sorted((folder / "grammar").glob("*.py"))):
        digest.update(module.read_bytes())
    return root and root / "drawn" / f"{digest.hexdigest()[:16]}.tsv.gz"


def _rows(splits: Splits) -> Iterator[str]:
    yield HEAD
    yield from (f"{NOTE}\t{note}\t\t\t" for note in splits.notes)
    for name, pairs in zip(Splits._fields, splits[:3], strict=False):
        for pair in pairs:
            links = " ".join([f"{ours}-{theirs}" for ours, theirs in pair.links])
            bits = "" if pair.bits is None else repr(pair.bits)
            yield f"{name}\t{pair.source}\t{pair.target}\t{links}\t{bits}"


@cache  # the same link is one object, which makes reading quick
def _link(text: str) -> Link:
    source, target = map(int, text.split("-"))
    return source, target


def read_splits(path: Path) -> Splits | None:
    """The corpus of a file; None where there is none or it is damaged."""
    read: dict[str, list] = {name: [] for name in ("train", "valid", "test", NOTE)}
    try:
        head, *rows, end = gzip.decompress(path.read_bytes()).decode().split("\n")
        if head != HEAD or end:
            return None
        for row in rows:
            name, source, target, links, bits = row.split("\t")
            known_links = tuple(map(_link, links.split()))
            pair = SentencePair(source, target, known_links, float(bits) if bits else None)
            read[name].append(source if name == NOTE else pair)
    except (OSError, EOFError, zlib.error, ValueError, KeyError):
        return None
    with suppress(OSError):
        os.utime(path)
    return Splits(*map(tuple, read.values()))


def _make_room(folder: Path) -> None:
    """Remove the files that were not read for the longest time, until the rest is small enough."""
    with suppress(OSError):
        total = 0
        for path in sorted(folder.glob("*.tsv.gz"), key=os.path.getmtime, reverse=True):
            total += path.stat().st_size
            if total > MOST_BYTES:
                path.unlink(missing_ok=True)
                path.with_suffix(".lock").unlink(missing_ok=True)
