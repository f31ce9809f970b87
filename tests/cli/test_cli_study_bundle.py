"""A bundle has no run folders to put a study to, and none are trained in the place of its own."""

import re
import shutil

import pytest
from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.results.probes import GOLD
from seq2seq_bottleneck.results.schema import PROBES

OWN_GOLD = ["--gold", "links", "--source", "en", "--target", "fr"]


@pytest.fixture
def bundle(tmp_path):
    """Results of two arms away from their run folders, to which no study was put."""
    folder = tmp_path / "bundle"
    write_planted(folder, {"none": [0.5] * 5, "additive": [0.1] * 5}, seeds=1)
    shutil.rmtree(folder / STORE)
    return folder


def refused(capsys, *command):
    """The one line that is said, after exit code 1."""
    assert run([*map(str, command)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


def test_a_study_does_not_train_into_a_bundle_without_its_store(bundle, capsys):
    before = (bundle / "runs.csv").read_bytes()
    refused(capsys, "study", "survival", "--results", bundle, "--dry-run")
    assert (bundle / "runs.csv").read_bytes() == before
    assert not (bundle / STORE).exists()


@pytest.mark.parametrize(
    ("command", "name", "table"), [([], "survival", "survival"), (OWN_GOLD, "alignment", GOLD)]
)
def test_only_a_table_that_is_there_is_promised(command, name, table, bundle, capsys):
    asked = ["study", name, *command, "--results", bundle]
    assert "bottleneck table" not in refused(capsys, *asked)
    (bundle / PROBES).mkdir()
    (bundle / PROBES / f"{table}.csv").touch()
    assert f"`bottleneck table {table} --results {bundle}` prints" in refused(capsys, *asked)


@pytest.mark.parametrize("reader", [["table"], ["plot"]], ids=lambda held: held[0])
def test_what_lacks_in_a_bundle_is_to_be_measured_elsewhere(reader, bundle, capsys, monkeypatch):
    monkeypatch.chdir(bundle.parent)
    line = refused(capsys, *reader, "alignment", "--results", bundle)
    assert f"no alignment study in {str(bundle)!r}, a bundle without its run folders: " in line
    assert "`bottleneck study alignment --results DIR` measures it where the runs were" in line
    assert str(bundle) not in line.partition(": `")[2]
    line = refused(capsys, *reader, "alignment-gold", "--results", bundle)
    assert f"no gold set of your own in {str(bundle)!r}, a bundle without" in line
    assert "--target FILE --results DIR` measures it" in line


@pytest.mark.parametrize("name", ["alignment", "capacity"])
def test_in_a_new_folder_a_study_trains_its_own_as_the_refusal_says(
    name, bundle, capsys, monkeypatch
):
    begun = []
    sweep = "seq2seq_bottleneck.cli.train.sweep"
    monkeypatch.setattr(sweep, lambda *_, out, **__: begun.append(out))
    line = refused(capsys, "study", name, "--results", bundle)
    (options,) = re.findall(r"or a new one for runs of its own(?:, with (.*))?$", line)
    new = bundle.parent / "new"
    assert run(["study", name, "--results", str(new), "--dry-run", *options.split()]) == 0
    assert begun == [new]


def test_beside_runs_the_command_names_their_folder(tmp_path, capsys):
    folder = tmp_path / "my runs"
    write_planted(folder, {"none": [0.5] * 5}, seeds=1)
    line = refused(capsys, "table", "length", "--results", folder)
    assert f": `bottleneck study length --results '{folder}'` measures it" in line
    assert "bundle" not in line
