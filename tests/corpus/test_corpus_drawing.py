"""Drawn splits: disjoint, stratified, repeatable, with exact bits; lengths by hand.

Joined test sentences: what is joined with what. What is read from the cache is what was drawn, to
the last bit; whatever is wrong there.
"""

import gzip
import json
from dataclasses import dataclass
from functools import partial
from math import fsum, log2
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus import corpus as made
from seq2seq_bottleneck.corpus import drawing
from seq2seq_bottleneck.corpus.corpus import load_corpus
from seq2seq_bottleneck.corpus.drawing import (
    Copying,
    Reversed,
    SentenceSource,
    chained,
    draw_pairs,
    draw_splits,
    join_test,
    length_groups,
    length_probabilities,
    shares,
    side_by_side,
)
from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.pair import SentencePair, sources
from seq2seq_bottleneck.settings.concerns import CorpusSettings
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.settings.machine import cache_root

EDGES = (5, 11, 21, 31, 41)
KINDS = ["buckets", "uniform"]


@dataclass(frozen=True)
class Skewed:
    """A language of eight letters, the first ones common; its bits are not known."""

    shortest: int = 2
    longest: int = 20

    def draw(self, random: Random, words: int) -> SentencePair:
        letters = " ".join("abcdefgh"[int(random.random() ** 2 * 8)] for _ in range(words))
        return SentencePair(letters, letters.upper())


class Doubled:
    """A language whose translation says every word twice."""

    shortest, longest = 1, 40

    def draw(self, random: Random, words: int) -> SentencePair:
        text = " ".join(f"w{int(random.random() * 5)}" for _ in range(words))
        return SentencePair(text, " ".join(2 * [text]), bits=1.0)


def test_copies_and_their_bits():
    """All 14 sentences of up to 3 words out of 2: their probabilities make up the whole."""
    chances = length_probabilities("uniform", 1, 3, EDGES)
    pairs = draw_pairs(Copying(2), 14, chances, Random("x"), distinct=True)
    assert len(sources(pairs)) == 14
    assert sum(2**-pair.bits for pair in pairs) == pytest.approx(1, abs=1e-12)
    pair = Copying(1_000).draw(Random("x"), 4)
    assert (pair.words, pair.target, pair.bits) == (4, pair.source, 4 * log2(1_000))
    assert pair.links == ((0, 0), (1, 1), (2, 2), (3, 3))
    words = Copying(4).draw(Random("x"), 40_000).source.split()
    assert [words.count(f"w{n}") / 10_000 for n in range(4)] == pytest.approx([1] * 4, abs=0.05)


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_what_was_drawn_at_another_length_comes_later():
    """Nothing is thrown away, and nothing comes twice; some lengths no translation has."""
    lengths, runs = [8, 9, 10, 11, 12] * 40, []
    for _ in range(2):
        random, language = Random(1), Reversed(english_french())
        runs.append([language.draw(random, words) for words in lengths])
    assert [pair.words for pair in runs[0]] == lengths
    assert len(sources(runs[0])) > 190
    assert runs[0] == runs[1]
    language = Reversed(Doubled())
    assert isinstance(language, SentenceSource)
    assert language.draw(Random(1), 2).words == 2
    with pytest.raises(UserError, match="no sentence with a translation of 5 words was found"):
        language.draw(Random(1), 5)


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


@pytest.mark.parametrize("kind", KINDS)
def test_splits_are_disjoint_and_test_is_distinct(kind):
    corpus = CorpusSettings(
        lengths=kind, max_words=20, train_pairs=2_000, valid_pairs=50, test_pairs=120
    )
    held_out = frozenset(["a a a a", "a a", "a a a"])
    splits = draw_splits(Skewed(), corpus, EDGES, held_out)
    train, valid, test = map(sources, splits[:3])
    assert not train & valid | train & test | valid & test
    assert not held_out & (train | valid | test)
    assert [*map(len, splits[:3])] == [2_000, len(valid), len(test)] == [2_000, 50, 120]
    assert len(train) < 2_000  # what the language repeats is repeated
    assert splits.test[0].bits is None


@settings(max_examples=20, deadline=None)
@given(st.integers(5, 60), st.integers(1, 4), st.integers(0, 3))
def test_buckets_get_equal_shares_of_the_test_set(longest, shortest, seed):
    corpus = CorpusSettings(
        seed=seed, train_pairs=1, valid_pairs=1, test_pairs=60, min_words=shortest,
        max_words=longest,
    )  # fmt: skip
    splits = draw_splits(Copying(100), corpus, EDGES)
    places = [sum(pair.words >= edge for edge in EDGES) for pair in splits.test]
    counts = [places.count(place) for place in sorted({*places})]
    assert places == sorted(places)
    assert len(counts) == 1 + sum(edge <= longest for edge in EDGES)
    assert max(counts) - min(counts) <= 1


