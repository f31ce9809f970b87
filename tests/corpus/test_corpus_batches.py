"""Shape classes, the training stream and evaluation batches."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.batches import (
    EncodedPairs,
    TrainingBatches,
    encode_pairs,
    evaluation_batches,
    restore,
    training_batches,
)
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import EOS, build_vocabulary


def numbered(lengths: list[tuple[int, int]]) -> EncodedPairs:
    """Sentences of these lengths, EOS included; the first ids of each identify it."""
    ids = range(4, 4 + len(lengths))
    sides = zip(*lengths, strict=True)
    return EncodedPairs(
        *([[n] * (size - 1) + [EOS] for n, size in zip(ids, side, strict=True)] for side in sides)
    )


def spread(count: int, longest: int = 60, seed: int = 0) -> EncodedPairs:
    """Lengths as in a grammar: uniform, with slightly longer targets."""
    random = np.random.default_rng(seed)
    words = random.integers(2, longest + 1, count)
    target = np.maximum(2, np.round(words * 1.08 + random.normal(0, 0.35, count) * words**0.5))
    return numbered(list(zip((words + 1).tolist(), (target + 1).astype(int).tolist(), strict=True)))


def epoch_of(stream: TrainingBatches, number: int = 0):
    """The batches of an epoch."""
    first = number * stream.updates_per_epoch
    return [stream.batch(update) for update in range(first, first + stream.updates_per_epoch)]


def test_encoding():
    vocabulary = build_vocabulary([["a", "b", "b", "￭."]], 10)  # b is 4, a 5, ￭. 6
    pairs = [SentencePair("a b.", "b c"), SentencePair("b", "a")]
    encoded = encode_pairs(pairs, vocabulary, vocabulary)
    assert encoded == ([[5, 4, 6, EOS], [4, EOS]], [[4, 3, EOS], [5, EOS]])
    # Reversal leaves the end last and the target alone.
    backwards = encode_pairs([SentencePair("a b.", "a b")], vocabulary, vocabulary, True)
    assert backwards == ([[6, 4, 5, EOS]], [[5, 4, EOS]])


def test_classes_pad_least():
    """The dynamic programme, compared with every way to cut nine sentences into three."""
    lengths = [2, 3, 3, 9, 10, 12, 30, 33, 40]
    # Each four times: a class has four batches or more.
    stream = training_batches(numbered([(size, size) for size in lengths * 4]), 1, 1, groups=3)

    def places(parts):
        return sum(len(part) * 2 * (max(part) + max(part) % 2) for part in parts)

    ways = combinations(range(1, 9), 2)
    least = min(places((lengths[:i], lengths[i:j], lengths[j:])) for i, j in ways)
    assert sum(item.source.size + item.target.size for item in stream.classes) == 4 * least
    assert [item.source.shape for item in stream.classes] == [(12, 4), (12, 12), (12, 40)]
    stream = training_batches(numbered([(size, size) for size in lengths]), 1, 1, groups=2)
    assert [item.source.shape[1] for item in stream.classes] == [10, 40]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 6), st.integers(0, 5))
def test_every_epoch_visits_every_pair(count: int, size: int, groups: int, seed: int):
    pairs = spread(count, seed=seed)
    stream = training_batches(pairs, size, seed, groups)
    for number in (0, 1):
        batches = epoch_of(stream, number)
        assert all(batch.source.shape[0] == size for batch in batches)
        seen = Counter(int(row[0]) for batch in batches for row in batch.source)
        assert set(seen) == set(range(4, 4 + count))
        if count >= 4 * size:
            assert max(seen.values()) <= 2
            assert seen.total() <= 1.25 * count + size
    tokens = 20 * size  # batches of equal tokens
    stream = training_batches(pairs, 1, 1, groups, batch_tokens=tokens)
    seen = {int(row[0]) for batch in epoch_of(stream) for row in batch.source}
    assert seen == set(range(4, 4 + count))
    for item, rows in zip(stream.classes, stream.batch_sizes, strict=True):
        assert rows == max(1, round(tokens / item.target_lengths.mean()))


def test_equal_seeds_equal_streams_from_any_update():
    pairs = spread(300)
    one, other = (training_batches(pairs, 8, seed=3) for _ in range(2))
    straight = [one.batch(update) for update in range(150)]
    for update in (149, 3, 80):
        assert all(map(np.array_equal, straight[update], other.batch(update)))


def test_seeds_share_their_shapes_but_not_their_sentences():
    pairs = spread(2_000)
    ours, theirs = (epoch_of(training_batches(pairs, 8, seed=seed)) for seed in (1, 2))
    for one, other in zip(ours, theirs, strict=True):
        assert one.source.shape == other.source.shape
        assert not np.array_equal(one.source, other.source)


@pytest.mark.slow
@given(st.integers(1, 200), st.integers(1, 30))
def test_results_come_back_in_order(count: int, size: int):
    pairs = spread(count)
    batches = evaluation_batches(pairs, size)
    assert sum(len(item.rows) for item in batches) == count
    assert all(item.batch.source.shape[0] == size for item in batches)
    results = [item.batch.source[:, 0] * 10 for item in batches]
    assert restore(results, batches) == [ids[0] * 10 for ids in pairs.source]


def test_the_last_batch_repeats_its_last_row():
    item = evaluation_batches(numbered([(3, 3), (3, 4), (2, 2)]), 5)[0]
    assert item.rows.tolist() == [2, 0, 1]
    assert item.batch.source[:, 0].tolist() == [6, 4, 5, 5, 5]
    assert item.batch.target_lengths.tolist() == [2, 3, 4, 4, 4]
