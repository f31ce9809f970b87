"""Whole corpora: from settings to splits, vocabularies, fingerprint and description."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.batches import encode_pairs, training_batches
from seq2seq_bottleneck.corpus.corpus import (
    Corpus,
    SplitRow,
    check_buckets,
    describe,
    fingerprint,
    load_corpus,
    near_copies,
    share,
    split_rows,
)
from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.pair import SentencePair, Splits, reverse_pair, sources
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.corpus.vocabulary import EOS
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError

pytestmark = pytest.mark.usefixtures("unchecked")

EDGES = (5, 11, 21, 31, 41)
COPY = CorpusSettings(name="copy", copy_words=50, train_pairs=600, valid_pairs=30, test_pairs=60)
GRAMMAR = CorpusSettings(train_pairs=2_000, valid_pairs=60, test_pairs=1_200)
REVERSED = CorpusSettings(
    train_pairs=300, valid_pairs=40, test_pairs=80, max_words=30, reverse_direction=True
)


@pytest.fixture(scope="module")
def copied() -> Corpus:
    """A small copying corpus."""
    return load_corpus(COPY, EDGES)


@pytest.fixture(scope="module")
def drawn() -> Corpus:
    """Two thousand pairs of the grammar to train on, the full test set."""
    return load_corpus(GRAMMAR, EDGES)


@pytest.fixture(scope="module")
def french() -> Corpus:
    """A small corpus of the grammar's French."""
    return load_corpus(REVERSED, (5, 11, 21))


def write(path: Path, lines: list[str]) -> CorpusSettings:
    """Settings of a file of tab-separated pairs."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return CorpusSettings(name="files", source=str(path))


def test_copy_corpus(copied):
    assert (len(copied.train), len(copied.valid), len(copied.test)) == (600, 30, 60)
    assert len(copied.source_vocabulary.words) == len(copied.target_vocabulary.words) == 50
    assert copied.notes == ("10 test sentences under 5 words, in no bucket",)
    assert load_corpus(COPY, EDGES) == copied
    other = load_corpus(COPY.model_copy(update={"seed": 2}), EDGES)
    assert other.fingerprint != copied.fingerprint


def test_description(copied):
    description = describe(copied, EDGES)
    rows = {(row.split, row.bucket): row for row in description.rows}
    assert len(rows) == 3 * 6
    assert [rows["test", bucket].pairs for bucket in ("under 5", "5-10", "41+")] == [10] * 3
    row = rows["train", "21-30"]
    assert row.source_words == row.target_tokens
    assert row.bits > row.source_words * 5.6
    assert (description.source_vocabulary, description.target_unknown) == (50, 0)
    assert description.fingerprint == copied.fingerprint


def test_rows_by_hand():
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


def test_fingerprint_sees_every_text_link_and_place():
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
    assert len({*prints, fingerprint(variants[0], reverse=True)}) == len(variants) + 1
    assert all(len(digits) == 16 and int(digits, 16) >= 0 for digits in prints)
    bits = SentencePair("a", "b", bits=1.0)
    assert fingerprint(Splits((bits, two), (), (), ("note",))) == prints[0]


def test_two_buckets_are_needed():
    labels = r"5-10, 11-20, 21-30, 31-40, 41\+; two are needed: give sentences of more lengths"
    with pytest.raises(UserError, match=r"^the test set fills only bucket 5-10 of " + labels):
        load_corpus(COPY.model_copy(update={"max_words": 10}), EDGES)
    with pytest.raises(UserError, match=r"^the test set fills no bucket of " + labels):
        check_buckets((SentencePair("a b", "a b"),), EDGES)


def test_vocabularies_come_from_training_alone(tmp_path):
    lines = [f"Word{n} " + " ".join("x" * (4 + n % 30)) for n in range(300)]
    settings = write(tmp_path / "a.tsv", [f"{line}\tLe {line}" for line in lines])
    changes = {"lowercase": True, "source_vocabulary": 9_000}
    corpus = load_corpus(settings.model_copy(update=changes), EDGES)
    words = {word for pair in corpus.train for word in pair.source.split()}
    assert set(corpus.source_vocabulary.words) == words
    assert "le" in corpus.target_vocabulary.words
    first = [pair.source.split()[0] for pair in corpus.test]
    assert corpus.source_vocabulary.encode(first) == [3] * len(first)
    assert describe(corpus, EDGES).source_unknown > 0


def test_test_sentences_beyond_training_are_noted(tmp_path):
    lines = [f"s{n}" + " x" * (n % 45 + 3) + "\ty" for n in range(900)]
    settings = write(tmp_path / "a.tsv", lines).model_copy(update={"max_words": 20})
    corpus = load_corpus(settings, EDGES)
    longer = sum(pair.words > 20 for pair in corpus.test)
    assert longer > 0
    assert f"{longer} test sentences longer than corpus.max_words=20" in corpus.notes
    assert max(pair.words for pair in (*corpus.train, *corpus.valid)) == 20
    corpus = load_corpus(COPY.model_copy(update={"train_max_words": 20}), EDGES)
    assert "30 test sentences longer than corpus.train_max_words=20" in corpus.notes


# Near-copies.

LINES = st.lists(st.lists(st.sampled_from("abc"), max_size=9).map(" ".join), max_size=6)


def test_known_near_copies():
    train = ["a b c d e f", "x y, z (w)"]
    test = ["a b c d e g", "q a b c d e f r", "a b c d", "x y, z v"]
    assert near_copies(test, train) == [(1, 2), (2, 4), (0, 0), (0, 1)]
    assert share(near_copies(test, train)) == pytest.approx(3 / 7)
    # Punctuation is a token of its own, and knows to which word it is glued.
    assert near_copies(["x y, z v"], ["one x y , z v"]) == [(0, 1)]
    assert near_copies(["x y, z v"], ["one x y, z v"]) == [(1, 1)]
    assert share(near_copies(["a b c d"], ["a b c d"])) is None
    assert share([]) is None


@given(LINES, LINES)
def test_near_copies_against_a_search_for_each_5_gram(test, train):
    def grams(text: str) -> list[list[str]]:
        tokens = tokenize(text)
        return [tokens[place : place + 5] for place in range(len(tokens) - 4)]

    known = [gram for text in train for gram in grams(text)]
    expected = [(sum(gram in known for gram in grams(text)), len(grams(text))) for text in test]
    assert near_copies(test, train) == expected


def test_a_corpus_has_its_share_of_near_copies():
    changes = {"copy_words": 2, "train_pairs": 60, "test_pairs": 30, "min_words": 5}
    corpus = load_corpus(COPY.model_copy(update=changes), (5, 11, 21))
    assert len(corpus.near_copies) == 30
    # Of two words there are 32 sentences of five, and training meets each of them.
    assert describe(corpus, (5, 11, 21)).near_copies == 1


# The grammar.


def lecture_sides() -> set[str]:
    """The lecture's sentences in both languages."""
    pairs = [english_french().parse(sentence) for sentence in LECTURE_SENTENCES]
    # Spelt as drawn ones, or they could not be recognised among these.
    assert [pair.source for pair in pairs] == list(LECTURE_SENTENCES)
    return {side for pair in pairs for side in (pair.source, pair.target)}


