"""Drawn splits: disjoint, stratified, repeatable, with exact bits."""

from dataclasses import dataclass
from math import log2
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.drawing import Copying, draw_pairs, draw_splits, draw_stratified
from seq2seq_bottleneck.corpus.lengths import length_probabilities
from seq2seq_bottleneck.corpus.pair import SentencePair, sources
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError

EDGES = (5, 11, 21, 31, 41)


@dataclass(frozen=True)
class Skewed:
    """A language of eight letters, the first ones common; no bits are told."""

    shortest: int = 2
    longest: int = 20

    def weight(self, words: int) -> float:
        return 0.9**words

    def draw(self, random: Random, words: int) -> SentencePair:
        letters = " ".join("abcdefgh"[int(random.random() ** 2 * 8)] for _ in range(words))
        return SentencePair(letters, letters.upper())


def test_bits_of_copy_sum_to_one() -> None:
    """All 14 sentences of up to 3 words out of 2: their probabilities make up the whole."""
    language = Copying(2)
    chances = length_probabilities("natural", 1, 3, EDGES, language.weight)
    pairs = draw_pairs(language, 14, chances, Random("x"), distinct=True)
    assert len(sources(pairs)) == 14
    assert sum(2**-pair.bits for pair in pairs) == pytest.approx(1, abs=1e-12)


def test_copy_pair() -> None:
    pair = Copying(1_000).draw(Random("x"), 4)
    assert pair.words == 4
    assert pair.target == pair.source
    assert pair.links == ((0, 0), (1, 1), (2, 2), (3, 3))
    assert pair.bits == 4 * log2(1_000)
    assert all(0 <= int(word[1:]) < 1_000 for word in pair.source.split())


def test_copy_words_are_uniform() -> None:
    words = Copying(4).draw(Random("x"), 40_000).source.split()
    assert [words.count(f"w{n}") / 10_000 for n in range(4)] == pytest.approx([1] * 4, abs=0.05)


def test_drawn_lengths_follow_their_probabilities() -> None:
    chances = length_probabilities("natural", 2, 6, EDGES, float)
    pairs = draw_pairs(Copying(50), 20_000, chances, Random("x"))
    for words, chance in chances.items():
        share = sum(pair.words == words for pair in pairs) / len(pairs)
        assert share == pytest.approx(chance, abs=4 * (chance / len(pairs)) ** 0.5)


def test_bounds_leave_drawn_sentences_out_of_the_test_set_and_change_nothing_else() -> None:
    whole = CorpusSettings(name="copy", train_pairs=50, valid_pairs=9, test_pairs=60, max_words=45)
    bounded = whole.model_copy(update={"test_min_words": 5, "test_max_words": 30})
    all_, some = (draw_splits(Copying(50), each, EDGES) for each in (whole, bounded))
    assert some.test == tuple(pair for pair in all_.test if 5 <= pair.words <= 30)
    assert (some.train, some.valid) == (all_.train, all_.valid)
    left = len(all_.test) - len(some.test)
    assert left >= 20
    assert some.notes == (f"{left} pairs outside 5-30 words left out of the test set",)


def test_bounds_of_the_test_set_in_the_wrong_order_are_refused() -> None:
    assert CorpusSettings(test_min_words=5, test_max_words=5).test_max_words == 5
    with pytest.raises(ValueError, match="test_min_words 6 is above test_max_words 5"):
        CorpusSettings(test_min_words=6, test_max_words=5)


def test_first_draws_never_change() -> None:
    """The same bytes on every machine and version: a golden answer."""
    settings_ = CorpusSettings(
        name="copy", train_pairs=2, valid_pairs=5, test_pairs=6, max_words=45
    )
    splits = draw_splits(Copying(1_000), settings_, EDGES)
    assert [pair.source for pair in splits.test[:2]] == [
        "w454 w301",
        "w527 w234 w708 w584 w520 w886 w52 w786",
    ]
    assert splits.test[1].source == "w527 w234 w708 w584 w520 w886 w52 w786"
    assert splits.train[0].source.split()[:6] == ["w215", "w817", "w337"]


