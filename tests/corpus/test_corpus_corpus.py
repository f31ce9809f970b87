"""Whole corpora: from settings to splits, vocabularies, fingerprint and description."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.corpus import (
    Corpus,
    SplitRow,
    describe,
    fingerprint,
    lecture_pairs,
    load_corpus,
    near_copies,
    share,
)
from seq2seq_bottleneck.corpus.download import folder_of
from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.pair import SentencePair, Splits, reverse_pair, sources
from seq2seq_bottleneck.corpus.vocabulary import tokenize
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError

pytestmark = pytest.mark.usefixtures("unchecked")

EDGES = (5, 11, 21, 31, 41)
SHORT = (5, 11, 21)
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
    return load_corpus(REVERSED, SHORT)


def write(path: Path, lines: list[str]) -> CorpusSettings:
    """Settings of a file of tab-separated pairs."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return CorpusSettings(name="files", source=str(path))


def test_copy_corpus_and_its_description(copied):
    assert (len(copied.train), len(copied.valid), len(copied.test)) == (600, 30, 60)
    assert copied.notes == ("10 test sentences under 5 words, in no bucket",)
    assert load_corpus(COPY, EDGES) == copied
    other = load_corpus(COPY.model_copy(update={"seed": 2}), EDGES)
    assert other.fingerprint != copied.fingerprint
    groups = {(row.split, row.bucket): row for row in describe(copied, EDGES)}
    assert len(groups) == 3 * 6
    assert [groups["test", bucket].pairs for bucket in ("under 5", "5-10", "41+")] == [10] * 3
    row = groups["train", "21-30"]
    assert row.source_words == row.target_tokens
    assert row.bits > row.source_words * 5.6
    assert len(copied.source_vocabulary.words) == len(copied.target_vocabulary.words) == 50
    assert copied.unknown_rates == (0, 0)
    short = load_corpus(COPY.model_copy(update={"train_max_words": 20}), EDGES)
    assert "30 test sentences longer than corpus.train_max_words=20" in short.notes


def test_rows_by_hand(copied):
    pairs = (
        SentencePair("one two three four five", "un, deux", bits=3.0),
        SentencePair("a b c d e f g", "l'a", bits=5.0),
        SentencePair("hi", "salut"),
    )
    assert describe(replace(copied, train=pairs), (5, 11))[:3] == [
        SplitRow("train", "under 5", 1, 1.0, 1.0, None),
        SplitRow("train", "5-10", 2, 6.0, 2.5, 4.0),
        SplitRow("train", "11+", 0, None, None, None),
    ]


def test_fingerprint_sees_every_text_link_and_place():
    one, two = SentencePair("a", "b"), SentencePair("c", "d")
    linked = SentencePair("a", "b", ((0, 0),))
    other, bits = SentencePair("a", "d"), SentencePair("a", "b", bits=1.0)
    training = (one, two), (two, one), (linked, two), (other, two)
    variants = [Splits(pairs, (), ()) for pairs in training] + [Splits((one,), (two,), ())]
    prints = [fingerprint(splits) for splits in variants]
    assert len({*prints, fingerprint(variants[0], reverse=True)}) == len(variants) + 1
    assert all(len(digits) == 16 and int(digits, 16) >= 0 for digits in prints)
    assert fingerprint(Splits((bits, two), (), (), ("note",))) == prints[0]


def test_what_cannot_be_loaded():
    for most, filled in ((10, "only bucket 5-10"), (4, "no bucket")):
        message = rf"^the test set fills {filled} of 5-10, .*, 41\+; two are needed"
        with pytest.raises(UserError, match=message):
            load_corpus(COPY.model_copy(update={"max_words": most}), EDGES)
    with pytest.raises(UsageError, match=r"^sentences of corpus 'grammar' have 2 to 60 words: ch"):
        load_corpus(GRAMMAR.model_copy(update={"max_words": 61}), EDGES)


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
    assert corpus.unknown_rates[0] > 0


# Near-copies.

LINES = st.lists(st.lists(st.sampled_from("abc"), max_size=9).map(" ".join), max_size=6)


