"""Results written out in full: what the commands print and draw, as files; the rest in words."""

import re
import shutil
from pathlib import Path

import pytest
from planted_cost import plant_costs
from planted_report import write_length, write_results

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.report.export_all import write_out
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.results.schema import STUDIES
from seq2seq_bottleneck.settings.files import write_listed

pytestmark = pytest.mark.exhaustive(sample="session")

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


def test_the_files_are_those_of_the_commands(results, tmp_path, capsys):
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


def test_what_cannot_be_made_is_left_out_in_words(results):
    folder, written = results
    names = ["figure compression", "figure context-length", "figure learning", "not measured"]
    assert sorted(line.partition(":")[0] for line in written.missing) == names
    unmeasured = re.findall(r"not measured: (.*) \(", written.missing[-1])[0]
    assert unmeasured == ", ".join(name for name in STUDIES if name != "length")
    text = (folder / "CONTENTS.md").read_text(encoding="utf8")
    assert "- figure learning: the runs in" in text
    assert "- figure compression: all runs have one context size (`bottleneck plot comp" in text
    assert re.search(r"- not measured: survival, .*\(`bottleneck study NAME --results ", text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) == len(TABLES) + len(FIGURES)
    assert all((folder / link).is_file() for link in links)


def test_a_folder_of_results_is_written_out_and_a_copy_without_its_stores_reads_alike(
    tmp_path, capsys, monkeypatch
):
    """Also where the bundle has to be made of the store first."""
    monkeypatch.chdir(tmp_path)
    whole = Path("whole")
    write_results(whole / "vindication")
    plant_costs(whole / "bench")
    (whole / "vindication" / "runs.csv").unlink()
    text = printed(capsys, "export", "--all", "--results", whole).splitlines()
    assert text[0] == "whole/bench: 2 tables, 1 figure (CONTENTS.md)"
    assert text[1] == "whole/vindication: 6 tables, 4 figures, 4 left out (CONTENTS.md)"
    assert text[2].startswith("whole: claims.md, claims.csv; report.html, ")
    assert " MB; 19 claims: " in text[2]

    shutil.copytree(whole, "copy/whole", ignore=shutil.ignore_patterns(STORE))
    monkeypatch.chdir("copy")
    for name, form in (("claims.md", "markdown"), ("claims.csv", "csv")):
        claims = printed(capsys, "claims", "--results", whole, "--format", form)
        assert claims == of_a_bundle((whole / name).read_text(encoding="utf8"))
    place = whole / "vindication"
    again = printed(capsys, "table", "length", "--results", place, "--format", "csv")
    assert again == (place / "tables" / "length.csv").read_text(encoding="utf8")
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


def test_no_file_says_where_the_machine_keeps_its_folders(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_results(tmp_path / "out")
    printed(capsys, "export", "--all", "--results", tmp_path / "out")
    printed(capsys, "report", "--results", tmp_path / "out", "-o", "page.html")
    for name in ("out/claims.md", "out/report.html", "out/CONTENTS.md", "page.html"):
        text = Path(name).read_text(encoding="utf8")
        assert str(tmp_path) not in text
        assert "--results out" in text or "--out out" in text


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--all", "-o", "x.csv"], 2, "leave -o out"),
        (["--all", "--results", "none"], 1, "no results in 'none'"),
        (["--all", "--results", "out/runs"], 2, "'out/runs' is a store of runs"),
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


def test_what_cannot_be_made_any_more_does_not_stay(tmp_path):
    write_length(tmp_path)
    plant_costs(tmp_path)
    written = write_out(tmp_path)
    assert list(written.tables) == ["length", "cost", "cost_exponents"]
    assert written.missing == []  # and no word of runs
    for other in ("mine.png", "cost.txt"):
        (tmp_path / "figures" / other).write_bytes(b"mine")
    write_listed(tmp_path, [], ["probes/cost.csv"])
    assert write_out(tmp_path).figures == ["length"]
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"length.md", "length.csv"}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        "length.png", "length.svg", "length.csv", "mine.png", "cost.txt"
    }  # fmt: skip
