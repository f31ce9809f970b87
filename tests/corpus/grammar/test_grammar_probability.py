"""Probabilities, ambiguity and draws of the grammar."""

from collections import Counter
from math import isclose, log2
from random import Random

import pytest

from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.questions.information import KINDS

pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture(scope="module")
def pairs_of_two() -> list[SentencePair]:
    return list(english_french().sentences(2))


def test_probabilities_of_length_two_sum_to_one(pairs_of_two: list[SentencePair]) -> None:
    assert len(pairs_of_two) > 500
    small = list(english_french("small").sentences(2))
    for pairs in (pairs_of_two, small):
        assert len({pair.source for pair in pairs}) == len(pairs)
        assert isclose(sum(2 ** -(pair.bits or 0.0) for pair in pairs), 1.0, rel_tol=1e-9)
    known = {(pair.source, pair.target) for pair in pairs_of_two}
    assert {(pair.source, pair.target) for pair in small} < known


@pytest.mark.exhaustive(sample="session")
def test_length_two_is_unambiguous(pairs_of_two: list[SentencePair]) -> None:
    assert all(english_french().parse(pair.source) == pair for pair in pairs_of_two)
    assert all(english_french().count_derivations(pair.source) == 1 for pair in pairs_of_two)


@pytest.mark.exhaustive(sample="session")
def test_length_three_is_unambiguous_and_sums_to_one_and_shares_its_french_as_the_table_says():
    bits, french, sources, count = 0.0, Counter[str](), set(), 0
    for pair in english_french().sentences(3):
        chance = 2**-pair.bits
        bits += chance * pair.bits
        french[pair.target] += chance
        sources.add(pair.source)
        count += 1
    assert len(sources) == count
    assert isclose(sum(french.values()), 1.0, rel_tol=1e-9)
    shared = bits + sum(chance * log2(chance) for chance in french.values())
    assert f"(of three words {shared:.1f} of {bits:.1f} bits)" in KINDS["exact"]


def test_draws_have_their_probabilities(pairs_of_two: list[SentencePair]) -> None:
    draws = 10_000
    random = Random(5)
    seen = Counter(english_french().draw(random, 2).source for _ in range(draws))
    expected = {pair.source: draws * 2 ** -(pair.bits or 0.0) for pair in pairs_of_two}
    often = {source: count for source, count in expected.items() if count >= 5}
    rest = draws - sum(often.values())
    observed_rest = draws - sum(seen[source] for source in often)
    statistic = sum((seen[source] - count) ** 2 / count for source, count in often.items())
    statistic += (observed_rest - rest) ** 2 / rest
    freedom = len(often)
    assert freedom > 100
    assert abs(statistic - freedom) < 4 * (2 * freedom) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("words", [*range(2, 26), 30, 40, 60])
def test_drawn_sentences_have_one_derivation(words: int) -> None:
    grammar, random = english_french(), Random(words)
    for _ in range(20 if words < 26 else 4):
        pair = grammar.draw(random, words)
        assert grammar.count_derivations(pair.source) == 1, pair.source
        assert grammar.parse(pair.source) == pair


def test_weights_are_a_distribution_over_lengths() -> None:
    weights = [english_french().weight(words) for words in range(2, 61)]
    assert min(weights) > 0
    assert 0.8 < sum(weights) < 1