@pytest.mark.exhaustive(sample="session")
def test_every_bucket_has_two_hundred_test_pairs(drawn):
    rows = [row for row in describe(drawn, EDGES).rows if row.split == "test"]
    assert [row.pairs for row in rows] == [200] * 6
    bits = [row.bits for row in rows]
    assert bits == sorted(bits)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["drawn", "french"])
def test_nothing_is_shared_and_the_lecture_is_held_out(name, request):
    corpus = request.getfixturevalue(name)
    train, valid, test = (sources(pairs) for pairs in corpus.splits.values())
    assert not train & valid | train & test | valid & test
    assert (len(valid), len(test)) == ((60, 1_200) if name == "drawn" else (40, 80))
    assert not (train | valid | test) & lecture_sides()


@pytest.mark.slow
def test_batches_hold_what_was_drawn(drawn):
    encoded = encode_pairs(drawn.train, drawn.source_vocabulary, drawn.target_vocabulary)
    batch = training_batches(encoded, batch_size=32, seed=1).batch(0)
    texts = {tuple(ids) for ids in encoded.source}
    for row, length in zip(batch.source.tolist(), batch.source_lengths, strict=True):
        assert tuple(row[:length]) in texts
        assert row[length - 1] == EOS


@pytest.mark.exhaustive(sample="session")
def test_joined_sentences_are_clauses_of_the_grammar(drawn):
    """Ordinary test sentences in pairs, chained as the grammar chains, links and all."""
    joined = load_corpus(GRAMMAR.model_copy(update={"joined": 2}), EDGES)
    assert (joined.train, joined.valid) == (drawn.train, drawn.valid)
    assert 290 <= len(joined.test) <= 300
    parts = {
        f"{one.source}, and {other.source}": (one, other)
        for one, other in zip(drawn.test[::2], drawn.test[1::2], strict=True)
    }
    for pair in joined.test:
        assert pair == chain_by_hand(*parts[pair.source])
        assert 11 <= pair.words <= 60


