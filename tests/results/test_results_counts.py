"""The counts of the sentences: quick reading against pandas, and what it must not read."""

import gzip
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from listed import relist
from planted import write_planted
from safetensors.numpy import load_file, save_file

from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.counts import digest, read_bundle, unpacked
from seq2seq_bottleneck.results.digits import fields_of, runs_of_rows, whole_numbers
from seq2seq_bottleneck.results.found import finished_runs
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


@given(
    st.lists(
        st.tuples(
            st.text("abc09_-é", max_size=3),
            st.integers(0, 10**9 - 1),
            st.floats(),
            st.integers(0, 40),
        ),
        max_size=20,
    )
)
def test_plain_rows_are_read_as_pandas_reads_them(rows):
    text = pd.DataFrame(rows).to_csv(index=False, header=False) if rows else ""
    fields = fields_of(text.encode("utf8"), 4)
    found = whole_numbers(fields, [3, 1])
    assert found.tolist() == [[row[3], row[1]] for row in rows]
    held = [name for name, first, last in runs_of_rows(fields) for _ in range(first, last)]
    assert held == [row[0] for row in rows]


@pytest.mark.parametrize(
    "text",
    ["1,2\n3\n", "1,2,3\n", "1,2\n3,4", "1,\n", "1,-2\n", "1,+2\n", "1,2.0\n", "1,2 \n", "1,2\r\n",
     '1,"2"\n', "1,1234567890\n", "1\n2,3\n4\n", "1,é\n", "1,2\n\n", "1,:\n", "1,/\n"],
)  # fmt: skip
def test_what_is_not_plain_is_refused(text):
    with pytest.raises(ValueError, match=r"rows|blank|whole"):
        whole_numbers(fields_of(text.encode("utf8"), 2), [1])


def test_a_bundle_has_the_counts_of_its_csv(folder):
    frame = pd.read_csv(folder / "sentences.csv.gz")
    packed = unpacked(folder / "sentences.safetensors", digest(folder / "sentences.csv.gz"))
    assert_read(packed, frame)
    assert_read(read_bundle(folder / "sentences.csv.gz"), frame)
    assert list(packed) == list(dict.fromkeys(frame["run"]))
    (folder / "sentences.safetensors").unlink()
    assert_read(load_bundle(folder).sentences, frame)


def test_a_csv_that_was_changed_counts_and_not_what_was_packed(folder):
    """In another order, and with texts that the quick reader leaves to pandas."""
    path = folder / "sentences.csv.gz"
    frame = pd.read_csv(path).sample(frac=1, random_state=1)
    frame["correct_1"] = 0
    for quoting in (0, 2):  # what needs it, all that is no number
        text = frame.to_csv(index=False, quoting=quoting)
        path.write_bytes(gzip.compress(text.encode("utf8")))
        relist(path)
        assert_read(load_bundle(folder).sentences, pd.read_csv(io.StringIO(text)))


@pytest.mark.parametrize("tensor", ["lengths", "counts"])
def test_packed_counts_that_were_changed_do_not_count(folder, tensor):
    """One number is another, and all else of the file as it was."""
    path, csv = folder / "sentences.safetensors", digest(folder / "sentences.csv.gz")
    held = load_file(path)
    held[tensor][1] ^= 1
    save_file(held, path, unpacked_about(path))
    assert unpacked(path, csv) is None
    assert_read(load_bundle(folder).sentences, pd.read_csv(folder / "sentences.csv.gz"))


def unpacked_about(path):
    """What the file says of itself."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return file.metadata()


@pytest.mark.parametrize("size", [0, 7, 100, -1])
def test_packed_counts_cut_short_do_not_count(folder, size):
    path = folder / "sentences.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    assert unpacked(path, digest(folder / "sentences.csv.gz")) is None
    assert_read(load_bundle(folder).sentences, pd.read_csv(folder / "sentences.csv.gz"))


@pytest.mark.parametrize("value", ["-1", "", "x", "1.5"])
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
    with pytest.raises(UserError, match=r"sentences\.csv") as caught:
        load_bundle(folder)
    assert "\n" not in str(caught.value)


def test_a_run_without_sentences_is_told(folder):
    from seq2seq_bottleneck.tables.comparison import compare

    bundle = load_bundle(folder)
    some = {run: held for run, held in bundle.sentences.items() if run != "none2x1"}
    with pytest.raises(UserError, match="nothing of run none2x1"):
        compare(replace(bundle, sentences=some))


def test_packed_counts_that_say_nothing_of_themselves_do_not_count(folder):
    path, csv = folder / "sentences.safetensors", digest(folder / "sentences.csv.gz")
    save_file(load_file(path), path, {"csv": csv})
    assert unpacked(path, csv) is None
