"""Neighbours of planted clusters and of random vectors, against scipy's distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from seq2seq_bottleneck.probes.neighbours import chance, same_label

LABELS = np.repeat([0, 1, 2, 7], [40, 30, 20, 10])


def _clustered(seed):
    """Vectors of any length in about the direction of their class."""
    rng = np.random.default_rng(seed)
    directions = 5.0 * np.eye(8)[np.searchsorted([0, 1, 2, 7], LABELS)]
    return (directions + rng.normal(0.0, 0.3, size=(100, 8))) * rng.uniform(0.1, 9, size=(100, 1))


def test_planted_clusters_have_all_neighbours_of_their_class():
    assert same_label(_clustered(1), LABELS, k=5).tolist() == [1.0] * 100
    at_random = (40 * 39 + 30 * 29 + 20 * 19 + 10 * 9) / 9_900
    assert chance(LABELS).mean() == pytest.approx(at_random)


def test_random_vectors_are_at_chance():
    random = np.random.default_rng(2).normal(size=(8, 100, 16))
    shares = [same_label(seed, LABELS, k=5).mean() for seed in random]
    assert np.mean(shares) == pytest.approx(chance(LABELS).mean(), abs=0.05)


def test_chance_is_the_mean_over_all_other_words():
    every = np.array([np.mean(np.delete(LABELS, i) == LABELS[i]) for i in range(100)])
    assert chance(LABELS) == pytest.approx(every)
    all_others = same_label(np.random.default_rng(3).normal(size=(100, 4)), LABELS, k=99)
    assert all_others == pytest.approx(every)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_neighbours_are_those_of_scipys_cosine_distance(k):
    vectors = np.random.default_rng(4).normal(size=(100, 6)).astype(np.float32)
    distances = cdist(vectors, vectors, "cosine") + np.diag(np.full(100, np.inf))
    nearest = np.argsort(distances, axis=1)[:, :k]
    theirs = [np.mean(LABELS[row] == LABELS[i]) for i, row in enumerate(nearest)]
    assert same_label(vectors, LABELS, k=k) == pytest.approx(theirs)


def test_scale_and_order_do_not_matter():
    vectors = np.random.default_rng(6).normal(size=(100, 8))
    assert same_label(3 * vectors, LABELS, k=5) == pytest.approx(same_label(vectors, LABELS, k=5))
    order = np.random.default_rng(7).permutation(100)
    moved = same_label(vectors[order], LABELS[order], k=5)
    assert moved == pytest.approx(same_label(vectors, LABELS, k=5)[order])


def test_a_vector_of_zeros_is_near_nothing_in_particular():
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    found = same_label(vectors, np.array([0, 1, 1, 0]), k=1)
    assert found == pytest.approx([0.0, 1.0, 1.0, 1.0])  # of equals the first; 0 is above -1


def test_refuses_more_neighbours_than_there_are():
    for k in (0, 100):
        with pytest.raises(ValueError, match=f"{k} neighbours"):
            same_label(np.ones((100, 2)), LABELS, k=k)
