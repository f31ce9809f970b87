"""Bundles written, of a store or of several folders; what a command writes replaces no result."""

import json
import os
import shutil
from itertools import count
from pathlib import Path

import pandas as pd
import pytest
from listed import write_relisted
from planted import planted_settings, reseal, write_begun, write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.bundle import Results, read_table
from seq2seq_bottleneck.results.export import Merged, write_bundle, write_merged
from seq2seq_bottleneck.results.folders import (
    EXPERIMENTS,
    STORE,
    finished_runs,
    rests_on,
    results_inside,
)
from seq2seq_bottleneck.results.schema import (
    FILES,
    PROBE_COLUMNS,
    PROBES,
)
from seq2seq_bottleneck.runs.sweep import gather
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.settings.files import write_listed

ARMS = {"none": [0.2, 0.4, 0.6, 0.7, 0.8], "additive": [0.1] * 5}


def assert_same_files(folder, other):
    for name in FILES:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name


@pytest.fixture
def parts(whole, tmp_path):
    """Two stores that have four of the six runs each, two of them in common."""
    runs = Results.open(whole).names
    for name, chosen in (("a", runs[:4]), ("b", runs[2:])):
        for item in chosen:
            shutil.copytree(whole / STORE / item, tmp_path / name / STORE / item)
        write_listed(tmp_path / name, [(EXPERIMENTS, (whole / EXPERIMENTS).read_bytes())])
    return tmp_path / "a", tmp_path / "b"


def test_merged_folders_are_the_bundle_of_all_runs_to_the_byte(whole, parts, tmp_path):
    write_bundle(finished_runs(whole), tmp_path / "again")
    assert_same_files(tmp_path / "again", whole)
    assert (whole / "sentences.csv.gz").read_bytes()[4:8] == b"\0\0\0\0"  # no time in it
    write_bundle(finished_runs(parts[1]), tmp_path / "second")  # a bundle without a store
    assert write_merged([parts[0], tmp_path / "second"], tmp_path / "all") == Merged(6, 2)
    assert_same_files(tmp_path / "all", whole)
    assert write_merged([*parts, tmp_path / "second"], tmp_path / "all") == Merged(6, 4)
    assert_same_files(tmp_path / "all", whole)


