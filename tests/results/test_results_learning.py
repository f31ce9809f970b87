"""The validation loss by bucket: the same from a store and from its bundle, faults named."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from planted import write_planted
from planted_logs import BUCKETS, TOKENS, loss, write_log, write_older_log

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.schema import LEARNING_COLUMNS
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed
from seq2seq_bottleneck.tables.selection import where

DAMAGE = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1] * 5}
RUNS = ["additive1x1", "none1x1"]


@pytest.fixture
def store(tmp_path):
    """An output folder whose two runs logged their buckets."""
    write_planted(tmp_path, DAMAGE, seeds=1)
    for number, run in enumerate(RUNS):
        write_log(tmp_path / "runs" / run, number)
    return tmp_path


def test_a_row_is_a_run_validation_and_bucket(store):
    frame = load_bundle(store).learning()
    assert list(frame.columns) == list(LEARNING_COLUMNS)
    assert not frame.duplicated(["run", "update", "bucket"]).any()
    assert len(frame) == 2 * 2 * len(BUCKETS)
    for row in frame[frame["sentences"] > 0].to_dict("records"):
        found = loss(row["update"], BUCKETS.index(row["bucket"]), RUNS.index(row["run"]))
        assert row["loss"] == pytest.approx(found, rel=1e-15)
        assert (row["sentences"], row["tokens"], row["standard_error"]) == (20, TOKENS, 0.05)
    empty = frame[frame["sentences"] == 0]
    assert set(empty["bucket"]) == {"41+"}
    assert empty[["loss", "standard_error"]].isna().all(axis=None)


def test_a_bundle_has_what_its_store_has(store, tmp_path):
    bundle = tmp_path / "elsewhere"
    write_bundle(finished_runs(store), bundle, {})
    read = load_bundle(bundle).learning()
    pd.testing.assert_frame_equal(read, load_bundle(store).learning())
    texts = pd.Series(dtype="str").dtype  # the name of it is another in pandas 2
    kinds = {"int64": "Int64", "str": str(texts)}
    assert read.dtypes.astype(str).to_dict() == {
        name: kinds.get(kind, kind) for name, kind in LEARNING_COLUMNS.items()
    }
    for folder in (store, bundle):
        chosen = where(load_bundle(folder), ["attention=none"]).learning()
        assert set(chosen["run"]) == {"none1x1"}
        assert list(chosen.index) == list(range(len(chosen)))


def test_runs_and_bundles_of_older_versions_have_no_rows(store, tmp_path):
    write_older_log(store / "runs" / "none1x1")
    assert set(load_bundle(store).learning()["run"]) == {"additive1x1"}
    write_listed(store / "runs" / "additive1x1", [], ["log.jsonl"])
    older = tmp_path / "older"
    write_bundle(finished_runs(store), older, {})
    (tmp_path / "oldest").mkdir()
    shutil.copytree(older, tmp_path / "oldest", dirs_exist_ok=True)
    write_listed(tmp_path / "oldest", [], ["learning.csv"])
    for folder in (store, older, tmp_path / "oldest"):
        frame = load_bundle(folder).learning()
        assert frame.empty
        assert list(frame.columns) == list(LEARNING_COLUMNS)
        assert frame["loss"].dtype == np.float64


@pytest.mark.parametrize("text", ["{", "[1]\n", '{"valid_buckets": {"5-10": {}}}\n', "\xff"])
def test_a_damaged_log_is_named(store, text):
    log = store / "runs" / "none1x1" / "log.jsonl"
    log.write_bytes(text.encode("latin1"))
    relist(log)
    with pytest.raises(UserError, match=r"none1x1/log\.jsonl.*cannot be read.*train it again"):
        load_bundle(store).learning()


@pytest.mark.parametrize("damage", ["", "run,update\n", json.dumps([1])])
def test_a_damaged_file_of_a_bundle_is_named(store, tmp_path, damage):
    bundle = tmp_path / "elsewhere"
    write_bundle(finished_runs(store), bundle, {})
    write_relisted(bundle / "learning.csv", damage)
    with pytest.raises(UserError, match=r"learning\.csv.*export it again"):
        load_bundle(bundle).learning()
