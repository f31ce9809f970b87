"""Commands as a user types them, and a sweep that writes planted runs in place of training."""

import shlex

import pytest
from small_sweeps import planted_cells, small_sweep

from seq2seq_bottleneck.cli.main import run


def words(parts):
    """The words of a command line: strings are split as in a shell, lists and paths are not."""
    split = [shlex.split(part) if isinstance(part, str) else part for part in parts]
    return [str(word) for part in split for word in (part if isinstance(part, list) else [part])]


@pytest.fixture
def ok(capsys):
    """Run a command that must succeed; return what it prints."""

    def printed(*parts):
        capsys.readouterr()
        assert run(words(parts)) == 0
        return capsys.readouterr()

    return printed


@pytest.fixture
def fails(capsys):
    """Run a command that must fail with this exit code; return its one line on stderr."""

    def message(*parts, code=1):
        capsys.readouterr()
        assert run(words(parts)) == code
        printed = capsys.readouterr()
        assert printed.out == ""
        (line,) = printed.err.splitlines()
        assert line.startswith("bottleneck: ")
        return line

    return message


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of compiled programs for one module, which its tests may spoil."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A sweep's file in its own folder; runs with known scores take the place of training."""
    run_cells = planted_cells(lambda _, n: (f"run{n}", [0.1, 0.2, 0.3, 0.4, 0.5], n))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seq2seq_bottleneck.runs.pool.run_cells", run_cells)
    text = small_sweep("Does a larger context help?", "none", "additive")
    (tmp_path / "mine.toml").write_text(text)
    return tmp_path
