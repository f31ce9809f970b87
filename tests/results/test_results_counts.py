"""The counts of the sentences: those of the CSV, and what must not be read."""

import gzip
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from listed import relist
from planted import write_planted

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.discovery import finished_runs
from seq2seq_bottleneck.results.schema import BLEU_COLUMNS
from seq2seq_bottleneck.settings.errors import UserError

DAMAGE = {"none": [0.1, 0.3, 0.5, 0.6, 0.7], "additive": [0.1] * 5}


@pytest.fixture
def folder(tmp_path):
    """A bundle away from its store."""
    write_planted(tmp_path, DAMAGE, seeds=2)
    (tmp_path / "runs").rename(tmp_path / "elsewhere")
    return tmp_path


def assert_read(sentences, frame):
    """The counts are those that pandas reads, in the test set's order."""
    assert set(sentences) == set(frame["run"])
    for run, rows in frame.groupby("run"):
        rows = rows.sort_values("sentence")
        assert np.array_equal(sentences[run].words, rows["source_words"])
        assert np.array_equal(sentences[run].statistics, rows[list(BLEU_COLUMNS)])


def test_a_bundle_has_the_counts_of_its_csv(folder):
    frame = pd.read_csv(folder / "sentences.csv.gz")
    sentences = load_bundle(folder).sentences
    assert_read(sentences, frame)
    assert list(sentences) == list(dict.fromkeys(frame["run"]))


def test_packed_counts_of_an_older_bundle_are_ignored(folder):
    frame = pd.read_csv(folder / "sentences.csv.gz")
    (folder / "sentences.safetensors").write_bytes(b"counts of earlier versions")
    assert_read(load_bundle(folder).sentences, frame)


def test_a_csv_that_was_changed_counts(folder):
    """In another order, and with quotes."""
    path = folder / "sentences.csv.gz"
    frame = pd.read_csv(path).sample(frac=1, random_state=1)
    frame["correct_1"] = 0
    for quoting in (0, 2):  # what needs it, all that is no number
        text = frame.to_csv(index=False, quoting=quoting)
        path.write_bytes(gzip.compress(text.encode("utf8")))
        relist(path)
        assert_read(load_bundle(folder).sentences, pd.read_csv(io.StringIO(text)))


@pytest.mark.parametrize("value", ["", "x", "1.5"])
@pytest.mark.parametrize("store", [True, False])
def test_a_count_that_is_none_is_told_with_its_file(folder, store, value):
    if store:
        (folder / "elsewhere").rename(folder / "runs")
        path = finished_runs(folder)[0] / "sentences.csv"
        frame = pd.read_csv(path, dtype=str)
    else:
        path = folder / "sentences.csv.gz"
        frame = pd.read_csv(path, dtype=str)
    frame.loc[3, "correct_2"] = value
    frame.to_csv(path, index=False)
    relist(path)
    with pytest.raises(UserError, match=r"sentences\.csv") as caught:
        load_bundle(folder)
    assert "\n" not in str(caught.value)


def test_a_run_without_sentences_is_told(folder):
    from seq2seq_bottleneck.tables.comparison import compare

    bundle = load_bundle(folder)
    some = {run: held for run, held in bundle.sentences.items() if run != "none2x1"}
    with pytest.raises(UserError, match="nothing of run none2x1"):
        compare(replace(bundle, sentences=some))
