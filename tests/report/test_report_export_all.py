"""Results as files: what the commands print and draw, what is missing, bundles without text."""

import gzip
import re
import shutil
from pathlib import Path

import pytest
from planted_report import PAIR, write_results

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.report.page import write_out

exhaustive = pytest.mark.exhaustive(sample="session")
TABLES = {"failure_pattern", "vindication", "arms", "context_size", "compression", "length"}


def printed(capsys, *arguments):
    """What a command prints."""
    assert run([*map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of two arms and one study, written out; tests do not change them."""
    folder = write_results(tmp_path_factory.mktemp("written") / "out")
    return folder, write_out(folder)


@exhaustive
def test_the_files_are_those_of_the_commands_and_what_cannot_be_made_is_named(
    results, tmp_path, capsys
):
    folder, (tables, figures, missing) = results
    assert set(tables) == TABLES
    assert set(figures) == {"bleu", "arms", "attention", "length"}
    for name in TABLES:
        for ending, form in ((".md", "markdown"), (".csv", "csv")):
            text = printed(capsys, "table", name, "--results", folder, "--format", form)
            assert (folder / "tables" / f"{name}{ending}").read_text(encoding="utf8") == text
    path = tmp_path / "attention.svg"
    printed(capsys, "plot", "attention", "--results", folder, "-o", path)
    for made in (path, path.with_suffix(".csv")):
        assert (folder / "figures" / made.name).read_bytes() == made.read_bytes()
    assert [line.partition(":")[0] for line in missing] == ["figure compression", "figure learning"]
    text = (folder / "CONTENTS.md").read_text(encoding="utf8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(TABLES) + 4
    assert all((folder / link).is_file() for link in links)


@exhaustive
def test_a_damaged_file_is_named(results, tmp_path, capsys):
    folder = Path(shutil.copytree(results[0], tmp_path / "out"))
    study = folder / "probes" / "length.csv"
    study.write_bytes(study.read_bytes()[:-20])
    for command in (["export", "--all"], ["export", "-o", str(tmp_path / "page.html")]):
        assert run([*command, "--results", str(folder)]) == 1
        assert "length.csv' cannot be read (it does not match" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_bundle_without_text_has_no_sentence_and_every_number(tmp_path, capsys):
    whole, bare, contents = write_results(tmp_path / "whole"), tmp_path / "bare", []
    for folder, options in ((tmp_path / "all", []), (bare, ["--without-text"])):
        printed(capsys, "export", "--results", whole, "--bundle", folder, *options)
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        packed = {name for name in files if name.endswith(".gz")}
        contents.append(files | {name: gzip.decompress(files[name]) for name in packed})
    full, without = contents
    french = PAIR[1].split()[-1].encode()
    assert [name for name, content in full.items() if french in content] == ["examples.json.gz"]
    assert without["examples.json.gz"] == b"{}\n"
    for files in (full, without):
        del files["examples.json.gz"], files["SHA256SUMS"]
    assert without == full
    assert {"runs.csv", "sentences.csv.gz"} <= full.keys()
    printed(capsys, "export", "--results", bare, "-o", tmp_path / "page.html")
    assert "The results hold no example sentences." in (tmp_path / "page.html").read_text("utf8")
