"""Results as files: what the commands print and draw, the rest in words; bundles without text."""

import gzip
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from planted_cost import plant_costs
from planted_report import PAIR, write_length, write_results

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.report.page import write_out
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.results.schema import EXAMPLES, RUNS, SENTENCES
from seq2seq_bottleneck.settings.files import SUMS, write_listed

exhaustive = pytest.mark.exhaustive(sample="session")

TABLES = {"failure_pattern", "vindication", "arms", "context_size", "compression", "length"}
FIGURES = {"bleu", "arms", "attention", "length"}


def printed(capsys, *arguments):
    """What a command prints."""
    assert run([*map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results of two arms and one study, written out; not to be changed."""
    folder = write_results(tmp_path_factory.mktemp("written") / "out")
    return folder, write_out(folder)


@exhaustive
def test_the_files_are_those_of_the_commands_and_what_cannot_be_made_is_named(
    results, tmp_path, capsys
):
    folder, written = results
    assert set(written.tables) == TABLES
    assert set(written.figures) == FIGURES
    for name in TABLES:
        for ending, form in ((".md", "markdown"), (".csv", "csv")):
            text = printed(capsys, "table", name, "--results", folder, "--format", form)
            assert (folder / "tables" / f"{name}{ending}").read_text(encoding="utf8") == text
    for ending in (".png", ".svg"):
        path = tmp_path / f"attention{ending}"
        printed(capsys, "plot", "attention", "--results", folder, "-o", path)
        for made in (path, path.with_suffix(".csv")):
            assert (folder / "figures" / made.name).read_bytes() == made.read_bytes()
    names = ["figure compression", "figure context-length", "figure learning"]
    assert sorted(line.partition(":")[0] for line in written.missing) == names
    text = (folder / "CONTENTS.md").read_text(encoding="utf8")
    assert "- figure learning: the runs in" in text
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(TABLES) + len(FIGURES)
    assert all((folder / link).is_file() for link in links)


@exhaustive
def test_a_folder_of_results_is_written_out_and_a_copy_without_its_stores_reads_alike(
    tmp_path, capsys, monkeypatch
):
    """Also where the bundle has to be made of the store first; no file has this machine's paths."""
    monkeypatch.chdir(tmp_path)
    whole = Path("whole")
    place = write_results(whole / "vindication")
    plant_costs(whole / "bench")
    (place / "runs.csv").unlink()
    text = printed(capsys, "export", "--all", "--results", tmp_path / whole).splitlines()
    assert text[0] == "whole/bench: 2 tables, 1 figure (CONTENTS.md)"
    assert text[1] == "whole/vindication: 6 tables, 4 figures, 3 left out (CONTENTS.md)"
    assert re.search(r"^whole: claims.md, claims.csv; report.html, .* MB; 19 claims: ", text[2])
    for path in (whole / "claims.md", whole / "report.html", place / "CONTENTS.md"):
        assert str(tmp_path) not in path.read_text("utf8")
    shutil.copytree(whole, "copy/whole", ignore=shutil.ignore_patterns(STORE))
    monkeypatch.chdir("copy")
    claims = printed(capsys, "claims", "--results", whole, "--format", "csv")
    assert claims == of_a_bundle((whole / "claims.csv").read_text(encoding="utf8"))
    printed(capsys, "plot", "bleu", "--results", place, "-o", "bleu.svg")
    assert Path("bleu.svg").read_bytes() == (place / "figures" / "bleu.svg").read_bytes()
    printed(capsys, "report", "--results", whole, "-o", "report.html")
    page = (whole / "report.html").read_text(encoding="utf8")
    assert Path("report.html").read_text(encoding="utf8") == of_a_bundle(page)


def of_a_bundle(text):
    """Of a bundle, to which no study can be put nor runs be added, so that no command says so."""
    study = r"(bottleneck study \w+) --results whole/vindication"
    runs = r"(bottleneck (?:reproduce|sweep) [^\n]*?) --out whole/vindication"
    return re.sub(runs, r"\1", re.sub(study, r"\1", text))


@exhaustive
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--all", "-o", "x.csv"], 2, "leave -o out"),
        (["--all", "--results", "none"], 1, "no results in 'none'"),
        (["--all", "--results", "out/runs"], 2, "'out/runs' is a store of runs"),
        (["--without-text"], 2, "name its folder with --bundle"),
    ],
)
def test_what_does_not_go_together_is_refused_and_writes_nothing(
    options, code, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write_results(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    assert run(["export", *options]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert sorted(tmp_path.rglob("*")) == before


@exhaustive
def test_a_damaged_file_is_named(results, tmp_path, capsys):
    folder = Path(shutil.copytree(results[0], tmp_path / "out"))
    study = folder / "probes" / "length.csv"
    study.write_bytes(study.read_bytes()[:-20])
    for command in (["export", "--all"], ["report", "-o", str(tmp_path / "page.html")]):
        assert run([*command, "--results", str(folder)]) == 1
        assert "length.csv' cannot be read (it does not match" in capsys.readouterr().err
    bundle = shutil.copytree(folder, tmp_path / "bundle", ignore=shutil.ignore_patterns(STORE))
    shutil.copy(results[0] / "probes" / "length.csv", bundle / "probes")
    (bundle / "learning.csv").write_text("run\n")  # a curve
    assert run(["report", "-o", str(tmp_path / "page.html"), "--results", str(bundle)]) == 1
    assert "learning.csv' cannot be read (it does not match" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@exhaustive
def test_what_cannot_be_made_any_more_does_not_stay(tmp_path):
    write_length(tmp_path)
    plant_costs(tmp_path)
    written = write_out(tmp_path)
    assert list(written.tables) == ["length", "cost"]
    assert written.missing == []  # and no word of runs
    (tmp_path / "figures" / "mine.png").write_bytes(b"mine")
    write_listed(tmp_path, [], ["probes/cost.csv"])
    assert write_out(tmp_path).figures == ["length"]
    for place, names in (
        ("tables", {"length.md", "length.csv"}),
        ("figures", {"length.png", "length.svg", "length.csv", "mine.png"}),
    ):
        assert {path.name for path in (tmp_path / place).iterdir()} == names


def test_a_bundle_without_text_has_no_sentence_and_every_number(tmp_path, capsys):
    whole, bare, contents = write_results(tmp_path / "whole"), tmp_path / "bare", []
    for folder, options in ((tmp_path / "all", []), (bare, ["--without-text"])):
        printed(capsys, "export", "--results", whole, "--bundle", folder, *options)
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        packed = {name for name in files if name.endswith(".gz")}
        contents.append(files | {name: gzip.decompress(files[name]) for name in packed})
    full, without = contents
    french = PAIR[1].split()[-1].encode()
    assert [name for name, content in full.items() if french in content] == [EXAMPLES]
    assert without[EXAMPLES] == b"{}\n"
    for files in (full, without):
        del files[EXAMPLES], files[SUMS]
    assert without == full
    assert {RUNS, SENTENCES} <= full.keys()
    printed(capsys, "report", "--results", bare, "-o", tmp_path / "page.html")
    assert "The results hold no example sentences." in (tmp_path / "page.html").read_text("utf8")
    printed(capsys, "merge", bare, "-o", tmp_path / "both")
    frames = [Results.open(folder).runs for folder in (tmp_path / "both", whole)]
    pd.testing.assert_frame_equal(*(frame.reset_index(drop=True) for frame in frames))
    assert run(["plot", "attention", "--results", str(bare), "-o", str(tmp_path / "a.png")]) == 1
    assert "no run with attention and examples in" in capsys.readouterr().err
