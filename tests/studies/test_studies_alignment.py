"""Alignment of runs: planted weights whose errors can be counted, and a real run measured."""

import numpy as np
import pytest

from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.tokens import detokenize, plain, tokenize
from seq2seq_bottleneck.probes.alignment import GoldLinks, alignment_statistics
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.runs.attention import attention_matrices
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.run import resolve
from seq2seq_bottleneck.studies.alignment import (
    COUNTS,
    STUDY,
    Attended,
    best_links,
    columns_of,
    probe,
    summarise,
    train_ibm1,
)
from seq2seq_bottleneck.studies.alignment_gold import (
    as_written,
    pieces,
    probe_gold,
    read_gold,
    summarise_gold,
)
from seq2seq_bottleneck.studies.kept import keep, read_kept

SENTENCES = 20
SHORT, LONG = 6, 12


@pytest.fixture(scope="module")
def found(subject):
    """What the probe finds on it."""
    return probe(subject, lambda _: None)


def _matrix(words, right):
    """A word of a sentence in reverse order; ``right`` of them are looked at, else the next one."""
    weights = np.full((words + 1, words + 1), 0.1 / words)
    for target in range(words):
        source = words - 1 - target
        weights[target, source if target < right else source + 1] = 0.9
    weights[words, words] = 0.9
    return weights


