"""What can be done without a cache, without a home, and with results that nobody may write to."""

import shutil

import pytest
from disturbed import state
from ordinary_user import bottleneck, require_ordinary
from planted import write_planted

from seq2seq_bottleneck.corpus.download import folder_of, read_source
from seq2seq_bottleneck.runs.run import use_cache
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.machine import cache_root

NO_HOME = {"HOME": None, "XDG_CACHE_HOME": None}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A store and a bundle that are for reading only, and a folder beside them that is not."""
    place = tmp_path_factory.mktemp("place")
    require_ordinary(place)
    write_planted(place / "store", {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    shutil.copytree(place / "store", place / "bundle", ignore=shutil.ignore_patterns("runs"))
    for name in ("store", "bundle"):
        for path in (place / name, *(place / name).rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
    (place / "elsewhere").mkdir()
    yield place
    for path in place.rglob("*"):  # pytest is to clear them away
        if path.is_dir():
            path.chmod(0o755)


@pytest.mark.exhaustive(sample="test")
@pytest.mark.parametrize("name", ["store", "bundle"])
@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("export", "none1x1,"),
        ("table vindication", "none"),
        ("claims", "L-VIND"),
        ("plot bleu -o bleu.png", "bleu.png"),
        ("report -o page.html", "page.html"),
    ],
)
def test_a_folder_for_reading_only_is_shown_and_drawn_elsewhere(place, name, line, part):
    """Without a home: nothing is said but perhaps one line, nothing written."""
    before = state(place / name)
    arguments = [*line.split(), "--results", place / name]
    done = bottleneck(arguments, place / "elsewhere", ordinary=True, **NO_HOME)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) <= 1
    assert part in done.stdout
    assert state(place / name) == before


@pytest.mark.slow
@pytest.mark.parametrize("options", ["-o store/x.csv", "--bundle store/b"])
def test_what_would_be_written_into_it_is_refused_in_one_line(place, options):
    arguments = ["export", *options.split(), "--results", "store"]
    done = bottleneck(arguments, place, ordinary=True, **NO_HOME)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "cannot write" in line


def test_without_a_home_nothing_is_kept(fails, monkeypatch):
    """No HOME, and a user that the system does not know, as in many a container."""
    import pwd

    def unknown(user):
        raise KeyError(user)

    for name in NO_HOME:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cache_root() is read_source("europarl") is None
    use_cache()
    with pytest.raises(UserError, match="XDG_CACHE_HOME"):
        folder_of("europarl")
    assert "XDG_CACHE_HOME" in fails("corpus fetch europarl")
