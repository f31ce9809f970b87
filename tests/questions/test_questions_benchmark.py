"""The rows that a worker's result gives, and the step that is timed."""

import csv

import jax
import numpy as np

from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions import benchmark
from seq2seq_bottleneck.questions.benchmark import TRAINING, VOCABULARY, Step
from seq2seq_bottleneck.questions.cost import COLUMNS
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.training.step import initial_state, make_update


def test_the_file_has_medians_the_machine_and_attentions_part_round_by_round(tmp_path):
    seconds, machine = {"none": [1.0, 2.0, 3.0], "dot": [2.0, 2.5, 12.0]}, {"machine": "M"}
    rows = [benchmark.point_row(10, arm, seconds, machine) for arm in ("none", "dot")]
    benchmark.write(tmp_path, rows)
    with (tmp_path / "probes" / "cost.csv").open() as file:
        none, dot = csv.DictReader(file)
    assert list(dot) == list(COLUMNS)
    assert none["attention_seconds"] == ""
    expected = {
        "arm": "dot", "placement": "input", "length": "10", "repeats": "3", "machine": "M",
        "seconds": "2.5", "seconds_low": "2.0", "seconds_high": "12.0",
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
