"""Drawn splits: disjoint, stratified, repeatable, with exact bits; lengths by hand.

What is read from the cache is what was drawn, to the last bit; whatever is wrong there.
"""

import gzip
import json
from dataclasses import dataclass
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
    cache_file,
    draw_pairs,
    draw_splits,
    draw_stratified,
    length_groups,
    length_probabilities,
    shares,
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

    shortest = 1
    longest = 40

    def draw(self, random: Random, words: int) -> SentencePair:
        text = " ".join(f"w{int(random.random() * 5)}" for _ in range(words))
        return SentencePair(text, " ".join(2 * [text]), bits=1.0)


# Languages.


def test_copies_and_their_bits():
    """All 14 sentences of up to 3 words out of 2: their probabilities make up the whole."""
    language = Copying(2)
    chances = length_probabilities("uniform", 1, 3, EDGES)
    pairs = draw_pairs(language, 14, chances, Random("x"), distinct=True)
    assert len(sources(pairs)) == 14
    assert sum(2**-pair.bits for pair in pairs) == pytest.approx(1, abs=1e-12)
    pair = Copying(1_000).draw(Random("x"), 4)
    assert (pair.words, pair.target, pair.bits) == (4, pair.source, 4 * log2(1_000))
    assert pair.links == ((0, 0), (1, 1), (2, 2), (3, 3))
    words = Copying(4).draw(Random("x"), 40_000).source.split()
    assert [words.count(f"w{n}") / 10_000 for n in range(4)] == pytest.approx([1] * 4, abs=0.05)


def test_a_length_that_no_translation_has():
    language = Reversed(Doubled())
    assert isinstance(language, SentenceSource)
    assert language.draw(Random(1), 2).words == 2
    with pytest.raises(UserError, match="no sentence with a translation of 5 words was found"):
        language.draw(Random(1), 5)


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_what_was_drawn_at_another_length_comes_later():
    """Nothing is thrown away, and nothing comes twice."""
    lengths, runs = [8, 9, 10, 11, 12] * 40, []
    for _ in range(2):
        random, language = Random(1), Reversed(english_french())
        runs.append([language.draw(random, words) for words in lengths])
    assert [pair.words for pair in runs[0]] == lengths
    assert len(sources(runs[0])) > 190
    assert runs[0] == runs[1]


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


def test_bounds_leave_drawn_sentences_out_of_the_test_set_and_change_nothing_else():
    whole = CorpusSettings(name="copy", train_pairs=50, valid_pairs=9, test_pairs=60, max_words=45)
    bounded = whole.model_copy(update={"test_min_words": 5, "test_max_words": 30})
    all_, some = (draw_splits(Copying(50), corpus, EDGES) for corpus in (whole, bounded))
    assert some.test == tuple(pair for pair in all_.test if 5 <= pair.words <= 30)
    assert (some.train, some.valid) == (all_.train, all_.valid)
    left = len(all_.test) - len(some.test)
    assert left >= 20
    assert some.notes == (f"{left} pairs outside 5-30 words left out of the test set",)


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
    assert (
        [len(split) for split in splits[:3]] == [2_000, len(valid), len(test)] == [2_000, 50, 120]
    )
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
    chances = length_probabilities("uniform", 2, 20, EDGES)
    wide = draw_stratified(Copying(9), 38, chances, [range(2, 11), range(11, 21)], "s", frozenset())
    first = draw_stratified(Copying(9), 18, chances, [range(2, 11)], "s", frozenset())
    assert wide[:18] == first  # groups do not disturb each other
    ours = CorpusSettings(train_pairs=10, valid_pairs=10, test_pairs=60)
    theirs = CorpusSettings(train_pairs=20, valid_pairs=5, test_pairs=60)
    one, other = (draw_splits(Copying(100), corpus, EDGES) for corpus in (ours, theirs))
    assert one.test == other.test
    assert one.train == other.train[:10]
    assert draw_splits(Copying(100), ours.model_copy(update={"seed": 2}), EDGES).test != one.test


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


def test_groups_are_cut_at_edges_and_limits():
    assert length_groups(2, 60, EDGES)[0] == range(2, 5)
    assert length_groups(2, 60, EDGES)[-1] == range(41, 61)
    assert length_groups(7, 12, EDGES) == (range(7, 11), range(11, 13))
    assert length_groups(5, 5, EDGES) == (range(5, 6),)
    assert length_groups(1, 3, (1, 2)) == (range(1, 2), range(2, 4))


def test_probabilities_by_hand():
    chances = length_probabilities("buckets", 2, 60, EDGES)
    expected = [1 / 6 / 3, 1 / 6 / 6, 1 / 6 / 20]
    assert [chances[words] for words in (2, 5, 60)] == pytest.approx(expected)
    assert fsum(chances.values()) == pytest.approx(1)
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


