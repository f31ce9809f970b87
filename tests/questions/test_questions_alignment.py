"""C7: rates by hand, planted weights with known errors, the rule, tables, gold files, real runs."""

import csv
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import read_csv
from planted_pages import frame as table_of
from planted_pages import one_row, printed_words, row_of

from seq2seq_bottleneck.cli.main import run
from seq2seq_bottleneck.corpus.grammar import english_french
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.corpus.vocabulary import plain, tokenize
from seq2seq_bottleneck.questions import alignment
from seq2seq_bottleneck.questions.alignment import GOLD_QUESTION, QUESTION
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.results.bundle import load_probe
from seq2seq_bottleneck.results.export import write_bundle
from seq2seq_bottleneck.runs.translate import END, attended, attention_matrices, load_run
from seq2seq_bottleneck.settings.errors import UserError
from seq2seq_bottleneck.settings.files import write_listed
from seq2seq_bottleneck.settings.run import resolve

LINKS = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)
LECTURE = frozenset(english_french().parse("the black cat sat on the mat").links)


def linked(words, sure, possible=None, text=""):
    """Sides of so many words with these links."""
    possible = sure if possible is None else possible
    return alignment.LinkedPair(
        SentencePair(text, ""), ["w"] * words, ["w"] * words, sure, possible
    )


def counts_of(method, links, sure, possible=None, words=5):
    """The probe's counts of a method, where these links are those of IBM model 1."""
    equal = {name: [np.ones((words + 1, words + 1))] for name in ("trained", "untrained")}
    columns = alignment.columns_of([linked(words, sure, possible)], equal, [links])
    return [int(columns[f"{method}_{name}"][0]) for name in alignment.COUNTS]


def rates(links, sure, possible=None):
    """Error rate, precision and recall."""
    counts = np.array(counts_of("ibm1", links, sure, possible))
    return [float(rate(counts)) for rate in alignment.RATES.values()]


def test_rates_of_a_sentence_by_hand():
    sure, possible = alignment.parse_links("0-0 1-1 2?2 3?2", "gold", 5, 5, 0)
    links = frozenset([(0, 0), (2, 2), (4, 4)])
    assert counts_of("ibm1", links, sure, possible) == [1, 2, 3, 2]
    assert rates(links, sure, possible) == pytest.approx([1 - 3 / 5, 2 / 3, 1 / 2])
    # The best: one link a target word, sure before possible before any.
    sure = frozenset({(2, 0), (1, 1), (0, 1)})
    assert counts_of("best", sure, sure, sure | {(1, 2)}, words=4) == [2, 3, 4, 3]


@given(links=LINKS, sure=LINKS, more=LINKS)
def test_rates_obey_their_laws(links, sure, more):
    """All are within 0 to 1; of sure links alone the error is 1 - F1 and symmetric."""
    assert all(np.isnan(rate) or 0 <= rate <= 1 for rate in rates(links, sure, sure | more))
    if sure:
        assert rates(sure, sure, sure | more)[0] == rates(sure | more, sure, sure | more)[0] == 0
    error, precision, recall = rates(links, sure)
    assert error == pytest.approx(rates(sure, links)[0], nan_ok=True)
    assert bool(links or sure) == (not np.isnan(error))
    if links and sure:
        total = precision + recall
        assert error == pytest.approx(1 - 2 * precision * recall / total if total else 1)


def weight_sums(weights, links):
    """Weight on gold, the equal share, words with gold, weight right after; end tokens are last."""
    sides = (["w"] * (size - 1) for size in weights.shape[::-1])
    item = alignment.LinkedPair(SentencePair("", ""), *sides, links, links)
    matrices = {"trained": [weights], "untrained": [weights]}
    columns = alignment.columns_of([item], matrices, [frozenset()])
    return [columns[f"trained_{name}"][0] for name in ("on_gold", "equal", "words", "after_gold")]


def test_weight_on_gold_and_right_after_it_by_hand():
    weights = np.array([[0.5, 0.2, 0.3], [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]])
    links = frozenset([(0, 0), (1, 0), (1, 2)])  # the second target word has none
    assert weight_sums(weights, links) == pytest.approx([0.7 + 0.3, 3 / 3, 2, 0.3 + 0.4])
    assert weight_sums(weights, frozenset()) == [0, 0, 0, 0]
    for shape in ((9, 7), (10, 8), (9, 20)):
        on_gold, equal, words, _ = weight_sums(np.full(shape, 1 / shape[1]), LECTURE)
        assert on_gold == pytest.approx(equal)
        assert equal / words == pytest.approx(1 / shape[1])
    weights = np.zeros((10, 8))
    for i, j in LECTURE:
        weights[j, i] = 1 / sum(other == j for _, other in LECTURE)
    on_gold, _, words, _ = weight_sums(weights, LECTURE)
    assert on_gold == pytest.approx(words)


