"""A store and a bundle are read as the same typed tables; what cannot be read is named."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from planted import planted_settings, sentences, translations, write_begun, write_run

import seq2seq_bottleneck
from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.results.bundle import Results
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS, COUNTED, RUN_COLUMNS, VERSION
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.tables.pages import make_page


def add(folder, name, settings=None, **facts):
    """A finished run of the store, one word in five lost."""
    references = sentences()
    texts = translations(references, [0.2] * 5, [1])
    return write_run(folder, name, settings or planted_settings("none"), texts, references, **facts)


@pytest.fixture
def single(tmp_path):
    """An output folder with one run and its bundle."""
    add(tmp_path / "one", "first")
    write_bundle(Results.open(tmp_path / "one"), tmp_path / "one")
    return tmp_path / "one"


def one_line(read, *arguments):
    """The one-line message of a reader that refuses."""
    with pytest.raises(UserError) as raised:
        read(*arguments)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def assert_same(read, expected):
    """Two bundles are equal, except for their folders."""
    pd.testing.assert_frame_equal(read.runs, expected.runs)
    assert read.environment == expected.environment
    assert list(read.examples()) == list(expected.examples())
    assert set(read.sentences) == set(expected.sentences)
    for run, counts in expected.sentences.items():
        np.testing.assert_array_equal(read.sentences[run].words, counts.words)
        np.testing.assert_array_equal(read.sentences[run].statistics, counts.statistics)


def test_files_have_the_documented_columns_and_types_and_runs_csv_a_key(store, bundle):
    table = Results.open(bundle).runs
    assert list(table.columns) == list(RUN_COLUMNS)
    assert not table.duplicated(["run", "attention", "context_size", "seed", "bucket"]).any()
    assert list(pd.read_csv(bundle / "sentences.csv.gz").columns) == ["run", *COUNTED]
    table_of_run = pd.read_csv(store / "runs" / "none1x1" / "sentences.csv")
    kinds = {name: str(kind) for name, kind in table_of_run.dtypes.items()}
    first = ("sentence", "source_words", "nll", "target_tokens", "ended")
    assert list(kinds) == [*first, *BLEU_COLUMNS]
    assert kinds == dict.fromkeys(kinds, "int64") | {"nll": "float64", "ended": "bool"}
    plain = pd.read_csv(bundle / "runs.csv")  # as any user would
    # Except for the last digit, which pandas before 3.1 reads only with an option.
    np.testing.assert_allclose(plain["bleu"], table["bleu"], rtol=1e-15)
    for name in (name for name, kind in RUN_COLUMNS.items() if kind == "str"):
        texts = plain[name].astype("object").fillna("")
        assert texts.tolist() == table[name].tolist(), name


def test_a_bundle_away_from_its_store_is_read_as_it_was_written(store, bundle):
    """Its sentences may have any order: reading restores the test set's."""
    read = Results.open(bundle)
    assert_same(read, Results.open(store))
    frame = pd.read_csv(bundle / "sentences.csv.gz")
    path = bundle / "sentences.csv.gz"
    frame.sample(frac=1, random_state=1).to_csv(path, index=False)
    relist(path)
    assert_same(Results.open(bundle), read)


def test_the_store_counts_where_its_bundle_is_older(single):
    """An interrupted sweep leaves the previous sweep's bundle."""
    add(single, "second", planted_settings("additive"))
    declared = {"later": {"second": ["additive", ""]}}
    write_relisted(single / "experiments.json", json.dumps(declared))
    assert set(pd.read_csv(single / "runs.csv")["run"]) == {"first"}
    for folder in (single, single / "runs"):
        read = Results.open(folder)
        experiments = read.runs.drop_duplicates("run").set_index("run")["experiment"]
        assert experiments.to_dict() == {"second": "later", "first": ""}
        assert set(read.sentences) == {"first", "second"}
    for name in ("first", "second"):  # an emptied store leaves its bundle
        shutil.rmtree(single / "runs" / name)
    assert set(Results.open(single).runs["run"]) == {"first"}


def test_runs_without_a_result_are_listed_with_their_status(single, tmp_path):
    write_begun(single, "wild", planted_settings("dot", 2), "diverged", "the loss was not finite")
    write_begun(
        single, "broken", planted_settings("dot", 3), "failed", "Traceback\n  x\nKeyError: 3\n"
    )
    write_begun(single, "stopped", planted_settings("dot", 4))
    (single / "runs" / "stopped" / "settings.json").unlink()
    (single / "runs" / "stopped" / "environment.json").unlink()
    write_bundle(Results.open(single), tmp_path / "bundle")
    statuses = {"broken": "failed", "stopped": "running", "wild": "diverged"}
    for folder in (single, tmp_path / "bundle"):
        read = Results.open(folder)
        assert read.environment["unfinished"] == statuses
        assert read.left_out()[0].startswith("3 runs without a result")
    shutil.rmtree(single / "runs" / "first")
    assert "holds no finished run (3 not done" in one_line(Results.open, single)


@pytest.mark.parametrize("content", [b"", b"run,update\n", b"\x00\xff" * 40])
@pytest.mark.parametrize("name", ["runs.csv", "sentences.csv.gz", "environment.json"])
def test_an_undamaged_file_that_cannot_be_read_is_named(bundle, name, content):
    path = bundle / name
    path.write_bytes(content)
    relist(path)
    message = one_line(Results.open, bundle)
    assert name in message
    assert message.endswith("export it again")


def test_another_schema_and_a_missing_bundle_are_named(bundle, tmp_path):
    write_relisted(bundle / "environment.json", json.dumps({"schema": 99, "runs": {}}))
    assert f"schema 99, this program reads {VERSION}" in one_line(Results.open, bundle)
    (tmp_path / "empty").mkdir()
    assert "no results in" in one_line(Results.open, tmp_path / "empty")
    assert "no folder" in one_line(Results.open, tmp_path / "none")


def test_from_python_results_give_tables_a_figure_and_verdicts(bundle):
    results = seq2seq_bottleneck.load(bundle)
    assert repr(results) == f"<results in {str(bundle)!r}: 6 runs>"  # what a notebook shows
    page = make_page("vindication", Results.open(bundle))
    table = results.table("vindication")
    pd.testing.assert_frame_equal(table, page.frame)
    assert table.attrs == {"title": page.title, "caption": "\n".join(page.caption)}
    like = results.table("vindication", like_slide=True)
    assert set(like.index) == {""}
    pd.testing.assert_frame_equal(
        like.reset_index(drop=True), make_page("vindication", results, like_slide=True).frame
    )
    assert results.plot("bleu")._repr_png_().startswith(b"\x89PNG")
    verdicts = results.verdicts().set_index("id")["verdict"]
    assert list(verdicts.index) == [claim.id for claim in CLAIMS]
    assert verdicts["L-FAIL"] == "held"
    assert verdicts["C1"] == "not measured"
