"""Approximate randomisation against all swaps of a few sentences, scored by sacreBLEU."""

from itertools import product

import numpy as np
import pytest
import sacrebleu
from system_files import outputs, reference_texts

from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import ratio_of_sums
from seq2seq_bottleneck.scoring.randomisation import randomisation_p

REFERENCES = reference_texts([9, 12, 7, 15, 11, 8, 13], seed=2)
A, B = outputs(REFERENCES, 0.3, 1), outputs(REFERENCES, 0.15, 7)
TRIALS = 20_000


def exact_p(a, b):
    """The share of all 2^n swaps whose difference is at least the systems' own."""
    found = []
    for swaps in product([False, True], repeat=len(a)):
        halves = [
            [y if swap != turned else x for x, y, swap in zip(a, b, swaps, strict=True)]
            for turned in (False, True)
        ]
        first, second = (sacrebleu.corpus_bleu(half, [REFERENCES]).score for half in halves)
        found.append(abs(first - second))
    return np.mean(np.array(found) >= found[0] - 1e-9)


def p_of(a, b, trials=TRIALS, seed=1, bucket=0):
    rows = [bleu_statistics(texts, REFERENCES) for texts in (a, b)]
    return randomisation_p(bleu, *rows, trials, seed=seed, bucket=bucket)


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [(A, B), (B, REFERENCES), (A, outputs(REFERENCES, 0.3, 3))])
def test_trials_approach_all_swaps(a, b):
    exact = exact_p(a, b)
    assert 2 / 2 ** len(a) <= exact < 1
    error = 4 * np.sqrt(exact * (1 - exact) / TRIALS)
    assert p_of(a, b) == pytest.approx(exact, abs=error + 1 / TRIALS)


@pytest.mark.parametrize("trials", [8, 9])
def test_equal_systems_differ_as_much_in_every_trial(trials):
    a = np.array([[1, 2], [3, 4], [5, 6]])
    assert randomisation_p(ratio_of_sums, a, a, trials, seed=1, bucket=0) == 1.0


def test_one_sentence_can_never_tell_two_systems_apart():
    rows = [bleu_statistics([text], REFERENCES[:1]) for text in (A[0], REFERENCES[0])]
    assert randomisation_p(bleu, *rows, 500, seed=1, bucket=0) == 1.0


def test_the_same_seed_repeats_and_another_does_not():
    assert p_of(A, B, 999) == p_of(A, B, 999)
    assert len({p_of(A, B, 999, seed=seed) for seed in range(4)}) > 1
    assert len({p_of(A, B, 999, bucket=bucket) for bucket in range(4)}) > 1


def test_any_score_of_sums_will_do():
    """A ratio of sums, whose swaps can be counted by hand: two of four differ as much."""
    a, b = np.array([[1, 1], [2, 1]]), np.array([[2, 1], [4, 1]])
    p = randomisation_p(ratio_of_sums, a, b, TRIALS, seed=1, bucket=0)
    assert p == pytest.approx(0.5, abs=0.02)


def test_a_large_test_set_is_swapped_in_blocks():
    rng = np.random.default_rng(0)
    a = np.stack([rng.integers(0, 5, 30_000), np.full(30_000, 4)], axis=1)
    b = a.copy()
    b[:, 0] = rng.permutation(b[:, 0])
    assert 0.001 < randomisation_p(ratio_of_sums, a, b, 300, seed=3, bucket=0) <= 1


def test_nothing_to_score_has_no_p():
    nothing = np.zeros((0, 10), dtype=np.int64)
    assert np.isnan(randomisation_p(bleu, nothing, nothing, 10, seed=1, bucket=0))
