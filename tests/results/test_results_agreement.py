"""Results mended by hand, their sums set right: what cannot be is told with its file."""

import csv
import gzip
import io
import json
import shutil
import threading

import pytest
from listed import relist, write_relisted
from planted import reseal, write_planted
from planted_logs import write_log

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import load_bundle, load_results
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.found import finished_runs
from seq2seq_bottleneck.results.merged import write_merged
from seq2seq_bottleneck.results.schema import SETTING_COLUMNS
from seq2seq_bottleneck.settings.errors import DamagedError

WORD = {"sentence": 3, "source": ["un", "</s>"], "reference": "a", "hypothesis": ["a"]}
EXAMPLE = WORD | {"weights": [[0.25, 0.75]]}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    write_planted(folder, {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=2)
    for number, each in enumerate(finished_runs(folder)):
        write_log(each, number)
        write_relisted(each / "examples.json", json.dumps([EXAMPLE]))
    return folder


@pytest.fixture(scope="module")
def whole(store, tmp_path_factory):
    """A bundle away from its store."""
    folder = tmp_path_factory.mktemp("whole")
    write_bundle(finished_runs(store), folder, {})
    return folder


@pytest.fixture
def bundle(whole, tmp_path):
    """The same, to be changed."""
    return shutil.copytree(whole, tmp_path / "bundle")


def edit_csv(path, edit):
    """The rows of a CSV file, each a list, as ``edit`` changes them."""
    packed = path.suffix == ".gz"
    text = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode()
    head, *lines = text.splitlines(keepends=True)
    text = "".join([head, *edit(lines)])
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    relist(path)


def runs_of(lines):
    return list(dict.fromkeys(line.partition(",")[0] for line in lines))


SENTENCES = {
    "one run has half of them": lambda rows: rows[:-30],
    "a sentence is lost": lambda rows: rows[:9] + rows[10:],
    "a sentence is there twice": lambda rows: [*rows, rows[-1]],
    "a sentence in the place of another": lambda rows: [*rows[:-1], rows[-2]],
    "one run has none": lambda rows: [row for row in rows if row[:5] != runs_of(rows)[0][:5]],
    "nothing but the head": lambda _: [],
}


@pytest.mark.slow
@pytest.mark.parametrize("edit", SENTENCES.values(), ids=SENTENCES)
def test_sentences_that_are_not_those_counted_are_told(bundle, tmp_path, edit):
    edit_csv(bundle / "sentences.csv.gz", edit)
    with pytest.raises(DamagedError, match=r"sentences\.csv\.gz"):
        load_bundle(bundle)
    with pytest.raises(DamagedError, match=r"sentences\.csv\.gz"):
        write_merged([bundle], tmp_path / "merged")
    assert not list((tmp_path / "merged").glob("*.csv"))


def test_sentences_of_a_run_that_are_not_those_counted_are_told(store, tmp_path):
    own = shutil.copytree(store, tmp_path / "own")
    path = finished_runs(own)[1] / "sentences.csv"
    edit_csv(path, lambda rows: rows[:-1])
    with pytest.raises(DamagedError, match=f"{path.parent.name}/sentences.csv.*--remove"):
        load_bundle(own)


def test_other_edges_than_those_scored_by_are_told(store, tmp_path):
    own = shutil.copytree(store, tmp_path / "own")
    path = finished_runs(own)[0] / "settings.json"
    held = json.loads(path.read_text())
    held["scoring"]["edges"] = "5,12,21,31,41"
    write_relisted(path, json.dumps(held))
    with pytest.raises(DamagedError, match=path.parent.name):
        load_bundle(own)


def changed(column, value, rows=slice(1, 2)):
    """Some of the rows, the second alone if they are not told, have another value in a column."""

    def edit(path):
        place = path.read_text().splitlines()[0].split(",").index(column)

        def write(lines):
            held = list(csv.reader(lines))
            for row in held[rows]:
                row[place] = value
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(held)
            return [text.getvalue()]

        edit_csv(path, write)

    return edit


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("updates", "", "no 'updates'"),
        ("cell", "", "no 'cell'"),
        ("learning_rate", "", "no 'learning_rate'"),
        ("bucket", "", "no 'bucket'"),
        ("bleu", "-1", "'bleu' is out of range"),
        ("bleu", "100.5", "'bleu' is out of range"),
        ("precision_3", "1e300", "'precision_3' is out of range"),
        ("brevity_penalty", "1.1", "'brevity_penalty' is out of range"),
        ("attention", "uniform", "another 'attention' than environment.json"),
        ("layers", "2", "another 'layers' than environment.json"),
        ("learning_rate", "0.5", "another 'learning_rate' than environment.json"),
        ("corpus_fingerprint", "other", "another 'corpus_fingerprint' than environment.json"),
        ("chrf", "inf", "'chrf' is out of range"),
        ("nll_per_token", "-0.5", "'nll_per_token' is out of range"),
        ("n", "-12", "'n' is out of range"),
        ("hidden_size", "77", "another 'hidden_size' than environment.json"),
    ],
)
def test_a_number_that_cannot_be_is_told(bundle, column, value, told):
    changed(column, value)(bundle / "runs.csv")
    for load in (load_bundle, load_results):
        with pytest.raises(DamagedError, match=rf"runs\.csv.*{told}"):
            load(bundle)