def test_known_near_copies():
    counts = near_copies(["a b c d e g", "q a b c d e f r", "a b c d"], ["a b c d e f", "x y"])
    assert counts == [(1, 2), (2, 4), (0, 0)]
    assert share(counts) == 3 / 6
    assert share([(0, 0)]) is None


@given(LINES, LINES)
def test_near_copies_against_a_search_for_each_5_gram(test, train):
    def grams(text: str) -> list[list[str]]:
        tokens = tokenize(text)
        return [tokens[place : place + 5] for place in range(len(tokens) - 4)]

    known = [gram for text in train for gram in grams(text)]
    expected = [(sum(gram in known for gram in grams(text)), len(grams(text))) for text in test]
    assert near_copies(test, train) == expected


# The grammar, and from French to English.


@pytest.mark.slow
@pytest.mark.parametrize("name", ["drawn", "french"])
def test_nothing_is_shared_and_the_lecture_is_held_out(name, request):
    corpus = request.getfixturevalue(name)
    train, valid, test = (sources(pairs) for pairs in corpus.splits.values())
    assert not train & valid | train & test | valid & test
    assert (len(valid), len(test)) == ((60, 1_200) if name == "drawn" else (40, 80))
    lecture = [english_french().parse(sentence) for sentence in LECTURE_SENTENCES]
    # Spelt as drawn ones, or they could not be recognised among these.
    assert [pair.source for pair in lecture] == list(LECTURE_SENTENCES)
    sides = {side for pair in lecture for side in (pair.source, pair.target)}
    assert not (train | valid | test) & sides
    settings = CorpusSettings(reverse_direction=name == "french")
    known = lecture_pairs(settings)
    english = [pair.target if settings.reverse_direction else pair.source for pair in known]
    assert english == list(LECTURE_SENTENCES)
    assert lecture_pairs(CorpusSettings(name="copy")) == ()


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
        one, other = parts[pair.source]
        # A comma and a conjunction between, which are two tokens on either side.
        source, target = len(tokenize(one.source)), len(tokenize(one.target))
        between = [(source, target), (source + 1, target + 1)]
        shifted = [(source + 2 + ours, target + 2 + theirs) for ours, theirs in other.links]
        links = (*one.links, *between, *shifted)
        assert pair == SentencePair(pair.source, f"{one.target}, et {other.target}", links)
        assert 11 <= pair.words <= 60


def test_a_reversed_pair():
    pair = SentencePair("a b", "c d e", ((0, 1), (1, 0), (1, 2)), 3.0)
    assert reverse_pair(pair) == SentencePair("c d e", "a b", ((0, 1), (1, 0), (2, 1)), None)
    copy = SentencePair("a b", "a b", ((0, 0), (1, 1)), 3.0)
    assert reverse_pair(copy) == copy


@pytest.mark.slow
def test_reversed_pairs_are_of_the_grammar_alone_and_joined_and_of_the_lengths_of_the_french(
    french,
):
    joined = load_corpus(REVERSED.model_copy(update={"joined": 2}), SHORT)
    assert joined.test
    assert all(", and " in pair.target and 5 <= pair.words <= 30 for pair in joined.test)
    for pair in (*french.test, *joined.test):
        assert pair == reverse_pair(english_french().parse(pair.target))
        assert pair.bits is None
    rows = [row for row in describe(french, SHORT) if row.split == "test"]
    assert [row.pairs for row in rows] == [20] * 4
    everything = [pair for pairs in french.splits.values() for pair in pairs]
    assert all(2 <= pair.words <= 30 for pair in everything)
    assert any(len(pair.target.split()) > 30 for pair in everything)


@pytest.mark.slow
def test_the_fingerprint_differs_with_the_direction(french, tmp_path):
    assert french == load_corpus(REVERSED, SHORT)
    lines = [f"s{n}{' x' * (n % 28 + 3)}\ts{n}{' x' * (n % 28 + 3)}" for n in range(400)]
    for settings in (COPY, write(tmp_path / "same.tsv", lines)):
        there = load_corpus(settings, SHORT)
        back = load_corpus(settings.model_copy(update={"reverse_direction": True}), SHORT)
        assert there.splits == back.splits  # bits of copies too
        assert there.fingerprint != back.fingerprint


