"""Splits of the user's text: by source sentence, even over buckets, counted."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.pair import SentencePair, sources
from seq2seq_bottleneck.corpus.splitting import (
    NEARER,
    sample,
    split_files,
    split_off_even,
    split_off_random,
)
from seq2seq_bottleneck.settings.buckets import bucket_of
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError

EDGES = (5, 11, 21)

Rows = list[tuple[str, str]]


def sentences(count: int, words: int) -> Rows:
    """Different sentences of one length, each with its translation."""
    return [(f"s{n} " + "x " * (words - 2) + f"l{words}", f"t{n}") for n in range(count)]


def write(path: Path, rows: Rows) -> str:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    return str(path)


def pairs_of(rows: Rows) -> list[SentencePair]:
    return [SentencePair(*row) for row in rows]


def test_even_over_buckets() -> None:
    pairs = pairs_of(sentences(900, 3) + sentences(500, 7) + sentences(200, 15) + sentences(40, 30))
    test = split_off_even(pairs, 60, "s", EDGES)
    counts = [sum(bucket_of(pair.words, EDGES) == place for pair in test) for place in range(-1, 3)]
    assert counts == [0, 36, 20, 4]  # the rarer buckets give a tenth of what they hold
    assert len(split_off_even(pairs, 9_999, "s", EDGES)) == 50 + 20 + 4


def test_choice_hangs_on_seed_and_sentences_alone() -> None:
    pairs = pairs_of(sentences(300, 7) + sentences(300, 15))
    chosen = split_off_even(pairs, 30, "s", EDGES)
    assert sources(chosen) == sources(split_off_even(pairs[::-1], 30, "s", EDGES))
    assert sources(chosen) != sources(split_off_even(pairs, 30, "t", EDGES))
    places = [pairs.index(pair) for pair in chosen]
    assert places == sorted(places)


def test_sample_is_nested_and_in_order() -> None:
    pairs = pairs_of(sentences(100, 7))
    few, many = sample(pairs, 10, "s"), sample(pairs, 50, "s")
    assert set(few) < set(many)
    assert len(many) == 50
    assert [pairs.index(pair) for pair in many] == sorted(pairs.index(pair) for pair in many)
    assert sample(pairs, 1_000, "s") == pairs


def test_random_part_leaves_text() -> None:
    pairs = pairs_of(sentences(45, 7)) * 2
    assert len(split_off_random(pairs, 3, "s")) == 3
    assert len(split_off_random(pairs, 99, "s")) == 5


def test_split_off_counts_and_notes(tmp_path: Path) -> None:
    rows = sentences(100, 7) + sentences(100, 15) + sentences(50, 70) + [("", "t"), ("s", "")]
    rows += [(source, f"{target} again") for source, target in sentences(100, 7)]
    corpus = CorpusSettings(
        name="files",
        source=write(tmp_path / "a.tsv", rows),
        test_pairs=12,
        valid_pairs=5,
        train_pairs=200,
    )
    splits = split_files(corpus, EDGES)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert (len(splits.valid), len(splits.test)) == (5, len(test)) == (5, 12)
    # 4 of 12 test sentences are long; a short one has two pairs.
    tested, validated = (
        sum(1 + (pair.words == 7) for pair in held) for held in (splits.test, splits.valid)
    )
    left = 300 - (tested - 4) - validated
    assert splits.notes == (
        "2 lines with an empty side dropped",
        f"{tested} pairs taken out of training: their source is in the test set",
        f"{validated} pairs taken out of training: their source is in the validation set",
        "46 pairs outside 2-60 words taken out of training",
        f"200 of {left} training pairs kept (train_pairs)",
    )
    assert len(splits.train) == 200


def test_given_test_set_is_used_whole(tmp_path: Path) -> None:
    rows = sentences(100, 7)
    given = [
        *rows[:10],
        rows[0],
        (rows[0][0], "other"),
        ("hi", "salut"),
        ("x " * 80, "y"),
        ("", ""),
    ]
    corpus = CorpusSettings(
        name="files",
        source=write(tmp_path / "a.tsv", rows),
        test_source=write(tmp_path / "b.tsv", given),
        test_pairs=2,
        valid_pairs=50,
    )
    splits = split_files(corpus, EDGES)
    assert [pair.target for pair in splits.test] == [
        *(f"t{n}" for n in range(10)), "other", "salut", "y",
    ]  # fmt: skip
    assert len(splits.valid) == 9
    assert splits.notes == (
        "1 test line with an empty side dropped",
        "1 repeated test pair dropped",
        "10 pairs taken out of training: their source is in the test set",
        "9 pairs taken out of training: their source is in the validation set",
        NEARER,
        "9 validation pairs of 50: at most 1 in 10 is split off",
    )


def test_short_training_filters_training_and_validation_alone(tmp_path: Path) -> None:
    rows = sentences(100, 7) + sentences(100, 15)
    path = write(tmp_path / "a.tsv", rows)
    corpus = CorpusSettings(name="files", source=path, test_pairs=10, train_max_words=8)
    splits = split_files(corpus, EDGES)
    assert splits.test == split_files(corpus.model_copy(update={"train_max_words": None}), EDGES)[2]
    assert {pair.words for pair in splits.test} == {7, 15}
    assert {pair.words for pair in (*splits.train, *splits.valid)} == {7}
    assert "95 pairs outside 2-8 words taken out of training" in splits.notes


def spread(*lengths: int) -> Rows:
    return [row for words in lengths for row in sentences(60, words)]


def test_bounds_of_a_split_off_test_set_leave_training_its_lengths(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", spread(2, 3, 7, 15, 30, 50))
    corpus = CorpusSettings(name="files", source=path, test_pairs=15, min_words=1, max_words=50)
    bounded = corpus.model_copy(update={"test_min_words": 5, "test_max_words": 29})
    whole, splits = split_files(corpus, EDGES), split_files(bounded, EDGES)
    assert {pair.words for pair in whole.test} == {7, 15, 30, 50}
    assert {pair.words for pair in splits.test} == {7, 15}
    assert {pair.words for pair in (*splits.train, *splits.valid)} == {2, 3, 7, 15, 30, 50}
    assert "240 pairs outside 5-29 words left out of the test set" in splits.notes
    assert not [note for note in whole.notes if "left out" in note]


@pytest.mark.parametrize(
    ("bounds", "kept", "note"),
    [
        ({"test_min_words": 7}, {7, 15, 30}, "2 pairs under 7 words left out of the test set"),
        ({"test_max_words": 15}, {3, 7, 15}, "2 pairs outside 1-15 words left out"),
        ({"test_min_words": 7, "test_max_words": 7}, {7}, "6 pairs outside 7 words left out"),
    ],
)
def test_bounds_of_a_given_test_set_count_what_they_leave_out(
    tmp_path: Path, bounds: dict[str, int], kept: set[int], note: str
) -> None:
    given = [(f"g {source}", target) for source, target in spread(2, 6, 14, 29)]
    given = [row for place, row in enumerate(given) if place % 60 < 2]
    corpus = CorpusSettings(
        name="files",
        source=write(tmp_path / "a.tsv", spread(7, 15)),
        test_source=write(tmp_path / "b.tsv", given),
        **bounds,
    )
    splits = split_files(corpus, EDGES)
    assert {pair.words for pair in splits.test} == kept
    assert len(splits.test) == 2 * len(kept)
    assert note in " ".join(splits.notes)


def test_a_given_validation_set_is_used_and_shares_nothing(tmp_path: Path) -> None:
    rows = sentences(100, 7)
    corpus = CorpusSettings(
        name="files",
        source=write(tmp_path / "a.tsv", rows),
        valid_source=write(tmp_path / "v.tsv", rows[5:20] + sentences(3, 9) + sentences(2, 80)),
        test_source=write(tmp_path / "b.tsv", rows[:10]),
        valid_pairs=50,
    )
    splits = split_files(corpus, EDGES)
    assert [(pair.source, pair.target) for pair in splits.valid] == rows[10:20] + sentences(3, 9)
    assert [(pair.source, pair.target) for pair in splits.train] == rows[20:]
    assert splits.notes == (
        "10 pairs taken out of training: their source is in the test set",
        "10 pairs taken out of training: their source is in the validation set",
        "5 validation pairs dropped: their source is in the test",
        "2 validation pairs outside 2-60 words dropped",
    )


def test_joined_sentences_and_their_parts_stay_out_of_training(tmp_path: Path) -> None:
    given = sentences(4, 5)
    whole = [(f"{one[0]} {other[0]}", "t") for one, other in (given[:2], given[2:])]
    rows = sentences(60, 5) + sentences(60, 12) + whole
    corpus = CorpusSettings(
        name="files",
        source=write(tmp_path / "a.tsv", rows),
        test_source=write(tmp_path / "b.tsv", given),
        joined=2,
    )
    splits = split_files(corpus, EDGES)
    assert [(pair.source, pair.target) for pair in splits.test] == [
        (whole[0][0], "t0 t1"),
        (whole[1][0], "t2 t3"),
    ]
    kept = sources((*splits.train, *splits.valid))
    assert kept == sources(pairs_of(rows)) - sources(pairs_of(given + whole))


def test_nothing_left_to_train_on(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", sentences(10, 7))
    corpus = CorpusSettings(name="files", source=path, test_source=path)
    message = (
        r"^corpus\.source leaves no pairs of 2-60 words to train on; "
        r"give more text, other lengths or another test set$"
    )
    with pytest.raises(UserError, match=message):
        split_files(corpus, EDGES)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), kinds=st.integers(2, 60), count=st.integers(40, 200))
def test_no_source_is_in_two_splits(
    tmp_path_factory: pytest.TempPathFactory, seed: int, kinds: int, count: int
) -> None:
    random = Random(seed)
    lines = [f"s{random.randrange(kinds)}" + " x" * random.randrange(30) for _ in range(count)]
    path = write(
        tmp_path_factory.mktemp("d") / "a.tsv", [(line, str(n)) for n, line in enumerate(lines)]
    )
    splits = split_files(CorpusSettings(name="files", source=path, seed=seed, min_words=1), EDGES)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert min(len(train), len(valid), len(test)) > 0
    assert train | valid | test == set(lines)
