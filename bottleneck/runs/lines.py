"""Text translated line by line: as many lines out as in, and a count of what is to be told.

A stream is read a few thousand lines at a time, so that its length costs no memory.
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import islice
from pathlib import Path

from ..corpus.pieces import links_from_weights
from ..settings.errors import UserError, counted
from ..settings.machine import is_endless
from ..settings.run import RunSettings
from .translate import TrainedRun, Translation

CHUNK = 4096
"""Lines in memory at once."""
BATCH = 64
"""Sentences of one search."""
LONGEST = 10_000_000
"""Bytes of a line: what never ends one would be read for ever (``/dev/zero``)."""

_BYTE_ORDER_MARK = "\ufeff"


class Tally:
    """What became of the lines so far; tokens are the source's."""

    def __init__(self) -> None:
        self.lines = self.empty = self.tokens = self.unknown = 0
        self._counts: Counter[str] = Counter()
        self._firsts: dict[str, int] = {}

    def add(self, line: str, translation: Translation, longest: int) -> None:
        """Count a line; ``longest`` are the most words that the run was trained on."""
        self.lines += 1
        self.empty += not translation.source
        self.tokens += len(translation.source)
        self.unknown += translation.unknown
        for kind, applies in (
            ("long", len(line.split()) > longest),
            ("cut", not translation.ended),
        ):
            if applies:
                self._counts[kind] += 1
                self._firsts.setdefault(kind, self.lines)

    def notes(self, settings: RunSettings) -> list[str]:
        """One line for each thing that a reader of the translations should know."""
        decoding = settings.decoding
        notes = []
        if self.lines:
            notes.append(f"{counted(self.lines, 'line')} translated, {self.empty:,} of them empty")
        if self.unknown:
            notes.append(
                f"{self.unknown:,} of {self.tokens:,} source tokens are not in the training "
                "vocabulary"
            )
        if long := self._counts["long"]:
            notes.append(
                f"{counted(long, 'line')} longer than any trained on "
                f"({settings.corpus.longest_trained} words), translated all the same: "
                + self._where("long")
            )
        if cut := self._counts["cut"]:
            notes.append(
                f"{counted(cut, 'translation')} without an end, cut at the cap of "
                f"{decoding.cap_factor:g} x source + {decoding.cap_extra} tokens: "
                + self._where("cut")
            )
        return notes

    def _where(self, kind: str) -> str:
        others = " and others" if self._counts[kind] > 1 else ""
        return f"line {self._firsts[kind]:,}{others}"


def translate_lines(
    trained: TrainedRun, lines: Iterable[str], tally: Tally, aligned: bool = False
) -> Iterator[list[str]]:
    """Translations in chunks, one for each line; an empty line for an empty line.

    ``aligned`` puts three columns behind a translation (``with_links``).
    """
    left = iter(lines)
    while chunk := list(islice(left, CHUNK)):
        translations = trained.translations(chunk, BATCH, aligned)
        for line, translation in zip(chunk, translations, strict=True):
            tally.add(line, translation, trained.settings.corpus.longest_trained)
        yield [with_links(trained, each) if aligned else each.text for each in translations]


def with_links(trained: TrainedRun, translation: Translation) -> str:
    """Translation, links, source tokens, output tokens, with tabs between.

    A link ``i-j`` says that output token j looked most at source token i, both counted from 0; end
    tokens are left out. Each output token has one, in the order of the output.
    """
    if translation.weights is None:
        return translation.text
    best = links_from_weights(translation.weights, len(translation.source), len(translation.output))
    links = [f"{i}-{j}" for i, j in sorted(best, key=lambda link: link[1])]
    tokens = [map(trained.display, side) for side in (translation.source, translation.output)]
    return "\t".join([translation.text, *(" ".join(column) for column in (links, *tokens))])


@contextmanager
def open_file(path: Path) -> Iterator[Iterator[str]]:
    """Lines of a UTF-8 file, plain or ``.gz``; what is wrong with it is a UserError."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        if is_endless(path):
            raise UserError(f"{str(path)!r} is a device and not a text; name a text file")
        file = opened(path, "rb")
    except OSError as error:
        raise UserError(
            f"{str(path)!r} cannot be read ({error.strerror}); name a text file, plain or .gz"
        ) from None
    with file:
        yield read_lines(file, repr(str(path)))


def read_lines(stream: BufferedIOBase, name: str) -> Iterator[str]:
    """Lines as text, without their ends; only LF and CRLF end a line.

    Raises UserError, with the line's number, for what is no UTF-8, has no end or cannot be read.
    """
    number = 0
    try:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
            if len(line) > LONGEST:
                raise UserError(
                    f"{name} line {number:,} is over {LONGEST:,} bytes and no sentence; "
                    "is it a text, with one sentence per line?"
                )
            text = line.decode().removesuffix("\n").removesuffix("\r")
            yield text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text
    except UnicodeDecodeError:
        raise UserError(f"{name} line {number:,} is not UTF-8; save it as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"{name} cannot be read after line {number:,} ({error}); is the file whole?"
        ) from None
