"""``bottleneck study`` as a user meets it, where nothing has to be measured."""

import csv
import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from listed import write_relisted
from planted import write_planted
from planted_arms import LOW, Store
from planted_cost import plant_costs

from seq2seq_bottleneck.cli import progress
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.folders import ENVIRONMENT, STORE
from seq2seq_bottleneck.results.schema import STUDIES
from seq2seq_bottleneck.settings.run import SCHEMA_VERSION

ARMS = {"none": LOW, "additive": [0.1] * 5}


def fails(capsys, arguments, code, *parts):
    """Run, and check the one line and the exit code."""
    assert run(["study", *map(str, arguments)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    for part in parts:
        assert part in line, line


def test_the_studies_are_listed_with_the_cost(capsys):
    assert run(["study"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    begun = [line for line in lines if not line.startswith(" ")]
    assert [line.split()[0] for line in begun] == [*STUDIES, "cost"]
    assert "`bottleneck bench`. (C9, L15)" in " ".join(" ".join(lines).split())


def test_the_cost_is_what_the_benchmark_measured(tmp_path, capsys):
    plant_costs(tmp_path)
    assert run(["study", "cost", "--results", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "By length (tokens per side)" in told
    assert "C9: " in told
    assert run(["study", "cost", "--results", str(tmp_path), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    dot = {int(row["size"]): float(row["ms"]) for row in rows if row["arm"] == "dot"}
    assert dot == {n: pytest.approx(n + n**2 / 100) for n in (10, 20, 40, 80, 160)}
    assert run(["table", "cost", "--results", str(tmp_path)]) == 0
    assert capsys.readouterr().out == told
    assert run(["table", "cost", "--results", str(tmp_path), "--where", "seed=1"]) == 2
    assert "no runs that --where could choose" in capsys.readouterr().err


def test_without_a_benchmark_the_command_that_makes_one_is_named(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "my results"
    fails(capsys, ["cost", "--results", folder], 1, f"`bottleneck bench --out '{folder}'`")
    monkeypatch.chdir(tmp_path)
    fails(capsys, ["cost"], 1, "`bottleneck bench --out results/runs/bench`")
    fails(capsys, ["cost", "--results", folder, "--seeds", 2], 2, "no runs that --seeds", "bench`")
    fails(capsys, ["costs"], 2, "did you mean 'cost'?")
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_on_finished_runs_names_them_and_measures_nothing(tmp_path, capsys):
    write_planted(tmp_path, ARMS, seeds=1)
    before = sorted(tmp_path.rglob("*"))
    assert run(["study", "length", "--results", str(tmp_path), "--dry-run"]) == 0
    told = f"study length would measure 2 runs of {tmp_path}: additive1x1, none1x1\n"
    assert capsys.readouterr().out == told
    gold = [each for name in ("gold", "source", "target") for each in (f"--{name}", "absent")]
    arguments = ["study", "alignment", "--results", str(tmp_path), *gold]
    assert run([*arguments, "--dry-run"]) == 0
    assert "would measure 1 run of" in capsys.readouterr().out
    fails(capsys, [*arguments[1:], "--seeds", 3], 2, "finished runs of", "--where")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.exhaustive(sample="session")
def test_a_folder_without_runs_is_told_before_runs_are_trained_in_it(tmp_path, capsys):
    folder = tmp_path / "thre"
    asked = ["study", "length", "--results", str(folder), "--preset", "smoke", "--dry-run"]
    told = f"no finished run in {str(folder)!r} that study length can measure: would train its"
    assert run(asked) == 0
    assert told in capsys.readouterr().err
    assert run([*asked, "--quiet"]) == 0
    assert told not in capsys.readouterr().err
    way_out = f"'{folder}' does not exist: name a folder of finished runs, or say which runs to"
    fails(capsys, ["length", "--results", folder], 1, way_out)
    fails(capsys, ["length", "--results", folder, "--dry-run"], 1, way_out)
    assert not folder.exists()


def test_what_is_measured_says_which_run_of_how_many_and_the_time(capsys, monkeypatch):
    times = iter([100.0, 101.0, 130.0, 131.0, 190.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(times)))
    one, two = Path("store/aaaa"), Path("store/bbbb")
    listen = progress.probe_lines([one, two], quiet=False)
    listen(two, "opening")
    listen(two, "done")
    listen(one, "counting")
    listen(one, "done")
    assert capsys.readouterr().err.splitlines() == [
        "bbbb (2 of 2): opening (0:01)",
        "bbbb (2 of 2): done, 1 of 2 (0:30, about 0:30 left)",
        "aaaa (1 of 2): counting (0:31)",
        "aaaa (1 of 2): done, 2 of 2 (1:30)",
    ]
    times = iter([0.0, 1.0])
    progress.probe_lines([one], quiet=True)(one, "done")
    assert capsys.readouterr().err == ""


@pytest.mark.exhaustive(sample="session")
def test_runs_of_another_version_are_counted(tmp_path, capsys):
    write_planted(tmp_path, ARMS, seeds=1)
    for path in (tmp_path / STORE).glob(f"*/{ENVIRONMENT}"):
        known = json.loads(path.read_text())
        write_relisted(path, json.dumps(known | {"schema": SCHEMA_VERSION - 1}))
    asked = ["study", "length", "--results", str(tmp_path), "--preset", "smoke", "--dry-run"]
    assert run(asked) == 0
    assert "(2 runs by another version of this program)" in capsys.readouterr().err
    told = "holds 2 runs by another version of this program: name a folder of finished runs, or say"
    fails(capsys, ["length", "--results", tmp_path], 1, told)


@pytest.mark.parametrize("text", ["files", "copy"])
def test_beside_runs_on_another_text_nothing_is_trained(text, tmp_path, capsys):
    folder = Store(tmp_path).add("own", "none", LOW, corpus={"name": text}).write()
    before = sorted(folder.rglob("*"))
    told = f"in {str(folder)!r} (corpus {text}); without --results it trains its own"
    fails(capsys, ["embeddings", "--results", folder], 1, "study embeddings", told)
    gold = ["--gold takes links"] if text == "files" else []
    fails(capsys, ["alignment", "--results", folder], 1, told, *gold)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.slow
def test_a_bundle_without_its_runs_is_not_trained_into(tmp_path, capsys):
    """Its numbers would be gone; a merged one's, or a committed one's."""
    write_planted(tmp_path / "whole", ARMS, seeds=1)
    shutil.rmtree(tmp_path / "whole" / STORE)
    before = (tmp_path / "whole" / "runs.csv").read_bytes()
    capsys.readouterr()
    for command in (["reproduce"], ["sweep", "vindication"]):
        assert run([*command, "--preset", "smoke", "--out", str(tmp_path / "whole")]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "is a bundle without its run folders" in line
        assert "another folder with --out" in line
    assert (tmp_path / "whole" / "runs.csv").read_bytes() == before


def test_beside_the_folders_of_several_sweeps_nothing_is_trained(tmp_path, capsys):
    write_planted(tmp_path / "vindication", ARMS, seeds=1)
    told = f"{str(tmp_path)!r} holds folders of results (vindication): name one of them"
    fails(capsys, ["survival", "--results", tmp_path], 1, told)
    fails(capsys, ["capacity", "--results", tmp_path, "--preset", "smoke"], 1, told)
    assert [path.name for path in tmp_path.iterdir()] == ["vindication"]
