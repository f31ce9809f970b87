"""What can be done without a cache, without a home, and with results that nobody may write to."""

import os
import shutil
from pathlib import Path

import pytest
from ordinary_user import STRANGER, ordinary, read_only, require_ordinary, require_stranger
from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.download import folder_of, read_source
from seq2seq_bottleneck.runs.environment import cache_folder, use_cache
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.machine import cache_root

NO_HOME = {"HOME": None, "XDG_CACHE_HOME": None}


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """A store and a bundle that are for reading only, and a folder beside them that is not."""
    place = tmp_path_factory.mktemp("place")
    require_ordinary(place)
    write_planted(place / "store", {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    shutil.copytree(place / "store", place / "bundle", ignore=shutil.ignore_patterns("runs"))
    for name in ("store", "bundle"):
        read_only(place / name)
    (place / "elsewhere").mkdir()
    yield place
    for path in place.rglob("*"):  # pytest is to clear them away
        if path.is_dir():
            path.chmod(0o755)


def state(folder):
    return {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


def reads(held, name, arguments):
    """Run without a home on a folder; nothing is said but perhaps one line, nothing written."""
    before = state(held / name)
    done = ordinary([*arguments, "--results", str(held / name)], held / "elsewhere", **NO_HOME)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1
    assert state(held / name) == before
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["store", "bundle"])
def test_a_folder_for_reading_only_is_exported(held, name):
    assert reads(held, name, ["export"]).count("\n") == 11


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("name", ["store", "bundle"])
@pytest.mark.parametrize("arguments", [["table", "vindication"], ["claims"], ["runs"]])
def test_a_folder_for_reading_only_is_shown(held, name, arguments):
    if (name, arguments) != ("bundle", ["runs"]):
        assert reads(held, name, arguments)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("name", ["store", "bundle"])
def test_a_folder_for_reading_only_is_drawn_and_reported_elsewhere(held, name):
    assert "bleu.png" in reads(held, name, ["plot", "bleu", "-o", "bleu.png"])
    assert "page.html" in reads(held, name, ["report", "-o", "page.html"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["export", "-o", "store/x.csv"], ["export", "--bundle", "store/b", "--results", "store"]],
)
def test_what_would_be_written_into_it_is_refused_in_one_line(held, arguments):
    options = [] if "--results" in arguments else ["--results", "store"]
    done = ordinary([*arguments, *options], held, **NO_HOME)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "cannot write" in line


@pytest.mark.slow
def test_a_user_without_a_home_trains_and_translates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stranger")
    for place in (folder, *folder.parents[:2]):
        place.chmod(0o777)
    require_stranger(folder)
    smoke = ["reproduce", "--preset", "smoke", "--corpus", "copy", "--quiet", "--out", "out"]
    sentence = ["translate", "w1 w2", "--results", "out"]
    for arguments in (smoke, sentence):
        done = ordinary(arguments, folder, STRANGER, **NO_HOME)
        assert done.returncode == 0, done.stderr
        assert len(done.stderr.splitlines()) <= 1
    done = ordinary(["corpus", "list"], folder, STRANGER, **NO_HOME)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def no_home(monkeypatch):
    """No HOME, and a user that the system does not know, as in many a container."""
    import pwd

    for name in NO_HOME:
        monkeypatch.delenv(name, raising=False)

    def unknown(user):
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)


@pytest.mark.usefixtures("no_home")
def test_without_a_home_nothing_is_kept(capsys):
    assert cache_root() is cache_folder() is read_source("europarl") is None
    use_cache()
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        folder_of("europarl")
    assert run(["corpus", "fetch", "europarl"]) == 1
    assert "XDG_CACHE_HOME" in capsys.readouterr().err


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("kind", ["a file", "damaged", "not to be written"])
def test_a_cache_of_no_use_changes_nothing(held, kind):
    """Programs that cannot be read are compiled again, without a word."""
    out, cache = held / "elsewhere" / "cached", held / "elsewhere" / f"cache, {kind}"
    known = {"XDG_CACHE_HOME": str(cache)}
    options = ["--preset", "smoke", "--corpus", "copy", "--quiet", "--out", str(out)]
    assert ordinary(["reproduce", *options], held / "elsewhere", **known).returncode == 0
    sentence = ["translate", "w1 w2 w3", "--results", str(out)]
    usual = ordinary(sentence, held / "elsewhere", **known)
    spoil(cache, kind)
    done = ordinary(sentence, held / "elsewhere", **known)
    assert (done.returncode, done.stdout, done.stderr) == (0, usual.stdout, usual.stderr)


def spoil(cache: Path, kind: str) -> None:
    if kind == "a file":
        os.rename(cache, f"{cache}, old")
        cache.write_text("x")
        return
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(b"x" * 100)
    if kind == "not to be written":
        read_only(cache)
