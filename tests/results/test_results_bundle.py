"""A store and a bundle are read as the same typed tables; what cannot be read is named.

A few hundred made-up runs: the tables are those of each run alone, and memory stays small.
"""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from listed import relist, write_relisted
from planted import planted_settings, sentences, translations, write_begun, write_run
from planted_logs import BUCKETS, TOKENS, loss, write_log

sys.path.append(str(Path(__file__).parents[2] / "experiments" / "benchmarks"))

from load import measure
from many_runs import Size, write_store

import seq2seq_bottleneck
from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.figures.registry import make_figure, write_figure
from seq2seq_bottleneck.results.bundle import (
    Results,
    setting_columns,
    tidy_csv,
)
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import finished_runs, read_experiments
from seq2seq_bottleneck.results.schema import (
    BLEU_COLUMNS,
    CHRF_COLUMNS,
    COUNTED,
    LEARNING_COLUMNS,
    RUN_COLUMNS,
    SETTING_COLUMNS,
)
from seq2seq_bottleneck.scoring.bleu import bleu
from seq2seq_bottleneck.scoring.bootstrap import draw
from seq2seq_bottleneck.settings.concerns import FILES, Buckets
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import NAMES, SCHEMA_VERSION, RunSettings
from seq2seq_bottleneck.tables.comparison import compare
from seq2seq_bottleneck.tables.pages import make_page
from seq2seq_bottleneck.tables.selection import where

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
def single(tmp_path):
    """An output folder with one run and its bundle."""
    write_bundle([add(tmp_path / "one", "first")], tmp_path / "one")
    return tmp_path / "one"


def one_line(read, *arguments):
    """What a reader says that refuses."""
    with pytest.raises(UserError) as raised:
        read(*arguments)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def assert_same(read, expected):
    """Two bundles, but for where they lie."""
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
    assert list(kinds) == [*first, *BLEU_COLUMNS, *CHRF_COLUMNS]
    assert kinds == dict.fromkeys(kinds, "int64") | {"nll": "float64", "ended": "bool"}
    plain = pd.read_csv(bundle / "runs.csv")  # as anybody would
    # Up to the last digit, which pandas before 3.1 reads only when asked to.
    np.testing.assert_allclose(plain["bleu"], table["bleu"], rtol=1e-15)
    for name in (name for name, kind in RUN_COLUMNS.items() if kind == "str"):
        texts = plain[name].astype("object").fillna("")
        assert texts.tolist() == table[name].tolist(), name


def test_every_setting_but_the_names_of_files_has_a_column_of_its_type():
    covered = {RESOLVED.get(place, place) for place, _ in SETTING_COLUMNS.values()}
    assert covered == set(NAMES) - {f"corpus.{name}" for name in FILES}
    kinds = {"int64": int, "float64": float, "bool": bool, "str": str}
    for column, value in setting_columns(RunSettings()).items():
        if value is not None:
            assert type(value) is kinds[SETTING_COLUMNS[column][1]], column
    assert setting_columns(RunSettings())["batch_tokens"] is None


@pytest.mark.parametrize(
    ("concern", "changes", "column"),
    [
        ("training", {"learning_rate": 0.1234567890123}, "learning_rate"),
        ("corpus", {"seed": 7}, "corpus_seed"),
        ("model", {"residual": True}, "residual"),
    ],
)
def test_runs_that_differ_in_a_setting_differ_in_its_column(single, concern, changes, column):
    add(single, "second", planted_settings("none", **{concern: changes}), fingerprint="other")
    frame = Results.open(single).runs.drop_duplicates("run").set_index("run")
    names = [name for name in SETTING_COLUMNS if frame[name].nunique(dropna=False) > 1]
    assert names == [column]
    assert frame.loc["second", column] == next(iter(changes.values()))
    assert frame["corpus_fingerprint"].to_dict() == {"first": "planted", "second": "other"}


@pytest.mark.parametrize("wrong", [-1, 2**64, "three", 1.5, None, [3]])
def test_a_wrong_seed_is_damage(single, wrong):
    path = single / "runs" / "first" / "settings.json"
    known = json.loads(path.read_text())
    write_relisted(path, json.dumps(known | {"training": known["training"] | {"seed": wrong}}))
    assert "settings.json" in one_line(Results.open, single)


