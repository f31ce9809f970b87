"""What a user may name, the rows that a worker's result gives, and the step that is timed."""

import csv

import jax
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions import benchmark
from seq2seq_bottleneck.questions.benchmark import TRAINING, VOCABULARY, Step
from seq2seq_bottleneck.questions.cost import COLUMNS
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.settings.errors import UsageError
from seq2seq_bottleneck.training.step import initial_state, make_update


def test_each_arm_comes_with_the_baseline_of_its_placement_and_lengths_are_sorted() -> None:
    arms = benchmark.parse_arms("dot-output, additive")
    assert arms == ["none-output", "dot-output", "none", "additive"]
    assert benchmark.parse_lengths("8, 4,8") == [4, 8]
    for text in ("4,ten", "0", "-8", ""):
        with pytest.raises(UsageError, match="give whole numbers from 1 up"):
            benchmark.parse_lengths(text)


def test_the_file_has_medians_sizes_machine_and_attentions_part_round_by_round(tmp_path):
    result = {
        "machine": {"machine": "M", "threads": 1},
        "arms": {
            "none": {"seconds": [1.0, 2.0, 3.0], "steps": 4},
            "dot": {"seconds": [2.0, 2.5, 12.0], "steps": 2},
        },
    }
    benchmark.write(tmp_path, [benchmark.point_row(10, arm, result) for arm in ("none", "dot")])
    with (tmp_path / "probes" / "cost.csv").open() as file:
        none, dot = csv.DictReader(file)
    assert list(dot) == list(COLUMNS)
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


def test_the_step_is_a_runs_update_of_words_without_padding() -> None:
    step = Step("dot-output", 5, context=8)
    step.seconds(2)
    for side in (step.batch.source, step.batch.target):
        assert side.shape == (64, 5)
        assert (side[:, -1] == EOS).all()
        assert ((side[:, :-1] > UNK) & (side[:, :-1] < VOCABULARY)).all()
    assert [*step.batch.source_lengths, *step.batch.target_lengths] == [5] * 128
    model = ModelSettings(attention="dot", placement="output", context_size=8, embedding_size=100)
    graph, weights = create(model, VOCABULARY, VOCABULARY, TRAINING.seed)
    state, update = initial_state(weights, TRAINING), make_update(graph, TRAINING)
    for _ in range(3):
        state, _ = update(state, step.batch)
    assert int(step.state.update) == 3
    for left, right in zip(jax.tree.leaves(step.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-7)
