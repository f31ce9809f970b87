"""Simulated test sets from a known population: how often intervals and tests are right."""

import numpy as np
import pytest
from lanes import sample_random
from system_files import outputs, reference_texts

from seq2seq_bottleneck.scoring.bleu import bleu, bleu_statistics
from seq2seq_bottleneck.scoring.bootstrap import (
    bootstrap_p,
    difference,
    draw,
    estimate,
    randomisation_p,
)

POPULATION = 4_000
SENTENCES = 200
"""Sentences of a simulated test set, as in a bucket of preset `lecture`."""
SETS = [
    pytest.param(200, marks=pytest.mark.slow),
    pytest.param(2_000, marks=pytest.mark.exhaustive(minutes=3)),
]
"""Simulated test sets."""
COMPARISONS = 10_000
RESAMPLES = 999
TRIALS = 399
"""Trials of a comparison; 5 % of these and the observed one is a whole number."""
LEVEL = 0.05


def population(shortest: int, longest: int, share: float, seed: int):
    """Counts by sentence of a system's outputs, with this share of wrong words."""
    lengths = np.random.default_rng(seed).integers(shortest, longest, size=POPULATION).tolist()
    references = reference_texts(lengths, seed=seed)
    return bleu_statistics(outputs(references, share, seed + 1), references)


@pytest.fixture(scope="module")
def short():
    """Two systems on one population of sentences, paired by row; the second is better."""
    return population(5, 11, 0.4, 1), population(5, 11, 0.3, 1)


def drawn(*systems, trial):
    """Both systems' estimates on one simulated test set."""
    rows = np.random.default_rng([trial, len(systems[0])]).integers(POPULATION, size=SENTENCES)
    weights = draw(SENTENCES, RESAMPLES, seed=trial, bucket=0)
    return [estimate(bleu, rows_of[None, rows], weights) for rows_of in systems]


def truth(rows):
    return float(bleu(rows.sum(axis=0)))


def assert_covered(make, right, sets):
    """95 % of the intervals contain the truth, give or take 2 points on 2,000 test sets."""
    first = sample_random("simulated").randrange(10**6)
    intervals = [make(trial) for trial in range(first, first + sets)]
    share = np.mean([interval.low <= right <= interval.high for interval in intervals])
    assert share == pytest.approx(0.95, abs=0.02 * np.sqrt(2_000 / sets))


@pytest.mark.parametrize("sets", SETS)
def test_the_paired_interval_of_a_gain_holds_the_truth(short, sets):
    def gain(trial):
        none, attention = drawn(*short, trial=trial)
        return difference(attention, none)

    assert_covered(gain, truth(short[1]) - truth(short[0]), sets)


@pytest.mark.exhaustive(minutes=3)
def test_false_alarms_are_as_many_as_the_level_says():
    """For two systems that do not differ, on 10,000 test sets: bootstrap, randomisation."""
    lengths = np.random.default_rng(9).integers(5, 31, size=POPULATION).tolist()
    references = reference_texts(lengths, seed=9)
    a, b = (bleu_statistics(outputs(references, 0.4, seed), references) for seed in (1, 2))
    found = []
    for trial in range(COMPARISONS):
        random = np.random.default_rng([trial, 7])
        rows, swapped = random.integers(POPULATION, size=SENTENCES), random.random(SENTENCES) < 0.5
        # A coin toss assigns each output to a system, so both have the same quality.
        first = np.where(swapped[:, None], b[rows], a[rows])
        second = np.where(swapped[:, None], a[rows], b[rows])
        weights = draw(SENTENCES, TRIALS, seed=trial, bucket=0)
        gain = difference(*(estimate(bleu, rows[None], weights) for rows in (first, second)))
        p = randomisation_p(bleu, first, second, TRIALS, seed=trial, bucket=0)
        found.append((bootstrap_p(gain), p))
    alarms = (np.array(found) <= LEVEL).mean(axis=0)
    error = 3 * np.sqrt(LEVEL * (1 - LEVEL) / COMPARISONS)
    assert alarms == pytest.approx([LEVEL, LEVEL], abs=error)
