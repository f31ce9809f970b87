"""One thing varies: what arms, tied outputs and hidden sources share, and what they do not."""

import jax
import jax.numpy as jnp
import numpy as np
import numpy_translator as plain
import pytest
from flax import nnx
from lanes import few
from tiny import (
    ATTENTIONS,
    PAIRS,
    PLACEMENTS,
    SOURCE_WORDS,
    TARGET_WORDS,
    forward,
    loss_and_gradient,
    mean_loss,
    padded,
    random_translator,
    settings_of,
)

from seq2seq_bottleneck.model.translator import count_parameters, create
from seq2seq_bottleneck.settings.concerns import ModelSettings
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.training.loss import decoder_inputs

WIDE = {"hidden_size": 4, "context_size": 3, "attention_size": 5}
OTHER_SOURCES = (([5], PAIRS[0][1]), ([3, 3, 3, 3, 3, 3, 2], PAIRS[1][1]), ([4, 6], PAIRS[2][1]))


def fresh(seed=5, **changes):
    """A translator's starting values by path."""
    weights = create(settings_of(**changes), SOURCE_WORDS, TARGET_WORDS, seed)[1]
    return plain.flat(plain.arrays(weights))


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_arms_start_from_the_same_values_in_all_they_share(placement):
    arms = {kind: fresh(attention=kind, placement=placement) for kind in ATTENTIONS}
    shared = arms["none"]
    for arm in arms.values():
        own = {path for path in arm if path[:2] == ("decoder", "attention")}
        assert arm.keys() - own == shared.keys()
        for path, start in shared.items():
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


def count(**changes):
    """Parameters of a translator, without drawing them."""
    return count_parameters(random_translator(settings_of(**changes))[1])


@pytest.mark.parametrize(("attention", "count"), [("none", 1_067_905), ("additive", 1_133_569)])
def test_the_lectures_arms_have_as_many_parameters_as_known(attention, count):
    model = resolve("lecture", [f"model.attention={attention}"]).model
    assert count_parameters(create(model, 915, 2033, 1)[1]) == count


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_arms_differ_by_the_scores_own_parameters(placement):
    wide = {"none": 0, "uniform": 0, "general": 4 * 3, "additive": 4 * 5 + 3 * 5 + 5}
    equal = {"none": 0, "uniform": 0, "dot": 0, "scaled-dot": 0, "general": 9, "additive": 21}
    for expected, sizes in ((wide, WIDE), (equal, {})):
        counts = {kind: count(attention=kind, placement=placement, **sizes) for kind in expected}
        assert {kind: number - counts["none"] for kind, number in counts.items()} == expected


def slopes_of(settings):
    """Slopes of all logits with respect to the memory: values, keys, last."""
    translator, batch = nnx.merge(*random_translator(settings)), padded()
    memory = translator.encode(batch.source, batch.source_lengths)

    def squares(floats):
        values, keys, last = floats
        given = memory._replace(values=values, keys=keys, last=last)
        return (translator.decoder(decoder_inputs(batch.target), given)[0] ** 2).sum()

    slopes = jax.jit(jax.grad(squares))((memory.values, memory.keys, memory.last))
    return map(np.asarray, slopes)


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_without_attention_only_the_last_state_reaches_the_decoder(placement):
    values, keys, last = slopes_of(settings_of(attention="none", placement=placement))
    assert np.all(values == 0.0)
    assert np.all(keys == 0.0)
    assert np.all(last != 0.0)


def test_attention_has_a_path_to_every_real_state_and_to_no_padding():
    values, _, last = slopes_of(settings_of(attention="uniform", initial_state="zero"))
    real = np.arange(5)[None] < np.array([5, 3, 2])[:, None]
    assert np.all(values[real] != 0.0)
    assert np.all(values[~real] == 0.0)
    assert np.all(last == 0.0)


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
    translator, batch = nnx.merge(*random_translator(settings)), padded()
    given = (batch.source, batch.source_lengths, jnp.ones((3, 4), jnp.int32))
    kept, dropped = (translator.read_outs(*given, key)[0] for key in (None, jax.random.key(2)))
    assert np.all(np.asarray(dropped) != 0.0)
    assert np.all(np.asarray(dropped) != np.asarray(kept))


@pytest.mark.parametrize(
    ("embedding", "hidden", "words"),
    few([(16, 128, 500), (100, 256, 2033), (300, 64, 5000)], 3),
)
def test_a_fresh_softmax_is_near_uniform_whatever_the_sizes(embedding, hidden, words):
    """Logits vary as much as units do, and the loss is that of a blind guess."""
    settings = ModelSettings(
        embedding_size=embedding, context_size=hidden, attention="none", tied_output=True
    )
    graph, weights = create(settings, 20, words, 3)
    decoder = nnx.merge(graph, weights).decoder
    states = jax.random.uniform(jax.random.key(4), (200, hidden), minval=-1.0)
    logits = np.asarray(decoder.logits(states @ decoder.to_embedding[...]))
    np.testing.assert_allclose(logits.std(), np.asarray(states).std(), rtol=0.1)
    random = np.random.default_rng(1)
    batch = padded([(random.integers(4, 20, 9), random.integers(4, words, 12)) for _ in range(8)])
    loss = float(jax.jit(lambda: mean_loss(nnx.merge(graph, weights), batch))())
    assert loss == pytest.approx(np.log(words), rel=0.02)


@pytest.mark.exhaustive(sample="session")
@pytest.mark.parametrize("attention", ["none", "uniform", "additive"])
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_neither_words_nor_length_of_a_hidden_source_are_read(attention, placement):
    settings = settings_of(attention=attention, placement=placement, source="hidden")
    graph, weights = random_translator(settings)
    logits, read = forward(graph, weights, padded())
    others, _ = forward(graph, weights, padded(OTHER_SOURCES))
    np.testing.assert_array_equal(logits, others)
    np.testing.assert_array_equal(read[..., 0], 1.0)
    np.testing.assert_array_equal(read[..., 1:], 0.0)


def test_the_same_weights_read_a_seen_source():
    hidden = random_translator(settings_of(attention="none", source="hidden"))[1]
    graph, weights = random_translator(settings_of(attention="none"))
    assert jax.tree.map(np.shape, weights) == jax.tree.map(np.shape, hidden)
    logits, _ = forward(graph, hidden, padded())
    others, _ = forward(graph, hidden, padded(OTHER_SOURCES))
    assert np.abs(logits - others).max() > 1e-3


@pytest.mark.slow
def test_a_hidden_source_trains_the_decoder_alone_and_changes_no_starting_value():
    graph, weights = random_translator(settings_of(source="hidden"))
    _, slopes = loss_and_gradient(graph)(weights, padded())
    assert all(not np.any(leaf) for leaf in jax.tree.leaves(slopes["encoder"]))
    assert np.any(slopes["decoder"]["output"][...])
    seen, hidden = fresh(source="seen"), fresh(source="hidden")
    assert seen.keys() == hidden.keys()
    assert all(np.array_equal(seen[path], hidden[path]) for path in seen)
