"""bfloat16 products: every one of an update is rounded going in, and nothing else is."""

import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from flax import nnx
from lanes import few
from losses import mean_loss
from tiny_training import one_batch, settings_of, spread_out, translator

from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.training.products import bfloat16_products
from seq2seq_bottleneck.training.stack import Stack
from seq2seq_bottleneck.training.step import initial_state, make_update

ARMS = [
    {"attention": "additive", "cell": "gru"},
    {"attention": "none", "cell": "lstm", "tied_output": True},
    {"attention": "dot", "placement": "output", "cell": "rnn", "bidirectional": True},
    {"attention": "general", "layers": 2, "residual": True, "hidden_size": 5, "tied_output": True},
]
SUM = {"rtol": 1e-5, "atol": 1e-5}
"""What the order of float32 sums may change; rounding to bfloat16 changes a hundred times more."""


def rounded(values):
    """To the nearest bfloat16, in float64."""
    return np.asarray(values, np.float32).astype(ml_dtypes.bfloat16).astype(np.float64)


def random_arrays(*shapes):
    random = np.random.default_rng(7)
    return [jnp.asarray(random.normal(size=shape), jnp.float32) for shape in shapes]


def in_a_scan(left, right):
    return jax.lax.scan(lambda total, row: (total + row @ right, None), jnp.zeros(5), left)[0]


def in_a_branch(left, right):
    branches = [lambda a, b: a @ b, lambda a, b: -(a @ b)]
    return jax.lax.switch(jnp.int32(left[0, 0] > 99.0), branches, left, right)


def in_a_loop(left, right):
    def add(number, total):
        return total + left[number] @ right

    return jax.lax.fori_loop(0, jnp.int32(len(left)), add, jnp.zeros(5))


@jax.custom_vjp
def by_a_rule(left, right):
    return left @ right


by_a_rule.defvjp(
    lambda left, right: (left @ right, (left, right)),
    lambda kept, slope: (slope @ kept[1].T, kept[0].T @ slope),
)


@jax.custom_jvp
def by_a_forward_rule(left, right):
    return left @ right


by_a_forward_rule.defjvp(lambda at, along: (at[0] @ at[1], along[0] @ at[1] + at[0] @ along[1]))

WHOLE = [
    lambda left, right: left @ right,
    lambda left, right: jnp.einsum("bk,kn->bn", left, right),
    jax.jit(lambda left, right: left @ right),
    jax.checkpoint(lambda left, right: left @ right),
    jax.vmap(lambda row, right: row @ right, (0, None)),
    in_a_branch,
    by_a_rule,
    by_a_forward_rule,
]
SUMMED = [in_a_scan, in_a_loop]


@pytest.mark.parametrize("function", WHOLE + SUMMED)
def test_operands_are_rounded_and_sums_are_not(function):
    left, right = random_arrays((4, 300), (300, 5))
    found = np.asarray(jax.jit(bfloat16_products(function))(left, right))
    expected = rounded(left) @ rounded(right)
    exact = np.asarray(left, np.float64) @ np.asarray(right, np.float64)
    if function in SUMMED:
        expected, exact = expected.sum(axis=0), exact.sum(axis=0)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, **SUM)
    assert np.abs(found - exact).max() > 1e-2
    assert np.abs(found - rounded(found)).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("function", WHOLE)
def test_products_of_the_gradient_are_rounded_too(function):
    left, right, slope = random_arrays((4, 300), (300, 5), (4, 5))

    def slopes(left, right):
        return jax.grad(lambda *both: jnp.sum(slope * function(*both)), (0, 1))(left, right)

    found = jax.jit(bfloat16_products(slopes))(left, right)
    np.testing.assert_allclose(found[0], rounded(slope) @ rounded(right).T, **SUM)
    np.testing.assert_allclose(found[1], rounded(left).T @ rounded(slope), **SUM)


def test_products_of_a_batch_are_rounded():
    weights, values = random_arrays((3, 40), (3, 40, 6))
    found = jax.jit(bfloat16_products(lambda *both: jnp.einsum("bs,bsc->bc", *both)))
    expected = np.einsum("bs,bsc->bc", rounded(weights), rounded(values))
    np.testing.assert_allclose(found(weights, values), expected, **SUM)


def test_what_is_no_product_is_left_as_it_is():
    left, right = random_arrays((4, 6), (4, 6))

    def function(pair):
        key = jax.random.key(3)
        noise = jax.random.normal(key, pair["left"].shape)
        return {"sums": jnp.tanh(pair["left"] + pair["right"] * noise), "count": jnp.int32(3)}

    pair = {"left": left, "right": right}
    found, expected = (jax.jit(each)(pair) for each in (bfloat16_products(function), function))
    jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_whole_numbers_keep_their_products():
    ones = jnp.full((3, 3), 257, jnp.int32)
    np.testing.assert_array_equal(bfloat16_products(jnp.matmul)(ones, ones), ones @ ones)


