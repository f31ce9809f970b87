"""The translator: what arms share, tied outputs, dropout."""

import jax
import jax.numpy as jnp
import numpy as np
import numpy_translator as plain
import pytest
from flax import nnx
from tiny import (
    ATTENTIONS,
    BOS,
    PLACEMENTS,
    SOURCE_WORDS,
    TARGET_WORDS,
    padded,
    random_translator,
    settings_of,
)

from seq2seq_bottleneck.model.recurrence import dropout
from seq2seq_bottleneck.model.translator import create
from seq2seq_bottleneck.settings.run import resolve

BATCH = padded()
SOURCE, INPUTS = BATCH[:2], jnp.insert(BATCH.target[:, :-1], 0, BOS, axis=1)


def fresh(seed=5, **changes):
    """A translator's starting values by path."""
    weights = create(settings_of(**changes), SOURCE_WORDS, TARGET_WORDS, seed)[1]
    return plain.flat(plain.arrays(weights))


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_arms_start_from_the_same_values_in_all_they_share(placement):
    arms = {kind: fresh(attention=kind, placement=placement) for kind in ATTENTIONS}
    for arm in arms.values():
        read = {path for path in arm if path[:2] == ("decoder", "attention")}
        assert arm.keys() - read == arms["none"].keys()
        for path, start in arms["none"].items():
            np.testing.assert_array_equal(arm[path], start, err_msg=str(path))


def test_another_seed_starts_elsewhere_and_no_two_parameters_start_from_the_same_numbers():
    """A random key used twice would show as two equal matrices."""
    changes = {"layers": 2, "bidirectional": True, "cell": "lstm", "hidden_size": 4}
    one, again, other = (fresh(seed, **changes) for seed in (5, 5, 6))
    drawn = {path: start.tobytes() for path, start in one.items() if np.unique(start).size > 1}
    assert len(set(drawn.values())) == len(drawn) > 10
    assert {path for path in one if not any("bias" in str(name) for name in path)} == {*drawn}
    for path in drawn:
        np.testing.assert_array_equal(one[path], again[path])
        assert not np.any(one[path] == other[path]), path


@pytest.mark.parametrize(("attention", "count"), [("none", 1_067_905), ("additive", 1_133_569)])
def test_the_lectures_arms_have_the_known_numbers_of_parameters(attention, count):
    model = resolve("lecture", [f"model.attention={attention}"]).model
    assert sum(leaf.size for leaf in jax.tree.leaves(create(model, 915, 2033, 1)[1])) == count


# Dropout: the right share and scale, off without a key, different masks for different keys.


def test_a_share_is_zeroed_and_the_rest_scaled_up_by_key_and_place_alone():
    ones = jnp.ones((100, 100))
    dropped = np.asarray(dropout(ones, 0.25, jax.random.key(0), 1))
    np.testing.assert_allclose(np.unique(dropped), [0.0, 1 / 0.75], rtol=1e-6)
    assert abs((dropped == 0.0).mean() - 0.25) < 0.02
    np.testing.assert_array_equal(dropped, dropout(ones, 0.25, jax.random.key(0), 1))
    for key, place in ((1, 1), (0, 2)):
        other = np.asarray(dropout(ones, 0.25, jax.random.key(key), place))
        assert 0.3 < np.mean(dropped != other) < 0.45
    assert dropout(ones, 0.5, None, 1) is ones
    assert dropout(ones, 0.0, jax.random.key(0), 1) is ones


@pytest.mark.slow
def test_training_drops_by_the_key_and_evaluation_does_not():
    (graph, weights), (undropped, _) = (
        random_translator(settings_of(layers=2, dropout=rate)) for rate in (0.5, 0.0)
    )

    def logits(graph, *keys):
        run = jax.jit(lambda key: nnx.merge(graph, weights).logits(*SOURCE, INPUTS, key)[0])
        return [np.asarray(run(key)) for key in keys]

    one, same, other, evaluated = logits(graph, *map(jax.random.key, (1, 1, 2)), None)
    np.testing.assert_array_equal(one, same)
    assert np.all(np.any(one != other, axis=-1))
    np.testing.assert_array_equal(evaluated, *logits(undropped, None))
