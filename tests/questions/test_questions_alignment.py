"""C7: rates by hand, planted weights with known errors, the rule at its thresholds, tables."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.pieces import links_from_weights
from seq2seq_bottleneck.questions import alignment_gold
from seq2seq_bottleneck.questions.alignment import (
    QUESTION,
    RULE,
    GoldLinks,
    LinkedPair,
    best_links,
    columns_of,
    diagonal_links,
    error_rate,
    link_counts,
    precision,
    recall,
    weight_sums,
)
from seq2seq_bottleneck.questions.alignment_gold import parse_links, read_gold, running_text
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve

LINKS = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)
LECTURE = GoldLinks.all_sure(english_french().parse("the black cat sat on the mat").links)


def rates(links, gold):
    """Error rate, precision and recall."""
    counts = np.array(link_counts(links, gold))
    return [float(rate(counts)) for rate in (error_rate, precision, recall)]


def test_rates_of_a_sentence_by_hand():
    gold = parse_links("0-0 1-1 2?2 3?2", "gold", (5, 5), 0)
    links = frozenset([(0, 0), (2, 2), (4, 4)])
    assert link_counts(links, gold) == [1, 2, 3, 2]
    assert rates(links, gold) == pytest.approx([1 - 3 / 5, 2 / 3, 1 / 2])


@given(links=LINKS, sure=LINKS, more=LINKS)
def test_rates_obey_their_laws(links, sure, more):
    """All are within 0 to 1; of sure links alone the error is 1 - F1 and symmetric."""
    assert all(
        np.isnan(rate) or 0 <= rate <= 1 for rate in rates(links, GoldLinks(sure, sure | more))
    )
    if sure:
        assert rates(sure, GoldLinks(sure, sure | more))[0] == 0
        assert rates(sure | more, GoldLinks(sure, sure | more))[0] == 0
    error, found, kept = rates(links, GoldLinks.all_sure(sure))
    assert error == pytest.approx(rates(sure, GoldLinks.all_sure(links))[0], nan_ok=True)
    if links and sure:
        assert error == pytest.approx(1 - 2 * found * kept / (found + kept) if found + kept else 1)
    assert bool(links or sure) == (not np.isnan(error))


def test_the_lectures_sentence_on_the_diagonal():
    """le chat noir s' est assis sur le tapis: by the formula over words 0 1 1 2 3 4 5 5 6."""
    diagonal = diagonal_links(7, 9)
    places = [0, 1, 1, 2, 3, 4, 5, 5, 6]
    assert diagonal == frozenset((i, j) for j, i in enumerate(places))
    right = len(diagonal & LECTURE.sure)
    assert rates(diagonal, LECTURE)[0] == pytest.approx(1 - 2 * right / 18)
    assert diagonal_links(0, 3) == diagonal_links(3, 0) == frozenset()


@given(sources=st.integers(1, 30), targets=st.integers(1, 30))
def test_the_diagonal_links_every_target_word_once_and_never_back(sources, targets):
    links = sorted(diagonal_links(sources, targets), key=lambda link: link[1])
    assert [j for _, j in links] == list(range(targets))
    assert all(first <= second for (first, _), (second, _) in pairwise(links))
    for i, j in links:
        assert 0 <= i < sources
        assert i - 1e-9 <= (j + 0.5) / targets * sources <= i + 1 + 1e-9
    assert sources != targets or all(i == j for i, j in links)


def test_the_best_links_are_as_good_as_any_one_link_a_word():
    sure = frozenset({(2, 0), (1, 1), (0, 1)})
    gold = GoldLinks(sure, sure | {(1, 2)})
    assert link_counts(best_links(gold, 3, 4), gold) == [2, 3, 4, 3]
    assert best_links(gold, 0, 0) >= sure - {(0, 1)}


def test_weight_on_gold_and_right_after_it_by_hand():
    weights = np.array([[0.5, 0.2, 0.3], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]])
    links = frozenset([(0, 0), (1, 0), (1, 2)])  # the second target word has none
    assert weight_sums(weights, links) == pytest.approx([0.7 + 0.3, 3 / 3, 2, 0.3 + 0.4])
    assert weight_sums(np.ones((1, 1)), frozenset()) == [0, 0, 0, 0]


@pytest.mark.parametrize("shape", [(9, 7), (10, 8), (9, 20)])
def test_equal_weights_have_exactly_their_own_share(shape):
    on_gold, equal, words, _ = weight_sums(np.full(shape, 1 / shape[1]), LECTURE.sure)
    assert on_gold == pytest.approx(equal)
    assert equal / words == pytest.approx(1 / shape[1])