def slope_of(graph):
    """weights, batch -> loss and gradient."""

    def slope(weights, batch):
        return jax.value_and_grad(lambda w: mean_loss(nnx.merge(graph, w), batch, 1.0, None))(
            weights
        )

    return slope


def program_text(graph, weights, platform, **changes):
    """An update's program as it is handed to XLA, for a machine that need not be there."""
    settings = settings_of(**changes)
    update, state = make_update(graph, settings), initial_state(weights, settings)
    traced = jax.jit(update).trace(state, one_batch())
    return traced.lower(lowering_platforms=(platform,)).as_text()


def products_in(text):
    """Each product's line, with the names in its function that hold something rounded."""
    for function in text.split("func.func"):
        known = set(re.findall(r"(%\w+) = stablehlo.reduce_precision .* format = e8m7", function))
        for line in function.splitlines():
            if "stablehlo.dot_general" in line:
                yield line, known


@pytest.mark.parametrize("arm", few(ARMS, 2), ids=str)
@pytest.mark.parametrize("ratio", few([1.0, 0.5], 2))
def test_no_product_of_an_update_is_forgotten(arm, ratio):
    model, changes = translator(**arm), {"products": "bfloat16", "teacher_forcing": ratio}
    count = 0
    for line, known in products_in(program_text(*model, "cpu", **changes)):
        assert set(re.match(r".*dot_general (%\w+), (%\w+),", line).groups()) <= known, line
        count += 1
    assert count > 10


@pytest.mark.slow
def test_on_an_accelerator_products_are_named_as_bfloat16():
    named = "lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32"
    text = program_text(*translator(attention="additive"), "cuda", products="bfloat16")
    lines = [line for line, _ in products_in(text)]
    assert len(lines) > 10
    assert all(named in line and line.endswith("xf32>") for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["cpu", "cuda"])
def test_by_default_nothing_is_rounded_or_named(platform):
    text = program_text(*translator(attention="additive"), platform)
    assert "dot_general" in text
    assert "reduce_precision" not in text
    assert "bf16" not in text


@pytest.mark.slow
@pytest.mark.parametrize("arm", few(ARMS, 3), ids=str)
def test_losses_and_gradients_are_near_those_of_float32(arm):
    graph, weights = translator(**arm)
    weights = spread_out(weights, 0.5)
    slope = slope_of(graph)
    exact, near = (jax.jit(f)(weights, one_batch()) for f in (slope, bfloat16_products(slope)))
    assert near[0] != exact[0]
    np.testing.assert_allclose(near[0], exact[0], rtol=3e-3)
    one, other = (
        np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(each[1])])
        for each in (near, exact)
    )
    assert one @ other / np.linalg.norm(one) / np.linalg.norm(other) > 0.999
    assert {leaf.dtype for leaf in jax.tree.leaves(near)} == {np.dtype(np.float32)}


@pytest.mark.exhaustive(sample="session")
def test_state_stays_float32_and_goes_another_way():
    graph, weights = translator(attention="additive")
    ends = {}
    for products in ("float32", "bfloat16"):
        settings = settings_of(products=products)
        update, state = make_update(graph, settings), initial_state(weights, settings)
        before = [leaf.dtype for leaf in jax.tree.leaves(state)]
        for _ in range(3):
            state, loss = update(state, one_batch())
        assert loss.dtype == np.float32
        assert [leaf.dtype for leaf in jax.tree.leaves(state)] == before
        ends[products] = jax.tree.leaves(state.weights)
    pairs = list(zip(*ends.values(), strict=True))
    assert any(np.any(one != other) for one, other in pairs)
    assert max(float(jnp.abs(one - other).max()) for one, other in pairs) < 5e-3


@pytest.mark.exhaustive(sample="session")
def test_seeds_together_are_as_alone():
    graph, weights = translator(attention="general", tied_output=True)
    settings, stack = settings_of(products="bfloat16"), Stack(2)
    starts = [initial_state(spread_out(weights, size), settings) for size in (0.3, 0.6)]
    joined = stack.join(starts), stack.join([one_batch(), one_batch()])
    together, losses = make_update(graph, settings, stack)(*joined)
    for seed, start in enumerate(starts):
        alone, loss = make_update(graph, settings)(start, one_batch())
        np.testing.assert_allclose(losses[seed], loss, rtol=1e-5)
        for one, other in zip(
            jax.tree.leaves(stack.part(together.weights, seed)),
            jax.tree.leaves(alone.weights),
            strict=True,
        ):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("change", ["training.products=bfloat16", "model.tied_output=true"])
def test_the_settings_make_another_run(change):
    assert resolve("smoke").identity("") != resolve("smoke", [change]).identity("")
