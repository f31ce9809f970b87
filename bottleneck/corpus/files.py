"""Parallel text: two files line by line, or one of tab-separated columns.

The user's own, or a named corpus that was fetched, of which English is the first side. The first
side of the user's own is the source unless the direction is reversed.

Plain or gzip, UTF-8 (a byte-order mark is dropped), lines ended by LF or CRLF. Text is brought
to Unicode form NFC and its white space folded to single spaces.
"""

import gzip
import zlib
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from ..settings.concerns import NAMED, CorpusSettings
from ..settings.errors import UsageError, UserError, counted
from ..settings.machine import is_endless
from .download import split_files
from .pair import SentencePair


class PairFiles(NamedTuple):
    """Where one set of pairs lies; ``setting`` names the source's setting in messages."""

    setting: str
    source: str
    target: str | None


def pair_files(corpus: CorpusSettings, split: str) -> PairFiles | None:
    """The files of split train, valid or test; None where it is to be split off.

    The test set of another named corpus, ``corpus.test``, goes before one of the corpus's own.
    Raises UsageError for half a pair of files and for a pipe, UserError for a named corpus that is
    not on this machine.
    """
    name = corpus.test if corpus.test and split == "test" else corpus.name
    if name in NAMED:
        parts = split_files(name, split)
        return parts and PairFiles(f"corpus {name!r}", *parts)
    setting = "corpus.source" if split == "train" else f"corpus.{split}_source"
    source, target = (
        getattr(corpus, setting.partition(".")[2].replace("source", side))
        for side in ("source", "target")
    )
    if split != "train" and source is None and target is None:
        return None
    has_both_sides = source is not None and source.lower().endswith((".tsv", ".tsv.gz"))
    if source is None or has_both_sides == (target is not None):
        raise UsageError(
            f"give --set {setting}=FILE and --set {setting.replace('source', 'target')}=FILE, or "
            "one .tsv file of two columns as the source alone"
        )
    for path in filter(None, (source, target)):
        if Path(path).is_fifo():
            raise UsageError(
                f"{path!r} is a pipe, which can be read once, and every run reads its text: write "
                "it into a file"
            )
    return PairFiles(setting, source, target)


def read_pairs(files: PairFiles, lowercase: bool) -> tuple[list[SentencePair], int]:
    """The pairs in the order of the file, and how many were dropped for an empty side.

    Raises UserError for files of unequal lengths, a line without two columns, and as `read_lines`.
    """
    name = f"{files.setting} {files.source!r}"
    lines = read_lines(files.source, files.setting, lowercase)
    if files.target is not None:
        setting = files.setting.replace("source", "target")
        theirs = read_lines(files.target, setting, lowercase)
        if len(lines) != len(theirs):
            raise UserError(
                f"{name} has {len(lines):,} lines and {setting} {files.target!r} has "
                f"{len(theirs):,}; line by line one must translate the other: give two files of as "
                "many lines"
            )
        rows = list(zip(lines, theirs, strict=True))
    else:
        rows = [line.split("\t") if line.strip() else ("", "") for line in lines]
        for number, row in enumerate(rows, start=1):
            if len(row) != 2:
                raise UserError(
                    f"{name} line {number} has {counted(len(row), 'column')}; each line must be "
                    "source<TAB>target"
                )
    folded = (SentencePair(*(" ".join(side.split()) for side in row)) for row in rows)
    pairs = [pair for pair in folded if pair.source and pair.target]
    return pairs, len(rows) - len(pairs)


def read_lines(path: str, setting: str, lowercase: bool = False) -> list[str]:
    """The lines of a text file in form NFC; only LF and CRLF end a line.

    Raises UserError, naming ``setting`` and the file, where it is empty, not UTF-8 or not to be
    read.
    """
    lines = lines_as_given(path, setting)
    if not any(map(str.strip, lines)):
        raise UserError(f"{setting} {path!r} is empty; give a file with one sentence per line")
    return [normalize("NFC", line.lower() if lowercase else line) for line in lines]


def lines_as_given(path: str, setting: str) -> list[str]:
    """The same lines with every character as it stands, as a score needs them; all may be blank.

    A file whose name ends in ``.gz`` is unpacked. Raises UserError as `read_lines`.
    """
    name = f"{setting} {path!r}"
    try:
        located = Path(path).expanduser()
        if is_endless(located):
            raise UserError(f"{name} is a device and not a text; name a text file")
        opened = gzip.open if path.lower().endswith(".gz") else open
        with opened(located, "rb") as file:
            data = file.read().removeprefix(b"\xef\xbb\xbf")
    except FileNotFoundError:
        raise UserError(f"{name} does not exist; paths start at {str(Path.cwd())!r}") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise UserError(f"{name} is no whole gzip file; pack it again or unpack it") from None
    except (OSError, RuntimeError, ValueError) as error:  # also a home that is not known
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{name} cannot be read ({reason}); name a text file") from None
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name} line {number} is not UTF-8; save the file as UTF-8") from None
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")