def test_weights_that_are_the_gold_have_weight_one_and_no_error():
    weights = np.zeros((10, 8))
    for i, j in LECTURE.sure:
        weights[j, i] = 1 / sum(other == j for _, other in LECTURE.sure)
    on_gold, _, words, _ = weight_sums(weights, LECTURE.sure)
    assert on_gold == pytest.approx(words)
    assert rates(links_from_weights(weights, 7, 9), LECTURE)[0] == pytest.approx(0)


SENTENCES, SHORT, LONG = 20, 6, 12
LENGTHS = [SHORT, LONG] * (SENTENCES // 2)


def planted(seed, right, attention="additive", lengths=LENGTHS, words=None):
    """A run whose links are in reverse order: of each sentence so many words are looked at.

    The others look at the next word. ``words`` are the sentences' lengths in words, if not these.
    """
    pairs, matrices, aligned = [], {"trained": [], "untrained": []}, []
    for place, n in enumerate(lengths):
        gold = GoldLinks.all_sure((n - 1 - j, j) for j in range(n))
        text = " ".join("w" * (n if words is None else words[place]))
        pairs.append(LinkedPair(SentencePair(text, ""), ["w"] * n, ["w"] * n, gold))
        weights = np.full((n + 1, n + 1), 0.1 / n)
        for j in range(n):
            weights[j, n - 1 - j + (j >= 0 and n - 1 - j >= right)] = 0.9
        weights[n, n] = 0.9
        matrices["trained"].append(weights)
        matrices["untrained"].append(np.full((n + 1, n + 1), 1 / (n + 1)))
        aligned.append(gold.sure)
    settings = resolve("smoke", [f"training.seed={seed}", f"model.attention={attention}"])
    return Probed(Path(f"{attention}{seed}"), settings, columns_of(pairs, matrices, aligned))


def table(rows):
    """The rows by measure, control, bucket and seed."""
    keyed = {(r["measure"], r.get("control", ""), r["bucket"], r.get("seed")): r for r in rows}
    assert len(keyed) == len(rows)
    return keyed


def test_planted_weights_have_the_errors_that_were_planted():
    """Of 6 words the first seed looks at all, the second at 3; of 12 at 6 and 3."""
    rows = table(QUESTION.summarise([planted(1, SHORT), planted(2, SHORT - 3)]))
    mean = rows["aer", "", "5-10", None]
    assert [mean[end] for end in ("value", "low", "high")] == pytest.approx([0.25] * 3)
    assert mean["n"] == SENTENCES // 2
    expected = {
        ("aer", "", "5-10", 1): 0,
        ("aer", "", "5-10", 2): 0.5,
        ("precision", "", "11-20", 1): 0.5,
        ("recall", "", "", None): (12 / 18 + 6 / 18) / 2,
        ("aer", "ibm1", "", None): 0,
        ("aer", "best", "", None): 0,
        ("aer", "diagonal", "", None): 1,
        ("aer_gap", "diagonal", "11-20", None): 1 - 0.625,
        ("aer_gap", "ibm1", "11-20", None): -0.625,
    }
    assert {key: rows[key]["value"] for key in expected} == pytest.approx(expected)


def test_planted_weight_lies_on_gold_or_right_after_it():
    rows = table(QUESTION.summarise([planted(1, 3)]))
    half = (0.9 + 0.1 / SHORT) / 2
    expected = {
        ("weight", "", "5-10", None): half,
        ("weight_after", "", "5-10", None): half,
        ("weight", "equal", "5-10", None): 1 / (SHORT + 1),
        ("weight", "untrained", "5-10", None): 1 / (SHORT + 1),
    }
    assert {key: rows[key]["value"] for key in expected} == pytest.approx(expected)
    uniform = table(QUESTION.summarise([planted(1, SHORT, attention="uniform")]))
    assert {measure for measure, *_ in uniform} == {"weight", "weight_after"}


def test_of_a_gold_set_shorter_sentences_count_in_the_row_of_all():
    run = planted(1, 3, words=[3] * 4 + LENGTHS[4:])
    counted = table(QUESTION.summarise([run]))["aer", "", "", None]
    assert (counted["n"], counted["value"]) == (16, pytest.approx(1 - 3 * 16 / sum(LENGTHS[4:])))
    unknown = {f"unknown_{side}": np.full(SENTENCES, 0.03) for side in ("source", "target")}
    gold = Probed(run.folder, run.settings, run.found | unknown)
    rows = table(alignment_gold.QUESTION.summarise([gold]))
    counts = {bucket: row["n"] for (measure, _, bucket, _), row in rows.items() if measure == "aer"}
    assert counts == {"5-10": 8, "11-20": 8, "": SENTENCES}
    assert rows["aer", "", "", None]["value"] == pytest.approx(1 - 3 * SENTENCES / sum(LENGTHS))
    assert rows["aer", "", "", None]["note"].startswith("additive: unknown to the run are 3.0 %")


@pytest.mark.parametrize(
    ("changes", "suits", "gold"),
    [
        ({}, True, True),
        ({"model": {"attention": "uniform"}}, True, True),
        ({"model": {"attention": "none"}}, False, False),
        ({"model": {"source": "hidden"}}, False, False),
        ({"corpus": {"name": "files"}}, False, True),
    ],
)
def test_the_question_is_for_runs_with_weights_and_gold(changes, suits, gold):
    settings = resolve("smoke").changed(**changes)
    assert QUESTION.suits(settings) == suits
    assert alignment_gold.QUESTION.suits(settings) == gold


ERRORS = {"": 0.197, "untrained": 0.964, "diagonal": 0.601, "ibm1": 0.124, "best": 0.033}
GAPS = {"untrained": 0.767, "diagonal": 0.404, "ibm1": -0.073}
ON_GOLD = {"": 0.73, "untrained": 0.04, "equal": 0.03}
BUCKETS = {"5-10": 200, "11-20": 200, "41+": 99, "": 1000}


def frame(arms=("additive", "scaled-dot"), buckets=BUCKETS, gaps=None, errors=None, note=""):
    """The question's table; ``gaps`` are the baselines' differences, ``errors`` the arms' AER."""
    rows = []
    for bucket, n in buckets.items():
        for arm in arms:
            keys = {"arm": arm, "attention": arm, "placement": "input", "context_size": 256,
                    "corpus": "grammar", "updates": 2000, "bucket": bucket, "part": "",
                    "control": "", "note": note, "n": n}  # fmt: skip
            own = ERRORS | {"": (errors or {}).get(arm, ERRORS[""])}
            measured = {"weight": ON_GOLD, "weight_after": {"": 0.11}}
            if arm != "uniform":
                gap = GAPS | ((gaps or {}).get(arm, {}) if not bucket else {})
                measured |= {"aer": own, "precision": own, "recall": own, "aer_gap": gap}
            for measure, values in measured.items():
                for control, value in values.items():
                    row = keys | {"measure": measure, "control": control, "value": value}
                    rows.append(row | {"low": value - 0.01, "high": value + 0.01})
                    rows.append(row | {"run": "r1", "seed": 1, "value": 5.0})
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


BETTER, EQUAL, WORSE = 0.02, 0.01, -0.3


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([(BETTER, BETTER)], "held"),
        ([(BETTER, EQUAL)], "partly"),  # the interval's lower end is 0
        ([(BETTER, WORSE)], "partly"),
        ([(EQUAL, BETTER)], "not held"),
        ([(WORSE, WORSE)], "not held"),
        ([(BETTER, BETTER), (BETTER, BETTER)], "held"),
        ([(BETTER, BETTER), (WORSE, WORSE)], "partly"),
    ],
)
def test_the_baselines_decide(gaps, expected):
    arms = dict(zip(("additive", "dot"), gaps, strict=False))
    known = {arm: dict(zip(("diagonal", "ibm1"), pair, strict=True)) for arm, pair in arms.items()}
    (judged,) = QUESTION.verdict(frame(tuple(arms), gaps=known))
    assert (judged.claim, judged.verdict, judged.rule) == ("C7", expected, RULE)