def test_shares_by_hand():
    assert shares(1_200, [1 / 6] * 6) == [200] * 6
    assert shares(500, [0.3 / 3] * 6) == [84, 84, 83, 83, 83, 83]
    assert shares(10, [0.7, 0.3]) == [7, 3]


@given(st.integers(0, 5_000), st.lists(st.floats(0.001, 1), min_size=1, max_size=8))
def test_shares_add_up_and_are_near(count, masses):
    parts = shares(count, masses)
    assert sum(parts) == count
    exact = (count * mass / fsum(masses) for mass in masses)
    assert max(abs(part - share) for part, share in zip(parts, exact, strict=True)) <= 1 + 1e-6


# The cache.

COPY = CorpusSettings(
    name="copy", copy_words=50, train_pairs=200, valid_pairs=20, test_pairs=60, joined=2
)
GRAMMAR = COPY.model_copy(update={"name": "grammar", "lexicon": "small"})
REVERSED = GRAMMAR.model_copy(update={"reverse_direction": True, "test_max_words": 50})
CORPORA = {"copy": COPY, "grammar": GRAMMAR, "reversed": REVERSED}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache that keeps the smallest corpora, too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(drawing, "KEPT", range(1, 1_000))
    return tmp_path


IN_CACHE = pytest.mark.usefixtures("unchecked", "cache")


@pytest.mark.parametrize("settings", CORPORA.values(), ids=CORPORA)
@IN_CACHE
def test_a_corpus_that_is_read_is_the_one_that_was_drawn(settings, monkeypatch):
    drawn = load_corpus(settings, EDGES)
    *splits, notes = json.loads(gzip.decompress(cache_file(settings, EDGES).read_bytes()))
    assert [len(split) for split in splits] == [len(pairs) for pairs in drawn.splits.values()]
    monkeypatch.setattr(made, "draw_splits", None)  # which cannot be called
    read = load_corpus(settings, EDGES)
    assert read == drawn
    assert [pair.bits for pair in read.train] == [pair.bits for pair in drawn.train]
    assert read.notes[: len(notes)] == tuple(notes) != ()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 2}, {"joined": 1}, {"name": "grammar"}, {"lengths": "uniform"},
        {"reverse_direction": True}, {"lexicon": "small"},
    ],
)  # fmt: skip
@IN_CACHE
def test_another_corpus_has_another_file(change):
    assert cache_file(COPY.model_copy(update=change), EDGES) != cache_file(COPY, EDGES)


@IN_CACHE
def test_what_comes_after_drawing_changes_no_file_and_other_code_does(monkeypatch, tmp_path):
    now = cache_file(COPY, EDGES)
    later = {"tokens": "subwords", "source_vocabulary": 9}
    assert cache_file(COPY.model_copy(update=later), EDGES) == now != cache_file(COPY, (5, 11))
    monkeypatch.setattr(drawing, "__file__", str(tmp_path / "drawing.py"))
    (tmp_path / "grammar").mkdir()
    names = {now}
    for name in ("drawing.py", "grammar/lexicon.toml", "grammar/rules.txt"):
        (tmp_path / name).write_text("another way to draw")
        names.add(cache_file(COPY, EDGES))
    assert len(names) == 4


DAMAGE = {
    "cut": lambda content: content[: len(content) // 2],
    "changed": lambda content: content[:900] + b"\0" + content[901:],
    "no JSON": lambda content: gzip.compress(gzip.decompress(content)[:-30]),
    "another table": lambda _: gzip.compress(b"[1]"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@IN_CACHE
def test_a_damaged_file_is_drawn_and_written_again(damage):
    drawn, path = load_corpus(COPY, EDGES), cache_file(COPY, EDGES)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert load_corpus(COPY, EDGES) == drawn
    assert path.read_bytes() == whole


@pytest.mark.parametrize("fault", ["a folder", "a file for the folder", "no home"])
@IN_CACHE
def test_without_a_place_to_write_it_is_drawn(cache, fault, monkeypatch):
    if fault == "a folder":
        cache_file(COPY, EDGES).mkdir(parents=True)
    elif fault == "a file for the folder":
        (cache / "seq2seq-bottleneck").write_text("a file in the place of the folder")
    else:
        monkeypatch.setattr(drawing, "cache_root", lambda: None)
    assert load_corpus(COPY, EDGES).train == load_corpus(COPY, EDGES).train


@pytest.mark.parametrize("pairs", [range(201, 300), range(1, 200)])
@IN_CACHE
def test_a_corpus_that_is_not_worth_it_has_no_file(monkeypatch, pairs):
    monkeypatch.setattr(drawing, "KEPT", pairs)
    load_corpus(COPY, EDGES)
    assert not (cache_root() / "drawn").exists()
