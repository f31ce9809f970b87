"""TOML that nobody meant: one line with the file and the line or key."""

from pathlib import Path

import pytest

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.settings.errors import UsageError, quoted
from seq2seq_bottleneck.settings.run import read_toml, resolve
from seq2seq_bottleneck.settings.sweep import load_sweep

HEAD = b"# Is it?\n[model]\n"

BAD = {
    "latin": (b"# Is it?\n\n# caf\xe9\n", "line 3"),
    "sixteen": ("# Is it?\n[model]\n".encode("utf-16"), "not UTF-8 text (at line 1)"),
    "nul": (HEAD + b"context_size = \0 8", "line 3"),
    "escape": (HEAD + b'attention = "\x1b[31m"', "line 3"),
    "half pair": (HEAD + b'attention = "\\ud800"', "line 3"),
    "twice": (HEAD + b"layers = 1\nlayers = 2", "Cannot overwrite a value (at end of document)"),
    "a table twice": (HEAD + b"layers = 1\n[model]\n", "line 4"),
    "lists": (HEAD + b"layers = " + b"[" * 100_000, "too deep"),
    "tables": (HEAD + b"layers = " + b"{a=" * 100_000, "too deep"),
    "nine lists": (HEAD + b"layers = [[[[[[[[[1]]]]]]]]]", "'model.layers'"),
    "digits": (HEAD + b"layers = " + b"9" * 5_000, "too many digits"),
    "hex": (HEAD + b"layers = 0x" + b"f" * 5_000, "'model.layers'"),
    "65 bits": (HEAD + b"layers = 18446744073709551616", "'model.layers'"),
    "no date": (HEAD + b"layers = 2020-13-45", "line 3"),
    "large": (HEAD + b"#" * 1_000_001, "1,000,000 bytes"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "part"), BAD.values(), ids=BAD)
def test_bad_toml_is_one_line(capsys, tmp_path, monkeypatch, data, part):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_bytes(data)
    assert run(["sweep", "mine.toml", "--dry-run"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("bottleneck: mine.toml: ")
    assert part in line
    assert len(line) < 300


def test_a_file_without_an_end_is_read_as_far_as_its_limit():
    with pytest.raises(UsageError, match="1,000,000 bytes"):
        read_toml(Path("/dev/zero"), "")


def test_a_byte_order_mark_and_line_ends_of_windows_are_read(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xef\xbb\xbf# Is it?\r\n[model]\r\nlayers = [1, 2]\r\n")
    sweep = load_sweep(file)
    assert (sweep.question, sweep.settings) == ("Is it?", {"model.layers": [1, 2]})


@pytest.mark.parametrize(
    "text", ["9" * 5_000, "0x" + "f" * 5_000, "[" * 100_000, "{a=" * 10_000, "1\nb = 2", "\ud800"]
)
def test_a_flags_absurd_value_is_one_short_line(text):
    with pytest.raises(UsageError, match=r"model\.layers") as caught:
        resolve("smoke", [f"model.layers={text}"])
    assert len(str(caught.value)) < 300


def test_a_value_is_quoted_as_python_writes_it_and_cut_if_it_is_long():
    assert quoted("a'b") == '"a\'b"'
    assert quoted("a" * 1_000) == f"'{'a' * 79}... (1,002 characters)"
    assert quoted(16**5_000) == "int too long to write"
