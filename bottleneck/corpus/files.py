"""Parallel text: two files line by line, or one of tab-separated columns.

The user's own, or a named corpus that was fetched, of which English is the first side. The first
side of the user's own is the source unless the direction is reversed.

Plain or gzip, UTF-8 (a byte-order mark is dropped), lines ended by LF or CRLF. Text is brought
to Unicode form NFC and its white space folded to single spaces.
"""

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from ..settings.concerns import NAMED, CorpusSettings
from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.machine import is_endless
from .download import split_files
from .pair import SentencePair

LARGEST, MOST_LINES = 1_000_000_000, 10_000_000
"""Bytes and lines of a file, unpacked: it is read whole, and a small ``.gz`` may hold anything."""


class PairFiles(NamedTuple):
    """Where one set of pairs lies; ``setting`` names the source's setting in messages."""

    setting: str
    source: str
    target: str | None

    @property
    def target_setting(self) -> str:
        """The target's setting in messages."""
        return self.setting.replace("source", "target")


class PairsRead(NamedTuple):
    """Pairs in the order of the file, and how many lines were dropped for an empty side."""

    pairs: list[SentencePair]
    blank: int


def training_files(corpus: CorpusSettings) -> PairFiles:
    """The files to train on; the user's own are checked to be given together.

    Raises UsageError where they are not, UserError for a named corpus that is not on this machine.
    """
    if corpus.name in NAMED and (named := _named_files(corpus.name, "train")):
        return named
    if corpus.source is None:
        raise UsageError(
            "corpus.name is 'files' but corpus.source is not set; give --set corpus.source=FILE "
            "and --set corpus.target=FILE, or one .tsv file as the source"
        )
    return _checked(PairFiles("corpus.source", corpus.source, corpus.target))


def given_test_files(corpus: CorpusSettings) -> PairFiles | None:
    """The files to test on, None where the test set is to be split off.

    A test set by name, which is another named corpus', goes before the one that a named corpus
    has. Raises UsageError for two test sets, half a one or an unknown one, UserError for one that
    is not on this machine.
    """
    if corpus.test is not None and (corpus.test_source or corpus.test_target):
        raise UsageError("corpus.test and corpus.test_source both name a test set; give one")
    tested = corpus.test or corpus.name
    if corpus.test is not None and tested not in NAMED:
        raise UsageError(
            f"no corpus {tested!r} to test on{did_you_mean(tested, NAMED)}; another test set is "
            "two files: --test-source FILE --test-target FILE"
        )
    return _given(tested, "test", corpus.test_source, corpus.test_target)


def given_valid_files(corpus: CorpusSettings) -> PairFiles | None:
    """The validation set that is given, or a named corpus has; None where it is to be split off.

    Raises UsageError for half a one.
    """
    return _given(corpus.name, "valid", corpus.valid_source, corpus.valid_target)


def _given(name: str, split: str, source: str | None, target: str | None) -> PairFiles | None:
    """The files of a split, of a named corpus or the user's own; None where there are none."""
    if name in NAMED:
        return _named_files(name, split)
    setting = f"corpus.{split}_source"
    if source is not None:
        return _checked(PairFiles(setting, source, target))
    if target is not None:
        raise UsageError(f"corpus.{split}_target is set without --set {setting}=FILE; give both")
    return None


def _named_files(name: str, split: str) -> PairFiles | None:
    """The files of a split of a named corpus, None where it has no such split."""
    parts = split_files(name, split)
    return parts and PairFiles(f"corpus {name!r}", *parts)


def _checked(files: PairFiles) -> PairFiles:
    """Refuse a source without its target, a target beside two columns, and what is read once."""
    both_sides = files.source.lower().endswith((".tsv", ".tsv.gz"))
    if both_sides and files.target is not None:
        raise UsageError(
            f"{files.setting} {files.source!r} is a .tsv and holds both sides; "
            f"leave {files.target_setting} unset"
        )
    if not both_sides and files.target is None:
        raise UsageError(
            f"{files.setting} is set without --set {files.target_setting}=FILE; give both, "
            "or one .tsv file of two columns"
        )
    for path in filter(None, (files.source, files.target)):
        if os.path.exists(path) and Path(path).is_fifo():
            raise UsageError(
                f"{path!r} is a pipe, which can be read once, and every run reads its text: write "
                "it into a file"
            )
    return files