@pytest.mark.parametrize("step", [1, 2, 5, 6])
def test_a_bundle_whose_first_writer_was_killed_is_written_again(
    whole, tmp_path, monkeypatch, step
):
    runs, steps, replace = finished_runs(whole)[:1], count(), os.replace

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
def test_a_run_that_two_machines_scored_differently_is_named_and_the_first_one_kept(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    scores = {}
    for name, damage in (("here", 0.1), ("there", 0.6)):
        write_planted(tmp_path / name, {"none": [damage] * 5, "additive": [0.2] * 5}, seeds=1)
        scores[name] = Results.open(tmp_path / name).runs
    for order in (["here", "there"], ["there", "here"]):
        assert run(["merge", *order, "--out", "".join(order)]) == 0
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("2 runs are in several folders")
        assert lines[1] == "With other scores in a later one, so that order decides: none1x1"
        merged = Results.open(tmp_path / "".join(order)).runs
        pd.testing.assert_frame_equal(merged, scores[order[0]])


def test_tables_are_of_all_seeds_and_studies_stay_where_they_are(parts, tmp_path, capsys):
    out = tmp_path / "all"
    write_listed(parts[0], [(f"{PROBES}/length.csv", b"run\n")])
    assert run(["merge", *map(str, parts), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"Written to {out}: 6 runs\n"
    several, studies = printed.err.splitlines()
    assert several == "2 runs are in several folders: kept as the first of them has it"
    assert studies.startswith("Not in it: what studies measured")
    assert not (out / PROBES).exists()
    assert run(["table", "vindication", "--results", str(out), "--format", "markdown"]) == 0
    assert "none, seed 3:" in capsys.readouterr().out


def test_a_folder_with_results_is_not_merged_into(parts, tmp_path, capsys):
    with pytest.raises(UserError, match="is one of the folders to be put together"):
        write_merged(parts, parts[0])
    with pytest.raises(UserError, match="has results of its own"):
        write_merged(parts[:1], parts[1])
    write_merged(parts[:1], tmp_path / "all")
    write_merged(parts, tmp_path / "all")  # a later one takes an earlier one's place
    assert Results.open(tmp_path / "all").runs["run"].nunique() == 6
    (tmp_path / "empty").mkdir()
    assert run(["merge", str(tmp_path / "empty"), "-o", str(tmp_path / "none")]) == 1
    assert "environment.json" in capsys.readouterr().err
    assert run(["merge", "-o", str(tmp_path / "none")]) == 2


@pytest.mark.slow
def test_what_one_has_not_done_and_another_has_is_done(parts, tmp_path):
    first, second = parts
    write_begun(first, finished_runs(second)[-1].name, planted_settings("none", 3))
    write_begun(first, "never", planted_settings("none", 4), "failed", "no memory")
    write_merged([first, second], tmp_path / "all")
    merged = Results.open(tmp_path / "all")
    assert set(merged.unfinished()["run"]) == {"never"}
    assert merged.runs["run"].nunique() == 6


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_and_nothing_is_written(parts, bundle, tmp_path, name):
    content = (bundle / name).read_bytes()
    (bundle / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(UserError, match=name):
        write_merged([parts[0], bundle], tmp_path / "all")
    assert not list((tmp_path / "all").glob("[!.]*"))


def test_a_merge_keeps_every_experiment_of_a_run(parts, tmp_path):
    """The first folder that has a run gives its numbers; what the others call it is kept too."""
    shutil.copytree(parts[0], tmp_path / "other")
    declared = {"second": {"none1x1": ["none", ""]}}
    write_relisted(tmp_path / "other" / "experiments.json", json.dumps(declared))
    write_merged([parts[0], tmp_path / "other"], tmp_path / "all")
    runs = Results.open(tmp_path / "all").runs
    rows = [part.drop(columns=["experiment"]) for _, part in
            runs[runs["run"] == "none1x1"].groupby("experiment")]  # fmt: skip
    assert len(rows) == 2
    pd.testing.assert_frame_equal(*(part.reset_index(drop=True) for part in rows))


@pytest.mark.parametrize("part", ["runs", "unfinished"])
def test_a_run_with_a_retired_setting_at_another_value_is_refused(bundle, part):
    path = bundle / "environment.json"
    known = json.loads(path.read_text())
    name, described = next(iter(known["runs"].items()))
    other = json.loads(json.dumps(described))
    other["settings"]["training"]["products"] = "bfloat16"
    entry = {"status": "stopped", "reason": ""} | other
    known[part] = known.get(part, {}) | {name: entry}
    path.write_text(json.dumps(known))
    reseal(bundle)
    with pytest.raises(
        UserError, match=r"environment.json.*'training.products': this version only knows"
    ):
        Results.open(bundle)


TABLES = {
    "length": "run,arm,value\n,none,1\nnone1x1,none,1\nnone2x1,none,1\n",
    "survival": "run,arm,value\nnone1x1,none,0.5\n",
    "cost": "varied,arm\nlength,none\n",
}


@pytest.fixture
def studied(store):
    """The store with tables beside it."""
    for name, text in TABLES.items():
        write_relisted(store / PROBES / f"{name}.csv", text)
    return store


def tables_of(folder):
    return {path.stem: path.read_text() for path in (folder / PROBES).glob("*")}


def test_tables_travel_but_for_those_that_rest_on_runs_left_out(studied, tmp_path, capsys):
    bundle = tmp_path / "bundle"
    export = ["export", "--results", str(studied), "--bundle", str(bundle)]
    assert run(export) == 0
    gather(studied, {})
    assert write_bundle(finished_runs(studied), studied) == []
    assert tables_of(bundle) == tables_of(studied) == TABLES
    capsys.readouterr()
    assert run([*export, "--where", "seed=1"]) == 0
    printed = capsys.readouterr().err
    assert "Not in it, for they rest on runs that are left out: length (" in printed
    # Nor does the one of the earlier export stay beside runs that are no longer there.
    assert set(tables_of(bundle)) == {"cost", "survival"}
    assert tables_of(studied) == TABLES


def test_what_the_store_has_no_more_is_not_left_in_a_bundle(studied, tmp_path, capsys):
    bundle = tmp_path / "bundle"
    export = ["export", "--results", str(studied), "--bundle", str(bundle)]
    assert run(export) == 0
    assert run(["runs", "none2x1", "--remove", "--yes", "--results", str(studied)]) == 0
    # Its table rested on the run that is gone; the benchmark's numbers rest on none.
    assert set(tables_of(studied)) == {"cost", "survival"}
    assert run(export) == 2  # for nobody has the run but this bundle
    assert "(none2x1): name a new folder, or delete it" in capsys.readouterr().err
    with pytest.raises(UsageError, match="is a bundle with other runs"):
        write_bundle(finished_runs(studied), bundle)
    shutil.rmtree(bundle)
    assert run(export) == 0
    assert set(tables_of(bundle)) == {"cost", "survival"}


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("length", "`bottleneck study length --results {}` makes it again"),
        (
            "alignment_gold",
            "`bottleneck study alignment --gold FILE --source FILE --target FILE --results {}` "
            "makes it again",
        ),
        ("cost", "`bottleneck bench --out {}` measures it again"),
        ("mine", "delete it and its line in SHA256SUMS, or export the bundle again"),
    ],
)
def test_a_table_that_cannot_be_read_is_named_with_the_way_out(studied, tmp_path, name, way):
    table = studied / PROBES / f"{name}.csv"
    table.write_bytes(b"run,arm\n\xff\xfe,none\n")
    for read in (
        lambda: rests_on(table),
        lambda: read_table(table, PROBE_COLUMNS),
        lambda: write_bundle(finished_runs(studied), tmp_path / "bundle"),
    ):
        with pytest.raises(UserError) as raised:
            read()
        assert str(raised.value).endswith(f"; {way.format(studied)}")
    shutil.rmtree(studied / "runs")
    if name == "length":  # a bundle without its store cannot measure again
        with pytest.raises(UserError, match="delete it and its line in SHA256SUMS, or exp"):
            rests_on(table)


# Where results may go.


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store of four runs, and a bundle of another's two without its store."""
    folder = tmp_path_factory.mktemp("made")
    write_planted(folder / "store", ARMS)
    write_planted(folder / "others", {"none": [0.3] * 5}, seeds=5)
    write_bundle(finished_runs(folder / "others")[2:], folder / "bundle")
    return folder


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "here"))
    return tmp_path / "here"