def chain_by_hand(one: SentencePair, other: SentencePair) -> SentencePair:
    """Both with a comma and a conjunction between, which are two tokens on either side."""
    source, target = len(tokenize(one.source)), len(tokenize(one.target))
    links = (
        *one.links,
        (source, target),
        (source + 1, target + 1),
        *((source + 2 + ours, target + 2 + theirs) for ours, theirs in other.links),
    )
    texts = f"{one.source}, and {other.source}", f"{one.target}, et {other.target}"
    return SentencePair(*texts, links)


@pytest.mark.exhaustive(sample="session")
def test_short_training_has_the_same_test_set(drawn):
    short = load_corpus(GRAMMAR.model_copy(update={"train_max_words": 10}), EDGES)
    assert short.test == drawn.test
    assert {pair.words for pair in (*short.train, *short.valid)} == set(range(2, 11))


def test_lengths_beyond_the_grammar():
    with pytest.raises(UsageError, match=r"max_words=61 is above .*'grammar'; give 60 or less$"):
        load_corpus(GRAMMAR.model_copy(update={"max_words": 61}), EDGES)
    with pytest.raises(UsageError, match=r"^corpus\.lengths=natural is not known for the grammar"):
        load_corpus(REVERSED.model_copy(update={"lengths": "natural"}), EDGES)


# From French to English.


def test_a_reversed_pair():
    pair = SentencePair("a b", "c d e", ((0, 1), (1, 0), (1, 2)), 3.0)
    assert reverse_pair(pair) == SentencePair("c d e", "a b", ((0, 1), (1, 0), (2, 1)), None)
    copy = SentencePair("a b", "a b", ((0, 0), (1, 1)), 3.0)
    assert reverse_pair(copy) == copy


@pytest.mark.slow
def test_every_reversed_pair_is_one_of_the_grammar_and_lengths_are_those_of_the_french(french):
    for pair in french.test:
        known = english_french().parse(pair.target)
        assert pair == reverse_pair(known)
        assert pair.bits is None
    rows = [row for row in describe(french, (5, 11, 21)).rows if row.split == "test"]
    assert [row.pairs for row in rows] == [20] * 4
    everything = [pair for pairs in french.splits.values() for pair in pairs]
    assert all(2 <= pair.words <= 30 for pair in everything)
    assert any(len(pair.target.split()) > 30 for pair in everything)


@pytest.mark.slow
def test_the_fingerprint_differs_with_the_direction(french, tmp_path):
    assert french == load_corpus(REVERSED, (5, 11, 21))
    lines = [f"s{n}{' x' * (n % 28 + 3)}\ts{n}{' x' * (n % 28 + 3)}" for n in range(400)]
    for settings in (COPY, write(tmp_path / "same.tsv", lines)):
        there = load_corpus(settings, (5, 11, 21))
        back = load_corpus(settings.model_copy(update={"reverse_direction": True}), (5, 11, 21))
        assert there.splits == back.splits  # bits of copies too
        assert there.fingerprint != back.fingerprint


@pytest.mark.slow
def test_files_are_reversed_and_measured_on_the_new_source(tmp_path):
    rows = [(f"e{n}", f"f{n}" + " y" * (n % 28 + 2)) for n in range(400)]
    settings = write(tmp_path / "a.tsv", ["\t".join(row) for row in rows])
    changes = {"max_words": 20, "reverse_direction": True}
    corpus = load_corpus(settings.model_copy(update=changes), (5, 11, 21))
    known = {theirs: ours for ours, theirs in rows}
    assert all(pair.target == known[pair.source] for pair in corpus.train)
    assert max(pair.words for pair in corpus.train) == 20
    assert {pair.words for pair in corpus.test} >= {11, 25}


@pytest.mark.slow
def test_reversed_joined_sentences_are_chained_in_the_grammar(french):
    joined = load_corpus(REVERSED.model_copy(update={"joined": 2}), (5, 11, 21))
    assert joined.test
    parts = sources(french.test)
    for pair in joined.test:
        assert reverse_pair(english_french().parse(pair.target)) == pair
        assert ", and " in pair.target
        first = next(part for part in parts if pair.source.startswith(part))
        assert len(first.split()) < pair.words <= 30
