"""The page's commands: they measure again, in the order in which they stand, and are all taken."""

import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from page_parser import Page
from planted import planted_settings, write_planted
from planted_arms import HIGH, LOW, Store
from planted_cost import plant_costs
from planted_report import without_store, write_results

from seq2seq_bottleneck.claims.registry import CLAIMS
from seq2seq_bottleneck.cli import reproduce
from seq2seq_bottleneck.cli import sweep as command
from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.report import figures
from seq2seq_bottleneck.report.commands import Ways, of_claim
from seq2seq_bottleneck.report.figures import Picture
from seq2seq_bottleneck.report.page import make_report
from seq2seq_bottleneck.report.questions import Source, shown
from seq2seq_bottleneck.report.sections import ways
from seq2seq_bottleneck.report.training import training
from seq2seq_bottleneck.results.bundle import load_bundle
from seq2seq_bottleneck.results.folders import STORE, check_trainable
from seq2seq_bottleneck.runs import sweep
from seq2seq_bottleneck.settings.grid import make_grid
from seq2seq_bottleneck.settings.names import DEFAULT_OUT
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.settings.sweep import load_sweep
from seq2seq_bottleneck.tables.controlled import only
from seq2seq_bottleneck.tables.decided import decision

LOSSES = [0.1, 0.3, 0.5, 0.6, 0.7]


def _ways(claim, folder, seen=None):
    bundle = load_bundle(folder)
    held = decision(next(one for one in CLAIMS if one.id == claim), folder, bundle)
    return of_claim(held, shown(held, Source(folder, bundle, bundle), seen or {}), bundle)


def _settings(command):
    """What `bottleneck reproduce` trains, but for arm and seed."""
    words = shlex.split(command)
    assert words[:3] == ["bottleneck", "reproduce", "--preset"]
    changes = [words[place + 1] for place, word in enumerate(words) if word == "--set"]
    return resolve(words[3], changes)


def _of_sweep(folder, name, seeds=1):
    """A bundle of all cells of an installed sweep."""
    store = Store(folder)
    for place, cell in enumerate(make_grid(load_sweep(name)).cells):
        for seed in range(1, seeds + 1):
            concerns = cell.settings.model_dump()
            concerns["training"]["seed"] = seed
            arm = concerns["model"]["attention"]
            store.add(f"cell{place}", arm, HIGH if arm == "additive" else LOW, seed, **concerns)
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
def test_of_a_bundle_without_its_runs_they_are_trained_elsewhere_and_measured_there(tmp_path):
    folder = without_store(write_results(tmp_path / "bundle", seeds=2))
    train, study = _ways("C11", folder).measure
    place = DEFAULT_OUT / shlex.split(train)[3]
    assert study == f"bottleneck study length --results {place}"
    assert _settings(train).without_seed() == planted_settings("additive").without_seed()
    # The study was put to the first of two seeds, though the folder has both.
    assert "--seeds" not in train


@pytest.mark.slow
def test_what_stands_with_another_claim_has_its_commands_all_the_same(tmp_path):
    folder = write_results(tmp_path)
    assert _ways("C11", folder, {"length": "C5"}) == _ways("C11", folder)


def test_the_runs_can_be_trained_again_by_one_command(tmp_path):
    write_planted(tmp_path, {"none": LOSSES, "dot": LOSSES}, seeds=2)
    bundle = load_bundle(tmp_path)
    found = training(bundle)
    assert found.folder == tmp_path
    assert shlex.split(found.command)[-4:] == ["--seeds", "2", "--out", str(tmp_path)]
    assert _settings(found.command).without_seed() == bundle.settings("dot1x1").without_seed()