def test_the_arm_with_the_largest_error_is_the_verdicts_number():
    (judged,) = QUESTION.verdict(
        frame(("additive", "dot", "uniform"), {"": 99}, errors={"dot": 0.7})
    )
    assert judged.measure == "AER of the weights, dot"
    assert (judged.value, judged.low, judged.high) == pytest.approx((0.7, 0.69, 0.71))
    assert judged.because.startswith(
        "additive: the AER of the weights is 0.197 [0.187, 0.207], that of the diagonal 0.601 "
        "[0.591, 0.611] (higher by 0.404 [0.394, 0.414]), that of IBM model 1 0.124 "
        "[0.114, 0.134] (lower by 0.073 [0.063, 0.083]); dot: "
    )
    assert judged.because.endswith("under 100 sentences (n = 99)")
    assert "uniform" not in judged.because


@pytest.mark.parametrize(
    ("measured", "reason"),
    [(None, "`bottleneck study alignment`"), (frame(("uniform",)), "select")],
)
def test_what_was_not_measured_is_not_judged(measured, reason):
    (judged,) = QUESTION.verdict(measured)
    assert (judged.verdict, judged.value) == ("not measured", None)
    assert reason in judged.because


def printed(page):
    """The lines of a table in 80 columns, as words."""
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(page.table)
    assert max(map(len, capture.get().splitlines())) <= 80
    assert "…" not in capture.get()
    return [line.split() for line in capture.get().splitlines()]


