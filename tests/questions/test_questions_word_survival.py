"""Survival of single sentences: references against themselves, copies, chance; word by word."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.grammar import english_french, word_class
from seq2seq_bottleneck.corpus.tokens import tokenize
from seq2seq_bottleneck.questions.word_survival import (
    LinkedReference,
    WordReport,
    chance_survivals,
    found_shares,
    partners,
    survival,
    word_reports,
)

TOKENS = st.lists(st.sampled_from(["le", "la", "chat", "noir", "dort"]), max_size=8)


@st.composite
def linked(draw: st.DrawFn) -> tuple[int, tuple[str, ...], tuple[tuple[int, int], ...]]:
    """Up to six source words, a reference, and any links at all between them."""
    words, reference = draw(st.integers(0, 6)), draw(TOKENS)
    grid = [(i, j) for i in range(words) for j in range(len(reference))]
    links = draw(st.lists(st.sampled_from(grid))) if grid else []
    return words, tuple(reference), tuple(links)


def mat() -> LinkedReference:
    """The lecture's sentence: the black cat sat on the mat."""
    pair = english_french().parse("the black cat sat on the mat")
    assert pair is not None
    return LinkedReference(7, tuple(tokenize(pair.target)), pair.links)


def random_pairs(
    sentences: int, words: int, kinds: int, seed: int
) -> tuple[list[LinkedReference], np.random.Generator]:
    """Sentences of random words, each word linked to its own translation."""
    rng = np.random.default_rng(seed)
    texts = rng.integers(kinds, size=(sentences, words)).tolist()
    links = tuple((place, place) for place in range(words))
    pairs = [LinkedReference(words, tuple(f"w{word}" for word in text), links) for text in texts]
    return pairs, rng


def test_lectures_sentence_by_hand() -> None:
    pair = mat()
    assert survival(pair, pair.reference).tolist() == [1.0] * 7
    assert survival(pair, []).tolist() == [0.0] * 7
    # le chat est assis: one of two le, chat, two of s' est assis
    lost = survival(pair, ["le", "chat", "est", "assis"])
    assert lost == pytest.approx([1 / 2, 0, 1, 2 / 3, 0, 1 / 2, 0])


@given(reference=TOKENS, hypothesis=TOKENS)
def test_shares_are_the_mean_over_every_choice_of_copies(
    reference: list[str], hypothesis: list[str]
) -> None:
    expected = np.zeros(len(reference))
    for word in set(reference):
        places = [j for j, own in enumerate(reference) if own == word]
        choices = list(combinations(places, min(len(places), hypothesis.count(word))))
        for choice in choices:
            expected[list(choice)] += 1 / len(choices)
    shares = found_shares(reference, hypothesis)
    assert shares == pytest.approx(expected)
    clipped = (Counter(reference) & Counter(hypothesis)).total()
    assert shares.sum() == pytest.approx(clipped)


@given(parts=linked(), hypothesis=TOKENS)
def test_survival_is_a_share_of_linked_words_alone(parts: tuple, hypothesis: list[str]) -> None:
    pair = LinkedReference(*parts)  # here, since beartype draws at random when it is made
    ours = survival(pair, hypothesis)
    has_link = [any(i == place for i, _ in pair.links) for place in range(pair.words)]
    assert np.array_equal(~np.isnan(ours), has_link)
    assert ((ours >= 0) & (ours <= 1))[has_link].all()
    whole = survival(pair, pair.reference)
    assert (whole[has_link] == 1).all()
    shuffled = survival(pair, hypothesis[::-1])
    assert np.array_equal(ours, shuffled, equal_nan=True)


def test_several_words_may_share_one_target_word() -> None:
    pair = LinkedReference(3, ("va", "vite"), ((0, 0), (1, 0), (1, 0), (2, 1)))
    assert survival(pair, ["va"]).tolist() == [1.0, 1.0, 0.0]


def test_random_losses_hit_all_places_alike_however_often_words_repeat() -> None:
    pairs, rng = random_pairs(sentences=4_000, words=10, kinds=4, seed=1)
    kept = [[word for word in pair.reference if rng.random() < 0.6] for pair in pairs]
    places = np.mean(list(map(survival, pairs, kept)), axis=0)
    assert places == pytest.approx(0.6, abs=0.03)


@settings(max_examples=50)
@given(buckets=st.lists(st.integers(-1, 3), max_size=30), seed=st.integers(0, 99))
def test_partners_are_another_sentence_of_the_bucket_and_each_is_used_once(
    buckets: list[int], seed: int
) -> None:
    own = np.array(buckets, np.int64)
    for row in partners(own, 3, seed=seed):
        for bucket in set(buckets):
            ids = np.flatnonzero(own == bucket)
            if len(ids) == 1:
                assert row[ids].tolist() == [-1]
            else:
                assert sorted(row[ids]) == ids.tolist()
                assert (row[ids] != ids).all()


