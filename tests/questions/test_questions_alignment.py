"""C7: rates by hand, planted weights with known errors, the rule, tables, gold files, real runs."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from planted_pages import frame as table_of
from planted_pages import one_row, row_of

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import tokenize, without_joiner
from seq2seq_bottleneck.questions import alignment, alignment_gold
from seq2seq_bottleneck.questions.alignment import QUESTION, LinkedPair
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.results.bundle import load_probe
from seq2seq_bottleneck.settings.errors import UsageError, UserError
from seq2seq_bottleneck.settings.run import resolve


def test_the_error_of_a_sentence_by_hand():
    sure, links = frozenset([(0, 0), (1, 1)]), frozenset([(0, 0), (2, 2), (4, 4)])
    possible = sure | {(2, 2), (3, 2)}
    item = LinkedPair(SentencePair("", ""), (["w"] * 5, ["w"] * 5), sure, possible)
    row = alignment.count_links(item, np.ones((6, 6)), np.ones((6, 6)), links)
    error = alignment.error_rate(np.array([row["ibm1_agreements"], row["ibm1_links"]]))
    assert float(error) == pytest.approx(1 - (1 + 2) / (3 + 2))


def test_end_tokens_have_no_link():
    weights = np.array([[0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0]])
    for links in (frozenset([(1, 0), (0, 1)]), frozenset([(2, 0), (0, 1), (2, 2)])):
        words = ["w"] * len(links)
        item = LinkedPair(SentencePair("", ""), (words, words), links, links)
        row = alignment.count_links(item, weights, weights, links)
        assert row["trained_agreements"] == row["trained_links"] == 2 * len(links)


LENGTHS = [6, 12] * 10


def planted(seed, right, words=LENGTHS):
    """A run with links in reverse order; it looks at the first ``right`` words of each sentence.

    In place of any other word, it looks at the next one. ``words`` are the sentences' lengths.
    """
    rows = []
    for n, counted in zip(LENGTHS, words, strict=True):
        gold = frozenset((n - 1 - j, j) for j in range(n))
        pair = SentencePair(" ".join("w" * counted), "")
        weights = np.full((n + 1, n + 1), 0.1 / n)
        for j in range(n):
            weights[j, n - 1 - j + (n - 1 - j >= right)] = 0.9
        weights[n, n] = 0.9
        item, equal = LinkedPair(pair, (["w"] * n,) * 2, gold, gold), np.ones((n + 1, n + 1))
        rows.append(alignment.count_links(item, weights, equal, gold))
    settings = resolve("smoke", [f"training.seed={seed}", "model.attention=additive"])
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Probed(Path(f"additive{seed}"), settings, columns)


# The first seed looks at 6 words of 6 and of 12, the second at 3.
RATED = [
    ("aer", "", "5-10", None, 0.25), ("aer", "", "5-10", 1, 0), ("aer", "", "5-10", 2, 0.5),
    ("aer", "ibm1", "", None, 0), ("aer", "diagonal", "", None, 1),
    ("aer_gap", "diagonal", "11-20", None, 1 - 0.625), ("aer_gap", "ibm1", "11-20", None, -0.625),
]  # fmt: skip


def test_planted_weights_have_the_numbers_that_were_planted():
    rows = QUESTION.summarise([planted(seed, right) for seed, right in enumerate((6, 3), 1)])
    for measure, control, bucket, seed, value in RATED:
        row = one_row(rows, measure, seed, control=control, bucket=bucket)
        assert row["value"] == pytest.approx(value)
    mean = one_row(rows, "aer", bucket="5-10")  # every sentence has the same share
    assert (mean["low"], mean["high"]) == pytest.approx((mean["value"], mean["value"]))
    assert mean["n"] == 10


def test_all_sentences_count_also_those_shorter_than_every_bucket():
    rows = QUESTION.summarise([planted(1, 3, words=[3] * 4 + LENGTHS[4:])])
    counts = [one_row(rows, "aer", bucket=bucket)["n"] for bucket in ("5-10", "11-20", "")]
    assert counts == [8, 8, 20]


ERRORS = {"": 0.197, "untrained": 0.964, "diagonal": 0.601, "ibm1": 0.124}
BUCKETS = {"5-10": 200, "41+": 99, "": 1000}


def frame(gaps, errors=()):
    """The question's table: for each arm, the baselines' gaps and its AER."""
    rows = []
    for (bucket, n), arm in product(BUCKETS.items(), gaps):
        aer = ERRORS | {"": dict(errors).get(arm, ERRORS[""])}
        gap = dict(zip(("diagonal", "ibm1"), gaps[arm], strict=True))
        for measure, values in {"aer": aer, "aer_gap": gap}.items():
            for control, value in values.items():
                keys = {"bucket": bucket, "control": control, "n": n}
                rows.append(row_of(arm, measure, value, 0.01, **keys))
    return table_of(rows)


BETTER, EQUAL, WORSE = 0.02, 0.01, -0.3


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([(BETTER, BETTER)], "held"),
        ([(BETTER, EQUAL)], "partly"),  # the interval's lower end is 0
        ([(BETTER, BETTER), (WORSE, WORSE)], "partly"),
    ],
)
def test_the_baselines_decide(gaps, expected):
    table = frame(dict(zip(("additive", "dot"), gaps, strict=False)), {"dot": 0.7})
    (judged,) = QUESTION.verdict(table)
    assert (judged.claim, judged.verdict) == ("C7", expected)
    worst = ("dot", 0.7) if len(gaps) > 1 else ("additive", 0.197)
    assert (judged.measure, judged.value) == (f"AER of the weights, {worst[0]}", worst[1])


def read(folder, gold, first_word=None):
    """A gold set of sentences of three and two words, with these lines of links."""
    texts = {
        "gold": gold,
        "source": ["the cat sat", "a dog"],
        "target": ["le chat est", "un chien"],
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
    return alignment_gold.read_gold(*(folder / name for name in texts), first_word)[0]


NO_LINKS = ("0-", "a-1", "0-1-2", "0--1", "\u0661-1", "0-" + 5000 * "9", "0-2", "2-0", "0s1")
LINES = {"0-0 1?2": 0, "0?0 0-0 1p2": 0, "0-0 0?0 1?2": 0, "1-1 2?3": 1, "1p1 1-1 2p3": 1}
"""Links of one sentence, and the number that they give its first word."""


@pytest.mark.parametrize(("line", "number"), LINES.items())
def test_links_say_whether_they_are_counted_from_0_or_1(tmp_path, line, number):
    for first_word in (number, None):
        first, second = read(tmp_path, [line, ""], first_word)
        assert (first.sure, first.possible) == ({(0, 0)}, {(0, 0), (1, 2)})
        assert (second.words, second.possible) == ((["a", "dog"], ["un", "chien"]), set())


def test_links_that_fit_both_ways_need_first_word(tmp_path):
    for lines in (["1-1 2p2", ""], ["", "1-1"]):
        with pytest.raises(UsageError, match="from 0 or 1: give --first-word 0"):
            read(tmp_path, lines)
    for first_word in (0, 1):
        _, second = read(tmp_path, ["", "1-1"], first_word)
        assert second.sure == {(1 - first_word, 1 - first_word)}


def test_bad_links_and_files_of_different_lengths_are_named(tmp_path):
    for entry in NO_LINKS:
        with pytest.raises(UserError, match=r"line 2: '.*' is not a link in a sentence of 2"):
            read(tmp_path, ["0-0", f"1-1 {entry}"])
    for first_word, entry in ((1, "0-1"), (None, "4-1")):
        with pytest.raises(UserError, match=rf"'{entry}' is not a link .* from 1 \(--first-word\)"):
            read(tmp_path, [entry, ""], first_word)
    with pytest.raises(UserError, match="--gold has 1, --source has 2, --target"):
        read(tmp_path, ["0-0"])


def test_tokens_of_a_gold_set_become_running_text():
    words = ["l'", "homme", "(", "Bob", ")", "’s", "dit", ":", "oui", ",", "'", "non", "."]
    assert alignment_gold.running_text(words, {":", "￭,"}) == "l'homme (Bob)’s dit : oui,' non."


@pytest.mark.slow
def test_a_real_run_is_measured_on_its_test_set_and_on_that_as_a_gold_set(subject, tmp_path):
    columns, pairs = alignment.probe(subject), subject.corpus.test
    assert columns["source_words"].tolist() == [pair.words for pair in pairs]
    # Spaces separate its tokens in the files, without joiners; the last sentence has no links.
    texts = {
        "gold": [" ".join(f"{i}-{j}" for i, j in pair.links) for pair in pairs[:8]] + [""],
        "source": [" ".join(map(without_joiner, tokenize(pair.source))) for pair in pairs[:9]],
        "target": [" ".join(map(without_joiner, tokenize(pair.target))) for pair in pairs[:9]],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
    sentences, _ = alignment_gold.read_gold(*(tmp_path / name for name in texts))
    gold = alignment_gold.probe_gold(subject.folder, sentences, lambda _: None).found
    for name, column in columns.items():
        np.testing.assert_allclose(gold[name][:8], column[:8], rtol=1e-5, err_msg=name)
    counts = [gold[f"trained_{name}"][8] for name in ("agreements", "links")]
    assert counts == [0, len(tokenize(pairs[8].target))]


@pytest.mark.exhaustive(sample="session")
def test_a_gold_set_has_a_table_of_its_own(finished, tmp_path, capsys):
    read(tmp_path, ["0-0 1?1", "0-0"])
    names = ("gold", "source", "target")
    options = [text for name in names for text in (f"--{name}", str(tmp_path / name))]
    where = ["--results", str(finished)]
    assert run(["study", "alignment", *where, "--quiet", *options]) == 0
    measured = load_probe(finished, "alignment-gold")
    assert (set(measured["arm"]), set(measured["n"])) == ({"additive"}, {2})
    assert set(measured["seed"].dropna()) == {1, 2}
    assert run(["study", "alignment", *where, "--first-word", "1", *options]) == 1
    assert "counted from 1" in capsys.readouterr().err