def _held(right):
    """Half of the sentences short, half long, links in reverse order."""
    words = np.array([SHORT, LONG] * (SENTENCES // 2))
    gold = [GoldLinks.all_sure((n - 1 - j, j) for j in range(n)) for n in words.tolist()]
    trained = [_matrix(n, right) for n in words.tolist()]
    untrained = [np.full((n + 1, n + 1), 1 / (n + 1)) for n in words.tolist()]
    matrices = {"trained": trained, "untrained": untrained}
    return Attended(words, [(n, n) for n in words.tolist()], matrices, gold)


def _probed(tmp_path, seed, right, attention="additive"):
    held = _held(right)
    aligned = [links.sure for links in held.gold]
    folder = tmp_path / f"{attention}{seed}"
    keep(folder, STUDY, columns_of(held, aligned))
    settings = resolve("smoke", [f"training.seed={seed}", f"model.attention={attention}"])
    return read_kept(folder, settings, STUDY)


def _table(rows):
    held = {(r["measure"], r.get("control", ""), r["bucket"], r.get("seed")): r for r in rows}
    assert len(held) == len(rows)
    return held


def test_planted_weights_have_the_errors_that_were_planted(tmp_path):
    held = _table(summarise([_probed(tmp_path, 1, SHORT), _probed(tmp_path, 2, SHORT - 3)]))
    # Of 6 words the first seed looks at all, the second at 3; of 12 at 6 and 3.
    assert held["aer", "", "5-10", 1]["value"] == pytest.approx(0)
    assert held["aer", "", "5-10", 2]["value"] == pytest.approx(0.5)
    mean = held["aer", "", "5-10", None]
    assert (mean["value"], mean["n"]) == (pytest.approx(0.25), SENTENCES // 2)
    assert (mean["low"], mean["high"]) == (pytest.approx(0.25), pytest.approx(0.25))
    assert held["precision", "", "11-20", 1]["value"] == pytest.approx(0.5)
    assert held["recall", "", "", None]["value"] == pytest.approx((12 / 18 + 6 / 18) / 2)
    assert held["aer", "ibm1", "", None]["value"] == pytest.approx(0)
    assert held["aer", "best", "", None]["value"] == pytest.approx(0)
    assert held["aer", "diagonal", "", None]["value"] == pytest.approx(1)
    gap = held["aer_gap", "diagonal", "11-20", None]
    assert gap["value"] == pytest.approx(1 - 0.625)
    assert held["aer_gap", "ibm1", "11-20", None]["value"] == pytest.approx(-0.625)


def test_planted_weight_lies_on_gold_or_right_after_it(tmp_path):
    held = _table(summarise([_probed(tmp_path, 1, 3)]))
    small = 0.1 / SHORT
    assert held["weight", "", "5-10", None]["value"] == pytest.approx((0.9 + small) / 2)
    assert held["weight_after", "", "5-10", None]["value"] == pytest.approx((0.9 + small) / 2)
    assert held["weight", "equal", "5-10", None]["value"] == pytest.approx(1 / (SHORT + 1))
    assert held["weight", "untrained", "5-10", None]["value"] == pytest.approx(1 / (SHORT + 1))


def test_equal_weights_have_no_alignment_but_a_weight(tmp_path):
    held = _table(summarise([_probed(tmp_path, 1, SHORT, attention="uniform")]))
    assert {measure for measure, *_ in held} == {"weight", "weight_after"}


def test_best_links_are_as_good_as_any_one_link_a_word():
    gold = GoldLinks(
        frozenset({(2, 0), (1, 1), (0, 1)}), frozenset({(2, 0), (1, 1), (0, 1), (1, 2)})
    )
    links = best_links(gold, 3, 4)
    assert links in (frozenset({(2, 0), (1, 1), (1, 2), (0, 3)}),
                     frozenset({(2, 0), (0, 1), (1, 2), (0, 3)}))  # fmt: skip
    assert alignment_statistics([links], [gold]).tolist() == [[2, 3, 4, 3]]


@pytest.mark.slow
def test_a_real_runs_counts_are_those_of_its_weights(subject, found):
    pairs = subject.corpus.test
    assert found["source_words"].tolist() == [pair.words for pair in pairs]
    matrices = attention_matrices(
        subject.graph, subject.weights, subject.encode(pairs[:1]), False, 1
    )
    matrix, links = matrices[0], set(pairs[0].links)
    source, target = len(tokenize(pairs[0].source)), len(tokenize(pairs[0].target))
    best = {(int(np.argmax(matrix[j, :source])), j) for j in range(target)}
    counts = [found[f"trained_{name}"][0] for name in COUNTS]
    assert counts == [len(best & links), len(best & links), target, len(links)]
    on_gold = sum(matrix[j, i] for i, j in links)
    assert found["trained_on_gold"][0] == pytest.approx(on_gold, rel=1e-5)


@pytest.mark.slow
def test_the_networks_differ_and_ibm1_is_the_training_texts(subject, found):
    assert (found["trained_on_gold"] != found["untrained_on_gold"]).any()
    pair = subject.corpus.test[-1]
    model = train_ibm1(subject.corpus.train)
    (links,) = model.align([(tokenize(pair.source), tokenize(pair.target))])
    assert found["ibm1_links"][-1] == len(links)
    assert found["ibm1_sure_found"][-1] == len(links & set(pair.links))


def test_the_study_is_for_runs_with_weights_and_gold():
    settings = resolve("smoke")
    assert STUDY.suits(settings)
    assert STUDY.suits(settings.changed(model={"attention": "uniform"}))
    assert not STUDY.suits(settings.changed(model={"attention": "none"}))
    assert not STUDY.suits(settings.changed(model={"source": "hidden"}))
    assert not STUDY.suits(settings.changed(corpus={"name": "files"}))


# Gold sets of the user's.


def _written(folder, pairs):
    """The pairs as a gold set: tokens by spaces, links counted from 0."""
    lines = [
        [" ".join(map(plain, tokenize(pair.source))) for pair in pairs],
        [" ".join(map(plain, tokenize(pair.target))) for pair in pairs],
        [" ".join(f"{i}-{j}" for i, j in pair.links) for pair in pairs],
    ]
    paths = [folder / name for name in ("source", "target", "gold")]
    for path, texts in zip(paths, lines, strict=True):
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf8")
    source, target, gold = paths
    return gold, source, target


@pytest.mark.slow
def test_the_runs_own_test_set_as_a_gold_set_gives_the_studys_numbers(subject, found, tmp_path):
    held = read_gold(*_written(tmp_path, subject.corpus.test[:8]), 0)
    columns = probe_gold(subject, held, lambda _: None)
    for name in set(found) - {"source_words"}:  # a gold set's words are its tokens
        np.testing.assert_allclose(columns[name][:8], np.array(found[name])[:8], rtol=1e-5,
                                   err_msg=name)  # fmt: skip
    rows = summarise_gold([Probed(subject.folder, subject.settings, columns)])
    mean = next(row for row in rows if row["bucket"] == "")
    assert mean["n"] == 8
    assert mean["note"].startswith("additive: unknown to the run are 0.0 % of the source")


def test_a_gold_set_is_told_by_length_and_as_a_whole_with_shorter_sentences(tmp_path):
    made = _probed(tmp_path, 1, SHORT - 3)
    short = made.found["source_words"] == SHORT
    words = np.where(np.arange(SENTENCES) < 4, 3.0, made.found["source_words"])
    unknown = {f"unknown_{side}": np.zeros(SENTENCES) for side in ("source", "target")}
    found = made.found | unknown | {"source_words": words}
    held = _table(summarise_gold([Probed(made.folder, made.settings, found)]))
    counts = {bucket: row["n"] for (measure, _, bucket, _), row in held.items() if measure == "aer"}
    assert counts == {"5-10": 8, "11-20": 8, "": SENTENCES}
    # Of 6 words 3 are looked at, of 12 three: the links are as many as the words.
    assert held["aer", "", "5-10", None]["value"] == pytest.approx(1 - 3 / SHORT)
    assert held["aer", "", "11-20", None]["value"] == pytest.approx(1 - 3 / LONG)
    everywhere = 1 - 3 * SENTENCES / np.where(short, SHORT, LONG).sum()
    assert held["aer", "", "", None]["value"] == pytest.approx(everywhere)


def test_a_token_that_stands_alone_is_found_glued():
    known = {"l'￭", "￭,", "homme", "o￭", "￭!"}
    assert pieces(["l'", "homme", ",", "x", "o!"], known) == [
        ["l'￭"], ["homme"], ["￭,"], ["x"], ["o￭", "￭!"],
    ]  # fmt: skip


def test_tokens_are_glued_again_for_a_run_of_subwords():
    words = ["l'", "homme", "(", "Bob", ")", "’s", "dit", ":", "oui", ",", "'", "non", "."]
    text = "l'homme (Bob)’s dit : oui,' non."
    assert detokenize(as_written(words, {"▁:", "▁non"})) == text


@pytest.mark.parametrize(
    ("gold", "source", "base", "named"),
    [
        ("0-0\n", "a\nb\n", 0, "2 lines"),
        ("0-0\n0-0\n", "a\n", 0, "2 lines for 1 sentence;"),
        ("0-1\n", "a\n", 0, "outside a sentence"),
        ("0-0\n", "a\n", 1, "read as 1-based"),
        ("0:0\n", "a\n", 0, "no link"),
    ],
)
def test_files_that_do_not_fit_together_are_named(tmp_path, gold, source, base, named):
    paths = [tmp_path / name for name in ("gold", "source", "target")]
    for path, text in zip(paths, (gold, source, "x\n"), strict=True):
        path.write_text(text)
    with pytest.raises(UserError, match=named):
        read_gold(*paths, base)


@pytest.mark.slow
def test_a_gold_set_without_links_measures_nothing(subject, tmp_path):
    pairs = [SentencePair("the cat", "le chat")]
    held = read_gold(*_written(tmp_path, [*pairs, subject.corpus.test[0]]), 0)
    assert len(held.links) == 2
    empty = type(held)(held.source[:1], held.target[:1], held.links[:1])
    with pytest.raises(UserError, match="no sentence of --gold has links"):
        probe_gold(subject, empty, lambda _: None)
