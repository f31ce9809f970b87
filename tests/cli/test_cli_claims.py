"""``bottleneck claims`` as a user meets it."""

import csv
import io
import json

import pytest
from planted import planted_settings as settings_of
from planted import write_begun, write_planted

from seq2seq_bottleneck.cli.main import run

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
TABLES = ["L-FAIL", "L-VIND", "L-VIND-short", "L-VIND-rising", "L-VIND-largest"]
IDS = [*TABLES, *(f"C{number}" for number in range(1, 15))]


def rows_of(capsys, *arguments):
    """The rows of the CSV by id, and what was said on stderr."""
    assert run(["claims", "--format", "csv", *map(str, arguments)]) == 0
    said = capsys.readouterr()
    return {row["id"]: row for row in csv.DictReader(io.StringIO(said.out))}, said.err


def test_of_reproduces_runs_the_tables_are_decided_and_the_rest_names_its_command(tmp_path, capsys):
    out = tmp_path / "my results"
    write_planted(out, ARMS)
    rows, said = rows_of(capsys, "--results", out)
    assert list(rows) == IDS
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


def test_a_folder_without_runs_has_every_claim_not_measured(tmp_path, capsys):
    write_begun(tmp_path, "stopped", settings_of("none"))
    rows, said = rows_of(capsys, "--results", tmp_path)
    assert list(rows) == IDS
    assert {row["verdict"] for row in rows.values()} == {"not measured"}
    told = f"{str(tmp_path)!r} holds no results: `bottleneck reproduce --out {tmp_path}`"
    assert said == f"{told} makes some there\n"


def test_a_folder_of_other_files_is_no_place_for_results(tmp_path, capsys):
    (tmp_path / "mine").write_text("")
    _, said = rows_of(capsys, "--results", tmp_path)
    told = f"{str(tmp_path)!r} holds no results: name a folder that `bottleneck reproduce` or "
    assert said == f"{told}`bottleneck sweep` wrote\n"


@pytest.mark.slow
def test_where_narrows_the_runs(tmp_path, capsys):
    write_planted(tmp_path, ARMS)
    rows, _ = rows_of(capsys, "--results", tmp_path, "--where", "seed=2")
    assert rows["L-VIND"]["runs"] == "2 runs: none, additive, seed 2"
    assert run(["claims", "--results", str(tmp_path), "--where", "sed=2"]) == 2
    assert "did you mean 'seed'" in capsys.readouterr().err


def test_runs_without_a_result_are_told_of(tmp_path, capsys):
    write_planted(tmp_path, ARMS, seeds=1)
    write_begun(tmp_path, "stopped", settings_of("none", 5))
    _, said = rows_of(capsys, "--results", tmp_path)
    told = "1 run is without a result: `bottleneck runs` lists them, where they were made."
    assert said == told + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["rich", "markdown", "json"])
def test_every_form_tells_every_claim(form, tmp_path, capsys):
    write_planted(tmp_path, ARMS, seeds=1)
    assert run(["claims", "--results", str(tmp_path), "--format", form]) == 0
    told = capsys.readouterr().out
    assert all(claim in told for claim in IDS)
    if form == "json":
        assert [row["id"] for row in json.loads(told)["rows"]] == IDS


def test_faults_are_one_line(tmp_path, capsys):
    assert run(["claims", "--results", str(tmp_path / "none")]) == 1
    assert "none' is not a folder: name one that" in capsys.readouterr().err
    assert run(["claims", "--format", "latex"]) == 2
    assert "known are csv, json, markdown, rich" in capsys.readouterr().err