def test_the_test_set_hangs_on_nothing_but_itself():
    ours = CorpusSettings(train_pairs=10, valid_pairs=10, test_pairs=60)
    theirs = CorpusSettings(train_pairs=20, valid_pairs=5, test_pairs=60)
    one, other = (draw_splits(Copying(100), corpus, EDGES) for corpus in (ours, theirs))
    assert one.test == other.test
    assert one.train == other.train[:10]
    assert draw_splits(Copying(100), ours.model_copy(update={"seed": 2}), EDGES).test != one.test
    bounds = {"test_min_words": 5, "test_max_words": 30}
    some = draw_splits(Copying(100), ours.model_copy(update=bounds), EDGES)
    assert some.test == tuple(pair for pair in one.test if 5 <= pair.words <= 30)
    assert (some.train, some.valid) == (one.train, one.valid)
    left = len(one.test) - len(some.test)
    assert some.notes == (f"{left} pairs outside 5-30 words left out of the test set",)


@pytest.mark.parametrize("kind", KINDS)
def test_short_training_has_the_same_test_set(kind):
    """And lengths are drawn by their probabilities, with their bits."""
    all_ = CorpusSettings(lengths=kind, train_pairs=3_000, valid_pairs=60, test_pairs=60)
    short = all_.model_copy(update={"train_max_words": 10})
    one, other = (draw_splits(Copying(100), corpus, EDGES) for corpus in (all_, short))
    assert one.test == other.test
    assert (len(other.train), len(other.valid)) == (3_000, 60)
    chances = length_probabilities(kind, 2, 10, EDGES)
    for words, chance in chances.items():
        share = sum(pair.words == words for pair in other.train) / 3_000
        assert share == pytest.approx(chance, abs=4 * (chance / 3_000) ** 0.5)
    for pair in (*other.train[:50], *other.valid):
        assert pair.bits == pytest.approx(pair.words * log2(100) - log2(chances[pair.words]))


def test_what_a_language_has_not():
    message = (
        r"^too few different sentences of 2-4 words: 28 found of 30; "
        r"lower corpus.test_pairs and corpus.valid_pairs or raise corpus.min_words$"
    )
    with pytest.raises(UserError, match=message):
        draw_splits(Copying(2), CorpusSettings(name="copy", max_words=20, test_pairs=90), EDGES)
    for bounds in ({"min_words": 1, "max_words": 9}, {}):
        with pytest.raises(UsageError, match="of corpus 'grammar' have 2 to 20 words: change"):
            draw_splits(Skewed(), CorpusSettings(**bounds), EDGES)


# Lengths.


def test_groups_and_probabilities_by_hand():
    assert length_groups(2, 60, EDGES)[0] == range(2, 5)
    assert length_groups(7, 12, EDGES) == (range(7, 11), range(11, 13))
    assert length_groups(1, 3, (1, 2)) == (range(1, 2), range(2, 4))
    chances = length_probabilities("buckets", 2, 60, EDGES)
    expected = [1 / 6 / 3, 1 / 6 / 6, 1 / 6 / 20]
    assert [chances[words] for words in (2, 5, 60)] == pytest.approx(expected)
    assert length_probabilities("uniform", 3, 6, EDGES) == dict.fromkeys(range(3, 7), 0.25)


@given(
    st.sampled_from(KINDS),
    st.integers(1, 30),
    st.integers(0, 60),
    st.sets(st.integers(1, 50), min_size=2).map(lambda edges: tuple(sorted(edges))),
)
def test_probabilities_sum_to_one(kind, low, more, edges):
    chances = length_probabilities(kind, low, low + more, edges)
    assert list(chances) == list(range(low, low + more + 1))
    assert fsum(chances.values()) == pytest.approx(1)
    groups = [fsum(chances[words] for words in g) for g in length_groups(low, low + more, edges)]
    if kind == "buckets":
        assert groups == pytest.approx([1 / len(groups)] * len(groups))


@given(st.integers(0, 5_000), st.lists(st.floats(0.001, 1), min_size=1, max_size=8))
def test_shares_add_up_and_are_near(count, masses):
    parts = shares(count, masses)
    assert sum(parts) == count
    exact = (count * mass / fsum(masses) for mass in masses)
    assert max(abs(part - share) for part, share in zip(parts, exact, strict=True)) <= 1 + 1e-6
    assert shares(500, [0.3 / 3] * 6) == [84, 84, 83, 83, 83, 83]


# Joined sentences.

COPY = CorpusSettings(
    name="copy", copy_words=50, train_pairs=200, valid_pairs=20, test_pairs=60, joined=2
)


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
        joined = join_test(test, CorpusSettings(joined=count), EDGES, side_by_side, [])
        assert joined == tuple(side_by_side(tuple(test[place] for place in row)) for row in rows)


def test_what_is_too_long_or_will_not_chain_is_left_out():
    test, notes = of_words(6, 7, 8, 9, 5, 8, 16, 15, 15, 3), []

    def parse(source: str) -> SentencePair | None:
        return None if "s0" in source else SentencePair(source, source, ((0, 0),), 1.0)

    corpus = CorpusSettings(joined=2, max_words=17)
    joined = join_test(test, corpus, EDGES, partial(chained, parse, False), notes)
    text = f"{test[4].source}, and {test[5].source}"  # 8 and 9 words have no room for "and"
    assert joined == (SentencePair(text, text, ((0, 0),)),)
    assert notes == ["1 test sentence made of 2 each (corpus.joined); 8 not joined"]


