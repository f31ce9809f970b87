"""Joined test sentences: what is joined with what, and that nothing else changes."""

from functools import partial

import pytest

from seq2seq_bottleneck.corpus.drawing import Copying, draw_splits
from seq2seq_bottleneck.corpus.joining import chained, join_test, side_by_side
from seq2seq_bottleneck.corpus.pair import SentencePair, sources
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError

EDGES = (5, 11, 21, 31, 41)
COPY = CorpusSettings(name="copy", train_pairs=200, valid_pairs=30, test_pairs=240)


def of_words(*lengths: int) -> tuple[SentencePair, ...]:
    """Sentences of these lengths, each named by its place."""
    texts = [" ".join([f"s{place}"] * words) for place, words in enumerate(lengths)]
    return tuple(SentencePair(text, text) for text in texts)


def test_side_by_side_by_hand():
    pairs = [
        SentencePair("the cat.", "le chat.", ((0, 0), (1, 1), (2, 2)), 3.0),
        SentencePair("a man", "l'homme", ((0, 0), (1, 1)), 4.0),
        SentencePair("hi", "salut"),
    ]
    links = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4))
    assert side_by_side(pairs) == SentencePair("the cat. a man hi", "le chat. l'homme salut", links)


def test_neighbours_share_a_bucket_and_follow_each_other():
    test = of_words(6, 15, 10, 3, 9, 11, 7, 8, 12)
    for count, rows in ((2, ((0, 2), (4, 6), (1, 5))), (4, ((0, 2, 4, 6),))):
        joined, _ = join_test(test, CorpusSettings(joined=count), EDGES, side_by_side)
        assert joined == tuple(side_by_side([test[place] for place in row]) for row in rows)


def test_what_is_too_long_or_will_not_chain_is_left_out():
    test = of_words(6, 7, 8, 9, 5, 8, 16, 15, 15, 3)

    def parse(source: str) -> SentencePair | None:
        return None if "s0" in source else SentencePair(source, source, ((0, 0),), 1.0)

    join = partial(chained, parse, False)
    joined, notes = join_test(test, CorpusSettings(joined=2, max_words=17), EDGES, join)
    text = f"{test[4].source}, and {test[5].source}"  # 8 and 9 words have no room for "and"
    assert joined == (SentencePair(text, text, ((0, 0),)),)
    assert notes == (
        "1 test sentence made of 2 each (corpus.joined)",
        "8 test sentences not joined: too long together, in no bucket or left over",
    )


def test_copies_joined_are_copies():
    ordinary = draw_splits(Copying(100), COPY, EDGES)
    splits = draw_splits(Copying(100), COPY.model_copy(update={"joined": 2}), EDGES)
    assert (splits.train, splits.valid) == (ordinary.train, ordinary.valid)
    whole = " ".join(pair.source for pair in ordinary.test)
    for pair in splits.test:
        assert pair.source == pair.target
        assert pair.source in whole
        assert pair.links == tuple((place, place) for place in range(pair.words))
        assert (pair.bits, pair.words <= 60) == (None, True)
    kept = sources((*splits.train, *splits.valid))
    assert not kept & (sources(splits.test) | sources(ordinary.test))
    made = len(splits.test)
    assert 58 <= made <= 60  # of 40 in each of three buckets; longer ones pass 60 words
    assert splits.notes[0] == f"{made} test sentences made of 2 each (corpus.joined)"


def test_a_joined_sentence_is_not_trained_on():
    """Copies over two words: every short sentence is drawn, joined ones among them."""
    corpus = CorpusSettings(
        name="copy", joined=2, min_words=2, max_words=8, train_pairs=3_000, valid_pairs=4,
        test_pairs=6, lengths="uniform",
    )  # fmt: skip
    splits = draw_splits(Copying(2), corpus, (2, 4, 8))
    assert sources(splits.test)
    assert not sources(splits.test) & sources((*splits.train, *splits.valid))
    with pytest.raises(UserError, match=r"^corpus\.joined=40 makes no test sentence of up to 60"):
        draw_splits(Copying(100), COPY.model_copy(update={"joined": 40}), EDGES)
