"""Several folders as one bundle: the same files as of one store, whoever ran what."""

import gzip
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from planted import planted_settings, reseal, write_begun, write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import Merged, write_bundle, write_merged
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.results.schema import (
    ADDED,
    COUNTED,
    FILES,
    PROBES,
    SETTING_COLUMNS,
    VERSION,
)
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed

DAMAGE = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1, 0.1, 0.1, 0.1, 0.1]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store of six runs, three seeds an arm."""
    folder = tmp_path_factory.mktemp("whole")
    write_planted(folder, DAMAGE, seeds=3)
    return folder


def _part(place, chosen):
    """A store with some of the runs."""
    for source in chosen:
        shutil.copytree(source, place / STORE / source.name)
    return place


@pytest.fixture
def parts(whole, tmp_path):
    """Two stores that have four runs each, two of them in common."""
    runs = finished_runs(whole)
    return _part(tmp_path / "a", runs[:4]), _part(tmp_path / "b", runs[2:])


def test_it_is_the_bundle_of_all_runs_to_the_byte(whole, parts, tmp_path):
    runs = finished_runs(whole)
    write_bundle(runs, tmp_path / "expected", {})
    write_bundle(finished_runs(parts[1]), tmp_path / "second", {})  # a bundle without a store
    assert write_merged([parts[0], tmp_path / "second"], tmp_path / "all") == Merged(6, 2)
    for name in FILES:
        expected = (tmp_path / "expected" / name).read_bytes()
        assert (tmp_path / "all" / name).read_bytes() == expected, name


def test_a_run_that_two_folders_have_is_the_first_ones(parts, tmp_path):
    bundles = tmp_path / "first", tmp_path / "second"
    for part, bundle in zip(parts, bundles, strict=True):
        write_bundle(finished_runs(part), bundle, {})
    table = pd.read_csv(bundles[1] / "runs.csv")
    table["train_seconds"] = 12345.0  # of another machine
    table.to_csv(bundles[1] / "runs.csv", index=False)
    reseal(bundles[1])
    twice = set(load_bundle(bundles[0]).runs["run"]) & set(load_bundle(bundles[1]).runs["run"])
    assert len(twice) == 2
    write_merged(bundles, tmp_path / "all")
    seconds = load_bundle(tmp_path / "all").runs.groupby("run")["train_seconds"].first()
    assert (seconds[list(twice)] != 12345.0).all()
    assert (seconds == 12345.0).sum() == 2


def test_a_run_that_three_folders_have_is_counted_once(parts, tmp_path):
    write_merged(parts[:1], tmp_path / "again")
    assert write_merged([*parts, tmp_path / "again"], tmp_path / "all") == Merged(6, 4)


@pytest.mark.slow
def test_what_one_has_not_done_and_another_has_is_done(parts, tmp_path):
    first, second = parts
    begun = finished_runs(second)[-1].name
    write_begun(first, begun, planted_settings("none", 3))
    write_begun(first, "never", planted_settings("none", 4), "failed", "no memory")
    write_merged([first, second], tmp_path / "all")
    held = load_bundle(tmp_path / "all")
    assert set(held.unfinished()["run"]) == {"never"}
    assert held.runs["run"].nunique() == 6


def test_tables_are_of_all_seeds(parts, tmp_path, capsys):
    out = str(tmp_path / "all")
    assert run(["merge", *map(str, parts), "--out", out]) == 0
    said = capsys.readouterr()
    assert said.out == f"Written to {out}: 6 runs\n"
    assert said.err == "2 runs are in several folders: kept as the first of them has it\n"
    assert run(["table", "vindication", "--results", out, "--format", "markdown"]) == 0
    assert "none, seed 3:" in capsys.readouterr().out


def test_a_study_stays_where_it_is_and_that_is_said(parts, tmp_path, capsys):
    write_listed(parts[0], [(f"{PROBES}/length.csv", b"run\n")])
    assert run(["merge", str(parts[0]), "-o", str(tmp_path / "all")]) == 0
    assert "Not in it: what studies measured" in capsys.readouterr().err
    assert not (tmp_path / "all" / PROBES).exists()


def test_a_folder_with_results_is_not_written_into(parts, tmp_path):
    with pytest.raises(UserError, match="is one of the folders to be put together"):
        write_merged(parts, parts[0])
    with pytest.raises(UserError, match="has results of its own"):
        write_merged(parts[:1], parts[1])
    write_merged(parts[:1], tmp_path / "all")
    write_merged(parts, tmp_path / "all")  # a later one takes an earlier one's place
    assert load_bundle(tmp_path / "all").runs["run"].nunique() == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_and_nothing_is_written(parts, tmp_path, name):
    bundle = tmp_path / "bundle"
    write_bundle(finished_runs(parts[1]), bundle, {})
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=name):
        write_merged([parts[0], bundle], tmp_path / "all")
    assert not list((tmp_path / "all").glob("[!.]*"))


@pytest.fixture
def bundle(parts, tmp_path):
    folder = tmp_path / "bundle"
    write_bundle(finished_runs(parts[1]), folder, {})
    return folder


def test_columns_in_another_order_are_put_into_theirs(bundle, tmp_path):
    content = gzip.decompress((bundle / "sentences.csv.gz").read_bytes())
    frame = pd.read_csv(bundle / "sentences.csv.gz")
    frame[frame.columns[::-1]].to_csv(bundle / "sentences.csv.gz", index=False)
    reseal(bundle)
    write_merged([bundle], tmp_path / "all")
    assert gzip.decompress((tmp_path / "all" / "sentences.csv.gz").read_bytes()) == content


@pytest.mark.slow
def test_a_bundle_of_version_5_with_all_columns_of_a_run_is_read_and_becomes_one_of_today(
    bundle, tmp_path
):
    now = load_bundle(bundle)
    frame = pd.read_csv(bundle / "sentences.csv.gz")
    frame.insert(3, "nll", 1.5)
    frame.assign(chars_reference=7).to_csv(bundle / "sentences.csv.gz", index=False)
    held = json.loads((bundle / "environment.json").read_text())
    (bundle / "environment.json").write_text(json.dumps(held | {"schema": 5}))
    reseal(bundle)
    older = load_bundle(bundle)
    for name, counts in now.sentences.items():
        np.testing.assert_array_equal(older.sentences[name].statistics, counts.statistics)
        np.testing.assert_array_equal(older.sentences[name].words, counts.words)
    write_merged([bundle], tmp_path / "all")
    assert load_bundle(tmp_path / "all").environment["schema"] == held["schema"] == VERSION
    columns = pd.read_csv(tmp_path / "all" / "sentences.csv.gz").columns
    assert list(columns) == ["run", *COUNTED]
    held["schema"] = 4
    (bundle / "environment.json").write_text(json.dumps(held))
    reseal(bundle)
    with pytest.raises(UserError, match="of schema 4, this program reads 5, 6 and 7"):
        load_bundle(bundle)


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
    pd.testing.assert_frame_equal(load_bundle(tmp_path / "all").runs, now)


@pytest.mark.parametrize("part", ["runs", "unfinished"])
def test_a_run_with_a_retired_setting_at_another_value_is_refused(bundle, part):
    path = bundle / "environment.json"
    held = json.loads(path.read_text())
    (described, *_) = held["runs"].values()
    other = json.loads(json.dumps(described))
    other["settings"]["training"]["products"] = "bfloat16"
    entry = {"status": "stopped", "reason": "", "group": ""} | other
    held[part] = held.get(part, {}) | {next(iter(held["runs"])): entry}
    path.write_text(json.dumps(held))
    reseal(bundle)
    with pytest.raises(UserError, match=r"environment.json.*'training.products' is 'bfloat16'"):
        load_bundle(bundle)


def test_without_results_it_says_so(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert run(["merge", str(tmp_path / "empty"), "-o", str(tmp_path / "all")]) == 1
    assert "environment.json" in capsys.readouterr().err
    assert run(["merge", "-o", str(tmp_path / "all")]) == 2


@pytest.mark.slow
def test_a_run_that_two_machines_scored_differently_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, damage in (("here", 0.1), ("there", 0.6)):
        write_planted(tmp_path / name, {"none": [damage] * 5, "additive": [0.2] * 5}, seeds=1)
    for order in (["here", "there"], ["there", "here"]):
        assert run(["merge", *order, "--out", "".join(order)]) == 0
        told = capsys.readouterr().err.splitlines()
        assert told[0].startswith("2 runs are in several folders")
        assert told[1] == "With other scores in a later one, so that order decides: none1x1"
    kept = [load_bundle(tmp_path / name).runs for name in ("herethere", "therehere")]
    assert list(kept[0]["bleu"]) != list(kept[1]["bleu"])