@pytest.mark.parametrize("kind", ["buckets", "uniform", "natural"])
def test_splits_are_disjoint_and_test_is_distinct(kind) -> None:
    corpus = CorpusSettings(
        lengths=kind, max_words=20, train_pairs=2_000, valid_pairs=50, test_pairs=120
    )
    held_out = frozenset(["a a a a", "a a", "a a a"])
    splits = draw_splits(Skewed(), corpus, EDGES, held_out)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert not held_out & (train | valid | test)
    assert [len(split) for split in splits[:3]] == [2_000, 50, 120]
    assert (len(valid), len(test)) == (50, 120)
    assert len(train) < 2_000  # what the language repeats is repeated
    assert splits.test[0].bits is None


@settings(max_examples=20, deadline=None)
@given(st.integers(5, 60), st.integers(1, 4), st.integers(0, 3))
def test_buckets_get_equal_shares_of_the_test_set(longest: int, shortest: int, seed: int) -> None:
    corpus = CorpusSettings(
        seed=seed,
        min_words=shortest,
        max_words=longest,
        train_pairs=1,
        valid_pairs=1,
        test_pairs=60,
    )
    splits = draw_splits(Copying(100), corpus, EDGES)
    places = [sum(pair.words >= edge for edge in EDGES) for pair in splits.test]
    groups = {place: places.count(place) for place in places}
    assert places == sorted(places)
    assert len(groups) == 1 + sum(edge <= longest for edge in EDGES)
    assert max(groups.values()) - min(groups.values()) <= 1


def test_the_test_set_hangs_on_nothing_but_itself() -> None:
    ours = CorpusSettings(train_pairs=10, valid_pairs=10, test_pairs=60)
    theirs = CorpusSettings(train_pairs=20, valid_pairs=5, test_pairs=60)
    one, other = (draw_splits(Copying(100), corpus, EDGES) for corpus in (ours, theirs))
    assert one.test == other.test
    assert one.train == other.train[:10]
    assert draw_splits(Copying(100), ours.model_copy(update={"seed": 2}), EDGES).test != one.test


@pytest.mark.parametrize("kind", ["buckets", "uniform", "natural"])
def test_short_training_has_the_same_test_set(kind) -> None:
    all_ = CorpusSettings(lengths=kind, train_pairs=3_000, valid_pairs=60, test_pairs=60)
    short = all_.model_copy(update={"train_max_words": 10})
    one, other = (draw_splits(Copying(100), corpus, EDGES) for corpus in (all_, short))
    assert one.test == other.test
    assert (len(other.train), len(other.valid)) == (3_000, 60)
    chances = length_probabilities(kind, 2, 10, EDGES, Copying(100).weight)
    for words, chance in chances.items():
        share = sum(pair.words == words for pair in other.train) / 3_000
        assert share == pytest.approx(chance, abs=4 * (chance / 3_000) ** 0.5)
    for pair in (*other.train[:50], *other.valid):
        assert pair.bits == pytest.approx(pair.words * log2(100) - log2(chances[pair.words]))


def test_lengths_trained_on_lie_between_the_least_and_the_most() -> None:
    assert CorpusSettings(train_max_words=2).longest_trained == 2
    assert CorpusSettings(max_words=30).longest_trained == 30
    for words in (1, 61):
        with pytest.raises(ValueError, match=f"train_max_words {words} is not from min_words 2 to"):
            CorpusSettings(train_max_words=words)


def test_groups_do_not_disturb_each_other() -> None:
    chances = length_probabilities("uniform", 2, 20, EDGES, float)
    wide = draw_stratified(Copying(9), 38, chances, [range(2, 11), range(11, 21)], "s", frozenset())
    first = draw_stratified(Copying(9), 18, chances, [range(2, 11)], "s", frozenset())
    assert wide[:18] == first


def test_exhausted_language() -> None:
    corpus = CorpusSettings(name="copy", max_words=20, min_words=2, test_pairs=90)
    message = (
        r"^too few different sentences of 2-4 words: 28 found of 30; "
        r"lower corpus.test_pairs and corpus.valid_pairs or raise corpus.min_words$"
    )
    with pytest.raises(UserError, match=message):
        draw_splits(Copying(2), corpus, EDGES)


def test_lengths_beyond_the_language() -> None:
    with pytest.raises(UsageError, match=r"min_words=1 is below .* 'grammar'; give 2 or more$"):
        draw_splits(Skewed(), CorpusSettings(min_words=1, max_words=9), EDGES)
    with pytest.raises(UsageError, match=r"max_words=60 is above .* 'grammar'; give 20 or less$"):
        draw_splits(Skewed(), CorpusSettings(), EDGES)