def read_pairs(files: PairFiles, lowercase: bool) -> PairsRead:
    """Read the pairs in the order of the file; those with an empty side are dropped and counted.

    Raises UserError for files of unequal lengths, a line without two columns, and as `read_lines`.
    """
    lines = read_lines(files.source, files.setting, lowercase)
    pairs, blank = [], 0
    for source, target in _sides(files, lines, lowercase):
        folded = SentencePair(" ".join(source.split()), " ".join(target.split()))
        if folded.source and folded.target:
            pairs.append(folded)
        else:
            blank += 1
    return PairsRead(pairs, blank)


def _sides(files: PairFiles, lines: list[str], lowercase: bool) -> Iterator[tuple[str, str]]:
    """Both sides of each line; a line of white space alone is a blank pair."""
    if files.target is not None:
        theirs = read_lines(files.target, files.target_setting, lowercase)
        if len(lines) != len(theirs):
            raise UserError(
                f"{files.setting} {files.source!r} has {len(lines):,} lines and "
                f"{files.target_setting} {files.target!r} has {len(theirs):,}; line by line one "
                "must translate the other: give two files of as many lines"
            )
        yield from zip(lines, theirs, strict=True)
        return
    for number, line in enumerate(lines, start=1):
        columns = line.split("\t") if line.strip() else ["", ""]
        if len(columns) != 2:
            raise UserError(
                f"{files.setting} {files.source!r} line {number} has "
                f"{counted(len(columns), 'column')}; each line must be source<TAB>target"
            )
        yield columns[0], columns[1]


def read_lines(path: str, setting: str, lowercase: bool = False) -> list[str]:
    """The lines of a text file in form NFC; only LF and CRLF end a line.

    Raises UserError, naming ``setting`` and the file, where it is empty, not UTF-8 or not to be
    read.
    """
    text = _read_text(path, setting)
    if not text.strip():
        raise _empty(path, setting)
    return normalize("NFC", text.lower() if lowercase else text).split("\n")


def lines_as_given(path: str, setting: str) -> list[str]:
    """The same lines with every character as it stands, as a score needs them; all may be blank."""
    return _read_text(path, setting).split("\n")


def _read_text(path: str, setting: str) -> str:
    """A file's text without byte-order mark and last line end; every other line ends in LF."""
    name = f"{setting} {path!r}"
    data = _read_bytes(path, name).removeprefix(b"\xef\xbb\xbf")
    if not data:
        raise _empty(path, setting)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name} line {number} is not UTF-8; save the file as UTF-8") from None
    return text.replace("\r\n", "\n").removesuffix("\n")


def _empty(path: str, setting: str) -> UserError:
    return UserError(f"{setting} {path!r} is empty; give a file with one sentence per line")


def _read_bytes(path: str, name: str) -> bytes:
    """The bytes of a file, unpacked where its name ends in ``.gz``."""
    try:
        located = Path(path).expanduser()
        if is_endless(located):
            raise UserError(f"{name} is a device and not a text; name a text file")
        opened = gzip.open if path.lower().endswith(".gz") else open
        with opened(located, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise UserError(f"{name} does not exist; paths start at {str(Path.cwd())!r}") from None
    except IsADirectoryError:
        raise UserError(f"{name} is a folder; name a text file in it") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise UserError(f"{name} is no whole gzip file; pack it again or unpack it") from None
    except OSError as error:
        raise UserError(f"{name} cannot be read ({error.strerror}); check its rights") from None
    except (RuntimeError, ValueError) as error:  # a home that is not known, a character of number 0
        raise UserError(f"{name} cannot be a path ({error}); write another") from None
    if len(data) > LARGEST or data.count(b"\n") > MOST_LINES:
        raise UserError(
            f"{name} has over {LARGEST:,} bytes or {MOST_LINES:,} lines, more than memory can be "
            "trusted with; is it a text? give a part of it"
        )
    return data
