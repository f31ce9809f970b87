"""The translator: what arms and tied outputs share; dropout."""

import jax
import jax.numpy as jnp
import numpy as np
import numpy_translator as plain
import pytest
from flax import nnx
from lanes import few
from tiny import (
    ATTENTIONS,
    PLACEMENTS,
    SOURCE_WORDS,
    TARGET_WORDS,
    mean_loss,
    padded,
    random_translator,
    settings_of,
)

from seq2seq_bottleneck.model import decoder, encoder
from seq2seq_bottleneck.model.recurrence import dropout
from seq2seq_bottleneck.model.translator import count_parameters, create
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.training.loss import decoder_inputs

BATCH = padded()
SOURCE, INPUTS = (BATCH.source, BATCH.source_lengths), decoder_inputs(BATCH.target)


def fresh(seed=5, **changes):
    """A translator's starting values by path."""
    weights = create(settings_of(**changes), SOURCE_WORDS, TARGET_WORDS, seed)[1]
    return plain.flat(plain.arrays(weights))


def count(**changes):
    """Parameters of a translator, without drawing them."""
    return count_parameters(random_translator(settings_of(**changes))[1])


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
def test_the_lectures_arms_have_as_many_parameters_as_known(attention, count):
    model = resolve("lecture", [f"model.attention={attention}"]).model
    assert count_parameters(create(model, 915, 2033, 1)[1]) == count


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_arms_differ_by_the_scores_own_parameters(placement):
    wide = {"none": 0, "uniform": 0, "general": 4 * 3, "additive": 4 * 5 + 3 * 5 + 5}
    equal = {"none": 0, "uniform": 0, "dot": 0, "scaled-dot": 0, "general": 9, "additive": 21}
    sizes = {"hidden_size": 4, "context_size": 3, "attention_size": 5}
    for expected, changes in ((wide, sizes), (equal, {})):
        counts = {kind: count(attention=kind, placement=placement, **changes) for kind in expected}
        assert {kind: number - counts["none"] for kind, number in counts.items()} == expected


def slopes_of(settings):
    """Slopes of all logits with respect to the memory: values, keys, last."""
    translator = nnx.merge(*random_translator(settings))
    memory = translator.encode(*SOURCE)

    def squares(floats):
        given = memory._replace(**floats)
        return (translator.decoder(INPUTS, given)[0] ** 2).sum()

    floats = {name: getattr(memory, name) for name in ("values", "keys", "last")}
    return jax.tree.map(np.asarray, jax.jit(jax.grad(squares))(floats))


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_without_attention_only_the_last_state_reaches_the_decoder(placement):
    slopes = slopes_of(settings_of(attention="none", placement=placement))
    assert np.all(slopes["values"] == 0.0)
    assert np.all(slopes["keys"] == 0.0)
    assert np.all(slopes["last"] != 0.0)


def test_attention_has_a_path_to_every_real_state_and_to_no_padding():
    slopes = slopes_of(settings_of(attention="uniform", initial_state="zero"))
    real = np.arange(5)[None] < np.array([5, 3, 2])[:, None]
    assert np.all(slopes["values"][real] != 0.0)
    assert np.all(slopes["values"][~real] == 0.0)
    assert np.all(slopes["last"] == 0.0)


def test_the_embedding_takes_the_place_of_the_matrix():
    tied, untied = fresh(tied_output=True), fresh()
    assert tied.keys() - untied.keys() == {("decoder", "to_embedding")}
    assert untied.keys() - tied.keys() == {("decoder", "output")}
    for path in tied.keys() & untied.keys():
        np.testing.assert_array_equal(tied[path], untied[path], err_msg=str(path))
    sizes = {"hidden_size": 4, "embedding_size": 5}
    saved = count(**sizes) - count(tied_output=True, **sizes)
    assert saved == 4 * TARGET_WORDS - 4 * 5


@pytest.mark.slow
def test_units_of_the_state_are_dropped_and_then_mapped():
    """Dropped after the map, half of what the output layer reads would be 0."""
    settings = settings_of(tied_output=True, dropout=0.5, attention="none", context_size=40)
    translator = nnx.merge(*random_translator(settings))
    kept, dropped = (
        np.asarray(translator.decoder(INPUTS, translator.encode(*SOURCE, key), key)[0])
        for key in (None, jax.random.key(2))
    )
    assert np.all(dropped != 0.0)
    assert np.all(dropped != kept)


@pytest.mark.parametrize(
    ("embedding", "hidden", "words"),
    few([(16, 128, 500), (100, 256, 2033), (300, 64, 5000)], 3),
)
def test_a_fresh_softmax_is_near_uniform_whatever_the_sizes(embedding, hidden, words):
    """Logits vary as much as units do, and the loss is that of a blind guess."""
    sizes = {"embedding_size": embedding, "context_size": hidden}
    graph, weights = create(settings_of(**sizes, attention="none", tied_output=True), 20, words, 3)
    part = nnx.merge(graph, weights).decoder
    states = jax.random.uniform(jax.random.key(4), (200, hidden), minval=-1.0)
    logits = np.asarray(part.logits(states @ part.to_embedding[...]))
    np.testing.assert_allclose(logits.std(), np.asarray(states).std(), rtol=0.1)
    random = np.random.default_rng(1)
    batch = padded([(random.integers(4, 20, 9), random.integers(4, words, 12)) for _ in range(8)])
    loss = float(jax.jit(lambda: mean_loss(nnx.merge(graph, weights), batch))())
    assert loss == pytest.approx(np.log(words), rel=0.02)


# Dropout: the right share and scale, off without a key, another mask for another key.


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


def test_every_place_that_drops_has_its_own_mask(monkeypatch):
    places = []

    def recording(values, rate, key, place, every_step=False):
        places.append(place)
        return dropout(values, rate, key, place, every_step)

    monkeypatch.setattr(encoder, "dropout", recording)
    monkeypatch.setattr(decoder, "dropout", recording)
    run = nnx.merge(*random_translator(settings_of(dropout=0.5, layers=3))).logits
    jax.eval_shape(run, *SOURCE, INPUTS, jax.random.key(0))
    # Words, 3 layers; words, between 3 layers, before the output layer.
    assert len(set(places)) == len(places) == 4 + 4


@pytest.mark.slow
def test_between_layers_an_arm_without_a_read_in_the_recurrence_drops_what_the_others_drop():
    """Layer by layer over all steps, or step by step through all layers: the same units."""
    settings = settings_of(dropout=0.5, layers=3, residual=True, attention="none")
    translator, key = nnx.merge(*random_translator(settings)), jax.random.key(3)
    memory, part = translator.encode(*SOURCE), translator.decoder
    drawn = np.random.default_rng(2).normal(size=(3, 5, *memory.last.shape)).astype(np.float32)
    gates, states, outputs = tuple(map(jnp.asarray, drawn)), part.initial(memory), []
    for step in range(5):
        states, output, _ = part._run(states, tuple(gate[step] for gate in gates), key)
        outputs.append(output)
    whole = part._states(gates, memory, key)
    np.testing.assert_allclose(whole, np.stack(outputs), rtol=1e-5, atol=1e-6)
    assert np.any(np.asarray(whole) != np.asarray(part._states(gates, memory, None)))