def test_the_table_survives_a_round_trip_through_pandas(single, tmp_path):
    add(single, "second", planted_settings("additive", training={"learning_rate": 0.1 + 0.2}))
    frame = Results.open(single).runs
    write_bundle(finished_runs(single), tmp_path / "bundle")
    assert tidy_csv(frame) == (tmp_path / "bundle" / "runs.csv").read_text()
    pd.testing.assert_frame_equal(Results.open(tmp_path / "bundle").runs, frame)
    assert frame["batch_tokens"].isna().all()


def test_a_bundle_older_than_a_setting_has_the_value_that_its_runs_had(single, tmp_path):
    older = tmp_path / "older"
    write_bundle(finished_runs(single), older)
    frame = pd.read_csv(older / "runs.csv", dtype=str, keep_default_na=False)
    known = json.loads((older / "environment.json").read_text())
    del known["runs"]["first"]["settings"]["scoring"]["tokenize"]
    write_relisted(older / "environment.json", json.dumps(known))
    write_relisted(older / "runs.csv", frame.drop(columns="tokenize").to_csv(index=False))
    read = Results.open(older)
    pd.testing.assert_frame_equal(read.runs, Results.open(single).runs)
    assert read.settings("first").scoring.tokenize == "13a"
    write_relisted(older / "runs.csv", frame.drop(columns="edges").to_csv(index=False))
    assert "runs.csv" in one_line(Results.open, older)
    assert frame["edges"].iloc[0] == "5,11,21,31,41"


@pytest.mark.parametrize("quoting", [0, 2], ids=["plain", "quoted"])
def test_a_bundle_away_from_its_store_is_read_as_it_was_written(store, bundle, quoting):
    """Its sentences in whatever order: they are put into the test set's."""
    read = Results.open(bundle)
    assert_same(read, Results.open(store))
    frame = pd.read_csv(bundle / "sentences.csv.gz")
    assert list(read.sentences) == list(dict.fromkeys(frame["run"]))
    for run, rows in frame.groupby("run"):
        assert np.array_equal(read.sentences[run].words, rows["source_words"])
        assert np.array_equal(read.sentences[run].statistics, rows[list(BLEU_COLUMNS)])
    path = bundle / "sentences.csv.gz"
    frame.sample(frac=1, random_state=1).to_csv(path, index=False, quoting=quoting)
    relist(path)
    assert_same(Results.open(bundle), read)


def test_the_store_counts_where_its_bundle_is_older(single, monkeypatch):
    """A sweep that was interrupted leaves the bundle of the one before."""
    add(single, "second", planted_settings("additive"))
    declared = {"later": {"second": ["additive", ""]}}
    write_relisted(single / "experiments.json", json.dumps(declared))
    assert set(pd.read_csv(single / "runs.csv")["run"]) == {"first"}
    for folder in (single, single / "runs"):
        read = Results.open(folder)
        experiments = read.runs.drop_duplicates("run").set_index("run")["experiment"]
        assert experiments.to_dict() == {"second": "later", "first": ""}
        runs = {"first", "second"}
        assert (
            set(read.sentences)
            == set(read.environment["runs"])
            == set(dict(read.examples()))
            == runs
        )
    with monkeypatch.context() as inside:
        inside.chdir(single / "runs")
        assert read_experiments(Path()) == declared
    for name in ("first", "second"):  # an emptied store leaves its bundle
        shutil.rmtree(single / "runs" / name)
    assert set(Results.open(single).runs["run"]) == {"first"}


def test_runs_of_another_version_are_left_out_and_counted(single, tmp_path):
    add(single, "old", planted_settings("additive"), schema=SCHEMA_VERSION + 1)
    write_begun(single, "oldstopped", planted_settings("dot"), schema=SCHEMA_VERSION + 1)
    read = Results.open(single)
    assert set(read.runs["run"]) == set(read.sentences) == {"first"}
    message = "1 run is left out: made by another version of bottleneck."
    assert read.left_out() == [message]
    undated = add(single, "undated", planted_settings("dot")) / "environment.json"
    known = json.loads(undated.read_text())
    del known["schema"]
    write_relisted(undated, json.dumps(known))
    write_bundle(finished_runs(single), tmp_path / "bundle")
    (message,) = Results.open(tmp_path / "bundle").left_out()
    assert message.startswith("2 runs are left out")


