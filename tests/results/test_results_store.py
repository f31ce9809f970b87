"""A store read as a bundle: what is in it now, whole columns, and what is left out by name."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from planted import planted_settings, sentences, translations, write_begun, write_run

from seq2seq_bottleneck.results.bundle import (
    load_bundle,
    load_results,
    other_versions,
    setting_columns,
    tidy_csv,
    without_result,
)
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import read_groups
from seq2seq_bottleneck.results.schema import RUN_COLUMNS, SETTING_COLUMNS
from seq2seq_bottleneck.settings.concerns import FILES
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import NAMES, SCHEMA_VERSION, RunSettings

RESOLVED = {
    "model.hidden": "model.hidden_size",
    "model.attention_width": "model.attention_size",
    "corpus.longest_trained": "corpus.train_max_words",
}


def add(folder, name, settings=None, **facts):
    """A finished run of the store, one word in five lost."""
    references = sentences()
    texts = translations(references, [0.2] * 5, [1])
    return write_run(folder, name, settings or planted_settings("none"), texts, references, **facts)


@pytest.fixture
def store(tmp_path):
    """An output folder with one run and its bundle."""
    write_bundle([add(tmp_path, "first")], tmp_path, {})
    return tmp_path


def test_every_setting_but_the_names_of_files_has_a_column():
    covered = {RESOLVED.get(place, place) for place, _ in SETTING_COLUMNS.values()}
    assert covered == set(NAMES) - {f"corpus.{name}" for name in FILES}
    assert list(RUN_COLUMNS)[:6] == ["run", "attention", "context_size", "seed", "bucket", "n"]


def test_a_columns_type_is_that_of_its_setting():
    kinds = {"int64": int, "float64": float, "bool": bool, "str": str}
    for column, value in setting_columns(RunSettings()).items():
        if value is not None:
            assert type(value) is kinds[SETTING_COLUMNS[column][1]], column
    assert setting_columns(RunSettings())["batch_tokens"] is None


@pytest.mark.parametrize(
    ("concern", "changes", "column"),
    [
        ("training", {"learning_rate": 0.1234567890123}, "learning_rate"),
        ("training", {"batch_tokens": 900}, "batch_tokens"),
        ("training", {"optimizer": "muon"}, "optimizer"),
        ("corpus", {"seed": 7}, "corpus_seed"),
        ("decoding", {"cap_extra": 11}, "cap_extra"),
        ("model", {"residual": True}, "residual"),
        ("scoring", {"seed": 3}, "scoring_seed"),
    ],
)
def test_runs_that_differ_in_a_setting_differ_in_its_column(store, concern, changes, column):
    settings = planted_settings("none", **{concern: changes})
    add(store, "second", settings)
    frame = load_results(store).drop_duplicates("run").set_index("run")
    names = [name for name in SETTING_COLUMNS if frame[name].nunique(dropna=False) > 1]
    assert names == [column]
    assert frame.loc["second", column] == next(iter(changes.values()))


def test_of_seeds_that_share_all_else_each_has_its_own_and_a_wrong_one_is_told(store):
    """All but the seed is parsed once: a seed that cannot be is no less damage."""
    for seed in (2, 3):
        add(store, f"seed{seed}", planted_settings("none", seed))
    known = load_results(store).drop_duplicates("run").set_index("run")["seed"]
    assert known.to_dict() == {"first": 1, "seed2": 2, "seed3": 3}
    path = store / "runs" / "seed3" / "settings.json"
    held = json.loads(path.read_text())
    for said in (3, 3.0, "1_0", 1e15):  # as settings have it, whoever wrote it
        write_relisted(path, json.dumps(held | {"training": held["training"] | {"seed": said}}))
        rows = load_results(store)
        assert rows.loc[rows["run"] == "seed3", "seed"].unique().tolist() == [int(said)]
    for wrong in (-1, 2**64, True, "three", 1.5, None, [3]):
        write_relisted(path, json.dumps(held | {"training": held["training"] | {"seed": wrong}}))
        with pytest.raises(UserError, match=r"settings\.json"):
            load_results(store)


def test_a_finished_run_without_what_it_ran_on_is_told(store):
    (store / "runs" / "first" / "environment.json").unlink()
    with pytest.raises(UserError, match=r"environment\.json"):
        load_results(store)


def test_texts_that_differ_have_other_fingerprints(store):
    add(store, "second", fingerprint="other")
    frame = load_results(store).drop_duplicates("run")
    assert sorted(frame["corpus_fingerprint"]) == ["other", "planted"]


def test_the_columns_come_from_the_settings_whatever_older_scores_say(store):
    path = store / "runs" / "first" / "scores.csv"
    whole = load_results(store)
    assert not set(pd.read_csv(path).columns) & set(SETTING_COLUMNS)
    pd.read_csv(path).assign(learning_rate=9.0, edges="5").to_csv(path, index=False)
    relist(path)
    pd.testing.assert_frame_equal(load_results(store), whole)


def test_the_table_survives_a_round_trip_through_pandas(store, tmp_path):
    add(store, "second", planted_settings("additive", training={"learning_rate": 0.1 + 0.2}))
    frame = load_results(store)
    bundle = tmp_path / "bundle"
    write_bundle(finished_runs(store), bundle, {})
    assert tidy_csv(frame) == (bundle / "runs.csv").read_text()
    pd.testing.assert_frame_equal(load_results(bundle), frame)
    assert frame["batch_tokens"].isna().all()
    assert frame["edges"].iloc[0] == "5,11,21,31,41"


def test_the_store_counts_where_its_bundle_is_older(store):
    """A sweep that was interrupted leaves the bundle of the one before."""
    add(store, "second", planted_settings("additive"))
    write_relisted(store / "groups.json", json.dumps({"second": "later"}))
    assert set(pd.read_csv(store / "runs.csv")["run"]) == {"first"}
    for folder in (store, store / "runs"):
        groups = load_results(folder).drop_duplicates("run").set_index("run")["group"]
        assert groups.to_dict() == {"first": "", "second": "later"}
        assert set(load_bundle(folder).sentences) == {"first", "second"}
        assert set(load_bundle(folder).environment["runs"]) == {"first", "second"}
        assert set(load_bundle(folder).examples()) == {"first", "second"}


def test_a_store_from_within_has_the_groups_beside_it(store, monkeypatch):
    write_relisted(store / "groups.json", json.dumps({"first": "one"}))
    monkeypatch.chdir(store / "runs")
    assert read_groups(Path()) == {"first": "one"}


def test_a_bundle_away_from_its_store_is_read_as_it_was_written(store, tmp_path):
    whole = load_bundle(store)
    bundle = tmp_path / "bundle"
    write_bundle(finished_runs(store), bundle, {})
    read = load_bundle(bundle)
    pd.testing.assert_frame_equal(read.runs, whole.runs)
    assert list(read.sentences) == list(whole.sentences)
    for run, counts in whole.sentences.items():
        assert np.array_equal(read.sentences[run].words, counts.words)
        assert np.array_equal(read.sentences[run].statistics, counts.statistics)
    assert read.environment == whole.environment
    assert read.examples() == whole.examples()


@pytest.mark.parametrize("lost", ["scores.csv", "sentences.csv", "settings.json"])
def test_a_run_that_is_not_whole_is_named(store, lost):
    (store / "runs" / "first" / lost).unlink()
    with pytest.raises(UserError, match=lost.replace(".", r"\.")) as caught:
        load_bundle(store)
    assert "first" in str(caught.value)


def test_runs_of_another_version_are_left_out_and_counted(store, tmp_path):
    add(store, "old", planted_settings("additive"), schema=SCHEMA_VERSION + 1)
    write_begun(store, "oldstopped", planted_settings("dot"), schema=SCHEMA_VERSION + 1)
    bundle = load_bundle(store)
    assert set(bundle.runs["run"]) == set(bundle.sentences) == {"first"}
    assert set(load_results(store)["run"]) == {"first"}
    said = "1 run is left out: made by another version of bottleneck."
    assert other_versions(bundle.environment) == said
    assert without_result(bundle.environment) == ""
    add(store, "older", planted_settings("dot"), schema=SCHEMA_VERSION + 2)
    write_bundle(finished_runs(store), tmp_path / "bundle", {})
    assert other_versions(load_bundle(tmp_path / "bundle").environment).startswith(
        "2 runs are left out"
    )


def test_a_run_that_does_not_say_its_version_is_of_another(store):
    path = store / "runs" / "first" / "environment.json"
    known = json.loads(path.read_text())
    del known["schema"]
    write_relisted(path, json.dumps(known))
    assert finished_runs(store) == []


def test_runs_without_a_result_are_listed_with_their_reason(store, tmp_path):
    write_begun(store, "wild", planted_settings("dot", 2), "diverged", "the loss was not finite")
    write_begun(
        store, "broken", planted_settings("dot", 3), "failed", "Traceback\n  x\nKeyError: 3\n"
    )
    write_begun(store, "stopped", planted_settings("dot", 4))
    (store / "runs" / "stopped" / "settings.json").unlink()
    (store / "runs" / "stopped" / "environment.json").unlink()
    write_bundle(finished_runs(store), tmp_path / "bundle", {})
    for folder in (store, tmp_path / "bundle"):
        bundle = load_bundle(folder)
        listed = bundle.unfinished().set_index("run")
        assert list(listed.index) == ["broken", "stopped", "wild"]
        assert listed["status"].to_dict() == {
            "broken": "failed",
            "stopped": "running",
            "wild": "diverged",
        }
        assert listed.loc["wild", ["attention", "seed", "reason"]].tolist() == [
            "dot",
            2,
            "the loss was not finite",
        ]
        assert listed.loc["broken", "reason"] == "KeyError: 3"
        assert listed.loc["stopped", "attention"] == ""
        assert without_result(bundle.environment).startswith("3 runs are without a result")


def test_a_store_without_a_finished_run_says_so(store):
    write_begun(store, "stopped", planted_settings("dot"))
    shutil.rmtree(store / "runs" / "first")
    told = (
        r"no finished run \(1 not done, 0 of another version\): `bottleneck runs` lists them, the"
    )
    with pytest.raises(UserError, match=told):
        load_results(store)


def test_a_store_that_was_emptied_leaves_its_bundle(store):
    shutil.rmtree(store / "runs" / "first")
    assert set(load_results(store)["run"]) == {"first"}
