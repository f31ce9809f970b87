"""The installed sweeps: each asks a question, and compares like with like."""

import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from grids import expand

from seq2seq_bottleneck.model.translator import count_parameters, create
from seq2seq_bottleneck.settings.run import RunSettings, resolve
from seq2seq_bottleneck.settings.sweep import Cell, experiment_names, load_sweep, make_grid, varying

FOLDER = Path(__file__).parents[1] / "experiments"

CELLS = {
    "attention_types": 12,
    "capacity": 24,
    "cells": 6,
    "context_is_hidden": 10,
    "context_size": 7,
    "controls": 14,
    "failure_pattern": 1,
    "real_failure_pattern": 1,
    "real_vindication": 2,
    "teacher_forcing": 6,
    "training_length": 10,
    "vindication": 2,
}

VARYING = {
    "attention_types": ["model.attention", "model.placement"],
    "capacity": ["corpus.name", "model.context_size", "training.updates"],
    "cells": ["model.attention", "model.cell"],
    "context_is_hidden": ["model.attention", "model.context_size"],
    "context_size": ["model.attention", "model.context_size"],
    "failure_pattern": [],
    "real_failure_pattern": [],
    "real_vindication": ["model.attention"],
    "teacher_forcing": ["model.attention", "training.teacher_forcing"],
    "training_length": ["corpus.train_max_words", "model.attention"],
    "vindication": ["model.attention"],
}

EVERY = pytest.mark.parametrize("name", sorted(CELLS))


def cells_of(name: str) -> list[Cell]:
    return expand(load_sweep(name))


def group(name: str, cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.group == name]


def without_attention(settings: RunSettings) -> RunSettings:
    return settings.changed(model={"attention": "none"})


def test_every_file_is_found_and_counted_here():
    assert experiment_names() == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert experiment_names() == sorted(CELLS)


@EVERY
def test_a_file_opens_with_its_question_and_the_claims_it_is_for(name):
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf8")
    question = load_sweep(name).question
    assert text.startswith("# ")
    assert "?" in question
    assert re.search(r"\((C\d+|L-?\w+)(, (C\d+|L-?\w+))*\)", question)


@EVERY
def test_a_file_starts_from_the_lecture_or_its_own_preset_and_makes_its_cells(name):
    preset = {"capacity": "capacity"}.get(name, "real" if name.startswith("real") else "lecture")
    assert tomllib.loads((FOLDER / f"{name}.toml").read_text())["preset"] == preset
    assert len(cells_of(name)) == CELLS[name]


@pytest.mark.parametrize("name", sorted(VARYING))
def test_what_the_question_names_varies_and_nothing_else(name):
    assert varying(cells_of(name)) == VARYING[name]


@EVERY
def test_beside_every_attention_stands_its_none_all_else_equal(name):
    cells = cells_of(name)
    there = {cell.settings for cell in cells}
    assert {without_attention(cell.settings) for cell in cells} <= there


@EVERY
def test_a_sweep_shrinks_to_a_smaller_preset_for_a_trial(name):
    small = ["training.updates=2", "corpus.train_pairs=400"]
    assert expand(load_sweep(name), small, seeds=2)


def test_vindication_is_what_reproduce_runs():
    first, second = cells_of("vindication")
    assert second.settings == resolve("lecture")
    assert first.settings == without_attention(resolve("lecture"))
    assert cells_of("failure_pattern")[0].settings == first.settings


def test_the_sweeps_of_real_text_are_the_presets_own_arms():
    first, second = cells_of("real_vindication")
    assert second.settings == resolve("real")
    assert first.settings == without_attention(resolve("real"))
    assert cells_of("real_failure_pattern")[0].settings == first.settings


def test_context_size_leaves_all_other_widths_alone():
    cells = cells_of("context_size")
    sizes = {cell.value("model.context_size") for cell in cells}
    assert sizes == {32, 64, 128, 256, 512}
    ends = {c.value("model.context_size") for c in cells if c.settings.model.attention != "none"}
    assert ends == {min(sizes), max(sizes)}
    assert {(c.settings.model.hidden, c.settings.model.attention_width) for c in cells} == {
        (512, 256)
    }
    assert all(
        cell.settings.model.hidden == cell.value("model.context_size")
        for cell in cells_of("context_is_hidden")
    )


