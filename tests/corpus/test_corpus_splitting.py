"""Splits of the user's text: by source sentence, even over buckets, counted.

Joined test sentences: what is joined with what, and that nothing else changes.
"""

from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.drawing import Copying, draw_splits
from seq2seq_bottleneck.corpus.pair import SentencePair, Splits, sources
from seq2seq_bottleneck.corpus.splitting import (
    chained,
    join_test,
    sample,
    side_by_side,
    split_files,
    split_off,
)
from seq2seq_bottleneck.settings.concerns import CorpusSettings, bucket_of
from seq2seq_bottleneck.settings.errors import UserError

EDGES = (5, 11, 21)
LECTURE = (5, 11, 21, 31, 41)

Rows = list[tuple[str, str]]


def sentences(count: int, words: int) -> Rows:
    """Different sentences of one length, each with its translation."""
    return [(f"s{n} " + "x " * (words - 2) + f"l{words}", f"t{n}") for n in range(count)]


def pairs_of(rows: Rows) -> tuple[SentencePair, ...]:
    return tuple(SentencePair(*row) for row in rows)


def rows_of(pairs: tuple[SentencePair, ...]) -> Rows:
    return [(pair.source, pair.target) for pair in pairs]


def split(folder: Path, rows: Rows, **settings) -> Splits:
    """The splits of text whose files are made of the rows given."""
    files = {"source": rows}
    files |= {key: settings.pop(key) for key in ("valid_source", "test_source") if key in settings}
    for key, lines in files.items():
        path = folder / f"{key}.tsv"
        path.write_text("".join(f"{ours}\t{theirs}\n" for ours, theirs in lines), encoding="utf-8")
        settings[key] = str(path)
    return split_files(CorpusSettings(name="files", **settings), EDGES)


def test_even_over_buckets_and_by_seed_and_sentences_alone():
    pairs = pairs_of(sentences(900, 3) + sentences(500, 7) + sentences(200, 15) + sentences(40, 30))
    test = split_off(pairs, 60, "s", EDGES)
    counts = [sum(bucket_of(pair.words, EDGES) == place for pair in test) for place in range(-1, 3)]
    assert counts == [0, 36, 20, 4]  # the rarer buckets give a tenth of what they have
    assert len(split_off(pairs, 9_999, "s", EDGES)) == 50 + 20 + 4
    assert sources(test) == sources(split_off(pairs[::-1], 60, "s", EDGES))
    assert sources(test) != sources(split_off(pairs, 60, "t", EDGES))
    places = [pairs.index(pair) for pair in test]
    assert places == sorted(places)
    twice = pairs_of(sentences(45, 7)) * 2
    assert [len(split_off(twice, count, "s")) for count in (3, 99)] == [3, 5]
    assert len(split_off(twice, 99, "s", part=1)) == 45


def test_sample_is_nested_and_in_order():
    pairs = pairs_of(sentences(100, 7))
    few, many = sample(pairs, 10, "s"), sample(pairs, 50, "s")
    assert set(few) < set(many)
    assert len(many) == 50
    assert [pairs.index(pair) for pair in many] == sorted(pairs.index(pair) for pair in many)
    assert sample(pairs, 1_000, "s") == pairs


def test_split_off_counts_and_notes(tmp_path):
    rows = sentences(100, 7) + sentences(100, 15) + sentences(50, 70) + [("", "t"), ("s", "")]
    rows += [(source, f"{target} again") for source, target in sentences(100, 7)]
    splits = split(tmp_path, rows, test_pairs=12, valid_pairs=5, train_pairs=200)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert (len(splits.valid), len(splits.test)) == (5, len(test)) == (5, 12)
    # A short sentence has two pairs.
    tested, validated = (
        sum(1 + (pair.words == 7) for pair in pairs) for pairs in (splits.test, splits.valid)
    )
    assert splits.notes == (
        "2 lines with an empty side dropped",
        f"{tested} pairs taken out of training: their source is in the test set",
        f"{validated} pairs taken out of training: their source is in the validation set",
        "46 pairs outside 2-60 words taken out of training",
    )
    assert len(splits.train) == 200


