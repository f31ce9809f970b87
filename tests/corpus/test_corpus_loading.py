"""Whole corpora: from settings to splits, vocabularies, fingerprint and description."""

from pathlib import Path

import pytest

from seq2seq_bottleneck.corpus.corpus import (
    Corpus,
    SplitRow,
    check_buckets,
    describe,
    fingerprint,
    load_corpus,
    split_rows,
)
from seq2seq_bottleneck.corpus.pair import SentencePair, Splits
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UserError

EDGES = (5, 11, 21, 31, 41)
COPY = CorpusSettings(name="copy", copy_words=50, train_pairs=600, valid_pairs=30, test_pairs=60)


@pytest.fixture(scope="module")
def copied() -> Corpus:
    """A small copying corpus."""
    return load_corpus(COPY, EDGES)


def test_copy_corpus(copied: Corpus) -> None:
    assert (len(copied.train), len(copied.valid), len(copied.test)) == (600, 30, 60)
    assert len(copied.source_vocabulary.words) == len(copied.target_vocabulary.words) == 50
    assert copied.notes == ("10 test sentences under 5 words, in no bucket",)


def test_same_settings_same_corpus(copied: Corpus) -> None:
    assert load_corpus(COPY, EDGES) == copied
    other = load_corpus(COPY.model_copy(update={"seed": 2}), EDGES)
    assert other.fingerprint != copied.fingerprint


def test_description(copied: Corpus) -> None:
    description = describe(copied, EDGES)
    rows = {(row.split, row.bucket): row for row in description.rows}
    assert len(rows) == 3 * 6
    assert [rows["test", bucket].pairs for bucket in ("under 5", "5-10", "41+")] == [10] * 3
    row = rows["train", "21-30"]
    assert row.source_words == row.target_tokens
    assert row.bits > row.source_words * 5.6
    assert (description.source_vocabulary, description.target_unknown) == (50, 0)
    assert description.fingerprint == copied.fingerprint


def test_rows_by_hand() -> None:
    pairs = (
        SentencePair("one two three four five", "un, deux", bits=3.0),
        SentencePair("a b c d e f g", "l'a", bits=5.0),
        SentencePair("hi", "salut"),
    )
    assert split_rows("test", pairs, (5, 11)) == [
        SplitRow("test", "under 5", 1, 1.0, 1.0, None),
        SplitRow("test", "5-10", 2, 6.0, 2.5, 4.0),
        SplitRow("test", "11+", 0, None, None, None),
    ]


def test_fingerprint_sees_every_text_link_and_place() -> None:
    one, two = SentencePair("a", "b"), SentencePair("c", "d")
    linked = SentencePair("a", "b", ((0, 0),))
    variants = [
        Splits((one, two), (), ()),
        Splits((two, one), (), ()),
        Splits((one,), (two,), ()),
        Splits((linked, two), (), ()),
        Splits((SentencePair("a", "d"), two), (), ()),
    ]
    prints = [fingerprint(splits) for splits in variants]
    assert len(set(prints)) == len(variants)
    assert all(len(digits) == 16 and int(digits, 16) >= 0 for digits in prints)
    bits = SentencePair("a", "b", bits=1.0)
    assert fingerprint(Splits((bits, two), (), (), ("note",))) == prints[0]


def test_two_buckets_are_needed() -> None:
    labels = r"5-10, 11-20, 21-30, 31-40, 41\+; two are needed: give sentences of more lengths"
    with pytest.raises(UserError, match=r"^the test set fills only bucket 5-10 of " + labels):
        load_corpus(COPY.model_copy(update={"max_words": 10}), EDGES)
    with pytest.raises(UserError, match=r"^the test set fills no bucket of " + labels):
        check_buckets((SentencePair("a b", "a b"),), EDGES)


def test_vocabularies_come_from_training_alone(tmp_path: Path) -> None:
    lines = [f"Word{n} " + " ".join("x" * (4 + n % 30)) for n in range(300)]
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{line}\tLe {line}\n" for line in lines))
    corpus = load_corpus(
        CorpusSettings(name="files", source=str(path), lowercase=True, source_vocabulary=9_000),
        EDGES,
    )
    words = {word for pair in corpus.train for word in pair.source.split()}
    assert set(corpus.source_vocabulary.words) == words
    assert "le" in corpus.target_vocabulary.words
    first = [pair.source.split()[0] for pair in corpus.test]
    assert corpus.source_vocabulary.encode(first) == [3] * len(first)
    assert describe(corpus, EDGES).source_unknown > 0


def test_test_sentences_beyond_training_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"s{n}" + " x" * (n % 45 + 3) + "\ty\n" for n in range(900)))
    corpus = load_corpus(CorpusSettings(name="files", source=str(path), max_words=20), EDGES)
    longer = sum(pair.words > 20 for pair in corpus.test)
    assert longer > 0
    assert f"{longer} test sentences longer than corpus.max_words=20" in corpus.notes
    assert max(pair.words for pair in (*corpus.train, *corpus.valid)) == 20


def test_test_sentences_beyond_short_training_are_noted() -> None:
    corpus = load_corpus(COPY.model_copy(update={"train_max_words": 20}), EDGES)
    assert "30 test sentences longer than corpus.train_max_words=20" in corpus.notes