def test_capacity_has_both_corpora_and_budgets_at_every_context_and_one_hidden_size():
    cells = cells_of("capacity")
    updates = resolve("capacity").training.updates
    for corpus in ("copy", "grammar"):
        found = {
            (cell.value("model.context_size"), cell.value("training.updates"))
            for cell in cells
            if cell.value("corpus.name") == corpus
        }
        assert found == {(2**power, times * updates) for power in range(4, 10) for times in (1, 2)}
    assert {cell.settings.model.hidden for cell in cells} == {512}
    # The text, test sentences among it, is one for all budgets and contexts of a corpus.
    assert len({cell.settings.corpus for cell in cells}) == 2


def test_attention_types_has_all_of_them_at_both_placements():
    annotation = type(RunSettings().model).model_fields["attention"].annotation
    cells = cells_of("attention_types")
    counts = Counter(cell.value("model.attention") for cell in cells)
    assert counts == dict.fromkeys(annotation.__args__, 2)


def test_training_lengths_get_equal_updates_and_target_tokens():
    cells = cells_of("training_length")
    assert {cell.value("corpus.train_max_words") for cell in cells} == {10, 20, 30, 40, 60}
    assert {cell.value("corpus.max_words") for cell in cells} == {60}
    assert {
        (cell.value("training.updates"), cell.value("training.batch_tokens")) for cell in cells
    } == {(resolve("lecture").training.updates, 1_800)}


def test_every_control_changes_one_thing_of_the_baseline():
    cells = cells_of("controls")
    baseline = group("baseline none", cells)[0]
    changes = {
        cell.group: set(varying([baseline, cell])) - {"model.attention"}
        for cell in cells
        if not cell.group.startswith("baseline")
    }
    assert changes == {
        "uniform": set(),
        "reversed source": {"model.reverse_source"},
        "bidirectional": {"model.bidirectional"},
        "zero s_0": {"model.initial_state"},
        "none with as many parameters": {"model.hidden_size"},
        "twice the training": {"training.updates"},
        "joined": {"corpus.joined"},
    }


@pytest.mark.parametrize(
    ("preset", "flags"),
    [("lecture", []), ("quick", []), ("paper", []), ("lecture", ["training.updates=1000"])],
)
def test_twice_the_training_is_twice_that_of_the_baseline(preset, flags):
    grid = make_grid(replace(load_sweep("controls"), preset=preset), flags)
    cells = list(grid.cells)
    (first, second) = group("twice the training", cells)
    (baseline,) = group("baseline none", cells)
    assert first.value("training.updates") == 2 * baseline.value("training.updates")
    assert second.value("training.updates") == first.value("training.updates")


@pytest.mark.parametrize(
    ("preset", "flags", "size"),
    [("smoke", [], 32), ("paper", [], 1000), ("lecture", ["model.context_size=64"], 64)],
)
def test_the_wide_none_is_left_out_where_it_would_not_have_as_many_parameters(preset, flags, size):
    grid = make_grid(replace(load_sweep("controls"), preset=preset), flags)
    assert not group("none with as many parameters", list(grid.cells))
    assert len(grid.cells) == CELLS["controls"] - 1
    (note,) = grid.notes
    assert f"is for model.context_size=256, not {size}: left out" in note


def test_the_plan_tells_what_else_comes_with_the_training_lengths():
    question = load_sweep("training_length").question
    for part in ("vocabulary", "validation set", "epochs", "between the lengths, not between"):
        assert part in question


def test_the_wide_none_has_as_many_parameters_as_additive_attention():
    cells = cells_of("controls")
    (wide,) = group("none with as many parameters", cells)
    (additive,) = group("baseline additive", cells)
    models = [cell.settings.model for cell in (wide, additive)]
    counts = [count_parameters(create(model, 915, 2033, seed=0)[1]) for model in models]
    assert counts == [1_700_824, 1_694_081]  # as the file says
    assert abs(counts[0] / counts[1] - 1) < 0.01
    assert wide.value("model.context_size") == additive.value("model.context_size") == 256