def files(folder):
    """Every file with its bytes, but for locks."""
    return {
        path: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.fixture
def refused(place, capsys):
    """Runs a command, which refuses in one line and changes no file; the line."""

    def refuse(command):
        before = files(place)
        capsys.readouterr()
        assert run(command.split()) in (1, 2), command
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        assert files(place) == before
        return line

    return refuse


RUN = f"store/{STORE}/none1x1"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("export --results store --bundle bundle", "is a bundle with other runs (none3x1, none4x1"),
        (f"export --results store --bundle {RUN}", "is a run or a store of runs"),
        (f"export --results store --bundle store/{STORE}", "is a run or a store of runs"),
        ("export --results store --bundle others", "'others' has results of its own"),
        ("merge store others -o bundle", "is a bundle with other runs"),
        (f"merge bundle -o {RUN}", "is a run or a store of runs"),
        ("export --results bundle -o bundle/runs.csv", "is one of the results there"),
        ("export --results bundle -o bundle/probes/length.csv", "is one of the results there"),
        (f"plot bleu --results store -o {RUN}/scores.svg", "is one of the results there"),
    ],
)
def test_no_result_is_written_over(command, said, place, refused):
    write_listed(place / "bundle", [("probes/length.csv", b"")])
    if command.startswith("merge store others"):  # which has two of the three
        shutil.rmtree(place / "others" / STORE / "none5x1")
    assert said in refused(command)


