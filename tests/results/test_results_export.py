"""Bundles written: of a store, of several folders as one, with the studies' tables."""

import json
import shutil

import pandas as pd
import pytest
from listed import write_relisted
from planted import planted_settings, reseal, write_begun, write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle, read_table
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import Merged, write_bundle, write_merged
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.results.probes import drop_tables, rests_on
from seq2seq_bottleneck.results.schema import (
    ADDED,
    FILES,
    PROBE_COLUMNS,
    PROBES,
    SETTING_COLUMNS,
    VERSION,
)
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed


def assert_same_files(folder, other):
    for name in FILES:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name


@pytest.fixture
def parts(whole, tmp_path):
    """Two stores that have four of the six runs each, two of them in common."""
    runs = finished_runs(whole)
    for name, chosen in (("a", runs[:4]), ("b", runs[2:])):
        for source in chosen:
            shutil.copytree(source, tmp_path / name / STORE / source.name)
    return tmp_path / "a", tmp_path / "b"


def test_merged_folders_are_the_bundle_of_all_runs_to_the_byte(whole, parts, tmp_path):
    write_bundle(finished_runs(whole), tmp_path / "again", {})
    assert_same_files(tmp_path / "again", whole)
    assert (whole / "sentences.csv.gz").read_bytes()[4:8] == b"\0\0\0\0"  # no time in it
    write_bundle(finished_runs(parts[1]), tmp_path / "second", {})  # a bundle without a store
    assert write_merged([parts[0], tmp_path / "second"], tmp_path / "all") == Merged(6, 2)
    assert_same_files(tmp_path / "all", whole)
    assert write_merged([*parts, tmp_path / "second"], tmp_path / "all") == Merged(6, 4)
    assert_same_files(tmp_path / "all", whole)


