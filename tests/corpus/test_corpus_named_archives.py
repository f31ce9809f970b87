"""Hostile archives: each is refused, and nothing is written where it points."""

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from loopback import tgz, zipped

from seq2seq_bottleneck.corpus.named.archives import (
    SMALL,
    Limits,
    leads_outside,
    open_zip,
    reading,
    tar_members,
)
from seq2seq_bottleneck.settings.errors import UserError

LIMITS = Limits(members=10, unpacked=10_000_000)


def read_tar(path: Path, limits: Limits = LIMITS) -> dict[str, bytes]:
    with reading(path):
        return {name: held.read() for name, held in tar_members(path, limits)}


def read_zip(path: Path, limits: Limits = LIMITS) -> dict[str, bytes]:
    with reading(path), open_zip(path, limits) as held:
        return {name: held.read(name) for name in held.namelist()}


def special(kind: bytes, target: str = "") -> tarfile.TarInfo:
    """A member of a kind that is no plain file."""
    info = tarfile.TarInfo("member")
    info.type, info.linkname = kind, target
    return info


def linked() -> zipfile.ZipInfo:
    """A symbolic link as zip archives hold it."""
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    "name", ["../up.txt", "a/../../up.txt", "/etc/up.txt", "..\\up.txt", "C:\\up.txt", "\\\\h\\s"]
)
def test_a_name_that_leads_outside(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    (inside / "a.tgz").write_bytes(tgz([(name, b"x")]))
    (inside / "a.zip").write_bytes(zipped([(name, b"x")]))
    for read, path in ((read_tar, inside / "a.tgz"), (read_zip, inside / "a.zip")):
        with pytest.raises(UserError, match=r"was refused: it holds .*, a path outside its own"):
            read(path)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.tgz", "a.zip"]


@pytest.mark.parametrize("name", ["a.txt", "./a.txt", "a/b/c.en", "a..b/c", "été.xml", "a/"])
def test_names_that_stay_inside(name: str) -> None:
    assert not leads_outside(name)


@pytest.mark.parametrize(
    "member",
    [
        special(tarfile.SYMTYPE, "/etc/passwd"),
        special(tarfile.LNKTYPE, "../../outside"),
        special(tarfile.CHRTYPE),
        special(tarfile.BLKTYPE),
        special(tarfile.FIFOTYPE),
    ],
)
def test_links_and_devices(tmp_path: Path, member: tarfile.TarInfo) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(tgz([("first.txt", b"fine\n"), (member, b"")]))
    with pytest.raises(UserError, match=r"'a\.tgz' was refused: it holds 'member', which is no"):
        read_tar(path)


def test_a_link_in_a_zip_archive(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped([(linked(), b"/etc/passwd")]))
    with pytest.raises(UserError, match="'link', which is no plain file"):
        read_zip(path)


def test_an_encrypted_member(tmp_path: Path) -> None:
    data = bytearray(zipped([("a.txt", b"text")]))
    data[6] |= 1  # the flag in the member's own header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the central directory
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(UserError, match="which is no plain file"):
        read_zip(tmp_path / "a.zip")


@pytest.mark.parametrize(("place", "value"), [(6, 99), (8, 1 << 5), (8, 1 << 6)])
def test_a_zip_archive_of_another_kind(tmp_path: Path, place: int, value: int) -> None:
    """A version to come, patched data, strong encryption: zipfile knows none of them."""
    data = bytearray(zipped([("a.txt", b"text")]))
    data[data.index(b"PK\x01\x02") + place] = value
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(UserError, match=r"'a\.zip' is damaged or cut off"):
        read_zip(tmp_path / "a.zip")


def test_a_directory_that_points_before_the_archive(tmp_path: Path) -> None:
    """zipfile would go to a place below 0, which the system calls an invalid argument."""
    data = bytearray(zipped([("a.txt", b"text")]))
    place = data.index(b"PK\x05\x06") + 16
    data[place] += 10
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(UserError, match=r"'a\.zip' is damaged or cut off"):
        read_zip(tmp_path / "a.zip")


def test_a_tar_bomb_is_stopped_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(tgz([("zeros", bytes(100 * SMALL // 10))]))
    assert path.stat().st_size < SMALL // 10
    with pytest.raises(UserError, match="unpacks to far more than it should"):
        read_tar(path)


def test_a_zip_bomb_is_stopped_before_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped([(f"zeros{n}", bytes(SMALL)) for n in range(9)]))
    with pytest.raises(UserError, match="unpacks to far more than it should"):
        read_zip(path)


def test_a_bomb_in_a_header(tmp_path: Path) -> None:
    """A long name is read whole before there is a member: the stream itself is bounded."""
    info = tarfile.TarInfo("x" * (3 * SMALL))
    path = tmp_path / "a.tgz"
    path.write_bytes(tgz([(info, b"")]))
    with pytest.raises(UserError, match="unpacks to far more than it should"):
        read_tar(path)


def test_a_size_that_lies(tmp_path: Path) -> None:
    """The central directory says 4 bytes: no more are read, and the checksum tells."""
    data = bytearray(zipped([("a.txt", bytes(5 * SMALL))]))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = (4).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(UserError, match="is damaged or cut off"):
        read_zip(tmp_path / "a.zip")


def test_more_files_than_there_can_be(tmp_path: Path) -> None:
    members = [(f"{n}.txt", b"") for n in range(11)]
    (tmp_path / "a.tgz").write_bytes(tgz(members))
    (tmp_path / "a.zip").write_bytes(zipped(members))
    for read, name in ((read_tar, "a.tgz"), (read_zip, "a.zip")):
        with pytest.raises(UserError, match="holds more than 10 files"):
            read(tmp_path / name)


def test_the_limit_in_bytes_counts_all_members(tmp_path: Path) -> None:
    members = [(f"{n}.txt", b"x" * 400) for n in range(3)]
    (tmp_path / "a.tgz").write_bytes(tgz(members))
    (tmp_path / "a.zip").write_bytes(zipped(members))
    few = Limits(members=10, unpacked=1_000)
    for read, name in ((read_tar, "a.tgz"), (read_zip, "a.zip")):
        with pytest.raises(UserError, match="unpacks to far more than it should"):
            read(tmp_path / name, few)


def test_honest_archives_are_read(tmp_path: Path) -> None:
    members = [("a.txt", b"one\n"), ("b/c.txt", b"two\n")]
    (tmp_path / "a.tgz").write_bytes(tgz(members))
    (tmp_path / "a.zip").write_bytes(zipped(members))
    assert read_tar(tmp_path / "a.tgz") == read_zip(tmp_path / "a.zip") == dict(members)


def test_a_tar_archive_that_was_unpacked_on_its_way(tmp_path: Path) -> None:
    """A server may call .tgz an encoding, which the transfer then undoes."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        info = tarfile.TarInfo("a.txt")
        info.size = 4
        tar.addfile(info, io.BytesIO(b"one\n"))
    (tmp_path / "a.tgz").write_bytes(held.getvalue())
    assert read_tar(tmp_path / "a.tgz") == {"a.txt": b"one\n"}