def test_a_setting_that_all_rows_of_a_run_have_otherwise_is_told(bundle):
    buckets = load_results(bundle)["run"].value_counts().iloc[0]
    changed("layers", "2", slice(-buckets, None))(bundle / "runs.csv")
    with pytest.raises(DamagedError, match="another 'layers' than environment"):
        load_bundle(bundle)


@pytest.mark.parametrize("name", ["nll_per_token", "train_loss", "valid_loss"])
def test_a_loss_may_be_all_that_a_float32_can_be(bundle, name):
    """As of a training whose steps are huge and whose loss stays finite: it did not diverge."""
    changed(name, "3.4028235e+38")(bundle / "runs.csv")
    assert load_bundle(bundle).runs[name].max() == 3.4028235e38


@pytest.mark.parametrize("name", ["batch_tokens", "test_max_words"])
def test_a_setting_that_the_description_alone_has_is_told(bundle, name):
    path = bundle / "environment.json"
    held = json.loads(path.read_text())
    concern, _, field = SETTING_COLUMNS[name][0].partition(".")
    for described in held["runs"].values():
        described["settings"][concern][field] = 5
    write_relisted(path, json.dumps(held))
    with pytest.raises(DamagedError, match=rf"runs\.csv.*another '{name}' than environment"):
        load_bundle(bundle)


def test_a_bundle_is_read_where_no_thread_is_to_be_had(bundle, monkeypatch):
    whole = load_bundle(bundle)

    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert load_bundle(bundle).runs.equals(whole.runs)