SENTENCES, SHORT, LONG = 20, 6, 12
LENGTHS = [SHORT, LONG] * (SENTENCES // 2)


def planted(seed, right, attention="additive", words=LENGTHS, of_gold_set=False):
    """A run whose links are in reverse order: of each sentence so many words are looked at.

    The others look at the next word. ``words`` are the sentences' lengths as they are counted.
    """
    pairs, matrices = [], {"trained": [], "untrained": []}
    for n, counted in zip(LENGTHS, words, strict=True):
        gold = frozenset((n - 1 - j, j) for j in range(n))
        pairs.append(linked(n, gold, text=" ".join("w" * counted)))
        weights = np.full((n + 1, n + 1), 0.1 / n)
        for j in range(n):
            weights[j, n - 1 - j + (j >= 0 and n - 1 - j >= right)] = 0.9
        weights[n, n] = 0.9
        matrices["trained"].append(weights)
        matrices["untrained"].append(np.full((n + 1, n + 1), 1 / (n + 1)))
    settings = resolve("smoke", [f"training.seed={seed}", f"model.attention={attention}"])
    columns = alignment.columns_of(pairs, matrices, [item.sure for item in pairs])
    unknown = {f"unknown_{side}": np.full(SENTENCES, 0.03) for side in ("source", "target")}
    columns |= unknown if of_gold_set else {}
    return Probed(Path(f"{attention}{seed}"), settings, columns)


HALF = (0.9 + 0.1 / SHORT) / 2


# Of 6 words the first seed looks at all, the second at 3; of 12 at 6 and 3.
RATED = [
    ("aer", "", "5-10", None, 0.25), ("aer", "", "5-10", 1, 0), ("aer", "", "5-10", 2, 0.5),
    ("precision", "", "11-20", 1, 0.5), ("recall", "", "", None, (12 / 18 + 6 / 18) / 2),
    ("aer", "ibm1", "", None, 0), ("aer", "best", "", None, 0), ("aer", "diagonal", "", None, 1),
    ("aer_gap", "diagonal", "11-20", None, 1 - 0.625), ("aer_gap", "ibm1", "11-20", None, -0.625),
]  # fmt: skip
WEIGHED = [
    ("weight", "", "5-10", None, HALF), ("weight_after", "", "5-10", None, HALF),
    ("weight", "equal", "5-10", None, 1 / (SHORT + 1)),
    ("weight", "untrained", "5-10", None, 1 / (SHORT + 1)),
]  # fmt: skip


@pytest.mark.parametrize(("looked_at", "expected"), [((6, 3), RATED), ((3,), WEIGHED)])
def test_planted_weights_have_the_numbers_that_were_planted(looked_at, expected):
    rows = QUESTION.summarise([planted(seed, right) for seed, right in enumerate(looked_at, 1)])
    for measure, control, bucket, seed, value in expected:
        row = one_row(rows, measure, seed, control=control, bucket=bucket)
        assert row["value"] == pytest.approx(value)
    mean = one_row(rows, "aer", bucket="5-10")  # every sentence has the same share
    assert (mean["low"], mean["high"]) == pytest.approx((mean["value"], mean["value"]))
    assert mean["n"] == SENTENCES // 2
    uniform = QUESTION.summarise([planted(1, SHORT, attention="uniform")])
    assert {row["measure"] for row in uniform} == {"weight", "weight_after"}


def test_of_a_gold_set_shorter_sentences_count_in_the_row_of_all():
    words = [3] * 4 + LENGTHS[4:]
    row = one_row(QUESTION.summarise([planted(1, 3, words=words)]), "aer")
    assert (row["n"], row["value"]) == (16, pytest.approx(1 - 3 * 16 / sum(LENGTHS[4:])))
    rows = GOLD_QUESTION.summarise([planted(1, 3, words=words, of_gold_set=True)])
    counts = [one_row(rows, "aer", bucket=bucket)["n"] for bucket in ("5-10", "11-20", "")]
    assert counts == [8, 8, SENTENCES]
    row = one_row(rows, "aer")
    assert row["value"] == pytest.approx(1 - 3 * SENTENCES / sum(LENGTHS))
    assert row["note"].startswith("additive: unknown to the run are 3.0 %")


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
    assert GOLD_QUESTION.suits(settings) == gold


ERRORS = {"": 0.197, "untrained": 0.964, "diagonal": 0.601, "ibm1": 0.124, "best": 0.033}
GAPS = {"untrained": 0.767, "diagonal": 0.404, "ibm1": -0.073}
ON_GOLD = {"": 0.73, "untrained": 0.04, "equal": 0.03}
BUCKETS = {"5-10": 200, "11-20": 200, "41+": 99, "": 1000}


def frame(arms=("additive", "scaled-dot"), buckets=BUCKETS, gaps=(), errors=(), note=""):
    """The question's table; ``gaps`` are the baselines' differences, ``errors`` the arms' AER."""
    rows = []
    for (bucket, n), arm in product(buckets.items(), arms):
        aer = ERRORS | {"": dict(errors).get(arm, ERRORS[""])}
        measured = {"weight": ON_GOLD, "weight_after": {"": 0.11}}
        if arm != "uniform":
            gap = GAPS | (dict(gaps).get(arm, {}) if not bucket else {})
            measured |= {"aer": aer, "precision": aer, "recall": aer, "aer_gap": gap}
        for measure, values in measured.items():
            for control, value in values.items():
                keys = {"bucket": bucket, "control": control, "note": note, "n": n}
                rows.append(row_of(arm, measure, value, 0.01, **keys))
    return table_of(rows)


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
    assert (judged.claim, judged.verdict) == ("C7", expected)


def test_the_largest_error_is_the_verdicts_number_and_what_was_not_measured_is_not_judged():
    few = frame(("additive", "dot", "uniform"), {"": 99}, errors={"dot": 0.7})
    (judged,) = QUESTION.verdict(few)
    assert judged.measure == "AER of the weights, dot"
    assert (judged.value, judged.low, judged.high) == pytest.approx((0.7, 0.69, 0.71))
    assert judged.because.endswith("under 100 sentences (n = 99)")
    assert "uniform" not in judged.because
    for measured, reason in (
        (None, "`bottleneck study alignment`"),
        (frame(("uniform",)), "select"),
    ):
        (judged,) = QUESTION.verdict(measured)
        assert (judged.verdict, judged.value) == ("not measured", None)
        assert reason in judged.because


def test_the_table_has_a_row_for_each_bucket_and_arm():
    page = QUESTION.page(frame(("additive", "scaled-dot", "uniform")))
    lines = printed_words(page)
    row = ["5-10", "additive", "200", "73", "3", "19.7", "96.4", "60.1", "12.4", "20", "20"]
    assert lines[lines.index(row) + 1] == ["19..21", "59..61", "11..13"]
    assert ["41+", "scaled-dot", "99*"] in [line[:3] for line in lines]
    assert ["all", "uniform", "1,000", "73", "3"] in lines
    cell = page.frame[(page.frame["bucket"] == "41+") & (page.frame["control"] == "ibm1")].iloc[0]
    assert (cell["aer"], cell["aer_gap_high"]) == pytest.approx((0.124, -0.063))


def test_the_notes_say_what_was_possible_and_what_a_gold_set_has():
    changed = frame()
    changed.loc[(changed["control"] == "best") & (changed["arm"] == "scaled-dot"), "value"] = 0.052
    for measured, words in ((frame(), "3.3 %"), (changed, "additive 3.3 %, scaled-dot 5.2 %")):
        assert f"(gold has more, or none): {words}." in " ".join(QUESTION.notes(measured))
    note = "additive: unknown to the run are 2.0 % of the source"
    for whole, outside in ((447, True), (200, False)):
        page = GOLD_QUESTION.page(frame(("additive",), {"5-10": 200, "": whole}, note=note))
        rows = [line[0] for line in printed_words(page) if line[1:2] == ["additive"]]
        assert (page.name, rows) == ("alignment_gold", ["5-10", "all"])
        assert f"{note}." in page.caption
        assert (
            "Sentences in no length bucket: 247, in the row all alone." in page.caption
        ) == outside


NO_LINKS = ("0", "0-", "a-1", "0-1-2", "0:1", "-1-2", "0--1", "\u0661-1", "0-" + 5000 * "9")


@pytest.mark.parametrize(
    ("line", "base", "message"),
    [
        *((f"1-1 {entry}", 0, r"^line 2: '.*' is no link; write i-j") for entry in NO_LINKS),
        ("1-0", 1, "line 2: '1-0' is outside a sentence of 3 source and 3 target words, counted"),
        (
            "2-2 4-1",
            1,
            "line 2: '4-1' is outside a sentence of .* counted from 1; check the tokens",
        ),
        ("0-3", 0, "line 2: '0-3' is outside a sentence of .* counted from 0; .* and --first-word"),
    ],
)
def test_what_is_no_link_of_the_sentence_is_named(line, base, message):
    for good, start in (("0-0 1?2", 0), ("1-1 2?3", 1), ("0?0 0-0 1?2", 0), ("0-0 0?0 1?2", 0)):
        assert alignment.parse_links(good, "gold", 3, 3, start) == ({(0, 0)}, {(0, 0), (1, 2)})
    with pytest.raises(UserError, match=message):
        alignment.parse_links(line, "line 2", 3, 3, base)


def write_gold(folder, texts):
    """The three files of a gold set, by line."""
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf8")
    return [folder / name for name in ("gold", "source", "target")]


def test_files_of_a_gold_set_belong_together_line_by_line(tmp_path):
    texts = {"source": ["the cat", "a dog"], "target": ["le chat", "un chien"]}
    sentences = alignment.read_gold(*write_gold(tmp_path, texts | {"gold": ["0-0", "1-1"]}), 0)
    assert sentences[1] == (["a", "dog"], ["un", "chien"], {(1, 1)}, {(1, 1)})
    for lines, message in (
        (["0-0", "2-0"], r"--gold '.*gold' line 2: '2-0' is outside"),
        (["0-0"], r"--gold .* has 1 line, --source .* has 2 lines, --target"),
    ):
        with pytest.raises(UserError, match=message):
            alignment.read_gold(*write_gold(tmp_path, texts | {"gold": lines}), 0)


@given(st.lists(st.sampled_from(["the", "l'homme,", "(a)", "«", "b!", "x'"]), min_size=1))
def test_tokens_of_a_gold_set_become_running_text_with_every_character(tokens):
    assert alignment.running_text(tokens, {"«"}).replace(" ", "") == "".join(tokens)
    words = ["l'", "homme", "(", "Bob", ")", "’s", "dit", ":", "oui", ",", "'", "non", "."]
    assert alignment.running_text(words, {":", "￭,"}) == "l'homme (Bob)’s dit : oui,' non."


@pytest.mark.slow
def test_a_real_run_is_measured_on_its_test_set_and_on_that_as_a_gold_set(subject, tmp_path):
    columns, pairs = alignment.probe(subject, lambda _: None), subject.corpus.test
    assert columns["source_words"].tolist() == [pair.words for pair in pairs]
    (matrix,) = attention_matrices(
        subject.graph, subject.weights, subject.encode(pairs[:1]), False, 1
    )
    links = set(pairs[0].links)
    source, target = len(tokenize(pairs[0].source)), len(tokenize(pairs[0].target))
    best = {(int(np.argmax(matrix[j, :source])), j) for j in range(target)}
    counts = [columns[f"trained_{name}"][0] for name in alignment.COUNTS]
    assert counts == [len(best & links), len(best & links), target, len(links)]
    on_gold = sum(matrix[j, i] for i, j in links)
    assert columns["trained_on_gold"][0] == pytest.approx(on_gold, rel=1e-5)
    assert (columns["trained_on_gold"] != columns["untrained_on_gold"]).any()
    model = alignment.train_ibm1(subject, lambda _: None)
    (links,) = model.align([(tokenize(pairs[-1].source), tokenize(pairs[-1].target))])
    assert columns["ibm1_links"][-1] == len(links)
    assert columns["ibm1_sure_found"][-1] == len(links & set(pairs[-1].links))
    # Its tokens stand alone in the files, without marks.
    texts = {
        "gold": [" ".join(f"{i}-{j}" for i, j in pair.links) for pair in pairs[:8]],
        "source": [" ".join(map(plain, tokenize(pair.source))) for pair in pairs[:8]],
        "target": [" ".join(map(plain, tokenize(pair.target))) for pair in pairs[:8]],
    }
    sentences = alignment.read_gold(*write_gold(tmp_path, texts), 0)
    gold = alignment.probe_gold(subject, sentences, lambda _: None)
    for name, column in columns.items():
        np.testing.assert_allclose(gold[name], column[:8], rtol=1e-5, err_msg=name)
    probed = Probed(subject.folder, subject.settings, gold)
    mean = one_row(GOLD_QUESTION.summarise([probed]), "aer")
    assert mean["n"] == 8
    assert mean["note"].startswith("additive: unknown to the run are 0.0 % of the source")
    with pytest.raises(UserError, match="no sentence of --gold has links"):
        alignment.probe_gold(subject, [(["a"], ["b"], frozenset(), frozenset())], lambda _: None)


trained = pytest.mark.exhaustive(sample="session")
SENTENCE = "The black cat sat on the mat"
GOLD = {"gold": ["0-0 1?1", "0-0 2-1"], "source": ["the cat", "a black cat"],
        "target": ["le chat", "un x"]}  # fmt: skip


@pytest.fixture
def options(tmp_path):
    """The three options, of files in a folder."""
    paths = write_gold(tmp_path, GOLD)
    return [text for path in paths for text in (f"--{path.name}", str(path))]


@trained
def test_a_gold_set_has_a_table_of_its_own(finished, options, capsys):
    where = ["--results", str(finished)]
    arguments = ["study", "alignment", *where, "--quiet", *options]
    assert run([*arguments, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("arm,control,bucket,part,aer,")
    measured = load_probe(finished, "alignment_gold")
    assert (set(measured["arm"]), set(measured["n"])) == ({"additive"}, {2})
    assert set(measured["seed"].dropna()) == {1, 2}
    assert {"aer", "precision", "recall", "weight"} <= set(measured["measure"])
    assert all("of the target tokens" in note for note in measured["note"])
    assert run(arguments) == 0
    printed = capsys.readouterr().out
    for name in ("alignment-gold", "alignment_gold"):
        assert run(["table", name, *where]) == 0
        assert capsys.readouterr().out == printed
    drawn = finished / "gold.png"
    assert run(["plot", "alignment-gold", *where, "-o", str(drawn)]) == 0
    controls = set(read_csv(drawn.with_suffix(".csv"))["control"].fillna(""))
    assert controls == {"", "untrained", "diagonal", "IBM model 1", "equal weights"}


@trained
def test_a_bundle_has_neither_a_gold_sets_table_nor_a_network(runs, tmp_path, monkeypatch, capsys):
    write_bundle(runs, tmp_path / "bundle")
    write_listed(tmp_path / "bundle", [], ["probes/alignment_gold.csv"])
    monkeypatch.chdir(tmp_path)
    for arguments, message in (
        (["table", "alignment-gold"],
         "`bottleneck study alignment --gold FILE --source FILE --target FILE --res"),
        (["plot", "attention", "--sentence", "a cat"], "not its network"),
    ):  # fmt: skip
        assert run([*arguments, "--results", "bundle"]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "attention.png").exists()


@trained
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("study alignment --first-word 1 --gold --source --target", 1, "counted from 1; check"),
        ("study length --gold --source --target", 2, "study alignment"),
        ("study alignment --source --target", 2, "--gold missing"),
        ("study alignment --gold", 2, "--source and --target missing"),
        ("plot length --sentence cat", 2, "--sentence is for figure attention, not length"),
        ("plot attention --sentence ''", 2, "the sentence is empty"),
        ("plot attention --beam 2", 2, "--beam is for a sentence of your own"),
        ("plot attention --sentence cat --where attention=none", 1, "no run with att"),
    ],
)
def test_options_that_do_not_go_together_are_named(
    finished, options, tmp_path, monkeypatch, capsys, arguments, code, message
):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    paths = dict(zip(options[::2], options[1::2], strict=True))
    words = [word.strip("'") for word in arguments.split()]
    words = [part for word in words for part in (word, paths.get(word)) if part is not None]
    assert run([*words, "--results", str(finished)]) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert set(tmp_path.iterdir()) == before


@trained
@pytest.mark.parametrize("beam", [None, 3])
def test_a_figure_of_any_sentence_holds_the_weights_behind_its_translation(
    finished, runs, beam, tmp_path, capsys
):
    made = tmp_path / "where.svg"
    arguments = ["plot", "attention", "--results", str(finished), "--sentence", SENTENCE]
    arguments += ["--beam", str(beam)] if beam else []
    assert run([*arguments, "-o", str(made)]) == 0
    assert capsys.readouterr().out == f"{made}: its numbers are in {tmp_path / 'where.csv'}\n"
    assert made.read_bytes().startswith(b"<?xml")
    with (tmp_path / "where.csv").open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    model = load_run(runs[0])
    settings = model.settings.changed(decoding={"beam_size": beam or 1})
    model = replace(model, settings=settings)
    (translation,) = model.translations([SENTENCE], 1, attended=True)
    expected = attended(model, translation)
    assert {(row["run"], row["sentence"]) for row in rows} == {(runs[0].name, SENTENCE)}
    shape = expected.weights.shape
    weights = np.array([float(row["weight"]) for row in rows]).reshape(shape)
    np.testing.assert_allclose(weights, expected.weights, atol=1e-6)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    assert [row["source"] for row in rows[: shape[1]]] == [*SENTENCE.split(), END]
    assert [row["output"] for row in rows[:: shape[1]]] == expected.output
