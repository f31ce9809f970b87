"""C14: summaries of planted answers, the rule, the tables, and a real run."""

import numpy as np
import pytest
from planted_pages import frame as table_of
from planted_pages import kept_rows, one_row, row_of

from seq2seq_bottleneck.questions import reading
from seq2seq_bottleneck.questions.question import Probed
from seq2seq_bottleneck.questions.reading import QUESTION, read_words
from seq2seq_bottleneck.settings.run import resolve

SENTENCES = 150
COLUMNS = ("words", "states", "trained", "untrained", "last_word", "baseline")


def planted(tmp_path, words, seed=1):
    """Sentences of 12 words; trained states know this many, other states only the last."""
    columns = {name: [] for name in COLUMNS}
    for first, states in ((5, 6), (11, 2), (21, 0), (31, 0), (41, 0)):
        known = {"words": first, "states": states, "baseline": 0, "trained": states * words}
        for name, column in columns.items():
            column.append(np.full(SENTENCES, float(known.get(name, states))))
    found = {name: np.concatenate(column) for name, column in columns.items()}
    return Probed(tmp_path / str(seed), resolve("smoke", [f"training.seed={seed}"]), found)


def test_words_read_are_those_that_were_right(tmp_path):
    rows = QUESTION.summarise([planted(tmp_path, n, seed=n) for n in (3, 4)])
    assert {row["bucket"] for row in rows} == {"5-10", "11-20"}
    short = one_row(rows, "words_read", bucket="5-10")
    assert (short["value"], short["low"], short["high"]) == (3.5, 3.5, 3.5)
    assert short["n"] == 2 * SENTENCES * 6  # two seeds, steps 5 to 10
    for measure, bucket, control, seed, value in (
        ("words_asked", "5-10", "", None, 5),
        ("words_asked", "11-20", "", None, 11),
        ("words_readable", "5-10", "", None, 5),
        ("words_read", "11-20", "untrained", None, 1),
        ("words_read_added", "11-20", "", None, 2.5),
        ("words_read", "11-20", "", 3, 3),
        ("words_read", "11-20", "", 4, 4),
    ):
        assert one_row(rows, measure, seed, bucket=bucket, control=control)["value"] == value


MEASURES = [("words_asked", ""), ("words_readable", ""), ("words_read", ""),
            ("words_read", "untrained"), ("words_read", "last_word"),
            ("words_read_added", "")]  # fmt: skip
GOOD = {"5-10": (5.0, 4.0, 3.5, 1.5, 1.0, 2.0), "21-30": (20.0, 18.0, 12.0, 1.5, 1.0, 2.0)}


def frame(changes=None, arms=("none",)):
    """Words asked, readable, read, from untrained states, from the last word, added; each +- .5."""
    return table_of([
        row_of(arm, measure, value, 0.5, bucket=bucket, control=control, n=700)
        for arm in arms
        for bucket, numbers in (GOOD | (changes or {})).items()
        for (measure, control), value in zip(MEASURES, numbers, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("long", "expected"),
    [
        (GOOD["21-30"], "held"),
        ((20.0, 18.0, 9.5, 1.5, 1.0, 2.0), "held"),
        ((20.0, 18.0, 9.49, 1.5, 1.0, 2.0), "partly"),  # the lower end is under 9 of 18
        ((20.0, 18.0, 12.0, 1.5, 1.0, 0.49), "not held"),  # untrained states do as well
        ((20.0, 18.0, 12.0, 1.5, 11.01, 2.0), "not held"),
    ],
)
def test_the_numbers_decide(long, expected):
    (judged,) = QUESTION.verdict(frame({"21-30": long}))
    assert (judged.claim, judged.verdict) == ("C14", expected)


def test_the_bucket_with_the_least_of_its_words_is_the_verdicts_number():
    (judged,) = QUESTION.verdict(frame(arms=("none", "additive")))
    assert (judged.value, judged.low, judged.high) == (12.0, 11.5, 12.5)
    assert judged.measure == "words read of the last 20, after 21-30 words"
    (judged,) = QUESTION.verdict(frame(arms=("additive",)))
    assert (judged.verdict, judged.value) == ("not measured", None)


@pytest.mark.exhaustive(sample="session")
def test_a_real_runs_states_are_read_kept_and_summed_up(subject, tmp_path):
    columns, test = reading.probe(subject, 60, 10), subject.corpus.test
    lengths = [len(states) for states, _ in subject.read(subject.weights, test)]
    first, states = np.array(columns["words"]), np.array(columns["states"])
    assert set(first) == {*subject.edges}
    assert states[first == 5].tolist() == [min(max(length - 4, 0), 6) for length in lengths]
    # An untrained recurrent state of so little text still knows the word just read.
    assert sum(columns["untrained"]) > sum(columns["baseline"]) + 0.2 * states.sum()
    rows = kept_rows(QUESTION, tmp_path, subject.settings, columns)
    assert one_row(rows, "words_asked", bucket="21-30")["value"] == reading.DISTANCES


CLASSES, SIZE = 6, 16


def classes(rows, seed, noise=0.05):
    """Two words per row: the inputs contain the first, but not the second."""
    rng = np.random.default_rng(seed)
    words = rng.integers(CLASSES, size=(rows, 2))
    vectors = np.random.default_rng(9).normal(size=(CLASSES, SIZE))
    inputs = vectors[words[:, 0]] + noise * rng.normal(size=(rows, SIZE))
    return inputs.astype(np.float32), words


def share_right(fitted_to, asked, **settings):
    read = read_words(*fitted_to, asked[0], **{"classes": CLASSES, "steps": 30} | settings)
    return (read == asked[1]).mean(axis=0)


def test_a_word_that_shows_is_read_and_one_that_does_not_is_guessed():
    present, absent = share_right(classes(2000, 1), classes(1500, 2))
    assert present == 1.0
    assert abs(absent - 1 / CLASSES) < 0.05


def test_the_discriminant_is_bayes_rule_for_normal_classes_of_one_covariance():
    rng = np.random.default_rng(5)
    means, root = rng.normal(size=(3, 4)) * 2, rng.normal(size=(4, 4))
    chances = np.array([0.6, 0.3, 0.1])
    words = rng.choice(3, p=chances, size=(40_000, 1))
    inputs = means[words[:, 0]] + rng.normal(size=(40_000, 4)) @ root.T
    read = read_words(inputs, words, inputs, classes=3, steps=0)[:, 0]
    inverse, centred = np.linalg.inv(root @ root.T), inputs[:, None] - means
    logs = np.log(chances) - 0.5 * np.einsum("ncs,st,nct->nc", centred, inverse, centred)
    assert (read == logs.argmax(axis=1)).mean() > 0.99
