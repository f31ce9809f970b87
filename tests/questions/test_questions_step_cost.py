"""A compiled step: its memory is what its arrays need, and it trains as a run's update does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lanes import few

from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.questions import step_cost
from seq2seq_bottleneck.questions.benchmark import Sizes
from seq2seq_bottleneck.questions.step_cost import TRAINING, Ahead, Step, measure, random_batch
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.training.step import initial_state, make_update

TINY = Sizes(length=5, context_size=8, batch_size=3, vocabulary=20)


def test_a_programs_memory_counts_arguments_results_and_work_space() -> None:
    stack = Ahead(1)
    program = stack.program(lambda x: jnp.sin(x) @ jnp.cos(x).T)
    jax.eval_shape(program, jax.ShapeDtypeStruct((100, 300), np.float32))
    arguments, results = 4 * 100 * 300, 4 * 100 * 100
    assert arguments + results <= stack.peaks[0] <= 4 * arguments + results
    x = np.linspace(0, 1, 30_000, dtype=np.float32).reshape(100, 300)
    np.testing.assert_allclose(program(x), np.sin(x) @ np.cos(x).T, rtol=1e-4)


def test_nothing_is_padded_and_words_are_words() -> None:
    batch = random_batch(TINY)
    for side in (batch.source, batch.target):
        assert side.shape == (3, 5)
        assert (side[:, -1] == EOS).all()
        assert ((side[:, :-1] > UNK) & (side[:, :-1] < 20)).all()
    assert [*batch.source_lengths, *batch.target_lengths] == [5] * 6


@pytest.mark.parametrize("arm", few(["additive", "none", "dot-output"], 3))
def test_the_step_is_a_runs_update(arm: str) -> None:
    step = Step(arm, TINY)
    step.begin()
    step.seconds(2)
    placement = "output" if arm == "dot-output" else "input"
    model = ModelSettings(
        attention=arm.removesuffix("-output"), placement=placement, context_size=8,
        embedding_size=100,
    )  # fmt: skip
    assert (model.hidden, model.attention_width) == (8, 8)  # the lecture's, hidden = context
    graph, weights = create(model, 20, 20, TRAINING.seed)
    state, update = initial_state(weights, TRAINING), make_update(graph, TRAINING)
    for _ in range(3):
        state, _ = update(state, random_batch(TINY))
    assert int(step.state.update) == 3
    for left, right in zip(jax.tree.leaves(step.state), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-7)
    assert step.peak_bytes >= 2 * sum(leaf.nbytes for leaf in jax.tree.leaves(step.state))


@pytest.mark.exhaustive(sample="session")
def test_memory_grows_with_the_batch_at_least_by_its_states() -> None:
    small, large = (Step("dot", Sizes(5, 8, batch, 20)).peak_bytes for batch in (3, 3000))
    assert large > small + 4 * 3000 * 8 * (5 + 5)


@pytest.mark.exhaustive(sample="session")
def test_arms_take_turns_for_as_many_rounds_as_asked() -> None:
    arms = measure(TINY, ["none", "dot"], 3)["arms"]
    assert list(arms) == ["none", "dot"]
    for numbers in arms.values():
        assert len(numbers["seconds"]) == 3
        assert min(numbers["seconds"]) > 0 < numbers["peak_bytes"]
        assert numbers["steps"] >= 1


@pytest.mark.slow
def test_an_arm_that_needs_more_memory_than_is_free_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(step_cost, "free_bytes", lambda: 1000)
    assert measure(TINY, ["none"], 1)["arms"]["none"]["reason"] == (
        "a step needs 0.0 GB, 0.0 GB are free"
    )
