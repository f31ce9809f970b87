"""The linear probe on planted inputs: what is there is read, what is not is not."""

import numpy as np
import pytest

from seq2seq_bottleneck.questions.linear_reader import fit_reader, whitening
from seq2seq_bottleneck.questions.reading import NO_ANSWER

CLASSES, SIZE = 6, 16


def planted(rows, seed, noise=0.05):
    """Two words per row: the first shows in the inputs, the second is not there at all."""
    rng = np.random.default_rng(seed)
    words = rng.integers(CLASSES, size=(rows, 2))
    vectors = np.random.default_rng(9).normal(size=(CLASSES, SIZE))
    inputs = vectors[words[:, 0]] + noise * rng.normal(size=(rows, SIZE))
    return inputs.astype(np.float32), words


def unequal(rows, seed):
    """Two classes of very unequal spread: the discriminant's one covariance is wrong for them."""
    rng = np.random.default_rng(seed)
    words = rng.integers(2, size=(rows, 1))
    spread = np.where(words == 0, 0.05, 3.0)
    # class 1 lies to the right of 0.5, far or near; class 0 close to 0
    first = np.where(words == 0, 0.0, 0.5 + np.abs(rng.normal(size=(rows, 1)) * 3.0))
    rest = rng.normal(size=(rows, 3)) * spread
    return np.concatenate([first, rest], axis=1).astype(np.float32), words


def share_right(fitted_to, asked, **settings):
    read = fit_reader(*fitted_to, **{"classes": CLASSES, "seed": 1, "steps": 30} | settings)
    return (read(asked[0]) == asked[1]).mean(axis=0)


@pytest.mark.parametrize("steps", [0, 30])
def test_a_word_that_shows_is_read_and_one_that_does_not_is_guessed(steps):
    present, absent = share_right(planted(2000, 1), planted(1500, 2), steps=steps)
    assert present == 1.0
    assert abs(absent - 1 / CLASSES) < 0.05


def test_faint_directions_are_read_as_well_as_strong_ones():
    scales = np.logspace(0, -2, SIZE).astype(np.float32)
    scaled = [(inputs * scales, words) for inputs, words in (planted(2000, 1), planted(1500, 2))]
    assert share_right(*scaled)[0] == 1.0


def test_adam_finds_what_the_discriminant_cannot():
    before, after = (
        share_right(unequal(4000, 3), unequal(4000, 4), classes=2, steps=steps)[0]
        for steps in (0, 200)
    )
    assert after > before + 0.03


def test_rows_without_an_answer_are_left_out():
    misleading, asked = planted(2000, 1)
    misleading[1000:] = misleading[1000:][::-1].copy()
    asked[1000:, 0] = NO_ANSWER
    asked[:, 1] = NO_ANSWER  # never asked for
    assert share_right((misleading, asked), planted(1500, 2), steps=20)[0] == 1.0


def test_the_same_seed_gives_the_same_answers():
    inputs, words = planted(600, 1, noise=3.0)
    first, same, other = (
        fit_reader(inputs, words, classes=CLASSES, seed=seed, steps=5)(inputs) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_the_discriminant_is_bayes_rule_for_normal_classes_of_one_covariance():
    rng = np.random.default_rng(5)
    means, root = rng.normal(size=(3, 4)) * 2, rng.normal(size=(4, 4))
    chances = np.array([0.6, 0.3, 0.1])
    words = rng.choice(3, p=chances, size=(40_000, 1))
    inputs = means[words[:, 0]] + rng.normal(size=(40_000, 4)) @ root.T
    read = fit_reader(inputs, words, classes=3, seed=1, steps=0)(inputs)[:, 0]
    inverse, centred = np.linalg.inv(root @ root.T), inputs[:, None] - means
    logs = np.log(chances) - 0.5 * np.einsum("ncs,st,nct->nc", centred, inverse, centred)
    assert (read == logs.argmax(axis=1)).mean() > 0.99


def test_whitened_inputs_have_no_mean_and_variances_of_one_but_where_nothing_varies():
    inputs, _ = planted(3000, 1)
    white = whitening(inputs)(inputs)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(np.cov(white, rowvar=False), np.eye(SIZE), atol=1e-3)
    flat = np.concatenate([inputs, np.full((3000, 1), 7.0, np.float32)], axis=1)
    assert np.isfinite(whitening(flat)(flat)).all()
