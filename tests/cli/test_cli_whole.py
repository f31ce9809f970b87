"""``bottleneck study all``: what it would do, what becomes of a fault, and that it goes on."""

import re
import shutil
from pathlib import Path

import pytest
from planted import write_begun
from planted_cost import plant_costs
from small_sweeps import FOUR

from seq2seq_bottleneck.cli import whole
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.runs.pool import Outcome
from seq2seq_bottleneck.runs.portable import Portable
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.grid import make_grid
from seq2seq_bottleneck.settings.sweep import load_sweep
from seq2seq_bottleneck.studies import whole as plan
from seq2seq_bottleneck.studies.whole import REAL, Part

COMMAND = ["study", "all", "--results", "all", "--jobs", "1"]


@pytest.fixture
def small(tmp_path, tmp_path_factory, monkeypatch):
    """A study of two parts: four runs of two seeds each, and a benchmark that has been made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    Path("mine.toml").write_text(FOUR)
    parts = (Part("mine", "mine.toml", 2, ("length",), side=True), Part("bench"))
    monkeypatch.setattr(plan, "PARTS", parts)
    plant_costs(Path("all", "bench"))
    return tmp_path


def words(text):
    return " ".join(text.split())


@pytest.mark.exhaustive(sample="session")
def test_a_dry_run_tells_what_is_left_and_makes_nothing(small, capsys):
    (cell, *_) = make_grid(load_sweep("mine.toml"), seeds=2).cells
    name = cell.settings.identity(Portable().fingerprint(cell.settings))
    write_begun(Path("all", "mine"), name, cell.settings, "done")
    before = sorted(path for path in small.rglob("*") if not path.name.endswith(".lock"))
    assert run([*COMMAND, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= 80
    rows = {line.split()[0]: line for line in told.splitlines() if line.strip()}
    assert "Side question: Which is better" in rows["mine"]
    assert re.search(r" 2 +7 of 8 +1 of 1 *$", rows["mine"])
    assert re.search(r" 0 of 1 *$", rows["bench"])
    assert re.search(r" 7 of 9 +1 of 1 *$", rows["all"])
    for part in REAL:
        assert f"{part.name} (`bottleneck corpus fetch {part.corpus}`)" in words(told)
    assert sorted(path for path in small.rglob("*") if not path.name.endswith(".lock")) == before


@pytest.mark.slow
def test_a_preset_and_seeds_are_those_of_every_part(small, capsys):
    assert run([*COMMAND, "--dry-run", "--seeds", "3", "--preset", "quick"]) == 0
    assert "12 of 12" in capsys.readouterr().out
    shutil.rmtree("all")
    assert run([*COMMAND, "--preset", "quack"]) == 2
    assert "unknown preset 'quack'" in capsys.readouterr().err
    assert sorted(path.name for path in small.iterdir()) == ["mine.toml"]


@pytest.mark.parametrize("option", [["--where", "seed=1"], ["--set", "model.cell=rnn"], ["--force"],
                                    ["--format", "csv"]])  # fmt: skip
def test_what_chooses_one_studys_numbers_is_refused(small, option, capsys):
    assert run([*COMMAND, *option]) == 2
    assert f"leave {option[0]} out" in capsys.readouterr().err
    assert sorted(path.name for path in small.iterdir()) == ["all", "mine.toml"]


def test_one_part_alone_is_asked_for_by_its_name(small, capsys):
    assert run([*COMMAND, "--part", "bench", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^ all +0 of 1 +$", shown, re.MULTILINE), shown
    assert "mine" not in shown
    assert run([*COMMAND, "--part", "bonch"]) == 2
    assert "no part 'bonch': there are mine, bench, real_" in words(capsys.readouterr().err)
    assert run(["study", "length", "--part", "bench"]) == 2
    assert "--part goes with `study all`" in capsys.readouterr().err
    assert sorted(path.name for path in small.iterdir()) == ["all", "mine.toml"]


def failing(jobs, _, listener, **__):
    """Every run fails, in the worker."""
    for job in jobs:
        listener(job, {"phase": "failed", "reason": "a fault"})
    return [Outcome(job, "failed", reason="a fault") for job in jobs]


def refusing(*_, **__):
    raise UserError("the disk is full")


def broken(*_, **__):
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    ("run_jobs", "told"),
    [
        (failing, "mine: 8 of 8 runs failed or diverged: `bottleneck runs --results all/mine`"),
        pytest.param(
            refusing, "mine: the disk is full", marks=pytest.mark.exhaustive(sample="test")
        ),
        pytest.param(
            broken, "mine: RuntimeError: a bug", marks=pytest.mark.exhaustive(sample="test")
        ),
    ],
    ids=["failing", "refusing", "broken"],
)
@pytest.mark.usefixtures("small")
def test_a_part_that_fails_is_told_and_the_rest_goes_on(run_jobs, told, capsys, monkeypatch):
    monkeypatch.setattr("seq2seq_bottleneck.runs.pool.run_jobs", run_jobs)
    assert run([*COMMAND, "--quiet"]) == 3
    said = capsys.readouterr()
    assert told in said.err
    assert told in words(said.out)
    assert "study length: there is no finished run that it can be put to" in words(said.out)
    assert "The same command tries again what failed." in said.out
    rows = [line.split() for line in said.out.splitlines()]
    assert ["mine", "0", "of", "8", "0", "of", "1", "0", "0"] in rows
    assert ["bench", "1", "of", "1", "2", "1"] in rows
    assert Path("all", "bench", "figures", "cost.svg").is_file()
    assert {path.name for path in Path("all").iterdir() if path.is_file()} == {
        "claims.md", "claims.csv", "report.html",
    }  # fmt: skip
    assert ("Traceback" in said.err) == (run_jobs is broken)


@pytest.mark.usefixtures("small")
def test_an_interrupt_of_the_benchmark_stops_all_of_it(capsys, monkeypatch):
    """What that command says of itself is not so here: what was done before is kept."""
    shutil.rmtree("all")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(plan, "PARTS", (Part("bench"), Part("mine", "mine.toml")))
    monkeypatch.setattr("seq2seq_bottleneck.bench.measure.measure", interrupted)
    assert run([*COMMAND, "--quiet", "--preset", "smoke"]) == 130
    assert capsys.readouterr().err == (
        "bottleneck: interrupted; the same command goes on from where it stopped\n"
    )
    assert list(Path("all").iterdir()) == []


def times(folder):
    """When each file was written, but for locks and what is written at the end of all."""
    ends = {"claims.md", "claims.csv", "report.html"}
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ends and not path.name.startswith(".")
    }


@pytest.mark.exhaustive(sample="session")
def test_a_study_that_was_interrupted_goes_on_and_does_nothing_twice(tmp_path, capsys, monkeypatch):
    """Two parts at the preset smoke, for real; after the first the user stops it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("mine.toml").write_text(FOUR.replace("[8, 16]", "16"))
    pair = Part("vindication", "vindication", 5, ("length", "alignment"))
    monkeypatch.setattr(plan, "PARTS", (pair, Part("mine", "mine.toml")))
    train, folder = whole.sweep, Path("all")

    def stopped(name, **options):
        if name == "mine.toml":
            raise KeyboardInterrupt
        train(name, **options)

    monkeypatch.setattr(whole, "sweep", stopped)
    command = ["study", "all", "--results", "all", "--preset", "smoke", "--seeds", "1", "--quiet"]
    assert run(command) == 130
    first = times(folder / "vindication")
    assert {path.name for path in (folder / "vindication" / "tables").glob("*.md")} == {
        "failure_pattern.md", "vindication.md", "context_size.md", "compression.md",
        "length.md", "alignment.md", "arms.md",
    }  # fmt: skip
    assert not (folder / "mine").exists()

    monkeypatch.setattr(whole, "sweep", train)
    capsys.readouterr()
    assert run(command) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["vindication", "2", "of", "2", "2", "of", "2", "7", "6"] in rows
    assert times(folder / "vindication") == first
    both = times(folder)
    assert len([path for path in both if path.parent.parent.name == STORE]) > 4

    assert run(command) == 0
    assert times(folder) == both
    capsys.readouterr()
    assert run(["claims", "--results", "all", "--format", "csv"]) == 0
    assert capsys.readouterr().out == (folder / "claims.csv").read_text(encoding="utf8")