@pytest.mark.slow
def test_a_run_that_two_machines_scored_differently_is_named_and_the_first_one_kept(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    scores = {}
    for name, damage in (("here", 0.1), ("there", 0.6)):
        write_planted(tmp_path / name, {"none": [damage] * 5, "additive": [0.2] * 5}, seeds=1)
        scores[name] = load_bundle(tmp_path / name).runs
    for order in (["here", "there"], ["there", "here"]):
        assert run(["merge", *order, "--out", "".join(order)]) == 0
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("2 runs are in several folders")
        assert lines[1] == "With other scores in a later one, so that order decides: none1x1"
        merged = load_bundle(tmp_path / "".join(order)).runs
        pd.testing.assert_frame_equal(merged, scores[order[0]])


@pytest.mark.slow
def test_what_one_has_not_done_and_another_has_is_done(parts, tmp_path):
    first, second = parts
    write_begun(first, finished_runs(second)[-1].name, planted_settings("none", 3))
    write_begun(first, "never", planted_settings("none", 4), "failed", "no memory")
    write_merged([first, second], tmp_path / "all")
    merged = load_bundle(tmp_path / "all")
    assert set(merged.unfinished()["run"]) == {"never"}
    assert merged.runs["run"].nunique() == 6


def test_tables_are_of_all_seeds_and_studies_stay_where_they_are(parts, tmp_path, capsys):
    out = tmp_path / "all"
    write_listed(parts[0], [(f"{PROBES}/length.csv", b"run\n")])
    assert run(["merge", *map(str, parts), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"Written to {out}: 6 runs\n"
    several, studies = printed.err.splitlines()
    assert several == "2 runs are in several folders: kept as the first of them has it"
    assert studies.startswith("Not in it: what studies measured")
    assert not (out / PROBES).exists()
    assert run(["table", "vindication", "--results", str(out), "--format", "markdown"]) == 0
    assert "none, seed 3:" in capsys.readouterr().out


def test_a_folder_with_results_is_not_merged_into(parts, tmp_path, capsys):
    with pytest.raises(UserError, match="is one of the folders to be put together"):
        write_merged(parts, parts[0])
    with pytest.raises(UserError, match="has results of its own"):
        write_merged(parts[:1], parts[1])
    write_merged(parts[:1], tmp_path / "all")
    write_merged(parts, tmp_path / "all")  # a later one takes an earlier one's place
    assert load_bundle(tmp_path / "all").runs["run"].nunique() == 6
    (tmp_path / "empty").mkdir()
    assert run(["merge", str(tmp_path / "empty"), "-o", str(tmp_path / "none")]) == 1
    assert "environment.json" in capsys.readouterr().err
    assert run(["merge", "-o", str(tmp_path / "none")]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_and_nothing_is_written(parts, bundle, tmp_path, name):
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=name):
        write_merged([parts[0], bundle], tmp_path / "all")
    assert not list((tmp_path / "all").glob("[!.]*"))


def test_a_bundle_of_version_6_lacks_settings_that_came_later_and_is_read_with_their_values(
    bundle, tmp_path
):
    now = load_bundle(bundle).runs
    older = pd.read_csv(bundle / "runs.csv").drop(columns=list(ADDED))
    older.assign(products="float32").to_csv(bundle / "runs.csv", index=False)
    environment = json.loads((bundle / "environment.json").read_text())
    for described in environment["runs"].values():
        for name in ADDED:
            concern, _, field = SETTING_COLUMNS[name][0].partition(".")
            del described["settings"][concern][field]
        described["settings"]["training"]["products"] = "float32"
    (bundle / "environment.json").write_text(json.dumps(environment | {"schema": 6}))
    reseal(bundle)
    pd.testing.assert_frame_equal(load_bundle(bundle).runs, now)
    write_merged([bundle], tmp_path / "all")
    merged = load_bundle(tmp_path / "all")
    assert merged.environment["schema"] == VERSION
    pd.testing.assert_frame_equal(merged.runs, now)


@pytest.mark.parametrize("part", ["runs", "unfinished"])
def test_a_run_with_a_retired_setting_at_another_value_is_refused(bundle, part):
    path = bundle / "environment.json"
    known = json.loads(path.read_text())
    name, described = next(iter(known["runs"].items()))
    other = json.loads(json.dumps(described))
    other["settings"]["training"]["products"] = "bfloat16"
    entry = {"status": "stopped", "reason": "", "group": ""} | other
    known[part] = known.get(part, {}) | {name: entry}
    path.write_text(json.dumps(known))
    reseal(bundle)
    with pytest.raises(UserError, match=r"environment.json.*'training.products' is 'bfloat16'"):
        load_bundle(bundle)


TABLES = {
    "length": "run,arm,value\n,none,1\nnone1x1,none,1\nnone2x1,none,1\n",
    "survival": "run,arm,value\nnone1x1,none,0.5\n",
    "cost": "varied,arm\nlength,none\n",
}


@pytest.fixture
def studied(store):
    """The store with tables beside it."""
    for name, text in TABLES.items():
        write_relisted(store / PROBES / f"{name}.csv", text)
    return store


def tables_of(folder):
    return {path.stem: path.read_text() for path in (folder / PROBES).glob("*")}


def test_tables_travel_but_for_those_that_rest_on_runs_left_out(studied, tmp_path, capsys):
    bundle = tmp_path / "bundle"
    export = ["export", "--results", str(studied), "--bundle", str(bundle)]
    assert run(export) == 0
    gather(studied, {})
    assert write_bundle(finished_runs(studied), studied, {}) == []
    assert tables_of(bundle) == tables_of(studied) == TABLES
    capsys.readouterr()
    assert run([*export, "--where", "seed=1"]) == 0
    printed = capsys.readouterr().err
    assert "Not in it, for they rest on runs that are left out: length (" in printed
    # Nor does the one of the earlier export stay beside runs that are no longer there.
    assert set(tables_of(bundle)) == {"cost", "survival"}
    assert tables_of(studied) == TABLES


def test_what_the_store_has_no_more_is_not_left_in_a_bundle(studied, tmp_path, capsys):
    bundle = tmp_path / "bundle"
    export = ["export", "--results", str(studied), "--bundle", str(bundle)]
    assert run(export) == 0
    assert run(["runs", "none2x1", "--remove", "--yes", "--results", str(studied)]) == 0
    # Its table rested on the run that is gone; the benchmark's numbers rest on none.
    assert set(tables_of(studied)) == {"cost", "survival"}
    assert run(export) == 2  # for nobody has the run but this bundle
    assert "(none2x1): name a new folder, or delete it" in capsys.readouterr().err
    assert write_bundle(finished_runs(studied), bundle, {}) == []
    assert set(tables_of(bundle)) == {"cost", "survival"}
    assert drop_tables(studied, {"none1x1"}) == ["survival"]
    assert drop_tables(studied, {"none1x1"}) == []


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("length", "`bottleneck study length --results {}` makes it again"),
        (
            "alignment_gold",
            "`bottleneck study alignment --gold FILE --source FILE --target FILE --results {}` "
            "makes it again",
        ),
        ("cost", "`bottleneck bench --out {}` measures it again"),
        ("mine", "no command of bottleneck makes it: delete it and its line in SHA256SUMS"),
    ],
)
def test_a_table_that_cannot_be_read_is_named_with_the_way_out(studied, tmp_path, name, way):
    table = studied / PROBES / f"{name}.csv"
    table.write_bytes(b"run,arm\n\xff\xfe,none\n")
    for read in (
        lambda: rests_on(table),
        lambda: read_table(table, PROBE_COLUMNS),
        lambda: write_bundle(finished_runs(studied), tmp_path / "bundle", {}),
    ):
        with pytest.raises(UserError) as raised:
            read()
        assert str(raised.value).endswith(f"; {way.format(studied)}")
    shutil.rmtree(studied / "runs")
    if name == "length":  # a bundle without its store cannot measure again
        with pytest.raises(UserError, match="delete it and its line in SHA256SUMS, or exp"):
            rests_on(table)
