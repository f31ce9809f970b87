"""The grammar corpus as a run meets it, small."""

import pytest

from seq2seq_bottleneck.corpus.batches import encode_pairs, training_batches
from seq2seq_bottleneck.corpus.corpus import Corpus, describe, load_corpus
from seq2seq_bottleneck.corpus.grammar import LECTURE_SENTENCES, english_french
from seq2seq_bottleneck.corpus.pair import SentencePair, sources
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.corpus.vocabulary import EOS
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError

pytestmark = pytest.mark.usefixtures("unchecked")

EDGES = (5, 11, 21, 31, 41)
SETTINGS = CorpusSettings(train_pairs=2_000, valid_pairs=60, test_pairs=1_200)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Two thousand pairs to train on, the full test set."""
    return load_corpus(SETTINGS, EDGES)


@pytest.mark.exhaustive(sample="session")
def test_every_bucket_has_two_hundred_test_pairs(corpus: Corpus) -> None:
    rows = [row for row in describe(corpus, EDGES).rows if row.split == "test"]
    assert [row.pairs for row in rows] == [200] * 6
    bits = [row.bits for row in rows]
    assert bits == sorted(bits)


@pytest.mark.slow
def test_nothing_is_shared_and_the_lecture_is_held_out(corpus: Corpus) -> None:
    train, valid, test = (sources(pairs) for pairs in corpus.splits.values())
    assert not train & valid | train & test | valid & test
    assert (len(valid), len(test)) == (60, 1_200)
    assert not (train | valid | test) & set(LECTURE_SENTENCES)


def test_held_out_sentences_are_spelt_as_drawn_ones() -> None:
    """Else they could not be recognised among the drawn."""
    for sentence in LECTURE_SENTENCES:
        pair = english_french().parse(sentence)
        assert pair is not None
        assert pair.source == sentence


@pytest.mark.slow
def test_batches_hold_what_was_drawn(corpus: Corpus) -> None:
    vocabularies = corpus.source_vocabulary, corpus.target_vocabulary
    encoded = encode_pairs(corpus.train, *vocabularies)
    batch = training_batches(encoded, batch_size=32, seed=1).batch(0)
    texts = {tuple(ids) for ids in encoded.source}
    for row, length in zip(batch.source.tolist(), batch.source_lengths, strict=True):
        assert tuple(row[:length]) in texts
        assert row[length - 1] == EOS


@pytest.mark.exhaustive(sample="session")
def test_joined_sentences_are_clauses_of_the_grammar(corpus: Corpus) -> None:
    """Ordinary test sentences in pairs, chained as the grammar chains, links and all."""
    joined = load_corpus(SETTINGS.model_copy(update={"joined": 2}), EDGES)
    assert (joined.train, joined.valid) == (corpus.train, corpus.valid)
    assert 290 <= len(joined.test) <= 300
    parts = {
        f"{one.source}, and {other.source}": (one, other)
        for one, other in zip(corpus.test[::2], corpus.test[1::2], strict=True)
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
def test_short_training_has_the_same_test_set(corpus: Corpus) -> None:
    short = load_corpus(SETTINGS.model_copy(update={"train_max_words": 10}), EDGES)
    assert short.test == corpus.test
    assert {pair.words for pair in (*short.train, *short.valid)} == set(range(2, 11))


def test_lengths_beyond_the_grammar() -> None:
    with pytest.raises(UsageError, match=r"max_words=61 is above .*'grammar'; give 60 or less$"):
        load_corpus(SETTINGS.model_copy(update={"max_words": 61}), EDGES)
