"""The committed reference results: tables are those of the command, README's numbers the files'."""

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.report.written import TABLES_FOLDER
from seq2seq_bottleneck.results.inside import results_inside

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "results" / "reference"
README = (ROOT / "README.md").read_text(encoding="utf8")
CLAIM = {claim.id: claim for claim in CLAIMS}
TABLES = sorted(REFERENCE.glob(f"*/{TABLES_FOLDER}/*.csv"))
TOLD = (REFERENCE / "claims.csv").read_text(encoding="utf8").splitlines()
DECIDED = {row["id"]: row for row in csv.DictReader(TOLD)}
NUMBER = re.compile(r"\d+(?:\.\d+)?")
ROW = re.compile(r"^\| (L-[\w-]+|C\d+) \| [^|]+ \| \**([\w ]+?)\** \| ([^|]+) \|$", re.MULTILINE)


def test_readme_has_every_claim_with_the_verdict_and_the_numbers_of_the_files():
    rows = ROW.findall(README)
    assert [name for name, *_ in rows] == [claim.id for claim in CLAIMS]
    for name, verdict, found in rows:
        decided = DECIDED[name]
        assert verdict == decided["verdict"], name
        if verdict == "not measured":
            assert f"`bottleneck {CLAIM[name].command}`" in found, name
        else:
            assert NUMBER.findall(found), name
            known = {*NUMBER.findall(decided["because"]), "95"}  # per cent, of every interval
            assert {*NUMBER.findall(found)} <= known, name


def test_claims_are_decided_anew_as_they_are_committed(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert run(["claims", "--results", "results/reference", "--format", "csv"]) == 0
    again = {row["id"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    told = ("verdict", "because", "measure", "runs")
    assert {name: [row[key] for key in told] for name, row in again.items()} == {
        name: [row[key] for key in told] for name, row in DECIDED.items()
    }


@pytest.mark.parametrize("path", TABLES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_tables_of_the_committed_bundles_are_the_committed_tables(path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    folder = path.parents[1].relative_to(ROOT)
    assert run(["table", path.stem, "--results", str(folder), "--format", "csv"]) == 0
    found = pd.read_csv(io.StringIO(capsys.readouterr().out))
    pd.testing.assert_frame_equal(found, pd.read_csv(path), rtol=1e-9)


def test_every_part_has_its_tables_figures_and_no_weights():
    parts = results_inside(REFERENCE)
    assert parts
    for part in parts:
        assert list(part.glob("tables/*.md"))
        assert list(part.glob("figures/*.svg"))
    files = [path for path in REFERENCE.rglob("*") if path.is_file() and "runs" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 15e6
    assert (REFERENCE / "report.html").stat().st_size < 3e6
