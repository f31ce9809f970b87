"""``export --bundle --without-text``: all but the sentences, for a corpus that may not be shown."""

import gzip

import pandas as pd
import pytest
from planted_report import PAIR, write_results

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.schema import EXAMPLES, RUNS, SENTENCES
from seq2seq_bottleneck.settings.files import SUMS

FRENCH = PAIR[1].split()[-1]


def contents(folder):
    """The files of a bundle by name, unpacked."""
    return {
        path.name: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in folder.iterdir()
        if path.is_file()
    }


@pytest.fixture
def whole(tmp_path):
    return write_results(tmp_path / "whole")


@pytest.fixture
def bare(tmp_path, whole):
    arguments = ["--results", str(whole), "--bundle", str(tmp_path / "bare"), "--without-text"]
    assert run(["export", *arguments]) == 0
    return tmp_path / "bare"


def test_no_sentence_is_in_it_and_every_number_is(whole, bare):
    assert run(["export", "--results", str(whole), "--bundle", str(whole.parent / "all")]) == 0
    full, without = contents(whole.parent / "all"), contents(bare)
    assert [name for name, content in full.items() if FRENCH.encode() in content] == [EXAMPLES]
    assert without[EXAMPLES] == b"{}\n"
    for files in (full, without):
        del files[EXAMPLES], files[SUMS]
    assert without == full
    assert {RUNS, SENTENCES} <= full.keys()


@pytest.mark.slow
def test_tables_page_and_merge_do_without(tmp_path, whole, bare, capsys):
    page = tmp_path / "page.html"
    assert run(["report", "--results", str(bare), "-o", str(page)]) == 0
    assert "The results hold no example sentences." in page.read_text("utf8")
    assert run(["merge", str(bare), "-o", str(tmp_path / "both")]) == 0
    frames = [Results.open(folder).runs for folder in (tmp_path / "both", whole)]
    pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in frames))
    capsys.readouterr()
    assert run(["plot", "attention", "--results", str(bare), "-o", str(tmp_path / "a.png")]) == 1
    assert "no run with attention and examples in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [([], "name its folder with --bundle"), (["--all"], "leave --without-text out")],
)
def test_it_is_of_a_bundle_alone(options, message, whole, capsys):
    assert run(["export", "--results", str(whole), "--without-text", *options]) == 2
    assert message in capsys.readouterr().err