def test_a_score_that_is_none_is_a_blank(bundle):
    """Of references in which sacreBLEU finds no token: it is measured so, and no damage."""
    changed("bleu_low", "")(bundle / "runs.csv")
    changed("bleu", "")(bundle / "runs.csv")
    assert load_bundle(bundle).runs["bleu"].isna().sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("correct_1", "1000"),
        ("correct_4", "1000000000000"),
        ("total_2", "0"),
        ("hypothesis_tokens", "0"),
        ("reference_tokens", "9000000000000000000"),
        ("reference_tokens", "1e30"),
    ],
)
def test_counts_that_cannot_be_are_told(bundle, column, value, capfd):
    path = bundle / "sentences.csv.gz"
    head = gzip.decompress(path.read_bytes()).decode().splitlines()[0].split(",")

    def edit(rows):
        row = rows[9].rstrip("\n").split(",")
        row[head.index(column)] = value
        return [*rows[:9], ",".join(row) + "\n", *rows[10:]]

    edit_csv(path, edit)
    assert run(["table", "arms", "--results", str(bundle)]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "sentences.csv.gz' cannot be read" in line
    assert line.endswith("export it again")


@pytest.mark.slow
@pytest.mark.parametrize("value", ["inf", "-1", "1e300"])
@pytest.mark.parametrize("name", ["loss", "standard_error", "tokens", "update"])
def test_a_number_of_learning_that_cannot_be_is_told(bundle, tmp_path, capfd, name, value):
    path = bundle / "learning.csv"
    head = path.read_text().splitlines()[0].split(",")

    def edit(rows):
        row = rows[0].rstrip("\n").split(",")
        row[head.index(name)] = value
        return [",".join(row) + "\n", *rows[1:]]

    edit_csv(path, edit)
    command = ["plot", "learning", "--results", str(bundle), "-o", str(tmp_path / "a.svg")]
    assert run(command) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert "learning.csv' cannot be read" in line


def test_an_example_without_an_output_is_one_and_is_not_drawn(bundle, tmp_path):
    give_examples(bundle, {**EXAMPLE, "sentence": 1, "hypothesis": [], "weights": []}, EXAMPLE)
    figure = tmp_path / "a.svg"
    assert run(["plot", "attention", "--results", str(bundle), "-o", str(figure)]) == 0
    assert {row.split(",")[1] for row in (tmp_path / "a.csv").read_text().splitlines()[1:]} == {"3"}


def test_a_count_that_is_not_the_sentences_is_told(bundle):
    changed("n", "11")(bundle / "runs.csv")
    with pytest.raises(DamagedError, match=r"not the sentences that runs\.csv counts"):
        load_bundle(bundle)


def test_edges_that_are_none_are_told(bundle):
    edit_csv(
        bundle / "runs.csv", lambda rows: [row.replace("5,11,21,31,41", "five") for row in rows]
    )
    with pytest.raises(DamagedError, match=r"runs\.csv"):
        load_bundle(bundle)


def test_a_run_whose_rows_are_gone_is_told(bundle, tmp_path, capsys):
    lost = []

    def edit(rows):
        lost.extend(runs_of(rows)[:1])
        return [row for row in rows if not row.startswith(f"{lost[0]},")]

    edit_csv(bundle / "runs.csv", edit)
    for load in (load_bundle, load_results):
        with pytest.raises(DamagedError, match=rf"runs\.csv.*nothing of run {lost[0]}"):
            load(bundle)
    assert run(["merge", str(bundle), "-o", str(tmp_path / "merged")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "merged" / "runs.csv").exists()


def test_a_row_of_learning_that_is_there_twice_is_told(bundle):
    edit_csv(bundle / "learning.csv", lambda rows: [*rows, rows[3]])
    with pytest.raises(DamagedError, match=r"learning\.csv.*two rows"):
        load_bundle(bundle).learning()


SHAPES = {
    "a text": "a",
    "an object": {},
    "no place": {**EXAMPLE, "sentence": "3"},
    "a truth for a place": {**EXAMPLE, "sentence": True},
    "source is a text": {**EXAMPLE, "source": "un"},
    "a place below zero": {**EXAMPLE, "sentence": -5},
    "half a sign": {**EXAMPLE, "source": ["un", "\ud800"]},
    "half a sign in the reference": {**EXAMPLE, "reference": "\ud800"},
    "no source": {**EXAMPLE, "source": []},
    "no reference": {name: held for name, held in EXAMPLE.items() if name != "reference"},
    "a word is a number": {**EXAMPLE, "hypothesis": [1]},
    "no weights": WORD,
    "too few rows": {**EXAMPLE, "weights": []},
    "too few columns": {**EXAMPLE, "weights": [[1.0]]},
    "a weight is a text": {**EXAMPLE, "weights": [["0.25", 0.75]]},
    "a weight is above one": {**EXAMPLE, "weights": [[0.25, 7.5]]},
    "a weight is no number": {**EXAMPLE, "weights": [[float("nan"), 0.75]]},
}


def give_examples(bundle, *examples):
    path = bundle / "examples.json.gz"
    held = json.loads(gzip.decompress(path.read_bytes()))
    assert list(held.values()) == [[EXAMPLE]] * 4
    path.write_bytes(gzip.compress(json.dumps(dict.fromkeys(held, examples)).encode()))
    relist(path)


@pytest.mark.slow
@pytest.mark.parametrize("example", SHAPES.values(), ids=SHAPES)
def test_examples_of_another_shape_are_told(bundle, example):
    give_examples(bundle, EXAMPLE, example)
    with pytest.raises(DamagedError, match=r"examples\.json\.gz"):
        load_bundle(bundle).examples()


def test_examples_of_another_shape_are_neither_drawn_nor_merged(store, bundle, tmp_path, capsys):
    give_examples(bundle, EXAMPLE, SHAPES["too few columns"])
    for command in (["plot", "attention", "--results"], ["merge"]):
        out = tmp_path / f"{command[0]}.png"
        assert run([*command, str(bundle), "-o", str(out)]) == 1
        assert capsys.readouterr().err.count("\n") == 1
        assert not out.is_file()

    own = shutil.copytree(store, tmp_path / "own")
    write_relisted(finished_runs(own)[0] / "examples.json", json.dumps(["a"]))
    with pytest.raises(DamagedError, match=r"examples\.json"):
        load_bundle(own).examples()


@pytest.mark.parametrize("command", [["claims"], ["table", "vindication"], ["export"], ["report"]])
def test_a_bundle_without_its_rows_is_one_that_lost_them(bundle, tmp_path, capsys, command):
    """Its line in the sums taken away with it: nobody is sent to train over the rest."""
    (bundle / "runs.csv").unlink()
    reseal(bundle)
    out = ["-o", str(tmp_path / "page.html")] if command == ["report"] else []
    assert run([*command, "--results", str(bundle), *out]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "runs.csv' cannot be read (No such file or directory); export it again" in line


def test_nothing_is_trained_where_some_of_a_bundle_lies(bundle, capsys):
    (bundle / "runs.csv").unlink()
    reseal(bundle)
    before = sorted(bundle.rglob("*"))
    assert run(["reproduce", "--preset", "smoke", "--out", str(bundle), "--quiet"]) == 1
    assert "is a bundle without its run folders" in capsys.readouterr().err
    assert sorted(bundle.rglob("*")) == before