@pytest.mark.slow
def test_a_sweep_that_is_installed_is_known_by_its_cells(tmp_path):
    folder = _of_sweep(tmp_path / "mine", "teacher_forcing", seeds=2)
    bundle = load_bundle(folder)
    told = "bottleneck sweep teacher_forcing --seeds 2"
    assert training(bundle).command == f"{told} --out {folder}"
    assert training(only(bundle, bundle.runs[bundle.runs["teacher_forcing"] > 0.5])) is None
    without_store(folder)
    assert training(bundle).command == told
    assert training(bundle).folder == DEFAULT_OUT / "teacher_forcing"


def test_a_benchmark_is_not_made_in_the_place_of_the_one_that_is_shown(tmp_path):
    plant_costs(tmp_path)
    claim = next(one for one in CLAIMS if one.id == "C9")
    measured = replace(decision(claim, tmp_path, None), command="")
    held = shown(measured, Source(tmp_path, None, None), {"cost": "C1"})
    assert of_claim(measured, held, None).measure == ("bottleneck bench",)


def test_new_runs_go_beside_a_bundle_that_lies_where_they_would(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = DEFAULT_OUT / "smoke"
    write_planted(folder, {"none": LOSSES, "additive": LOSSES})
    found = training(load_bundle(without_store(folder)))
    assert found.folder == DEFAULT_OUT / "smoke_again"
    assert f"--out {found.folder}" in found.command


def test_what_no_flag_can_say_has_no_command(tmp_path):
    write_planted(tmp_path, {"none": LOSSES}, seeds=2)
    bundle = load_bundle(tmp_path)
    assert training(only(bundle, bundle.runs[bundle.runs["seed"] == 2])) is None


def test_no_box_and_no_heading_stand_over_nothing():
    assert ways(Ways()) == ""
    assert "To print" not in ways(Ways(("bottleneck bench",)))
    assert "To measure" not in ways(Ways((), ("bottleneck claims",)))


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Results as somebody else gets them; what trains puts the runs there, what draws is quick."""
    monkeypatch.chdir(tmp_path)
    kept = write_results(tmp_path / "kept", seeds=1)
    copy = shutil.copytree(kept, Path("whole", "vindication"))
    for folder in (copy, _of_sweep(Path("whole", "teacher_forcing"), "teacher_forcing")):
        without_store(folder)
    plant_costs(Path("whole", "bench"))

    def train(_jobs, folder, *_):
        check_trainable(folder)
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        return [path.name for path in (kept / STORE).iterdir()]

    monkeypatch.setattr(reproduce, "_execute", train)
    monkeypatch.setattr(sweep, "run_sweep", lambda *_: [])
    monkeypatch.setattr(command, "estimated", _estimated)
    monkeypatch.setattr(figures, "_picture", lambda _make: Picture("drawn", "", ""))
    return Path("whole")


def _estimated(cells, *_):
    """What cells cost, without making their texts."""
    return SimpleNamespace(costs=[SimpleNamespace(seconds=1.0) for _ in cells])


FIRST = "To measure it"
"""Stands over what nothing has measured yet, by a command of tables/commands.py."""


def _boxed(page):
    return [node for node in page.named("div") if node.children and node.all("pre")
            and node.children[0].attributes.get("class") == "again"]  # fmt: skip


def _heading(node):
    return node.children[0].text


@pytest.mark.exhaustive(sample="session")
def test_every_command_of_a_page_without_runs_is_taken_in_the_order_of_the_page(copied, capsys):
    page = Page(make_report(copied))
    boxes = [(_heading(node), node.all("pre")[0].text.splitlines()) for node in _boxed(page)]
    assert all(lines for _, lines in boxes)
    made = dict.fromkeys(line for told, lines in boxes if told != FIRST for line in lines)
    assert {
        "bottleneck sweep teacher_forcing",
        *_ways("C11", copied / "vindication").measure,
    } <= set(made)
    for line in made:
        _, *words = shlex.split(line)
        assert run([*words, *(["--dry-run"] if words[0] == "study" else [])]) == 0, line
        capsys.readouterr()
    assert not list(copied.rglob(STORE))
