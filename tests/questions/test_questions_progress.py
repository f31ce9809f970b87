"""What a study says while it measures: of the runs that are still to be measured alone."""

import re
import shutil

import pytest

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.folders import finished_runs


def _measured(out, capsys, *options):
    """The run, its number and of how many, of each line that says what is being measured."""
    assert run(["study", "length", "--results", str(out), "--format", "csv", *options]) == 0
    said = capsys.readouterr().err
    return {found.groups() for found in re.finditer(r"^(\w+) \((\d) of (\d)\): .+", said, re.M)}


@pytest.mark.exhaustive(sample="session")
def test_runs_are_numbered_among_those_that_are_measured_now(finished, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    names = [each.name for each in finished_runs(out)]
    numbered = {(name, str(place), "4") for place, name in enumerate(names, 1)}
    assert _measured(out, capsys, "--force") == numbered
    assert _measured(out, capsys) == set()
    (out / "runs" / names[2] / "probes" / "length.json").unlink()
    assert _measured(out, capsys) == {(names[2], "1", "1")}
