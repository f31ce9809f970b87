"""Text translated line by line: as many lines out as in, and a count of what is to be told.

A stream is read a few thousand lines at a time, so that its length costs no memory.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
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


@dataclass
class Places:
    """How many lines there are of a kind, and the number of the first."""

    count: int = 0
    first: int = 0

    def add(self, line: int) -> None:
        """One more."""
        self.count += 1
        self.first = self.first or line

    @property
    def where(self) -> str:
        """The first line's number, for people."""
        return f"line {self.first:,}" + (" and others" if self.count > 1 else "")


@dataclass
class Tally:
    """What became of the lines so far; tokens are the source's."""

    lines: int = 0
    empty: int = 0
    tokens: int = 0
    unknown: int = 0
    long: Places = field(default_factory=Places)
    cut: Places = field(default_factory=Places)

    def add(self, line: str, found: Translation, longest: int) -> None:
        """Count a line; ``longest`` are the most words that the run was trained on."""
        self.lines += 1
        self.empty += not found.source
        self.tokens += len(found.source)
        self.unknown += found.unknown
        if len(line.split()) > longest:
            self.long.add(self.lines)
        if not found.ended:
            self.cut.add(self.lines)

    def notes(self, settings: RunSettings) -> list[str]:
        """One line for each thing that a reader of the translations should know."""
        decoding = settings.decoding
        cap = f"{decoding.cap_factor:g} x source + {decoding.cap_extra} tokens"
        told = [
            (self.lines, f"{counted(self.lines, 'line')} translated, {self.empty:,} of them empty"),
            (
                self.unknown,
                f"{self.unknown:,} of {self.tokens:,} source tokens are not in the training "
                "vocabulary",
            ),
            (
                self.long.count,
                f"{counted(self.long.count, 'line')} longer than any trained on "
                f"({settings.corpus.longest_trained} words), translated all the same: "
                f"{self.long.where}",
            ),
            (
                self.cut.count,
                f"{counted(self.cut.count, 'translation')} without an end, cut at the cap of "
                f"{cap}: {self.cut.where}",
            ),
        ]
        return [note for count, note in told if count]


def translate_lines(
    trained: TrainedRun, lines: Iterable[str], tally: Tally, aligned: bool = False
) -> Iterator[list[str]]:
    """Translations in chunks, one for each line; an empty line for an empty line.

    ``aligned`` puts three columns behind a translation (``with_links``).
    """
    left = iter(lines)
    while chunk := list(islice(left, CHUNK)):
        found = trained.translations(chunk, BATCH, aligned)
        for line, each in zip(chunk, found, strict=True):
            tally.add(line, each, trained.settings.corpus.longest_trained)
        yield [with_links(trained, each) if aligned else each.text for each in found]


def with_links(trained: TrainedRun, found: Translation) -> str:
    """Translation, links, source tokens, output tokens, with tabs between.

    A link ``i-j`` says that output token j looked most at source token i, both counted from 0; end
    tokens are left out. Each output token has one, in the order of the output.
    """
    if found.weights is None:
        return found.text
    best = links_from_weights(found.weights, len(found.source), len(found.output))
    links = [f"{i}-{j}" for i, j in sorted(best, key=lambda link: link[1])]
    tokens = [map(trained.display, side) for side in (found.source, found.output)]
    return "\t".join([found.text, *(" ".join(column) for column in (links, *tokens))])


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
                    "is it a text, with a sentence a line?"
                )
            text = line.decode().removesuffix("\n").removesuffix("\r")
            yield text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text
    except UnicodeDecodeError:
        raise UserError(f"{name} line {number:,} is not UTF-8; save it as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"{name} cannot be read after line {number:,} ({error}); is the file whole?"
        ) from None
