"""Drawn splits: stratified, repeatable, with exact bits; lengths by hand; joined test sentences."""

from math import log2
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus import drawing
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.drawing import (
    Copying,
    draw_pairs,
    draw_splits,
    join_test,
    length_probabilities,
)
from seq2seq_bottleneck.corpus.pair import SentencePair, sources
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError

EDGES = (5, 11, 21, 31, 41)


def test_copies_and_their_bits():
    """All 14 sentences of up to 3 words from a vocabulary of 2: their probabilities sum to 1."""
    _, chances = length_probabilities("uniform", 1, 3, EDGES)
    pairs = draw_pairs(Copying(2), 14, chances, Random("x"), distinct=True)
    assert len(sources(pairs)) == 14
    assert sum(2**-pair.bits for pair in pairs) == pytest.approx(1, abs=1e-12)
    pair = Copying(1_000).draw(Random("x"), 4)
    assert (pair.words, pair.target, pair.bits) == (4, pair.source, 4 * log2(1_000))
    assert pair.links == ((0, 0), (1, 1), (2, 2), (3, 3))


# Splits.


def test_first_draws_never_change():
    """The same bytes on every machine and version: a golden answer."""
    corpus = CorpusSettings(name="copy", train_pairs=2, valid_pairs=5, test_pairs=6, max_words=45)
    splits = draw_splits(Copying(1_000), corpus, EDGES)
    assert [pair.source for pair in splits.test[:2]] == [
        "w454 w301",
        "w527 w234 w708 w584 w520 w886 w52 w786",
    ]
    assert splits.train[0].source.split()[:6] == ["w215", "w817", "w337"]


@settings(max_examples=20, deadline=None)
@given(st.integers(5, 60))
def test_buckets_get_equal_shares_of_the_test_set(longest):
    corpus = CorpusSettings(train_pairs=1, valid_pairs=1, test_pairs=63, max_words=longest)
    splits = draw_splits(Copying(100), corpus, EDGES)
    places = [sum(pair.words >= edge for edge in EDGES) for pair in splits.test]
    counts = [places.count(place) for place in sorted({*places})]
    assert places == sorted(places)
    assert len(counts) == 1 + sum(edge <= longest for edge in EDGES)
    assert counts == sorted(counts, reverse=True)  # the first groups get what is left over
    assert max(counts) - min(counts) <= 1


def test_the_test_set_does_not_depend_on_other_splits():
    ours = CorpusSettings(train_pairs=10, valid_pairs=10, test_pairs=60)
    theirs = ours.model_copy(update={"train_pairs": 20, "valid_pairs": 5})
    one, other = (draw_splits(Copying(100), corpus, EDGES) for corpus in (ours, theirs))
    assert one.test == other.test
    assert one.train == other.train[:10]
    short = draw_splits(Copying(100), ours.model_copy(update={"train_max_words": 10}), EDGES)
    assert short.test == one.test
    assert max(pair.words for pair in (*short.train, *short.valid)) <= 10
    assert draw_splits(Copying(100), ours.model_copy(update={"seed": 2}), EDGES).test != one.test
    bounds = {"test_min_words": 5, "test_max_words": 30}
    some = draw_splits(Copying(100), ours.model_copy(update=bounds), EDGES)
    assert some.test == tuple(pair for pair in one.test if 5 <= pair.words <= 30)
    assert (some.train, some.valid) == (one.train, one.valid)


# Lengths.


def test_groups_and_probabilities_by_hand():
    assert length_probabilities("buckets", 7, 12, EDGES)[0] == [range(7, 11), range(11, 13)]
    assert length_probabilities("buckets", 1, 3, (1, 2))[0] == [range(1, 2), range(2, 4)]
    groups, chances = length_probabilities("buckets", 2, 60, EDGES)
    assert groups[0] == range(2, 5)
    expected = [1 / 6 / 3, 1 / 6 / 6, 1 / 6 / 20]
    assert [chances[words] for words in (2, 5, 60)] == pytest.approx(expected)
    assert length_probabilities("uniform", 3, 6, EDGES)[1] == dict.fromkeys(range(3, 7), 0.25)


# Joined sentences.

COPY = CorpusSettings(name="copy", copy_words=50, train_pairs=200, valid_pairs=20, test_pairs=60)
GRAMMAR = COPY.model_copy(update={"name": "grammar", "lexicon": "small"})


def of_words(*lengths: int) -> tuple[SentencePair, ...]:
    """Sentences of these lengths; each contains its place."""
    texts = [" ".join([f"s{place}"] * words) for place, words in enumerate(lengths)]
    return tuple(SentencePair(text, text) for text in texts)


def parse(source: str) -> SentencePair | None:
    """A language that has all but the first sentence."""
    return None if "s0" in source else SentencePair(source, source, ((0, 0),), 1.0)


def test_neighbours_share_a_bucket_and_follow_each_other():
    test = of_words(3, 6, 15, 10, 3, 9, 11, 7, 8, 12)
    for count, rows in ((2, ((1, 3), (5, 7), (2, 6))), (4, ((1, 3, 5, 7),))):
        joined = join_test(test, CorpusSettings(joined=count), EDGES, parse, [])
        texts = [", and ".join(test[place].source for place in row) for row in rows]
        assert [pair.source for pair in joined] == texts


def test_what_is_too_long_or_will_not_chain_is_left_out():
    test, notes = of_words(6, 7, 8, 9, 5, 8, 16, 15, 15, 3), []
    joined = join_test(test, CorpusSettings(joined=2, max_words=17), EDGES, parse, notes)
    text = f"{test[4].source}, and {test[5].source}"  # 8 and 9 words leave no room for "and"
    assert joined == (SentencePair(text, text, ((0, 0),)),)
    assert notes == ["1 test sentence made of 2 each (corpus.joined); 8 not joined"]
    with pytest.raises(UserError, match=r"^corpus\.joined=40 makes no test sentence"):
        join_test(test, CorpusSettings(joined=40), EDGES, parse, notes)


@pytest.mark.usefixtures("unchecked")
def test_joined_sentences_are_not_trained_on_and_the_rest_stays():
    ordinary, splits = (
        load_corpus(GRAMMAR.model_copy(update={"joined": count}), EDGES) for count in (1, 2)
    )
    assert (splits.train, splits.valid) == (ordinary.train, ordinary.valid)
    whole = ", and ".join(pair.source for pair in ordinary.test)
    assert all(pair.source in whole and pair.bits is None for pair in splits.test)


# The cache.


@pytest.mark.parametrize("settings", [COPY, GRAMMAR], ids=["copy", "grammar"])
@pytest.mark.usefixtures("unchecked")
def test_a_corpus_that_is_read_is_the_one_that_was_drawn(settings, tmp_path, monkeypatch):
    """Bit for bit; a damaged file is drawn and written again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    settings = settings.model_copy(update={"train_pairs": 5_000})  # fewer are not kept
    drawn = load_corpus(settings, EDGES)
    (path,) = tmp_path.rglob("*.json.gz")
    with monkeypatch.context() as patch:
        patch.setattr(drawing, "draw_splits", None)  # which cannot be called
        assert load_corpus(settings, EDGES) == drawn
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert load_corpus(settings, EDGES) == drawn
    assert path.read_bytes() == whole
    other = load_corpus(settings.model_copy(update={"seed": 2}), EDGES)
    assert other.fingerprint != drawn.fingerprint
    assert len([*tmp_path.rglob("*.json.gz")]) == 2