def test_partners_repeat_for_a_seed_and_differ_between_shuffles_and_seeds() -> None:
    buckets = np.zeros(50, np.int64)
    first = partners(buckets, 2, seed=1)
    assert np.array_equal(first, partners(buckets, 2, seed=1))
    assert not np.array_equal(first, partners(buckets, 2, seed=2))
    assert not np.array_equal(first[0], first[1])
    longer = np.append(buckets, [1] * 9)  # another bucket's sentences change nothing
    assert np.array_equal(first, partners(longer, 2, seed=1)[:, :50])


def test_every_sentence_is_the_partner_of_every_other_equally_often() -> None:
    drawn = partners(np.zeros(4, np.int64), 6_000, seed=0)
    counts = np.array([np.bincount(column, minlength=4) for column in drawn.T])
    assert counts == pytest.approx(2_000 * (1 - np.eye(4)), abs=200)


def test_chance_sums_are_those_of_each_output_against_shuffled_sources() -> None:
    pairs, rng = random_pairs(sentences=40, words=8, kinds=12, seed=2)
    outputs = [[f"w{word}" for word in rng.integers(12, size=7)] for _ in pairs]
    others = partners(np.zeros(40, np.int64), 5, seed=3)
    ours = sum(own.sum() for own in chance_survivals(pairs, outputs, others))
    theirs = 0.0
    for row in others:
        shuffled = np.argsort(row)  # the source that each output meets
        theirs += sum(
            survival(pairs[shuffled[place]], output).sum() for place, output in enumerate(outputs)
        )
    assert ours == pytest.approx(theirs / 5)


def test_a_reference_is_found_in_itself_and_a_shuffled_one_is_not() -> None:
    pairs, _ = random_pairs(sentences=30, words=6, kinds=10**9, seed=4)
    own = [pair.reference for pair in pairs]
    others = partners(np.zeros(30, np.int64), 4, seed=0)
    assert np.mean(list(map(survival, pairs, own))) == 1
    assert np.mean(chance_survivals(pairs, own, others)) == 0
    shuffled = [own[other] for other in others[0]]
    assert np.mean(list(map(survival, pairs, shuffled))) == 0


def test_a_sentence_alone_in_its_bucket_has_no_chance() -> None:
    pairs, _ = random_pairs(sentences=3, words=4, kinds=5, seed=5)
    others = partners(np.array([0, 1, 0]), 2, seed=0)
    alone = chance_survivals(pairs, [pair.reference for pair in pairs], others)
    assert [np.isnan(own).all() for own in alone] == [False, True, False]


def reports_of(text: str) -> list[WordReport]:
    """What becomes of the lecture's sentence in this translation."""
    words = ["the", "black", "cat", "sat", "on", "the", "mat"]
    return word_reports(words, list(map(word_class, words)), mat(), tokenize(text))


def test_a_perfect_translation_loses_nothing_and_an_empty_one_everything() -> None:
    reports = reports_of("le chat noir s'est assis sur le tapis")
    assert [report.share for report in reports] == [1.0] * 7
    assert all(report.found == report.targets for report in reports)
    assert {report.fate for report in reports} == {"survived"}
    assert {report.fate for report in reports_of("")} == {"lost"}


def test_a_shorter_translation_word_by_word() -> None:
    reports = reports_of("le chat s'assis sur un tapis")
    assert reports[:3] == [
        WordReport("the", "determiner", 0.5, ("le",), ("le",)),
        WordReport("black", "adjective", 0.0, ("noir",), ()),
        WordReport("cat", "noun", 1.0, ("chat",), ("chat",)),
    ]
    sat = ("s'￭", "est", "assis")
    assert reports[3] == WordReport("sat", "verb", 2 / 3, sat, ("s'￭", "assis"))
    fates = [report.fate for report in reports]
    assert fates == ["in part", "lost", "survived", "in part", "survived", "in part", "survived"]


def test_a_word_without_links_is_neither_kept_nor_lost() -> None:
    pair = LinkedReference(3, ("dort",), ((1, 0),))
    reports = word_reports(["does", "sleep", "not"], ["", "verb", ""], pair, ["dort"])
    assert [report.share for report in reports] == [None, 1.0, None]
    assert [report.fate for report in reports] == ["not linked", "survived", "not linked"]
