"""The bundle: written from run folders, read back the same, faults named."""

import gzip
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from planted import write_planted

from seq2seq_bottleneck.results.bundle import load_bundle, load_results, tidy_csv
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.schema import COUNTED, RUN_COLUMNS, SENTENCE_COLUMNS
from seq2seq_bottleneck.settings.errors import UserError

DAMAGE = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1] * 5}


@pytest.fixture
def folder(tmp_path):
    """A bundle away from its store."""
    write_planted(tmp_path, DAMAGE, seeds=1)
    shutil.move(tmp_path / "runs", tmp_path / "elsewhere")
    return tmp_path


def test_columns_are_the_documented_ones_in_order(folder):
    bundle = load_bundle(folder)
    assert list(bundle.runs.columns) == list(RUN_COLUMNS)
    assert list(pd.read_csv(folder / "sentences.csv.gz").columns) == ["run", *COUNTED]
    own = pd.read_csv(folder / "elsewhere" / "none1x1" / "sentences.csv")
    kinds = {name: str(kind) for name, kind in own.dtypes.items()}
    assert list(kinds) == list(SENTENCE_COLUMNS)
    assert kinds == SENTENCE_COLUMNS
    assert list(RUN_COLUMNS)[:10] == (
        [
            "run",
            "attention",
            "context_size",
            "seed",
            "bucket",
            "n",
            "compression_ratio",
            "bleu",
            "bleu_low",
            "bleu_high",
        ]
    )
    assert list(RUN_COLUMNS)[-1] == "signature"


def test_runs_csv_has_a_unique_key_and_reads_the_same_with_plain_pandas(folder):
    bundle = load_bundle(folder)
    key = ["run", "attention", "context_size", "seed", "bucket"]
    assert not bundle.runs.duplicated(key).any()
    plain = pd.read_csv(folder / "runs.csv", keep_default_na=False, na_values=[""])
    # Up to the last digit, which pandas before 3.1 reads only when asked to.
    np.testing.assert_allclose(plain["bleu"], bundle.runs["bleu"], rtol=1e-15)
    assert set(plain["attention"]) == {"none", "additive"}


def test_a_bundle_of_no_rows_is_told(folder):
    head = (folder / "runs.csv").read_text(encoding="utf8").splitlines(keepends=True)[0]
    write_relisted(folder / "runs.csv", head)
    for load in (load_bundle, load_results):
        with pytest.raises(UserError, match=r"runs.csv' cannot be read \(it has no rows of run"):
            load(folder)


def test_the_same_runs_make_the_same_bytes(folder):
    first = {name: (folder / name).read_bytes() for name in ("runs.csv", "sentences.csv.gz")}
    runs = [folder / "elsewhere" / name for name in ("none1x1", "additive1x1")]
    write_bundle(runs, folder, {})
    assert first == {name: (folder / name).read_bytes() for name in first}


def test_a_missing_bundle_names_what_is_missing(tmp_path):
    with pytest.raises(UserError, match=r"no environment\.json"):
        load_bundle(tmp_path)


def test_a_newer_schema_is_refused(folder):
    write_relisted(folder / "environment.json", json.dumps({"schema": 99, "runs": {}}))
    with pytest.raises(UserError, match="schema 99"):
        load_bundle(folder)


@pytest.mark.parametrize("name", ["runs.csv", "sentences.csv.gz", "environment.json"])
@pytest.mark.parametrize("damage", ["empty", "cut", "noise"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_damaged_file_is_named(folder, name, damage, listed):
    path = folder / name
    content = path.read_bytes()
    cut = content[: len(content) // 2]
    path.write_bytes({"empty": b"", "cut": cut, "noise": b"\x00\xff" * 40}[damage])
    if name == "runs.csv" and damage == "cut":
        path.write_bytes(b"run,attention\n")
    if listed:  # as if it had been written so
        relist(path)
    with pytest.raises(UserError) as caught:
        load_bundle(folder)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gzip_holds_no_time(folder):
    header = (folder / "sentences.csv.gz").read_bytes()[:10]
    assert header[4:8] == b"\0\0\0\0"
    assert gzip.decompress((folder / "sentences.csv.gz").read_bytes()).startswith(b"run,sentence")


def test_a_run_that_the_bundle_does_not_describe_or_has_no_rows_of_is_told(folder):
    table = pd.read_csv(folder / "runs.csv", dtype=str, keep_default_na=False)
    for changed, name in (
        (table[table["run"] == "none1x1"], "runs.csv"),
        (table.replace("none1x1", "other"), "environment.json"),
    ):
        write_relisted(folder / "runs.csv", changed.to_csv(index=False))
        for read in (load_bundle, load_results):
            with pytest.raises(UserError, match=rf"{name}' .* run .*export it again"):
                read(folder)


def test_csv_keeps_every_digit_and_leaves_blanks():
    rows = [{"a": 0.1 + 0.2, "b": np.int64(3)}, {"a": float("nan"), "b": True}, {"b": "x,y"}]
    assert tidy_csv(pd.DataFrame(rows, dtype=object)) == (
        'a,b\n0.30000000000000004,3\n,True\n,"x,y"\n'
    )
    single = np.array([2.7804298400878906, 1 / 3, np.nan], np.float32)
    lines = tidy_csv(pd.DataFrame({"a": single})).splitlines()
    assert lines == ["a", "2.7804298", "0.33333334", '""']
    assert np.array_equal(np.array(lines[1:3], np.float32), single[:2])