def test_given_test_set_is_used_whole(tmp_path):
    rows = sentences(100, 7)
    others = [(rows[0][0], "other"), ("hi", "salut"), ("x " * 80, "y"), ("", "")]
    given = [*rows[:10], rows[0], *others]
    splits = split(tmp_path, rows, test_source=given, test_pairs=2, valid_pairs=50)
    targets = [pair.target for pair in splits.test]
    assert targets == [*(f"t{n}" for n in range(10)), "other", "salut", "y"]
    assert len(splits.valid) == 9
    assert splits.notes == (
        "1 test line with an empty side dropped",
        "1 repeated test pair dropped",
        "10 pairs taken out of training: their source is in the test set",
        "9 pairs taken out of training: their source is in the validation set",
    )


def test_short_training_filters_training_and_validation_alone(tmp_path):
    rows = sentences(100, 7) + sentences(100, 15)
    splits = split(tmp_path, rows, test_pairs=10, train_max_words=8)
    assert splits.test == split(tmp_path, rows, test_pairs=10).test
    assert {pair.words for pair in splits.test} == {7, 15}
    assert {pair.words for pair in (*splits.train, *splits.valid)} == {7}
    assert "95 pairs outside 2-8 words taken out of training" in splits.notes


def test_bounds_of_a_split_off_test_set_leave_training_its_lengths(tmp_path):
    lengths = 2, 3, 7, 15, 30, 50
    bounds = {"test_min_words": 5, "test_max_words": 29}
    rows = [row for words in lengths for row in sentences(60, words)]
    splits = split(tmp_path, rows, test_pairs=15, min_words=1, max_words=50, **bounds)
    assert {pair.words for pair in splits.test} == {7, 15}
    assert {pair.words for pair in (*splits.train, *splits.valid)} == set(lengths)
    assert "240 pairs outside 5-29 words left out of the test set" in splits.notes


@pytest.mark.parametrize(
    ("bounds", "kept", "note"),
    [
        ({"test_min_words": 7}, {7, 15, 30}, "2 pairs under 7 words left out of the test set"),
        ({"test_max_words": 15}, {3, 7, 15}, "2 pairs outside 1-15 words left out"),
        ({"test_min_words": 7, "test_max_words": 7}, {7}, "6 pairs outside 7 words left out"),
    ],
)
def test_bounds_of_a_given_test_set_count_what_they_leave_out(tmp_path, bounds, kept, note):
    given = [(f"g {row[0]}", row[1]) for words in (2, 6, 14, 29) for row in sentences(2, words)]
    rows = sentences(60, 7) + sentences(60, 15)
    splits = split(tmp_path, rows, test_source=given, **bounds)
    assert {pair.words for pair in splits.test} == kept
    assert len(splits.test) == 2 * len(kept)
    assert note in " ".join(splits.notes)


def test_a_given_validation_set_is_used_and_shares_nothing(tmp_path):
    rows = sentences(100, 7)
    given = rows[5:20] + sentences(3, 9) + sentences(2, 80) + [("", "t"), rows[15]]
    splits = split(tmp_path, rows, valid_source=given, test_source=rows[:10], valid_pairs=50)
    assert rows_of(splits.valid) == rows[10:20] + sentences(3, 9)
    assert rows_of(splits.train) == rows[20:]
    assert splits.notes == (
        "10 pairs taken out of training: their source is in the test set",
        "10 pairs taken out of training: their source is in the validation set",
        "1 validation line with an empty side dropped",
        "8 validation pairs dropped: tested on, repeated or too long or short",
    )