def test_runs_without_a_result_are_listed_with_their_reason(single, tmp_path):
    write_begun(single, "wild", planted_settings("dot", 2), "diverged", "the loss was not finite")
    write_begun(
        single, "broken", planted_settings("dot", 3), "failed", "Traceback\n  x\nKeyError: 3\n"
    )
    write_begun(single, "stopped", planted_settings("dot", 4))
    (single / "runs" / "stopped" / "settings.json").unlink()
    (single / "runs" / "stopped" / "environment.json").unlink()
    write_bundle(finished_runs(single), tmp_path / "bundle")
    statuses = {"broken": "failed", "stopped": "running", "wild": "diverged"}
    for folder in (single, tmp_path / "bundle"):
        read = Results.open(folder)
        listed = read.unfinished().set_index("run")
        assert listed["status"].to_dict() == statuses
        row = listed.loc["wild", ["attention", "seed", "reason"]].tolist()
        assert row == ["dot", 2, "the loss was not finite"]
        assert listed.loc["broken", "reason"] == "KeyError: 3"
        assert listed.loc["stopped", "attention"] == ""
        assert read.left_out()[0].startswith("3 runs are without a result")
    shutil.rmtree(single / "runs" / "first")
    message = "no finished run (3 not done, 0 of another version): `bottleneck runs` lists them"
    assert message in one_line(Results.open, single)


@pytest.mark.parametrize(
    "lost", ["scores.csv", "sentences.csv", "settings.json", "environment.json"]
)
def test_a_run_that_is_not_whole_is_named(single, lost):
    (single / "runs" / "first" / lost).unlink()
    assert f"first/{lost}'" in one_line(Results.open, single)


