"""The installed sweeps: each asks a question, and compares like with like."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from grids import expand

from seq2seq_bottleneck.model.translator import count_parameters, create
from seq2seq_bottleneck.settings.run import RunSettings, resolve
from seq2seq_bottleneck.settings.sweep import Cell, experiment_names, load_sweep, varying

FOLDER = Path(__file__).parents[1] / "experiments"

SWEEPS = {
    "attention_types": (12, ["model.attention", "model.placement"]),
    "capacity": (24, ["corpus.name", "model.context_size", "training.updates"]),
    "cells": (6, ["model.attention", "model.cell"]),
    "context_is_hidden": (10, ["model.attention", "model.context_size"]),
    "context_size": (7, ["model.attention", "model.context_size"]),
    "controls": (14, None),
    "failure_pattern": (1, []),
    "real_failure_pattern": (1, []),
    "real_vindication": (2, ["model.attention"]),
    "teacher_forcing": (6, ["model.attention", "training.teacher_forcing"]),
    "training_length": (10, ["corpus.train_max_words", "model.attention"]),
    "vindication": (2, ["model.attention"]),
}
"""Of each sweep how many cells it makes, and in what alone they differ."""


def cells_of(name: str) -> list[Cell]:
    return expand(load_sweep(name))


def group(name: str, cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.group == name]


def without_attention(settings: RunSettings) -> RunSettings:
    return settings.changed(model={"attention": "none"})


def test_every_file_is_found_and_counted_here():
    assert experiment_names() == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert experiment_names() == sorted(SWEEPS)


@pytest.mark.parametrize(
    ("name", "count", "varied"), [(name, *row) for name, row in SWEEPS.items()]
)
def test_a_sweep_asks_a_question_of_claims_and_varies_what_it_names_and_nothing_else(
    name, count, varied
):
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf8")
    question = load_sweep(name).question
    assert text.startswith("# ")
    assert "?" in question
    assert re.search(r"\((C\d+|L-?\w+)(, (C\d+|L-?\w+))*\)", question)
    preset = {"capacity": "capacity"}.get(name, "real" if name.startswith("real") else "lecture")
    assert tomllib.loads(text)["preset"] == preset
    cells = cells_of(name)
    assert len(cells) == count
    assert varied is None or varying(cells) == varied
    # Beside every attention stands its none, all else equal.
    settings = {cell.settings for cell in cells}
    assert {without_attention(cell.settings) for cell in cells} <= settings
    # It shrinks to a smaller preset, for a trial.
    assert expand(load_sweep(name), ["training.updates=2", "corpus.train_pairs=400"], seeds=2)


@pytest.mark.parametrize(("start", "preset"), [("", "lecture"), ("real_", "real")])
def test_the_two_arms_are_what_reproduce_runs(start, preset):
    none, attention = cells_of(f"{start}vindication")
    assert attention.settings == resolve(preset)
    assert none.settings == without_attention(resolve(preset))
    assert cells_of(f"{start}failure_pattern")[0].settings == none.settings


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
        points = {
            (cell.value("model.context_size"), cell.value("training.updates"))
            for cell in cells
            if cell.value("corpus.name") == corpus
        }
        assert points == {(2**power, times * updates) for power in range(4, 10) for times in (1, 2)}
    assert {cell.settings.model.hidden for cell in cells} == {512}
    # The text, test sentences among it, is one for all budgets and contexts of a corpus.
    assert len({cell.settings.corpus for cell in cells}) == 2


def test_attention_types_has_all_of_them_and_training_lengths_get_equal_target_tokens():
    annotation = type(RunSettings().model).model_fields["attention"].annotation
    counts = Counter(cell.value("model.attention") for cell in cells_of("attention_types"))
    assert counts == dict.fromkeys(annotation.__args__, 2)
    names = "corpus.max_words", "training.updates", "training.batch_tokens"
    cells = cells_of("training_length")
    given = {tuple(cell.value(name) for name in names) for cell in cells}
    assert given == {(60, resolve("lecture").training.updates, 1_800)}


def test_every_control_changes_one_thing_of_the_baseline():
    cells = cells_of("controls")
    (baseline,) = group("none", cells)
    changes = {
        cell.group: set(varying([baseline, cell])) - {"model.attention"}
        for cell in cells
        if cell.group not in ("none", "additive")
    }
    assert changes == {
        "uniform": set(),
        "reversed source": {"model.reverse_source"},
        "bidirectional": {"model.bidirectional"},
        "zero s_0": {"model.initial_state"},
        "as many parameters": {"model.hidden_size"},
        "twice the training": {"training.updates"},
        "joined": {"corpus.joined"},
    }
    for cell in group("twice the training", cells):
        assert cell.value("training.updates") == 2 * baseline.value("training.updates")


def test_the_wide_none_has_at_least_as_many_parameters_as_additive_attention():
    cells = cells_of("controls")
    (wide,) = group("as many parameters", cells)
    (additive,) = group("additive", cells)
    models = [cell.settings.model for cell in (wide, additive)]
    counts = [count_parameters(create(model, 368, 814, seed=0)[1]) for model in models]
    assert counts == [1_026_224, 955_750]  # as the file says
    assert wide.value("model.context_size") == additive.value("model.context_size") == 256
