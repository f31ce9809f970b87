"""The rows made from a worker's result, and the step that is timed."""

import jax
import numpy as np
import pytest

from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.model.parts import Stack
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions import benchmark
from seq2seq_bottleneck.questions.benchmark import Step
from seq2seq_bottleneck.settings.concerns import ModelSettings, TrainingSettings
from seq2seq_bottleneck.training.step import initial_state, make_update


def test_rows_have_medians_and_attentions_part_round_by_round():
    seconds = {"none": [1.0, 2.0, 3.0], "dot": [2.0, 2.5, 12.0]}
    (none,) = benchmark.point_rows(10, "none", seconds, "M")
    assert none["note"] == "M"
    rows = benchmark.point_rows(10, "dot", seconds, "M")
    numbers = {row["measure"]: [row["value"], row["low"], row["high"]] for row in rows}
    assert numbers == {
        "seconds": [2.5, 2.0, 12.0],
        # Differences 1, .5, 9 and shares .5, .2, .75: not those of the medians, 0.5 and 0.2.
        "attention_seconds": [1.0, 0.5, 9.0],
        "attention_share": [0.5, pytest.approx(0.2), 0.75],
    }
    assert {(row["bucket"], row["placement"], row["n"]) for row in rows} == {("10", "input", 3)}


def test_the_step_is_a_runs_update_of_words_without_padding() -> None:
    step = Step("dot-output", 5, context=8)
    step.seconds(2)
    for side in (step.batch.source, step.batch.target):
        assert side.shape == (64, 5)
        assert (side[:, -1] == EOS).all()
        assert ((side[:, :-1] > UNK) & (side[:, :-1] < 2_000)).all()
    assert [*step.batch.source_lengths, *step.batch.target_lengths] == [5] * 128
    model = ModelSettings(attention="dot", placement="output", context_size=8, embedding_size=100)
    training = TrainingSettings()
    graph, weights = create(model, 2_000, 2_000, training.seed)
    state, update = initial_state(weights, training), make_update(graph, training, Stack(1))
    for _ in range(3):
        state, _ = update(state, step.batch)
    assert int(step.state.update) == 3
    for left, right in zip(jax.tree.leaves(step.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-7)
