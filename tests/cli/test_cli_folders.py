"""A folder of the wrong kind: every command says what it is and which one to name."""

import shutil

import pytest
from planted import write_planted
from planted_arms import LOW
from planted_cost import plant_costs

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.folders import STORE

ARMS = {"none": LOW, "additive": [0.1] * 5}
OF_RUNS = [
    ["table", "vindication"],
    ["export"],
    ["plot", "bleu", "-o", "bleu.png"],
    ["plot", "survival", "-o", "survival.png"],
    ["runs"],
    ["translate", "the cat"],
    ["diagnose"],
    ["lecture", "L10"],
    ["study", "survival"],
]


def refused(capsys, command, folder):
    """The one line that is said, after exit code 1."""
    assert run([*command, "--results", str(folder)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


@pytest.mark.slow
@pytest.mark.parametrize("command", OF_RUNS, ids=" ".join)
def test_of_a_folder_of_several_sweeps_one_is_to_be_named(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("controls", "vindication"):
        write_planted(tmp_path / "all" / name, ARMS, seeds=1)
    line = refused(capsys, command, tmp_path / "all")
    assert "holds folders of results (controls, vindication): name one of them" in line
    assert [path.name for path in tmp_path.iterdir()] == ["all"]


@pytest.mark.parametrize("command", OF_RUNS, ids=" ".join)
def test_a_benchmark_has_no_runs(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plant_costs(tmp_path / "bench")
    before = sorted(tmp_path.rglob("*"))
    line = refused(capsys, command, "bench")
    assert "'bench' holds a benchmark and no runs: `bottleneck table cost`" in line
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("command", "way_out"),
    [
        (["runs"], "`bottleneck export` prints"),
        (["translate", "the cat"], "where its runs were trained"),
        (["diagnose"], "where its runs were trained"),
        (["study", "survival"], "where its runs were trained"),
    ],
    ids=lambda held: " ".join(held) if isinstance(held, list) else "",
)
def test_a_bundle_without_its_runs_says_so_where_they_are_wanted(
    command, way_out, tmp_path, capsys
):
    write_planted(tmp_path, ARMS, seeds=1)
    shutil.rmtree(tmp_path / STORE)
    line = refused(capsys, command, tmp_path)
    assert "is a bundle without its run folders" in line
    assert way_out in line
