"""Parallel text: two files line by line, or one of tab-separated columns.

The user's own, or a named corpus that was fetched, of which English is the first side. The first
side of the user's own is the source unless the direction is reversed.

Plain or gzip, UTF-8 (a byte-order mark is dropped), lines ended by LF or CRLF. Text is brought
to Unicode form NFC and its white space folded to single spaces.
"""

import gzip
import os
import zlib
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

from ..settings.concerns import NAMED, CorpusSettings
from ..settings.errors import UsageError, UserError, counted, did_you_mean
from ..settings.machine import is_endless
from .download import split_files
from .pair import SentencePair


class PairFiles(NamedTuple):
    """Where one set of pairs lies; ``setting`` names the source's setting in messages."""

    setting: str
    source: str
    target: str | None

    @property
    def target_setting(self) -> str:
        """The target's setting in messages."""
        return self.setting.replace("source", "target")


def training_files(corpus: CorpusSettings) -> PairFiles:
    """The files to train on; the user's own are checked to be given together.

    Raises UsageError where they are not, UserError for a named corpus that is not on this machine.
    """
    if corpus.name in NAMED and (parts := split_files(corpus.name, "train")):
        return PairFiles(f"corpus {corpus.name!r}", *parts)
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
    if corpus.test is not None and corpus.test not in NAMED:
        raise UsageError(
            f"no corpus {corpus.test!r} to test on{did_you_mean(corpus.test, NAMED)}; another test "
            "set is two files: --test-source FILE --test-target FILE"
        )
    return given_files(corpus, "test", corpus.test or corpus.name)


def given_files(corpus: CorpusSettings, split: str, name: str) -> PairFiles | None:
    """A split of the corpus of this name or the user's own; None where it is to be split off.

    Raises UsageError for half a one.
    """
    if name in NAMED:
        parts = split_files(name, split)
        return parts and PairFiles(f"corpus {name!r}", *parts)
    setting = f"corpus.{split}_source"
    source, target = (getattr(corpus, f"{split}_{side}") for side in ("source", "target"))
    if source is None and target is not None:
        raise UsageError(f"corpus.{split}_target is set without --set {setting}=FILE; give both")
    return source and _checked(PairFiles(setting, source, target))


def _checked(files: PairFiles) -> PairFiles:
    """Refuse a source without its target, a target beside two columns, and what is read once."""
    setting, source, target = files
    both_sides = source.lower().endswith((".tsv", ".tsv.gz"))
    if both_sides and target is not None:
        raise UsageError(
            f"{setting} {source!r} is a .tsv and holds both sides; "
            f"leave {files.target_setting} unset"
        )
    if not both_sides and target is None:
        raise UsageError(
            f"{setting} is set without --set {files.target_setting}=FILE; give both, "
            "or one .tsv file of two columns"
        )
    for path in filter(None, (source, target)):
        if os.path.exists(path) and Path(path).is_fifo():
            raise UsageError(
                f"{path!r} is a pipe, which can be read once, and every run reads its text: write "
                "it into a file"
            )
    return files


def read_pairs(files: PairFiles, lowercase: bool) -> tuple[list[SentencePair], int]:
    """The pairs in the order of the file, and how many were dropped for an empty side.

    Raises UserError for files of unequal lengths, a line without two columns, and as `read_lines`.
    """
    name = f"{files.setting} {files.source!r}"
    lines = read_lines(files.source, files.setting, lowercase)
    if files.target is not None:
        theirs = read_lines(files.target, files.target_setting, lowercase)
        if len(lines) != len(theirs):
            raise UserError(
                f"{name} has {len(lines):,} lines and "
                f"{files.target_setting} {files.target!r} has {len(theirs):,}; line by line one "
                "must translate the other: give two files of as many lines"
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
    except IsADirectoryError:
        raise UserError(f"{name} is a folder; name a text file in it") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise UserError(f"{name} is no whole gzip file; pack it again or unpack it") from None
    except OSError as error:
        raise UserError(f"{name} cannot be read ({error.strerror}); check its rights") from None
    except (RuntimeError, ValueError) as error:  # a home that is not known, a character of number 0
        raise UserError(f"{name} cannot be a path ({error}); write another") from None
    if not data:
        raise UserError(f"{name} is empty; give a file with one sentence per line")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{name} line {number} is not UTF-8; save the file as UTF-8") from None
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")
