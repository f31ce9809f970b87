"""What a user may name, the rows that a worker's result gives, and the step that is timed."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from lanes import few

from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions.benchmark import (
    DEFAULT_ARMS,
    QUICK_ARMS,
    TRAINING,
    VOCABULARY,
    Step,
    parse_arms,
    parse_lengths,
    point_row,
    random_batch,
    time_steps,
    write,
)
from seq2seq_bottleneck.questions.cost import COLUMNS
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.training.step import initial_state, make_update


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        ("dot-output, additive", "none-output,dot-output,none,additive"),
        ("none,none", "none"),
        (DEFAULT_ARMS, DEFAULT_ARMS),
        (QUICK_ARMS, QUICK_ARMS),
    ],
)
def test_each_arm_comes_with_the_baseline_of_its_placement(text: str, arms: str) -> None:
    assert ",".join(parse_arms(text)) == arms


@pytest.mark.parametrize(
    ("parse", "text", "parts"),
    [
        (parse_lengths, "4,ten", ["'ten'", "whole"]),
        (parse_lengths, "0", ["'0'", "from 1 up"]),
        (parse_lengths, "-8", ["'-8'"]),
        (parse_lengths, "", ["''"]),
        (parse_arms, "aditive", ["'aditive'", "did you mean 'additive'"]),
    ],
)
def test_what_cannot_be_measured_is_named(
    parse: Callable[[str], list], text: str, parts: list[str]
) -> None:
    assert parse_lengths("8, 4,8") == [4, 8]
    with pytest.raises(UsageError) as error:
        parse(text)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_the_file_has_medians_sizes_machine_and_attentions_part_round_by_round(
    tmp_path: Path,
) -> None:
    result: dict[str, Any] = {
        "machine": {"machine": "M", "device": "cpu: cpu", "threads": 1, "version": "1", "jax": "2"},
        "arms": {
            "none": {"seconds": [1.0, 2.0, 3.0], "steps": 4},
            "dot": {"seconds": [2.0, 2.5, 12.0], "steps": 2},
        },
    }
    rows = [point_row(10, arm, result) for arm in ("none", "dot")]
    rows[0]["seconds"] = 0.1 + 0.2  # every digit is written
    write(tmp_path, rows)
    with (tmp_path / "probes" / "cost.csv").open() as file:
        none, dot = csv.DictReader(file)
    assert list(dot) == list(COLUMNS)
    assert float(none["seconds"]) == 0.1 + 0.2
    assert (none["attention_seconds"], none["steps"]) == ("", "4")
    expected = {
        "arm": "dot", "placement": "input", "length": "10", "context_size": "256",
        "hidden_size": "256", "seconds": "2.5", "seconds_low": "2.0", "seconds_high": "12.0",
        "repeats": "3", "steps": "2", "machine": "M", "threads": "1",
        # Differences 1, .5, 9 and shares .5, .2, .75: not those of the medians, 0.5 and 0.2.
        "attention_seconds": "1.0", "attention_seconds_low": "0.5", "attention_seconds_high": "9.0",
        "attention_share": "0.5", "attention_share_high": "0.75",
    }  # fmt: skip
    assert {name: dot[name] for name in expected} == expected


def test_nothing_is_padded_and_words_are_words() -> None:
    batch = random_batch(5)
    for side in (batch.source, batch.target):
        assert side.shape == (64, 5)
        assert (side[:, -1] == EOS).all()
        assert ((side[:, :-1] > UNK) & (side[:, :-1] < VOCABULARY)).all()
    assert [*batch.source_lengths, *batch.target_lengths] == [5] * 128


@pytest.mark.parametrize("arm", few(["additive", "none", "dot-output"], 3))
def test_the_step_is_a_runs_update(arm: str) -> None:
    step = Step(arm, 5, context=8)
    step.seconds(2)
    placement = "output" if arm == "dot-output" else "input"
    model = ModelSettings(
        attention=arm.removesuffix("-output"), placement=placement, context_size=8,
        embedding_size=100,
    )  # fmt: skip
    assert (model.hidden, model.attention_width) == (8, 8)  # the lecture's, hidden = context
    graph, weights = create(model, VOCABULARY, VOCABULARY, TRAINING.seed)
    state, update = initial_state(weights, TRAINING), make_update(graph, TRAINING)
    for _ in range(3):
        state, _ = update(state, random_batch(5))
    assert int(step.state.update) == 3
    for left, right in zip(jax.tree.leaves(step.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-7)


@pytest.mark.exhaustive(sample="session")
def test_arms_take_turns_for_as_many_rounds_as_asked() -> None:
    arms = time_steps(2, ["none", "dot"], 3)["arms"]
    assert list(arms) == ["none", "dot"]
    for numbers in arms.values():
        assert len(numbers["seconds"]) == 3
        assert min(numbers["seconds"]) > 0
        assert numbers["steps"] >= 1
