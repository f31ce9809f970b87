"""A compiled step: its memory is what its arrays need, and it trains as a run's update does."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from lanes import few

from seq2seq_bottleneck.bench.grid import Sizes, parse_arms
from seq2seq_bottleneck.bench.step import TRAINING, Program, Step, batch_shapes, random_batch
from seq2seq_bottleneck.bench.worker import compiled, take_turns
from seq2seq_bottleneck.corpus.vocabulary import EOS, UNK
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.training.step import initial_state, make_update

TINY = Sizes(length=5, context_size=8, batch_size=3, vocabulary=20, embedding_size=4)


def test_a_programs_memory_counts_arguments_results_and_work_space():
    program = Program(jax.jit(lambda x: jnp.sin(x) @ jnp.cos(x).T))
    jax.eval_shape(program, jax.ShapeDtypeStruct((100, 300), np.float32))
    taken, given = 4 * 100 * 300, 4 * 100 * 100
    assert program.peak_bytes >= taken + given
    assert program.peak_bytes <= 4 * taken + given
    x = np.linspace(0, 1, 30_000, dtype=np.float32).reshape(100, 300)
    np.testing.assert_allclose(program(x), np.sin(x) @ np.cos(x).T, rtol=1e-4)


def test_nothing_is_padded_and_words_are_words():
    batch = random_batch(TINY)
    for side, lengths in (
        (batch.source, batch.source_lengths),
        (batch.target, batch.target_lengths),
    ):
        assert side.shape == (3, 5)
        assert (side[:, -1] == EOS).all()
        assert ((side[:, :-1] > UNK) & (side[:, :-1] < 20)).all()
        assert (lengths == 5).all()
    told = [(leaf.shape, leaf.dtype) for leaf in batch_shapes(TINY)]
    assert told == [(leaf.shape, leaf.dtype) for leaf in batch]


@pytest.mark.parametrize("name", few(["additive", "none", "dot-output"], 3))
def test_the_step_is_a_runs_update(name):
    arm = parse_arms(name)[-1]
    step = Step(arm, TINY)
    step.begin()
    step.seconds(2)
    graph, weights = create(TINY.model(arm), 20, 20, TRAINING.seed)
    state, update = initial_state(weights, TRAINING), make_update(graph, TRAINING)
    for _ in range(3):
        state, _ = update(state, random_batch(TINY))
    assert int(step.state.update) == 3
    pairs = zip(jax.tree.leaves(step.state), jax.tree.leaves(state), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


@pytest.mark.exhaustive(sample="session")
def test_memory_is_at_least_what_adam_holds_and_grows_with_the_batch():
    arm = parse_arms("dot")[-1]
    small, large = (Step(arm, Sizes(5, 8, batch, 20, 4)).peak_bytes for batch in (3, 3000))
    state = initial_state(create(TINY.model(arm), 20, 20, 1)[1], TRAINING)
    held = sum(leaf.nbytes for leaf in jax.tree.leaves(state))
    assert small >= 2 * held
    states = 4 * 3000 * 8 * (5 + 5)
    assert large > small + states


@pytest.mark.exhaustive(sample="session")
def test_arms_take_turns_for_as_many_rounds_as_asked(capsys):
    steps = compiled(parse_arms("dot"), TINY)
    for step in steps:
        step.begin()
    found = take_turns(steps, 3)
    assert list(found["seconds"]) == ["none", "dot"]
    assert all(len(each) == 3 and min(each) > 0 for each in found["seconds"].values())
    assert all(count >= 1 for count in found["steps"].values())
    assert capsys.readouterr().out.count('"round"') == 2 * 4


@pytest.mark.slow
def test_what_needs_more_memory_than_there_is_is_left_out_by_name(capsys, monkeypatch):
    monkeypatch.setattr("seq2seq_bottleneck.bench.worker.free_bytes", lambda: 1000)
    assert compiled(parse_arms("none"), TINY) == []
    assert "a step needs 0.0 GB, 0.0 GB are free" in capsys.readouterr().out