def test_joined_sentences_and_their_parts_stay_out_of_training(tmp_path):
    given = sentences(4, 5)
    whole = [(f"{one[0]} {other[0]}", "t") for one, other in (given[:2], given[2:])]
    rows = sentences(60, 5) + sentences(60, 12) + whole
    splits = split(tmp_path, rows, test_source=given, joined=2)
    assert rows_of(splits.test) == [(whole[0][0], "t0 t1"), (whole[1][0], "t2 t3")]
    kept = sources((*splits.train, *splits.valid))
    assert kept == sources(pairs_of(rows)) - sources(pairs_of(given + whole))


def test_nothing_left_to_train_on(tmp_path):
    message = (
        r"^corpus\.source leaves no pairs of 2-60 words to train on; give more text, other len"
    )
    with pytest.raises(UserError, match=message):
        split(tmp_path, sentences(10, 7), test_source=sentences(10, 7))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), kinds=st.integers(2, 60), count=st.integers(40, 200))
def test_no_source_is_in_two_splits(tmp_path_factory, seed, kinds, count):
    random = Random(seed)
    lines = [f"s{random.randrange(kinds)}" + " x" * random.randrange(30) for _ in range(count)]
    rows = [(line, str(n)) for n, line in enumerate(lines)]
    splits = split(tmp_path_factory.mktemp("d"), rows, seed=seed, min_words=1)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert min(len(train), len(valid), len(test)) > 0
    assert train | valid | test == set(lines)


# Joined sentences.

COPY = CorpusSettings(name="copy", train_pairs=200, valid_pairs=30, test_pairs=240)


def of_words(*lengths: int) -> tuple[SentencePair, ...]:
    """Sentences of these lengths, each named by its place."""
    texts = [" ".join([f"s{place}"] * words) for place, words in enumerate(lengths)]
    return tuple(SentencePair(text, text) for text in texts)


def test_side_by_side_by_hand():
    pairs = (
        SentencePair("the cat.", "le chat.", ((0, 0), (1, 1), (2, 2)), 3.0),
        SentencePair("a man", "l'homme", ((0, 0), (1, 1)), 4.0),
        SentencePair("hi", "salut"),
    )
    links = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4))
    assert side_by_side(pairs) == SentencePair("the cat. a man hi", "le chat. l'homme salut", links)


def test_neighbours_share_a_bucket_and_follow_each_other():
    test = of_words(6, 15, 10, 3, 9, 11, 7, 8, 12)
    for count, rows in ((2, ((0, 2), (4, 6), (1, 5))), (4, ((0, 2, 4, 6),))):
        joined, _ = join_test(test, CorpusSettings(joined=count), LECTURE, side_by_side)
        assert joined == tuple(side_by_side(tuple(test[place] for place in row)) for row in rows)


def test_what_is_too_long_or_will_not_chain_is_left_out():
    test = of_words(6, 7, 8, 9, 5, 8, 16, 15, 15, 3)

    def parse(source: str) -> SentencePair | None:
        return None if "s0" in source else SentencePair(source, source, ((0, 0),), 1.0)

    join = partial(chained, parse, False)
    joined, notes = join_test(test, CorpusSettings(joined=2, max_words=17), LECTURE, join)
    text = f"{test[4].source}, and {test[5].source}"  # 8 and 9 words have no room for "and"
    assert joined == (SentencePair(text, text, ((0, 0),)),)
    assert notes == ("1 test sentence made of 2 each (corpus.joined); 8 not joined",)


def test_copies_joined_are_copies():
    ordinary = draw_splits(Copying(100), COPY, LECTURE)
    splits = draw_splits(Copying(100), COPY.model_copy(update={"joined": 2}), LECTURE)
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
    left = len(ordinary.test) - 2 * made
    note = f"{made} test sentences made of 2 each (corpus.joined); {left} not joined"
    assert splits.notes[0] == note


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
        draw_splits(Copying(100), COPY.model_copy(update={"joined": 40}), LECTURE)
