"""The page's commands: those that made its runs, and those that show what was measured."""

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from page_parser import Page
from planted_arms import HIGH, LOW, Store
from planted_cost import plant_costs
from planted_report import without_store, write_results

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.report import figures
from seq2seq_bottleneck.report.commands import Ways, made, of_claim
from seq2seq_bottleneck.report.figures import Picture
from seq2seq_bottleneck.report.page import make_report
from seq2seq_bottleneck.report.questions import Source, shown
from seq2seq_bottleneck.report.sections import ways
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.folders import STORE
from seq2seq_bottleneck.settings.sweep import load_sweep, make_grid
from seq2seq_bottleneck.tables.decided import decision

LOSSES = [0.1, 0.3, 0.5, 0.6, 0.7]


def _ways(claim, folder, seen=None):
    bundle = load_bundle(folder)
    held = decision(next(one for one in CLAIMS if one.id == claim), folder, bundle)
    return of_claim(held, shown(held, Source(folder, bundle, bundle), seen or {}), bundle)


def _of_sweep(folder, name):
    """A bundle of all cells of an installed sweep."""
    store = Store(folder)
    for place, cell in enumerate(make_grid(load_sweep(name)).cells):
        concerns = cell.settings.model_dump()
        arm = concerns["model"]["attention"]
        store.add(f"cell{place}", arm, HIGH if arm == "additive" else LOW, **concerns)
    return store.write()


@pytest.mark.slow
def test_commands_name_the_folder_as_a_shell_takes_it(tmp_path):
    folder = write_results(tmp_path / "two words")
    where = shlex.quote(str(folder))
    assert _ways("C11", folder) == Ways(
        (f"bottleneck study length --results {where}",),
        (
            f"bottleneck table length --results {where}",
            f"bottleneck plot length --results {where} -o length.svg",
        ),
    )


@pytest.mark.slow
def test_the_command_lines_that_made_the_runs_are_stored_and_shown(tmp_path):
    """The real thing: two arms, and one of them again by another command."""
    program = [Path(sys.executable).parent / "bottleneck", "reproduce", "--preset", "smoke"]
    out = ["--out", "two words", "--quiet"]
    for options in ([], ["--set", "model.attention=dot"]):
        subprocess.run([*program, *options, *out], cwd=tmp_path, check=True, capture_output=True)
    first = "bottleneck reproduce --preset smoke --out 'two words' --quiet"
    second = first.replace("--out", "--set model.attention=dot --out")
    folder = tmp_path / "two words"
    bundle = load_bundle(folder)
    assert set(made(bundle)) == {first, second}
    page = Page(make_report(folder))
    assert first in page.by_id("tables").all("pre")[0].text
    assert first in page.by_id("runs").text
    # Of runs that were made before command lines were stored nothing is said.
    for described in bundle.environment["runs"].values():
        described["environment"].pop("command")
    assert made(bundle) == ()


@pytest.mark.slow
def test_what_stands_with_another_claim_has_its_commands_all_the_same(tmp_path):
    folder = write_results(tmp_path)
    assert _ways("C11", folder, {"length": "C5"}) == _ways("C11", folder)


def test_a_benchmark_is_not_made_in_the_place_of_the_one_that_is_shown(tmp_path):
    plant_costs(tmp_path)
    claim = next(one for one in CLAIMS if one.id == "C9")
    measured = replace(decision(claim, tmp_path, None), command="")
    held = shown(measured, Source(tmp_path, None, None), {"cost": "C1"})
    assert of_claim(measured, held, None).measure == ("bottleneck bench",)


def test_no_box_and_no_heading_stand_over_nothing():
    assert ways(Ways()) == ""
    assert "To print" not in ways(Ways(("bottleneck bench",)))
    assert "To measure" not in ways(Ways((), ("bottleneck claims",)))


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Results as somebody else gets them; what draws is quick."""
    monkeypatch.chdir(tmp_path)
    copy = write_results(Path("whole", "vindication"), seeds=1)
    for folder in (copy, _of_sweep(Path("whole", "teacher_forcing"), "teacher_forcing")):
        without_store(folder)
    plant_costs(Path("whole", "bench"))

    monkeypatch.setattr(figures, "_picture", lambda _make: Picture("drawn", "", ""))
    return Path("whole")


FIRST = "To measure it"
"""Stands over what nothing has measured yet, by a command of tables/decided.py."""


def _boxed(page):
    return [node for node in page.named("div") if node.children and node.all("pre")
            and node.children[0].attributes.get("class") == "again"]  # fmt: skip


def _heading(node):
    return node.children[0].text


@pytest.mark.exhaustive(sample="session")
def test_every_command_of_a_page_without_runs_is_taken(copied, capsys):
    page = Page(make_report(copied))
    boxes = [(_heading(node), node.all("pre")[0].text.splitlines()) for node in _boxed(page)]
    assert all(lines for _, lines in boxes)
    lines = dict.fromkeys(line for told, lines in boxes if told != FIRST for line in lines)
    for line in lines.keys() - {"bottleneck bench"}:
        _, *words = shlex.split(line)
        assert run(words) == 0, line
        capsys.readouterr()
    assert not list(copied.rglob(STORE))