# Named corpora as a run meets them: read from the cache, offline.


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder of the test's own, with one corpus in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))


def rows(start: int, count: int) -> list[tuple[str, str]]:
    """Different pairs, English of 3 to 27 words, the French one word longer."""
    return [
        (f"e{n}" + " x" * (n % 25 + 2), f"f{n}" + " y" * (n % 25 + 3))
        for n in range(start, start + count)
    ]


def put(name: str, **splits: list[tuple[str, str]]):
    """The files of a corpus as a fetch leaves them."""
    folder = folder_of(name)
    folder.mkdir(parents=True)
    for split, pairs in splits.items():
        for place, side in enumerate(("en", "fr")):
            text = "".join(f"{pair[place]}\n" for pair in pairs)
            (folder / f"{split}.{side}.gz").write_bytes(gzip.compress(text.encode()))
    source = {"pairs": {split: len(pairs) for split, pairs in splits.items()}, "limit": None}
    (folder / "SOURCE.json").write_text(json.dumps(source))


@pytest.mark.usefixtures("named")
def test_splits_of_the_corpus_are_used_and_notes_tell_lengths_and_the_case():
    settings = CorpusSettings(name="multi30k", valid_pairs=25, test_pairs=3)
    corpus = load_corpus(settings, SHORT)
    assert [pair.source for pair in corpus.test] == [ours for ours, _ in rows(400, 80)]
    assert len(corpus.valid) == 25
    assert sources(corpus.valid) <= {ours for ours, _ in rows(300, 40)}
    assert [(pair.source, pair.target) for pair in corpus.train] == rows(0, 300)
    assert corpus.notes == ("8 test sentences under 5 words, in no bucket",)
    lower = settings.model_copy(update={"lowercase": True})
    assert "lower-case references" in load_corpus(lower, SHORT).notes[-1]
    changes = {"reverse_direction": True, "max_words": 12}
    back = load_corpus(settings.model_copy(update=changes), SHORT)
    expected = [(theirs, ours) for ours, theirs in rows(400, 80)]
    assert [(pair.source, pair.target) for pair in back.test] == expected
    assert max(pair.words for pair in back.train) == 12


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.usefixtures("named")
def test_another_named_corpus_to_test_on(reverse: bool):
    """Its own test set, else the pairs that a run on it is tested on; training is as it was."""
    put("news-commentary", train=rows(600, 300), valid=rows(300, 40), test=rows(400, 80))
    put("tatoeba", train=rows(1_000, 400) + rows(600, 20))
    home = CorpusSettings(name="news-commentary", reverse_direction=reverse)
    own = load_corpus(home, SHORT)
    for other in ("multi30k", "tatoeba"):
        theirs = load_corpus(home.model_copy(update={"name": other}), SHORT)
        abroad = load_corpus(home.model_copy(update={"test": other}), SHORT)
        assert abroad.test == theirs.test
        tested = sources(abroad.test)
        assert abroad.train == tuple(pair for pair in own.train if pair.source not in tested)
        assert abroad.fingerprint != theirs.fingerprint


@pytest.mark.usefixtures("named")
def test_what_is_not_there():
    for changes in ({"name": "tatoeba"}, {"name": "multi30k", "test": "tatoeba"}):
        message = "^corpus 'tatoeba' is not .*; `bottleneck corpus fetch tatoeba` brings it$"
        with pytest.raises(UserError, match=message) as caught:
            load_corpus(CorpusSettings(**changes), SHORT)
        assert caught.value.exit_code == 1
    (folder_of("multi30k") / "train.fr.gz").unlink()
    with pytest.raises(UserError, match=r"corpus 'multi30k' '.*train\.fr\.gz' does not exist"):
        load_corpus(CorpusSettings(name="multi30k"), SHORT)
