"""Reading back: planted probes that know so many words, and one that knows none."""

import numpy as np
import pytest

from seq2seq_bottleneck.probes.reading import Readings, reading_curve
from seq2seq_bottleneck.scoring.bootstrap import draw

SENTENCES, LENGTH = 200, 8


def _readings(chance_at, *, seed, frequent=0.2):
    """Every word so far after every step, right with a probability by distance."""
    rng = np.random.default_rng(seed)
    triples = [
        (sentence, step, distance)
        for sentence in range(SENTENCES)
        for step in range(1, LENGTH + 1)
        for distance in range(step)
    ]
    sentence, step, distance = np.array(triples).T
    right = rng.random(len(triples)) < chance_at(distance)
    return Readings(sentence, step, distance, right, rng.random(len(triples)) < frequent)


def _weights():
    return draw(SENTENCES, 300, seed=1, bucket=0)


def test_a_probe_that_knows_four_words_reads_them_beyond_the_baseline():
    known = _readings(lambda d: d < 4, seed=1, frequent=0.0)
    curve = reading_curve([known], _weights(), farthest=LENGTH - 1)
    assert [one.value for one in curve.accuracy] == [1.0] * 4 + [0.0] * 4
    assert [one.value for one in curve.baseline] == [0.0] * 8
    assert curve.words_read.value == 4.0
    assert curve.answers.tolist() == [SENTENCES * n for n in range(8, 0, -1)]


def test_accuracy_and_baseline_by_distance_are_plain_means():
    seeds = [_readings(lambda d: 0.9 ** (d + 1), seed=seed) for seed in (2, 3)]
    curve = reading_curve(seeds, _weights(), farthest=5)
    assert len(curve.accuracy) == 6
    for distance in range(6):
        picked = [one.right[one.distance == distance].mean() for one in seeds]
        base = [one.baseline_right[one.distance == distance].mean() for one in seeds]
        assert curve.accuracy[distance].value == pytest.approx(np.mean(picked))
        assert curve.beyond[distance].value == pytest.approx(np.mean(picked) - np.mean(base))
        interval = curve.accuracy[distance].interval
        assert interval.low < 0.9 ** (distance + 1) < interval.high
    total = sum(one.value for one in curve.beyond)
    assert curve.words_read.value == pytest.approx(total)
    assert curve.words_read.draws == pytest.approx(sum(one.draws for one in curve.beyond))


def test_a_probe_as_good_as_the_baseline_reads_no_word():
    blind = _readings(lambda d: 0.2 + 0 * d, seed=4)
    read = reading_curve([blind], _weights(), farthest=LENGTH - 1).words_read
    assert read.interval.low < 0 < read.interval.high
    floored = sum(
        max(one.value, 0.0) for one in reading_curve([blind], _weights(), farthest=7).beyond
    )
    assert floored > read.value


def test_steps_can_be_looked_at_alone():
    known = _readings(lambda d: d < 4, seed=5, frequent=0.0)
    late = known.at_steps(6, 7)
    assert np.unique(late.step).tolist() == [6, 7]
    assert np.unique(late.distance).tolist() == list(range(7))
    curve = reading_curve([known.at_steps(2, 2)], _weights(), farthest=1)
    assert curve.words_read.value == 2.0


def test_refuses_a_distance_that_nothing_was_asked_at():
    with pytest.raises(ValueError, match="distance 8"):
        reading_curve([_readings(lambda d: d < 4, seed=6)], _weights(), farthest=9)