def test_the_table_has_a_row_for_each_bucket_and_arm():
    page = QUESTION.page(frame(("additive", "scaled-dot", "uniform")))
    lines = printed(page)
    row = ["5-10", "additive", "200", "73", "3", "19.7", "96.4", "60.1", "12.4", "20", "20"]
    at = lines.index(row)
    assert lines[at + 1] == ["19..21", "59..61", "11..13"]
    assert ["41+", "scaled-dot", "99*"] in [line[:3] for line in lines]
    assert ["all", "uniform", "1,000", "73", "3"] in lines
    cell = page.frame[(page.frame["bucket"] == "41+") & (page.frame["control"] == "ibm1")].iloc[0]
    assert (cell["aer"], cell["aer_gap_high"]) == pytest.approx((0.124, -0.063))


def test_the_notes_say_what_was_possible():
    text = " ".join(QUESTION.notes(frame()))
    assert "(gold has more, or none): 3.3 %." in text
    assert "right after the gold source words: 11 %." in text
    assert "equal weights have no largest" not in text
    assert "equal weights have no largest" in " ".join(QUESTION.notes(frame(("uniform",))))
    changed = frame()
    changed.loc[(changed["control"] == "best") & (changed["arm"] == "scaled-dot"), "value"] = 0.052
    text = " ".join(QUESTION.notes(changed))
    assert "(gold has more, or none): additive 3.3 %, scaled-dot 5.2 %." in text


def test_a_gold_set_has_its_buckets_its_shorter_sentences_and_its_unknown_words():
    note = "additive: unknown to the run are 2.0 % of the source"
    page = alignment_gold.QUESTION.page(frame(("additive",), {"5-10": 200, "": 447}, note=note))
    assert page.name == "alignment_gold"
    assert "the user's gold links" in page.title
    assert [line[0] for line in printed(page) if line[1:2] == ["additive"]] == ["5-10", "all"]
    assert f"{note}." in page.caption
    assert "Sentences in no length bucket: 247, in the row all alone." in page.caption
    whole = alignment_gold.QUESTION.page(frame(("additive",), {"5-10": 200, "": 200}))
    assert "no length bucket" not in " ".join(whole.caption)


@pytest.mark.parametrize(
    ("line", "base", "sure", "possible"),
    [
        ("0-0 1?2", 0, {(0, 0)}, {(0, 0), (1, 2)}),
        ("1-1 2?3", 1, {(0, 0)}, {(0, 0), (1, 2)}),
        ("", 0, set(), set()),
        ("0?0 0-0", 0, {(0, 0)}, {(0, 0)}),
        ("0-0 0?0", 0, {(0, 0)}, {(0, 0)}),
    ],
)
def test_links_are_read_from_0_and_from_1(line, base, sure, possible):
    assert parse_links(line, "gold", (3, 3), base) == (sure, possible)


NO_LINKS = ("0", "0-", "a-1", "0-1-2", "0:1", "-1-2", "0--1", "\u0661-1", "0-" + 5000 * "9")


@pytest.mark.parametrize(
    ("line", "base", "message"),
    [
        *((f"1-1 {entry}", 0, r"^line 2: '.*' is no link; write i-j") for entry in NO_LINKS),
        ("1-0", 1, "line 2: '1-0' counts from 0, but the file is read as 1-based"),
        ("2-2 4-1", 1, "line 2: '4-1' is outside a sentence of 3 source and 3 target words"),
        ("0-3", 0, "line 2: '0-3' is outside a sentence"),
    ],
)
def test_what_is_no_link_of_the_sentence_is_named(line, base, message):
    with pytest.raises(UserError, match=message):
        parse_links(line, "line 2", (3, 3), base)


def test_files_of_a_gold_set_belong_together_line_by_line(tmp_path):
    paths = [tmp_path / name for name in ("gold", "source", "target")]
    for path, text in zip(
        paths, ("0-0\n1-1\n", "the cat\na dog\n", "le chat\nun chien\n"), strict=True
    ):
        path.write_text(text)
    assert read_gold(*paths, 0)[1] == (["a", "dog"], ["un", "chien"], GoldLinks.all_sure([(1, 1)]))
    paths[0].write_text("0-0\n2-0\n")
    with pytest.raises(UserError, match=r"--gold '.*gold' line 2: '2-0' is outside"):
        read_gold(*paths, 0)
    paths[0].write_text("0-0\n")
    with pytest.raises(UserError, match=r"--gold .* has 1 line, --source .* has 2 lines, --target"):
        read_gold(*paths, 0)


def test_tokens_of_a_gold_set_become_running_text():
    words = ["l'", "homme", "(", "Bob", ")", "’s", "dit", ":", "oui", ",", "'", "non", "."]
    assert running_text(words, {":", "￭,"}) == "l'homme (Bob)’s dit : oui,' non."


@given(st.lists(st.sampled_from(["the", "l'homme,", "(a)", "«", "b!", "x'"]), min_size=1))
def test_running_text_keeps_every_character(words):
    assert running_text(words, {"«"}).replace(" ", "") == "".join(words)
