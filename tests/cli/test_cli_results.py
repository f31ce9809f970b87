"""Commands that read results: ``export``, ``claims`` and ``report``."""

import csv
import io
import json

import pandas as pd
import pytest
from planted import planted_settings as settings_of
from planted import write_begun, write_planted

from seq2seq_bottleneck.results.bundle import load_results

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
TABLES = ["L-FAIL", "L-VIND", "L-VIND-short", "L-VIND-rising", "L-VIND-largest"]
IDS = [*TABLES, *(f"C{number}" for number in range(1, 15))]


def test_export_takes_conditions_as_tables_do(tmp_path, ok):
    write_planted(tmp_path / "out", ARMS)
    arguments = ["export --where attention=none --results", tmp_path / "out"]
    frame = pd.read_csv(io.StringIO(ok(*arguments).out), keep_default_na=False)
    assert set(frame["run"]) == {"none1x1", "none2x1"}
    said = ok(*arguments, "--where seed=2 --bundle", tmp_path / "b").err
    assert said == f"Written to {tmp_path / 'b'}: 1 run\n"
    assert set(load_results(tmp_path / "b")["run"]) == {"none2x1"}


def test_export_writes_the_csv_into_the_file_that_is_named(tmp_path, ok):
    write_planted(tmp_path / "out", ARMS)
    arguments = ["export --where seed=1 --results", tmp_path / "out"]
    text = ok(*arguments).out
    for option in ("-o", "--out"):
        path = tmp_path / "tidy" / f"runs{option}.csv"
        printed = ok(*arguments, option, path)
        assert printed.out == ""
        assert printed.err == f"Written to {path}: {len(text.splitlines()) - 1} rows\n"
        assert path.read_text(encoding="utf8") == text


def claims(ok, *arguments):
    """The rows of the CSV by id, and what is said on stderr."""
    printed = ok("claims --format csv --results", *arguments)
    rows = {row["id"]: row for row in csv.DictReader(io.StringIO(printed.out))}
    assert list(rows) == IDS
    return rows, printed.err


def test_of_reproduces_runs_the_tables_are_decided_and_the_rest_names_its_command(tmp_path, ok):
    out = tmp_path / "my results"
    write_planted(out, ARMS)
    rows, said = claims(ok, out)
    assert said == ""
    assert {rows[claim]["verdict"] for claim in IDS[:2]} == {"held"}
    assert rows["L-VIND"]["runs"] == "4 runs: none, additive, seed 1, 2"
    assert rows["L-VIND"]["command"] == ""
    for claim in IDS[len(TABLES) :]:
        assert rows[claim]["verdict"] == "not measured"
        assert rows[claim]["because"]
        assert rows[claim]["rule"]
    assert rows["C1"]["command"] == f"bottleneck sweep context_size --out '{out}'"
    assert rows["C10"]["command"] == f"bottleneck sweep controls --out '{out}'"
    assert rows["C11"]["command"] == f"bottleneck study length --results '{out}'"
    rows, _ = claims(ok, out, "--where seed=2")
    assert rows["L-VIND"]["runs"] == "2 runs: none, additive, seed 2"


def test_claims_says_what_a_folder_lacks(tmp_path, ok):
    write_begun(tmp_path / "begun", "stopped", settings_of("none"))
    rows, said = claims(ok, tmp_path / "begun")
    assert {row["verdict"] for row in rows.values()} == {"not measured"}
    assert "holds no results: name another folder" in said
    assert f"`bottleneck reproduce --out {tmp_path / 'begun'}`" in said
    write_planted(tmp_path / "some", ARMS, seeds=1)
    write_begun(tmp_path / "some", "stopped", settings_of("none", 5))
    _, said = claims(ok, tmp_path / "some")
    assert (
        said == "1 run is without a result: `bottleneck runs` lists them, where they were made.\n"
    )


@pytest.mark.slow
def test_claims_names_every_claim_in_every_form(tmp_path, ok):
    write_planted(tmp_path, ARMS, seeds=1)
    for form in ("rich", "markdown", "json"):
        text = ok(f"claims --format {form} --results", tmp_path).out
        assert all(claim in text for claim in IDS)
    assert [row["id"] for row in json.loads(text)["rows"]] == IDS


@pytest.mark.slow
def test_the_page_is_written_and_one_line_says_so(tmp_path, ok):
    write_planted(tmp_path / "a b", ARMS, seeds=1)
    path = tmp_path / "pages" / "mine.html"
    said = ok("report --results", tmp_path / "a b", "-o", path).out
    assert said == f"{path}: {path.stat().st_size / 1e6:.2f} MB\n"
    text = path.read_text(encoding="utf8")
    assert text.startswith("<!doctype html>")
    assert f"bottleneck table vindication --results &#39;{tmp_path / 'a b'}&#39;" in text
