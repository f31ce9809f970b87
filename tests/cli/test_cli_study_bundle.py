"""A bundle has no run folders to put a study to, and none are trained in the place of its own."""

import shutil

from planted import write_planted

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.folders import STORE


def test_a_study_does_not_train_into_a_bundle_without_its_store(tmp_path, capsys):
    folder = tmp_path / "bundle"
    write_planted(folder, {"none": [0.5] * 5, "additive": [0.1] * 5})
    if (folder / STORE).is_dir():
        shutil.rmtree(folder / STORE)
    before = (folder / "runs.csv").read_bytes()
    assert run(["study", "survival", "--results", str(folder), "--dry-run"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert f"bottleneck table survival --results {folder}" in told.err
    assert len(told.err.splitlines()) == 1
    assert (folder / "runs.csv").read_bytes() == before
    assert not (folder / STORE).exists()
