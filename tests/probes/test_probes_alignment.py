"""Alignment error rate on known links, gold files, baselines, weight on gold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.probes.alignment import (
    GoldLinks,
    alignment_error_rate,
    alignment_precision,
    alignment_recall,
    alignment_statistics,
    check_gold,
    diagonal_links,
    equal_weight_on_gold,
    gold_weight_statistics,
    links_from_weights,
    parse_gold,
    weight_on_gold,
)
from seq2seq_bottleneck.scoring.bootstrap import draw, estimate
from seq2seq_bottleneck.settings.errors import UserError

LINKS = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def _aer(links: frozenset, gold: GoldLinks) -> float:
    return float(alignment_error_rate(alignment_statistics([links], [gold])[0]))


def _lecture() -> GoldLinks:
    pair = english_french().parse("the black cat sat on the mat")
    assert pair is not None
    return GoldLinks.all_sure(pair.links)


def test_rates_of_a_sentence_by_hand() -> None:
    (gold,) = parse_gold(["0-0 1-1 2?2 3?2"], "gold", base=0)
    links = frozenset([(0, 0), (2, 2), (4, 4)])
    sums = alignment_statistics([links], [gold])
    assert sums.tolist() == [[1, 2, 3, 2]]
    assert alignment_error_rate(sums)[0] == pytest.approx(1 - 3 / 5)
    assert alignment_precision(sums)[0] == pytest.approx(2 / 3)
    assert alignment_recall(sums)[0] == pytest.approx(1 / 2)


def test_lectures_gold_against_itself_and_the_diagonal() -> None:
    gold = _lecture()
    assert _aer(gold.sure, gold) == 0
    # le chat noir s' est assis sur le tapis over the black cat sat on the mat: by the formula
    # words 0 1 1 2 3 4 5 5 6, of which le, s' est assis in part, tapis are right
    diagonal = diagonal_links(7, 9)
    assert sorted(diagonal, key=lambda link: link[1]) == [
        *[(0, 0), (1, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (5, 7), (6, 8)]
    ]
    right = len(diagonal & gold.sure)
    assert _aer(diagonal, gold) == pytest.approx(1 - 2 * right / 18)


@given(sure=LINKS, more=LINKS, chosen=st.randoms())
def test_what_lies_between_sure_and_possible_is_without_error(
    sure: frozenset, more: frozenset, chosen: object
) -> None:
    gold = GoldLinks(sure, sure | more)
    links = sure | frozenset(link for link in sorted(more) if chosen.random() < 0.5)
    assert _aer(links, gold) == 0 or not links
    if not links:
        assert np.isnan(_aer(links, gold))


@given(ours=LINKS, theirs=LINKS)
def test_with_sure_links_alone_it_is_one_minus_f1_and_symmetric(
    ours: frozenset, theirs: frozenset
) -> None:
    there, back = _aer(ours, GoldLinks.all_sure(theirs)), _aer(theirs, GoldLinks.all_sure(ours))
    assert there == pytest.approx(back, nan_ok=True)
    if ours and theirs:
        sums = alignment_statistics([ours], [GoldLinks.all_sure(theirs)])[0]
        precision, recall = alignment_precision(sums), alignment_recall(sums)
        harmonic = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert there == pytest.approx(1 - harmonic)


@given(links=LINKS, sure=LINKS, more=LINKS)
def test_rates_stay_between_nothing_and_one(
    links: frozenset, sure: frozenset, more: frozenset
) -> None:
    sums = alignment_statistics([links], [GoldLinks(sure, sure | more)])[0]
    for rate in (alignment_error_rate, alignment_precision, alignment_recall):
        assert np.isnan(rate(sums)) or 0 <= rate(sums) <= 1


def test_corpus_rate_is_of_summed_counts_and_fits_the_bootstrap() -> None:
    gold = [GoldLinks.all_sure([(0, 0)]), GoldLinks.all_sure([(0, 0), (1, 1), (2, 2)])]
    links = [frozenset([(0, 0)]), frozenset([(0, 0), (1, 2), (2, 1)])]
    sums = alignment_statistics(links, gold)
    ours = estimate(alignment_error_rate, sums[None], draw(2, 50, seed=0, bucket=0))
    assert ours.value == pytest.approx(1 - 4 / 8)
    assert set(np.round(ours.draws, 9)) == {0.0, 0.5, round(2 / 3, 9)}


def test_gold_files_from_0_and_from_1_read_alike() -> None:
    zero = parse_gold(["0-0 1?2", "", "0?0 0-0"], "gold", base=0)
    assert zero == parse_gold(["1-1 2?3\n", " \n", "1?1 1-1"], "gold", base=1)
    both = frozenset([(0, 0), (1, 2)])
    assert zero[0] == GoldLinks(frozenset([(0, 0)]), both)
    assert zero[1] == GoldLinks(frozenset(), frozenset())
    assert zero[2] == GoldLinks.all_sure([(0, 0)])


@pytest.mark.parametrize(
    "entry", ["0", "0-", "a-1", "0-1-2", "0:1", "-1-2", "0--1", "\u0661-1", "0-" + 5000 * "9"]
)
def test_an_entry_that_is_no_link_names_file_and_line(entry: str) -> None:
    with pytest.raises(UserError, match=r"^my\.align line 2: '.*' is no link; write i-j"):
        parse_gold(["0-0", f"1-1 {entry}"], "my.align", base=0)


def test_a_zero_in_a_file_from_1_is_an_error() -> None:
    with pytest.raises(UserError, match="line 1: '3-0' counts from 0"):
        parse_gold(["3-0"], "my.align", base=1)


def test_gold_must_fit_its_sentences() -> None:
    gold = parse_gold(["1-1 3?2", "1-1"], "my.align", base=1)
    check_gold(gold, [(3, 2), (1, 1)], "my.align", base=1)
    with pytest.raises(UserError, match=r"line 1: link 3 to 2 is outside .* 2 source and 2 target"):
        check_gold(gold, [(2, 2), (1, 1)], "my.align", base=1)
    with pytest.raises(UserError, match="2 lines for 3 sentences"):
        check_gold(gold, [(3, 2), (1, 1), (1, 1)], "my.align", base=1)


def test_links_from_weights_leave_end_tokens_out() -> None:
    weights = np.array([[0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]])
    assert links_from_weights(weights, 2, 2) == {(1, 0), (0, 1)}
    assert links_from_weights(weights, 3, 3) == {(2, 0), (0, 1), (2, 2)}
    assert links_from_weights(weights, 0, 2) == frozenset()


@given(sources=st.integers(1, 30), targets=st.integers(1, 30))
def test_diagonal_links_every_target_word_once_and_never_back(sources: int, targets: int) -> None:
    links = sorted(diagonal_links(sources, targets), key=lambda link: link[1])
    assert [j for _, j in links] == list(range(targets))
    places = [i for i, _ in links]
    assert places == sorted(places)
    assert 0 <= places[0] <= places[-1] < sources
    for i, j in links:
        middle = (j + 0.5) / targets * sources
        assert i - 1e-9 <= middle <= i + 1 + 1e-9
    assert sources != targets or all(i == j for i, j in links)


def test_diagonal_of_an_empty_side_is_empty() -> None:
    assert diagonal_links(0, 3) == diagonal_links(3, 0) == frozenset()


def test_weight_on_gold_by_hand() -> None:
    weights = np.array([[0.5, 0.2, 0.3], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]])
    gold = frozenset([(0, 0), (1, 0), (1, 2)])  # the second target word has none
    sums = gold_weight_statistics([weights], [gold])
    assert sums[0] == pytest.approx([0.7 + 0.3, 3 / 3, 2])
    assert weight_on_gold(sums)[0] == pytest.approx(0.5)
    assert equal_weight_on_gold(sums)[0] == pytest.approx(0.5)


def test_equal_weights_have_exactly_their_own_share() -> None:
    gold = _lecture().sure
    shapes = [(9, 7), (10, 8), (9, 20)]
    equal = [np.full(shape, 1 / shape[1]) for shape in shapes]
    sums = gold_weight_statistics(equal, [gold] * 3)
    assert weight_on_gold(sums) == pytest.approx(equal_weight_on_gold(sums))
    assert equal_weight_on_gold(sums)[0] == pytest.approx(1 / 7)


def test_weights_that_are_the_gold_have_weight_one() -> None:
    gold = _lecture().sure
    weights = np.zeros((10, 8))
    for i, j in gold:
        weights[j, i] = 1 / sum(other == j for _, other in gold)
    assert weight_on_gold(gold_weight_statistics([weights], [gold]))[0] == pytest.approx(1)
    assert _aer(links_from_weights(weights, 7, 9), GoldLinks.all_sure(gold)) == pytest.approx(0)


def test_no_gold_is_blank() -> None:
    sums = gold_weight_statistics([np.ones((1, 1))], [frozenset()])
    assert np.isnan(weight_on_gold(sums)).all()
    assert alignment_statistics([], []).shape == (0, 4)
    assert gold_weight_statistics([], []).shape == (0, 3)
