"""The studies' tables travel with a bundle, and go with a run that they rest on."""

import shutil

import pytest
from listed import write_relisted
from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import read_table
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.probes import drop_tables, rests_on
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.errors import UserError

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}
TABLES = {
    "length": "run,arm,value\n,none,1\nnone1x1,none,1\nnone2x1,none,1\n",
    "survival": "run,arm,value\nnone1x1,none,0.5\n",
    "cost": "varied,arm\nlength,none\n",
}


@pytest.fixture
def studied(tmp_path):
    """A store of two arms and seeds, with tables beside it."""
    folder = tmp_path / "out"
    write_planted(folder, ARMS)
    for name, text in TABLES.items():
        write_relisted(folder / "probes" / f"{name}.csv", text)
    return folder


def names(folder):
    return sorted(path.stem for path in (folder / "probes").glob("*"))


def test_a_table_rests_on_the_runs_whose_numbers_it_has(studied):
    probes = studied / "probes"
    assert rests_on(probes / "length.csv") == {"none1x1", "none2x1"}
    assert rests_on(probes / "cost.csv") == frozenset()


def test_the_whole_bundle_has_them_byte_for_byte(studied, tmp_path):
    assert run(["export", "--results", str(studied), "--bundle", str(tmp_path / "bundle")]) == 0
    assert names(tmp_path / "bundle") == sorted(TABLES)
    for name, text in TABLES.items():
        assert (tmp_path / "bundle" / "probes" / f"{name}.csv").read_text() == text


def test_a_table_that_rests_on_a_run_left_out_does_not_travel(studied, tmp_path, capsys):
    arguments = ["export", "--results", str(studied), "--bundle", str(tmp_path / "bundle")]
    assert run(arguments) == 0
    capsys.readouterr()
    assert run([*arguments, "--where", "seed=1"]) == 0
    said = capsys.readouterr().err
    assert "Not in it, for they rest on runs that are left out: length (" in said
    # Nor does the one of the earlier export stay beside runs that are no longer there.
    assert names(tmp_path / "bundle") == ["cost", "survival"]
    assert names(studied) == sorted(TABLES)


def test_what_the_store_has_no_more_is_not_left_in_a_bundle(studied, tmp_path, capsys):
    bundle = tmp_path / "bundle"
    arguments = ["export", "--results", str(studied), "--bundle", str(bundle)]
    assert run(arguments) == 0
    assert run(["runs", "none2x1", "--remove", "--yes", "--results", str(studied)]) == 0
    assert run(arguments) == 2  # for nobody has the run but this bundle
    assert "(none2x1): name a new folder, or delete it" in capsys.readouterr().err
    assert write_bundle(finished_runs(studied), bundle, {}) == []
    # Its table rested on the run that is gone; the benchmark's files rest on none.
    assert names(bundle) == ["cost", "survival"]


def test_gathering_a_store_keeps_its_tables(studied):
    gather(studied, {})
    assert write_bundle(finished_runs(studied), studied, {}) == []
    assert {name: (studied / "probes" / f"{name}.csv").read_text() for name in TABLES} == TABLES


def test_a_removed_run_takes_the_tables_along_that_rest_on_it(studied):
    assert run(["runs", "none2x1", "--remove", "--yes", "--results", str(studied)]) == 0
    assert names(studied) == ["cost", "survival"]


def test_dropping_names_what_was_dropped(studied):
    assert drop_tables(studied, {"none1x1"}) == ["length", "survival"]
    assert drop_tables(studied, {"none1x1"}) == []


def test_a_table_that_cannot_be_read_is_named_with_the_way_out(studied, tmp_path):
    (studied / "probes" / "length.csv").write_bytes(b"run,arm\n\xff\xfe,none\n")
    with pytest.raises(UserError, match=r"length\.csv' cannot be read .*bottleneck study length"):
        write_bundle(finished_runs(studied), tmp_path / "bundle", {})


WAYS = {
    "length": "`bottleneck study length --results {}` makes it again",
    "alignment_gold": "`bottleneck study alignment --gold FILE --source FILE --target FILE "
    "--results {}` makes it again",
    "cost": "`bottleneck bench --out {}` measures it again",
    "mine": "no command of bottleneck makes it: delete it and its line in SHA256SUMS",
}


@pytest.mark.parametrize("name", WAYS)
def test_the_way_out_is_a_command_that_exists(name, studied):
    table = studied / "probes" / f"{name}.csv"
    table.write_bytes(b"run,arm\n\xff\xfe,none\n")
    told = WAYS[name].format(studied)
    for read in (lambda: rests_on(table), lambda: read_table(table, PROBE_COLUMNS)):
        with pytest.raises(UserError) as raised:
            read()
        assert str(raised.value).endswith(f"; {told}")


def test_a_bundle_without_its_store_cannot_measure_again(studied):
    shutil.rmtree(studied / "runs")
    table = studied / "probes" / "length.csv"
    table.write_bytes(b"\xff")
    with pytest.raises(UserError, match="delete it and its line in SHA256SUMS, or exp"):
        rests_on(table)
