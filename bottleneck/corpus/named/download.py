"""One file from the network, by pooch: checked, and under its final name only when it is whole."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from ...settings.errors import UserError
from .archives import refused
from .places import NOTHING_KEPT

TIMEOUT = 30
"""Seconds without a byte after which a host counts as gone."""
# manythings.org answers no library's own name. What is packed stays packed: a hash is of the file.
HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; seq2seq-bottleneck)",
    "Accept-Encoding": "identity",
}


@runtime_checkable  # so that beartype can check it in tests
class Bar(Protocol):
    """A progress bar as pooch drives it."""

    total: int

    def update(self, count: int) -> object:
        """So many bytes more have come."""

    def reset(self) -> object:
        """Go back to none."""

    def close(self) -> object:
        """Nothing more will come."""


@dataclass(frozen=True)
class Remote:
    """A file elsewhere; ``sha256`` None where no one has vouched for one."""

    url: str
    sha256: str | None
    most_bytes: int

    @property
    def name(self) -> str:
        """The file's name."""
        return urlsplit(self.url).path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Arrived:
    """A file that came whole."""

    path: Path
    url: str
    sha256: str


class _Limited:
    """A file to write to that refuses what is longer than it may be: no disk is filled."""

    def __init__(self, file: BufferedWriter, most: int, name: str) -> None:
        self._file, self._left, self._name = file, most, name

    def write(self, data: bytes) -> int:
        """Write the bytes."""
        self._left -= len(data)
        if self._left < 0:
            raise refused(self._name, "is far longer than it should be")
        return self._file.write(data)

    def flush(self) -> None:
        """The file writes when it is closed: pooch would have every kilobyte written by itself."""


def download(remote: Remote, folder: Path, recorded: str | None, bar: Bar | None) -> Arrived:
    """Bring a file into a folder and check it against its hash, known or recorded earlier.

    Raises UserError in one line for whatever keeps it from arriving whole.
    """
    import pooch

    pooch.get_logger().setLevel("WARNING")  # it would tell where files lie; we do that
    loader = pooch.HTTPDownloader(
        progressbar=bar or False, chunk_size=1 << 16, timeout=TIMEOUT, headers=HEADERS
    )

    def limited(url: str, path: str, caller: Any) -> None:
        with open(path, "wb") as file:
            loader(url, _Limited(file, remote.most_bytes, remote.name), caller)

    with _telling(remote, recorded):
        known = remote.sha256 or recorded
        path = Path(pooch.retrieve(remote.url, known, remote.name, folder, downloader=limited))
    return Arrived(path, remote.url, pooch.file_hash(str(path)))


@contextmanager
def _telling(remote: Remote, recorded: str | None) -> Iterator[None]:
    """What goes wrong in the block as one line for the user."""
    from requests import HTTPError, RequestException
    from requests.exceptions import ChunkedEncodingError

    try:
        yield
    except HTTPError as error:
        code = error.response.status_code
        raise UserError(
            f"{remote.url} answers {code} ({error.response.reason or 'no reason given'}); "
            "try later, or see whether the corpus has moved"
        ) from None
    except ChunkedEncodingError:
        raise UserError(
            f"the transfer of {remote.url} was cut off; run the same command again"
        ) from None
    except RequestException as error:
        raise UserError(_unreached(remote, error)) from None
    except ValueError:  # pooch: another hash
        raise UserError(_other_hash(remote, recorded)) from None


def _unreached(remote: Remote, error: BaseException) -> str:
    """Why a transfer came to nothing: the network's own word for it where there is one."""
    host = urlsplit(remote.url).hostname
    name, reason = _deepest(error)
    if name in ("gaierror", "NameResolutionError"):
        return f"{host!r} cannot be found ({reason}); is this machine online? Try again then"
    return f"{host!r} cannot be reached ({reason}); is this machine online? Try again later"


def _deepest(error: BaseException) -> tuple[str, str]:
    """Class and text of what an error goes back to."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return type(error).__name__, getattr(error, "strerror", None) or str(error)


def _other_hash(remote: Remote, recorded: str | None) -> str:
    """The message for a file that came whole but is another one."""
    if remote.sha256 is None and recorded is not None:
        return (
            f"{remote.url} now gives another text than the one recorded here (sha256 "
            f"{recorded[:12]}...); to take the new one, delete the corpus's folder first"
        )
    return (
        f"{remote.url} gives a file that is not the known one (its sha256 is not "
        f"{str(remote.sha256)[:12]}...); {NOTHING_KEPT}"
    )
