"""Whole corpora: from settings to splits, vocabularies, fingerprint and description."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from seq2seq_bottleneck.corpus.corpus import (
    Corpus,
    describe,
    fingerprint,
    load_corpus,
    share,
)
from seq2seq_bottleneck.corpus.download import folder_of
from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.pair import SentencePair, Splits, sources
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError

pytestmark = pytest.mark.usefixtures("unchecked")

EDGES = (5, 11, 21, 31, 41)
SHORT = (5, 11, 21)
COPY = CorpusSettings(name="copy", copy_words=50, train_pairs=600, valid_pairs=30, test_pairs=60)
GRAMMAR = CorpusSettings(train_pairs=2_000, valid_pairs=60, test_pairs=1_200)


@pytest.fixture(scope="module")
def copied() -> Corpus:
    """A small copying corpus."""
    return load_corpus(COPY, EDGES)


def write(path: Path, lines: list[str]) -> CorpusSettings:
    """Settings of a file of tab-separated pairs."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return CorpusSettings(name="files", source=str(path))


def test_a_copied_corpus(copied):
    assert (len(copied.train), len(copied.valid), len(copied.test)) == (600, 30, 60)
    assert copied.notes == ("10 test sentences under 5 words, in no bucket",)
    assert load_corpus(COPY, EDGES) == copied
    other = load_corpus(COPY.model_copy(update={"seed": 2}), EDGES)
    assert other.fingerprint != copied.fingerprint
    assert copied.unknown_rates == (0, 0)


def test_rows_by_hand(copied):
    pairs = (
        SentencePair("one two three four five", "un, deux", bits=3.0),
        SentencePair("a b c d e f g", "l'a", bits=5.0),
        SentencePair("hi", "salut"),
    )
    rows = describe(replace(copied, train=pairs), (5, 11)).loc["train"].fillna(0)
    assert dict(rows.iterrows()).keys() == {"under 5", "5-10", "11+"}
    assert rows.to_numpy().tolist() == [[1, 1, 1, 0], [2, 6, 2.5, 4], [0] * 4]


def test_fingerprint_changes_with_every_text_link_and_place():
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
    with pytest.raises(
        UserError, match=r"^the test set fills 1 bucket of 5-10, .*; two are needed"
    ):
        load_corpus(COPY.model_copy(update={"max_words": 10}), EDGES)
    with pytest.raises(UsageError, match=r"^sentences of corpus 'grammar' have 2 to 60 words: ch"):
        load_corpus(GRAMMAR.model_copy(update={"max_words": 61}), EDGES)
    for setting, value in (("reverse_direction", True), ("joined", 2)):
        with pytest.raises(ValueError, match=rf"{setting} is for .*, not for 'copy'"):
            CorpusSettings(name="copy", **{setting: value})
    with pytest.raises(UserError, match=r"`bottleneck corpus tatoeba --fetch` downloads it$"):
        load_corpus(CorpusSettings(name="tatoeba"), SHORT)


def test_vocabularies_come_from_training_alone(tmp_path):
    lines = [f"Word{n} " + " ".join("x" * (4 + n % 30)) for n in range(300)]
    settings = write(tmp_path / "a.tsv", [f"{line}\tLe {line}" for line in lines])
    changes = {"lowercase": True, "source_vocabulary": 9_000}
    corpus = load_corpus(settings.model_copy(update=changes), EDGES)
    words = {word for pair in corpus.train for word in pair.source.split()}
    assert set(corpus.source_vocabulary.words) == words
    assert "le" in corpus.target_vocabulary.words
    first = [pair.source.split()[0] for pair in corpus.test]
    assert corpus.source_vocabulary.numbers(" ".join(first)) == [3] * len(first)
    assert corpus.unknown_rates[0] > 0


# Near-copies.


def test_known_near_copies(copied):
    texts = ("a b c d e g", "q a b c d e f r", "a b c d"), ("a b c d e f", "x y")
    test, train = (tuple(SentencePair(text, "") for text in side) for side in texts)
    counts = replace(copied, test=test, train=train).near_copies
    assert counts == [(1, 2), (2, 4), (0, 0)]
    assert share(counts) == 3 / 6


@pytest.mark.slow
def test_nothing_is_shared_and_the_lecture_is_held_out():
    settings = CorpusSettings(train_pairs=300, valid_pairs=40, test_pairs=80, max_words=30)
    corpus = load_corpus(settings, SHORT)
    train, valid, test = map(sources, (corpus.train, corpus.valid, corpus.test))
    assert not train & valid | train & test | valid & test
    assert not (train | valid | test) & set(LECTURE_SENTENCES)
    for pair in corpus.test:
        assert pair == replace(english_french().parse(pair.source), bits=pair.bits)


# Named corpora as a run reads them: from the cache, offline.


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder for the test, with one corpus in it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    put("multi30k", train=rows(0, 300), valid=rows(300, 40), test=rows(400, 80))


def rows(start: int, count: int) -> list[tuple[str, str]]:
    """Different pairs: English of 3 to 27 words, French one word longer."""
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


@pytest.mark.usefixtures("named")
def test_splits_of_a_named_corpus_are_used():
    settings = CorpusSettings(name="multi30k", valid_pairs=25, test_pairs=3)
    corpus = load_corpus(settings, SHORT)
    assert [pair.source for pair in corpus.test] == [ours for ours, _ in rows(400, 80)]
    assert len(corpus.valid) == 25
    assert sources(corpus.valid) <= {ours for ours, _ in rows(300, 40)}
    assert [(pair.source, pair.target) for pair in corpus.train] == rows(0, 300)
    back = load_corpus(settings.model_copy(update={"reverse_direction": True}), SHORT)
    expected = [(theirs, ours) for ours, theirs in rows(400, 80)]
    assert [(pair.source, pair.target) for pair in back.test] == expected


@pytest.mark.usefixtures("named")
def test_another_named_corpus_to_test_on():
    """Its own test set, or else the pairs that test a run on it; training does not change."""
    put("news-commentary", train=rows(600, 300), valid=rows(300, 40), test=rows(400, 80))
    put("tatoeba", train=rows(1_000, 400) + rows(600, 20))
    home = CorpusSettings(name="news-commentary")
    own = load_corpus(home, SHORT)
    for other in ("multi30k", "tatoeba"):
        theirs = load_corpus(home.model_copy(update={"name": other}), SHORT)
        abroad = load_corpus(home.model_copy(update={"test": other}), SHORT)
        assert abroad.test == theirs.test
        tested = sources(abroad.test)
        assert abroad.train == tuple(pair for pair in own.train if pair.source not in tested)
        assert abroad.fingerprint != theirs.fingerprint
