"""Writing bundles of a store or of several folders; commands replace no results."""

import json
import os
import shutil
from itertools import count

import pandas as pd
import pytest
from listed import write_relisted
from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import Results, read_table
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.results.schema import FILES, PROBE_COLUMNS
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed
from seq2seq_bottleneck.tables.comparison import where

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}


def assert_same_files(folder, other):
    for name in FILES:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name


def merge(folders, out):
    write_bundle(Results.merged(out, [Results.open(folder) for folder in folders]), out)


@pytest.fixture
def parts(whole, tmp_path):
    """Two stores with four of the six runs each, two of them in both."""
    runs = Results.open(whole).names
    for name, chosen in (("a", runs[:4]), ("b", runs[2:])):
        for item in chosen:
            shutil.copytree(whole / STORE / item, tmp_path / name / STORE / item)
        experiments = (whole / "experiments.json").read_bytes()
        write_listed(tmp_path / name, [("experiments.json", experiments)])
    return tmp_path / "a", tmp_path / "b"


def test_merged_folders_are_the_bundle_of_all_runs_to_the_byte(whole, parts, tmp_path):
    write_bundle(Results.open(whole), tmp_path / "again")
    assert_same_files(tmp_path / "again", whole)
    assert (whole / "sentences.csv.gz").read_bytes()[4:8] == b"\0\0\0\0"  # no time in it
    write_bundle(Results.open(parts[1]), tmp_path / "second")  # a bundle without a store
    merge([parts[0], tmp_path / "second"], tmp_path / "all")
    assert_same_files(tmp_path / "all", whole)
    merge([*parts, tmp_path / "second"], tmp_path / "all")
    assert_same_files(tmp_path / "all", whole)


@pytest.mark.parametrize("step", [1, 4])
def test_a_bundle_whose_first_writer_was_killed_is_written_again(
    whole, tmp_path, monkeypatch, step
):
    runs, steps, replace = Results.open(whole), count(), os.replace

    def replacing(*names):
        if next(steps) == step:
            raise KeyboardInterrupt
        replace(*names)

    monkeypatch.setattr(os, "replace", replacing)
    with pytest.raises(KeyboardInterrupt):
        write_bundle(runs, tmp_path / "new")
    for name in ("new", "other"):
        write_bundle(runs, tmp_path / name)
    assert_same_files(tmp_path / "new", tmp_path / "other")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_and_nothing_is_written(parts, bundle, tmp_path, name):
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=name):
        merge([parts[0], bundle], tmp_path / "all")
    assert not list((tmp_path / "all").glob("[!.]*"))


def test_a_merge_keeps_every_experiment_of_a_run(parts, tmp_path):
    """The first folder with a run gives its numbers; names from the others are kept, too."""
    shutil.copytree(parts[0], tmp_path / "other")
    declared = {"second": {"none1x1": ["none", ""]}}
    write_relisted(tmp_path / "other" / "experiments.json", json.dumps(declared))
    merge([parts[0], tmp_path / "other"], tmp_path / "all")
    runs = Results.open(tmp_path / "all").runs
    rows = [part.drop(columns=["experiment"]) for _, part in
            runs[runs["run"] == "none1x1"].groupby("experiment")]  # fmt: skip
    assert len(rows) == 2
    pd.testing.assert_frame_equal(*(part.reset_index(drop=True) for part in rows))


TABLES = {
    "length": "run,arm,value\n,none,1\nnone1x1,none,1\nnone2x1,none,1\n",
    "survival": "run,arm,value\nnone1x1,none,0.5\n",
    "cost": "varied,arm\nlength,none\n",
}


@pytest.fixture
def studied(store):
    """The store with tables beside it."""
    for name, text in TABLES.items():
        write_relisted(store / "probes" / f"{name}.csv", text)
    return store


def tables_of(folder):
    return {path.stem: path.read_text() for path in (folder / "probes").glob("*")}


def test_tables_are_bundled_except_those_of_runs_left_out(studied, tmp_path, capsys):
    bundle = tmp_path / "bundle"
    export = ["export", "--results", str(studied), "--bundle", str(bundle)]
    assert run(export) == 0
    gather(studied)
    assert write_bundle(Results.open(studied), studied) == []
    assert tables_of(bundle) == tables_of(studied) == TABLES
    capsys.readouterr()
    assert run([*export, "--where", "seed=1"]) == 0
    printed = capsys.readouterr().err
    assert "Left out, because they are means over other runs: length" in printed
    # The earlier export's table does not stay either: its runs are gone.
    assert set(tables_of(bundle)) == {"cost", "survival"}
    assert tables_of(studied) == TABLES


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("length", "make it again with `bottleneck study length --results {}`, or delete it"),
        ("cost", "make it again with `bottleneck study cost --results {}`, or delete it"),
    ],
)
def test_a_table_that_cannot_be_read_is_named_with_the_way_out(studied, tmp_path, name, way):
    table = studied / "probes" / f"{name}.csv"
    table.write_bytes(b"run,arm\n\xff\xfe,none\n")
    for read in (
        lambda: read_table(table, PROBE_COLUMNS),
        lambda: write_bundle(Results.open(studied), tmp_path / "bundle"),
    ):
        with pytest.raises(UserError) as raised:
            read()
        assert way.format(studied) in str(raised.value)


# Where results may go.


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store of four runs, and a bundle of a different store, without that store."""
    folder = tmp_path_factory.mktemp("made")
    write_planted(folder / "store", ARMS)
    write_planted(folder / "others", {"none": [0.3] * 5}, seeds=5)
    write_bundle(where(Results.open(folder / "others"), ["seed=3,4,5"]), folder / "bundle")
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "here"))
    return tmp_path / "here"


RUN = f"store/{STORE}/none1x1"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("export --results store --bundle bundle", "'bundle' has other results"),
        (f"export --results store --bundle {RUN}", "has other results"),
        ("export --results store --bundle others", "'others' has other results"),
        (
            "export --results store --results bundle --bundle store",
            "is one of the folders to merge",
        ),
        ("export --results bundle --without-text --bundle bundle", "is where these results come"),
        ("export --results store --results store --bundle bundle", "has other results"),
        (f"export --results bundle --results bundle --bundle {RUN}", "has other results"),
        ("export --results bundle -o bundle/runs.csv", "is one of the results there"),
        ("export --results bundle -o bundle/probes/length.csv", "is one of the results there"),
        ("export --results store --bundle mine", "'mine' has other results"),
        ("export --results store/runs --all", "is a store of runs: name the folder that it is in"),
        (f"plot bleu --results store -o {RUN}/scores.svg", "is one of the results there"),
    ],
)
def test_no_result_is_written_over(command, said, place, capsys):
    write_listed(place / "bundle", [("probes/length.csv", b"")])
    (place / "mine").mkdir()
    (place / "mine" / "runs.csv").write_text("my,own\n")
    before = {path: path.read_bytes() for path in place.rglob("[!.]*") if path.is_file()}
    assert run(command.split()) in (1, 2), command
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    after = {path: path.read_bytes() for path in place.rglob("[!.]*") if path.is_file()}
    assert after == before


@pytest.mark.usefixtures("place")
def test_a_run_and_a_folder_of_results_are_opened_as_a_store_is():
    whole = Results.open("store")
    alone = Results.open(RUN)
    assert alone.names == ["none1x1"]
    rows = whole.runs[whole.runs["run"] == "none1x1"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone.runs, rows)
    together = Results.open(".")
    assert set(together.names) == {*whole.names, *Results.open("others").names}
    assert set(together.sentences) == set(together.names)