def test_results_that_somebody_called_runs_or_probes_are_results(place):
    assert run(["merge", "store", "-o", "probes"]) == 0
    assert run(["export", "--results", "probes"]) == 0
    assert len(Results.open("probes").names) == 4
    shutil.rmtree(place / "probes")
    (place / "bundle").rename(place / "runs")
    shutil.copytree(place / "store", place / "all" / "runs")
    assert [path.name for path in results_inside(place)] == ["others", "runs", "store"]
    assert [path.name for path in results_inside(place / "all")] == ["runs"]
    assert results_inside(place / "store") == []


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
    assert len(together.learning()) == 0


def test_an_earlier_bundle_of_the_same_store_is_written_over_damaged_or_not(place):
    arguments = ["export", "--results", "store", "--bundle", "again"]
    assert run(arguments) == 0
    assert run([*arguments, "--where", "attention=none"]) == 0
    assert set(Results.open(place / "again").runs["attention"]) == {"none"}
    (place / "again" / "runs.csv").write_text("")
    assert run(arguments) == 0
    assert len(Results.open(place / "again").names) == 4


@pytest.mark.parametrize("command", ["merge store -o {}", "export --results store --bundle {}"])
def test_a_damaged_bundle_of_others_is_not_written_over(place, refused, command):
    (place / "bundle" / "runs.csv").write_text("")
    expected = "is a bundle with other runs (none3x1, none4x1, none5x1): "
    assert expected in refused(command.format("bundle"))
    (place / "bundle" / "environment.json").write_text("")
    line = refused(command.format("bundle"))
    assert "bundle/environment.json' cannot be read" in line
    assert "or delete" in line


@pytest.mark.parametrize("command", ["merge store -o {}", "export --results store --bundle {}"])
@pytest.mark.parametrize("name", ["runs.csv", "learning.csv"])
def test_files_of_no_bundle_are_not_written_over(place, refused, name, command):
    (place / "mine").mkdir()
    (place / "mine" / name).write_text("mine\n")
    assert f"refusing to overwrite 'mine/{name}'" in refused(command.format("mine"))


def test_a_bundle_may_lie_beside_a_benchmark(place):
    write_listed(place / "measured", [("probes/cost.csv", b"measured\n")])
    assert run(["export", "--results", "store", "--bundle", "measured"]) == 0
    assert (place / "measured" / "probes" / "cost.csv").read_text() == "measured\n"
    assert len(Results.open(place / "measured").environment["runs"]) == 4


def test_a_bundle_with_runs_of_other_machines_beside_is_not_written_over(refused):
    assert run(["merge", "store", "others", "-o", "both"]) == 0
    for chosen in ("", " --where attention=none"):
        line = refused(f"export --results store --bundle both{chosen}")
        assert "is a bundle with other runs" in line


def test_a_link_to_itself_among_the_runs_is_passed_over_and_hides_none(place, capsys):
    assert run(["export", "--results", "store"]) == 0
    whole = capsys.readouterr().out
    (place / "store" / STORE / "loop").symlink_to("loop")
    assert run(["export", "--results", "store"]) == 0
    assert capsys.readouterr().out == whole


def test_a_store_that_cannot_be_listed_is_not_taken_for_one_without_runs(refused, monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", closed)
    assert f"store/{STORE}': Permission denied" in refused("export --results store")
