"""The installed sweeps: each asks a question, and compares like with like."""

import re
import tomllib
from pathlib import Path

import jax
import pytest
from grids import expand

from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.run import RunSettings, resolve, toml_names
from seq2seq_bottleneck.settings.sweep import Cell, load_sweep, varying

FOLDER = Path(__file__).parents[1] / "experiments"

SWEEPS = {
    "attention_types": (12, ["model.attention", "model.placement"]),
    "capacity": (12, ["corpus.name", "model.context_size", "training.updates"]),
    "cells": (6, ["model.attention", "model.cell", "training.learning_rate"]),
    "context_size": (7, ["model.attention", "model.context_size"]),
    "controls": (14, None),
    "failure_pattern": (1, []),
    "learning_curve": (
        23,
        ["model.attention", "model.context_size", "training.updates", "training.learning_rate"],
    ),
    "real_vindication": (2, ["model.attention"]),
    "teacher_forcing": (6, ["model.attention", "training.teacher_forcing"]),
    "training_length": (10, ["corpus.train_max_words", "model.attention"]),
    "vindication": (2, ["model.attention"]),
}
"""For each sweep, how many cells it makes, and the only settings in which they differ."""


def cells_of(name: str) -> list[Cell]:
    return expand(load_sweep(name))


def without_attention(settings: RunSettings) -> RunSettings:
    return settings.changed(model={"attention": "none"})


def test_every_file_is_found_and_counted_here():
    assert toml_names() == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert toml_names() == sorted(SWEEPS)


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
    of_tables = {"vindication": "lecture", "failure_pattern": "lecture", "real_vindication": "real"}
    preset = ({"capacity": "capacity"} | of_tables).get(name, "quick")
    assert tomllib.loads(text)["preset"] == preset
    cells = expand(load_sweep(name))
    assert len(cells) == count
    assert varied is None or varying(cells) == varied
    # Every arm with attention has a baseline without, equal in all else.
    settings = {cell.settings for cell in cells}
    assert {without_attention(cell.settings) for cell in cells} <= settings
    # A smaller preset shrinks it, for a trial.
    assert expand(load_sweep(name), ["training.updates=2", "corpus.train_pairs=400"], seeds=2)


@pytest.mark.parametrize(("start", "preset"), [("", "lecture"), ("real_", "real")])
def test_the_two_arms_are_what_reproduce_runs(start, preset):
    none, attention = expand(load_sweep(f"{start}vindication"))
    assert attention.settings == resolve(preset)
    assert none.settings == without_attention(resolve(preset))


def test_the_first_table_is_of_the_second_ones_baseline():
    (alone,), (none, _) = map(cells_of, ("failure_pattern", "vindication"))
    assert alone.settings == none.settings


def test_every_control_changes_one_thing_of_the_baseline():
    cells = {cell.group: cell for cell in expand(load_sweep("controls"))}
    changes = {
        name: set(varying([cells["none"], cell])) - {"model.attention"}
        for name, cell in cells.items()
        if name not in ("none", "additive")
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
    updates = [
        cells[name].settings.value("training.updates") for name in ("none", "twice the training")
    ]
    assert updates[1] == 2 * updates[0]
    models = [cells[name].settings.model for name in ("as many parameters", "additive")]
    trees = [jax.tree.leaves(create(model, 369, 815, seed=0)[1]) for model in models]
    counts = [sum(leaf.size for leaf in leaves) for leaves in trees]
    assert counts == [1_026_425, 955_951]  # as the file says