def test_copies_joined_are_copies_and_not_trained_on():
    ordinary, splits = (
        draw_splits(Copying(100), COPY.model_copy(update={"joined": count}), EDGES)
        for count in (1, 2)
    )
    assert (splits.train, splits.valid) == (ordinary.train, ordinary.valid)
    whole = " ".join(pair.source for pair in ordinary.test)
    for pair in splits.test:
        assert pair.source == pair.target
        assert pair.source in whole
        assert pair.links == tuple((place, place) for place in range(pair.words))
        assert (pair.bits, pair.words <= 60) == (None, True)
    # Copies over two words: every short sentence is drawn, joined ones among them.
    short = {"min_words": 2, "max_words": 8, "train_pairs": 3_000, "valid_pairs": 4}
    corpus = COPY.model_copy(update={"test_pairs": 6, "lengths": "uniform", **short})
    splits = draw_splits(Copying(2), corpus, (2, 4, 8))
    assert splits.test
    assert not sources(splits.test) & sources((*splits.train, *splits.valid))
    with pytest.raises(UserError, match=r"^corpus\.joined=40 makes no test sentence of up to 60"):
        draw_splits(Copying(100), COPY.model_copy(update={"joined": 40}), EDGES)


# The cache.

GRAMMAR = COPY.model_copy(update={"name": "grammar", "lexicon": "small"})
REVERSED = GRAMMAR.model_copy(update={"reverse_direction": True, "test_max_words": 50})
CORPORA = {"copy": COPY, "grammar": GRAMMAR, "reversed": REVERSED}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache that keeps the smallest corpora, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(drawing, "KEPT", range(1, 1_000_001))
    return tmp_path


IN_CACHE = pytest.mark.usefixtures("unchecked", "cache")


def files() -> set:
    return {*(cache_root() / "drawn").glob("*")}


@pytest.mark.parametrize("settings", CORPORA.values(), ids=CORPORA)
@IN_CACHE
def test_a_corpus_that_is_read_is_the_one_that_was_drawn(settings, monkeypatch):
    drawn = load_corpus(settings, EDGES)
    (path,) = files()
    *splits, notes = json.loads(gzip.decompress(path.read_bytes()))
    assert [len(split) for split in splits] == [len(pairs) for pairs in drawn.splits.values()]
    monkeypatch.setattr(made, "draw_splits", None)  # which cannot be called
    read = load_corpus(settings, EDGES)
    assert read == drawn
    assert [pair.bits for pair in read.train] == [pair.bits for pair in drawn.train]
    assert read.notes[: len(notes)] == tuple(notes) != ()


@IN_CACHE
def test_another_corpus_or_code_has_another_file(monkeypatch, tmp_path):
    changes = [
        {}, {"seed": 2}, {"joined": 1}, {"name": "grammar", "lexicon": "small"},
        {"lengths": "uniform"}, {"reverse_direction": True},
    ]  # fmt: skip
    for count, change in enumerate(changes, 1):
        load_corpus(COPY.model_copy(update=change), EDGES)
        assert len(files()) == count
    load_corpus(COPY, EDGES[:3])
    assert len(files()) == len(changes) + 1
    later = {"source_vocabulary": 9, "lowercase": True}  # what comes after drawing
    load_corpus(COPY.model_copy(update=later), EDGES)
    assert len(files()) == len(changes) + 1
    monkeypatch.setattr(drawing, "__file__", str(tmp_path / "code" / "drawing.py"))
    (tmp_path / "code" / "grammar").mkdir(parents=True)
    for name in ("drawing.py", "grammar/lexicon.toml", "grammar/rules.txt"):
        before = files()
        (tmp_path / "code" / name).write_text("another way to draw")
        load_corpus(COPY, EDGES)
        assert files() > before


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "changed": lambda content: content[:900] + b"\0" + content[901:],
    "no JSON": lambda content: gzip.compress(gzip.decompress(content)[:-30]),
    "another table": lambda _: gzip.compress(b"[1]"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@IN_CACHE
def test_a_damaged_file_is_drawn_and_written_again(damage):
    drawn, (path,) = load_corpus(COPY, EDGES), files()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert load_corpus(COPY, EDGES) == drawn
    assert path.read_bytes() == whole


@pytest.mark.parametrize("fault", ["a file for the folder", "no home", "few pairs", "many"])
@IN_CACHE
def test_without_a_file_it_is_drawn(cache, fault, monkeypatch):
    if fault == "a file for the folder":
        (cache / "seq2seq-bottleneck").write_text("a file in the place of the folder")
    elif fault == "no home":
        monkeypatch.setattr(drawing, "cache_root", lambda: None)
    elif fault == "few pairs":
        monkeypatch.setattr(drawing, "KEPT", range(201, 1_000_001))
    else:
        monkeypatch.setattr(drawing, "KEPT", range(1, 200))
    assert load_corpus(COPY, EDGES).train == load_corpus(COPY, EDGES).train
    assert not files()