@pytest.mark.parametrize("damage", ["empty", "cut", "noise"])
@pytest.mark.parametrize(
    "name", ["runs.csv", "sentences.csv.gz", "learning.csv", "environment.json"]
)
def test_a_file_that_was_written_so_and_cannot_be_read_is_named(bundle, name, damage):
    path = bundle / name
    content = path.read_bytes()
    cut = b"run,update\n" if name.endswith(".csv") else content[: len(content) // 2]
    path.write_bytes({"empty": b"", "cut": cut, "noise": b"\x00\xff" * 40}[damage])
    relist(path)
    message = one_line(lambda: Results.open(bundle).learning())
    assert name in message
    assert message.endswith("export it again")


@pytest.mark.parametrize("value", ["", "x", "1.5"])
def test_a_count_that_is_none_is_reported_with_its_file(bundle, value):
    frame = pd.read_csv(bundle / "sentences.csv.gz", dtype=str)
    frame.loc[3, "correct_2"] = value
    frame.to_csv(bundle / "sentences.csv.gz", index=False)
    relist(bundle / "sentences.csv.gz")
    assert "sentences.csv.gz" in one_line(Results.open, bundle)


def test_a_bundle_that_describes_other_runs_than_its_table_is_named(bundle):
    text = (bundle / "runs.csv").read_text().replace("none1x1", "other")
    write_relisted(bundle / "runs.csv", text)
    assert "environment.json' cannot be read (runs.csv has" in one_line(Results.open, bundle)


def test_another_schema_and_a_missing_bundle_are_named(bundle, tmp_path):
    write_relisted(bundle / "environment.json", json.dumps({"schema": 99, "runs": {}}))
    assert "schema 99, this program reads 8" in one_line(Results.open, bundle)
    (tmp_path / "empty").mkdir()
    assert "no environment.json" in one_line(Results.open, tmp_path / "empty")
    assert "no folder" in one_line(Results.open, tmp_path / "none")


@pytest.fixture
def logged(store):
    """The store, two runs of which logged their losses by length."""
    for number, run in enumerate(("additive1x1", "none1x1")):
        write_log(store / "runs" / run, number)
    return store


def test_a_row_of_the_learning_curves_is_a_run_validation_and_bucket(logged, tmp_path):
    frame = Results.open(logged).learning()
    assert list(frame.columns) == list(LEARNING_COLUMNS)
    assert not frame.duplicated(["run", "update", "bucket"]).any()
    assert len(frame) == 2 * 2 * len(BUCKETS)
    for row in frame[frame["sentences"] > 0].to_dict("records"):
        number = ["additive1x1", "none1x1"].index(row["run"])
        expected = loss(row["update"], BUCKETS.index(row["bucket"]), number)
        assert row["loss"] == pytest.approx(expected, rel=1e-15)
        assert (row["sentences"], row["tokens"], row["standard_error"]) == (20, TOKENS, 0.05)
    empty = frame[frame["sentences"] == 0]
    assert set(empty["bucket"]) == {"41+"}
    assert empty[["loss", "standard_error"]].isna().all(axis=None)
    write_bundle(finished_runs(logged), tmp_path / "again")
    read = Results.open(tmp_path / "again").learning()
    pd.testing.assert_frame_equal(read, frame)
    kinds = {"int64": "Int64", "str": str(pd.Series(dtype="str").dtype)}  # pandas 2 has another
    expected = {name: kinds.get(kind, kind) for name, kind in LEARNING_COLUMNS.items()}
    assert read.dtypes.astype(str).to_dict() == expected
    for folder in (logged, tmp_path / "again"):
        chosen = where(Results.open(folder), ["attention=none"]).learning()
        assert set(chosen["run"]) == {"none1x1"}
        assert list(chosen.index) == list(range(len(chosen)))


@pytest.mark.parametrize("text", ["{", "[1]\n", '{"valid_buckets": {"5-10": {}}}\n', "\xff"])
def test_a_damaged_log_is_named(logged, text):
    log = logged / "runs" / "none1x1" / "log.jsonl"
    log.write_bytes(text.encode("latin1"))
    relist(log)
    message = one_line(Results.open(logged).learning)
    assert "none1x1/log.jsonl' cannot be read" in message
    assert message.endswith("train it again")


def test_from_python_results_give_tables_a_figure_and_verdicts(bundle):
    results = seq2seq_bottleneck.load(bundle)
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


# Hundreds of runs.

MORE = 60
"""MB that 300 runs may take above 30; as data frames their sentences alone would be 95."""


def by_hand(store, arm, size, place):
    """The arm's mean BLEU of a bucket and its resamples, from each run's CSV file by itself."""
    values, draws = [], []
    for run in (store / "runs").iterdir():
        if f'"attention": "{arm}"' not in (run / "settings.json").read_text():
            continue
        frame = pd.read_csv(run / "sentences.csv")
        inside = Buckets((5, 11, 21, 31, 41)).assign(frame["source_words"].to_numpy()) == place
        counts = frame.loc[inside, list(BLEU_COLUMNS)].to_numpy()
        weights = draw(len(counts), size.resamples, seed=1, bucket=place)
        values.append(float(bleu(counts.sum(axis=0))))
        draws.append(bleu(weights @ counts))
    assert len(values) == size.seeds
    return np.mean(values), np.mean(draws, axis=0)


@pytest.mark.slow
def test_the_mean_over_many_seeds_is_that_of_each_run_alone(tmp_path):
    size = Size(1, 12, sentences=150, resamples=40)
    store = tmp_path / "store"
    write_bundle(write_store(store, size), tmp_path / "bundle")
    for folder in (store, tmp_path / "bundle"):
        for arm in compare(Results.open(folder)).arms:
            for place in (0, 4):
                value, draws = by_hand(store, arm.name, size, place)
                assert arm.estimates[place].value == pytest.approx(value, abs=1e-9)
                assert arm.estimates[place].draws == pytest.approx(draws, abs=1e-9)


@pytest.mark.exhaustive
def test_a_figure_of_hundreds_of_seeds_has_room_for_them(tmp_path):
    write_store(tmp_path, Size(1, 1200, sentences=40, resamples=20))
    figure, data = make_figure("bleu", tmp_path)
    write_figure(figure, data, tmp_path / "bleu.png")
    assert (tmp_path / "bleu.png").stat().st_size > 10_000


def peak(results):
    """MB that `claims` takes at most."""
    found = measure(["claims", "--results", str(results)])
    assert found["exit"] == 0
    return found["peak_mb"]


@pytest.mark.exhaustive
def test_three_hundred_runs_need_little_memory_and_say_the_same_from_bundle_and_store(tmp_path):
    for name, seeds in (("few", 5), ("many", 50)):
        write_store(tmp_path / name, Size(3, seeds))
        write_bundle(finished_runs(tmp_path / name), tmp_path / name / "bundle")
    store, bundle = tmp_path / "many", tmp_path / "many" / "bundle"
    for table in ("context-size", "compression"):
        frames = [make_page(table, Results.open(folder)).frame for folder in (store, bundle)]
        pd.testing.assert_frame_equal(*frames, check_exact=True)
    few = peak(tmp_path / "few" / "bundle")
    assert peak(bundle) - few < 2 * MORE
