"""``bottleneck report`` as a user meets it: one file, one line, and errors."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from listed import write_relisted
from planted import write_planted

from seq2seq_bottleneck.cli.main import run

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}


@pytest.mark.slow
def test_the_page_is_written_and_one_line_says_so(tmp_path, capsys):
    write_planted(tmp_path / "a b", ARMS, seeds=1)
    made = tmp_path / "pages" / "mine.html"
    assert run(["report", "--results", str(tmp_path / "a b"), "-o", str(made)]) == 0
    size = made.stat().st_size
    assert capsys.readouterr().out == f"{made}: {size / 1e6:.2f} MB\n"
    text = made.read_text(encoding="utf8")
    assert text.startswith("<!doctype html>")
    assert f"bottleneck table vindication --results &#39;{tmp_path / 'a b'}&#39;" in text


@pytest.mark.parametrize(
    ("name", "message"),
    [("nothing", "no results in"), ("file", "is not a folder"), ("damaged", "cannot be")],
)
def test_errors_name_the_way_out_and_leave_no_file(name, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    write_relisted(tmp_path / "damaged" / "probes" / "length.csv", "no,such,columns\n")
    assert run(["report", "--results", name]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert (captured.err.count("\n"), captured.out) == (1, "")
    assert not (tmp_path / "report.html").exists()


@pytest.mark.exhaustive(sample="session")
def test_trained_runs_their_studies_and_a_bundle_of_them_make_a_page(tmp_path, monkeypatch):
    """Small, from training to the page, and from the bundle alone."""
    monkeypatch.chdir(tmp_path)
    program = Path(sys.executable).parent / "bottleneck"
    command = ["reproduce", "--preset", "smoke", "--out", "runs", "--quiet"]
    subprocess.run([program, *command], check=True, capture_output=True)
    for study in ("survival", "length", "alignment", "fit"):
        assert run(["study", study, "--results", "runs", "--quiet"]) == 0
    assert run(["report", "--results", "runs"]) == 0
    assert run(["export", "--results", "runs", "--bundle", "bundle"]) == 0
    shutil.rmtree("runs")
    assert run(["report", "--results", "bundle", "-o", "again.html"]) == 0
    pages = [(tmp_path / name).read_text(encoding="utf8") for name in ("report.html", "again.html")]
    for text in pages:
        assert len(text.encode()) < 3_000_000
        assert "bottleneck reproduce --preset smoke --out runs --quiet" in text
        for study in ("survival", "length", "alignment"):
            assert f"bottleneck plot {study} --results" in text
        data = text.partition('id="explorer-data">')[2].partition("</script>")[0]
        sentences = json.loads(data)["sentences"]
        assert len(sentences) == 10
        assert all(sentence["linked"] for sentence in sentences)
