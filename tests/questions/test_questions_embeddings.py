"""C13: neighbours of planted clusters against scipy's distances, the rule, and a real run."""

import numpy as np
import pytest
from planted_pages import frame as table_of
from planted_pages import one_row, read_back, row_of
from scipy.spatial.distance import cdist

from seq2seq_bottleneck.corpus.grammar import NOUN_GENDER, WORD_CLASS
from seq2seq_bottleneck.questions.embeddings import QUESTION, probe, same_label
from seq2seq_bottleneck.settings.run import resolve

LABELS = np.repeat([0, 1, 2, 7], [40, 30, 20, 10])


def clustered(seed):
    """Vectors of any length in roughly the direction of their class."""
    rng = np.random.default_rng(seed)
    directions = 5.0 * np.eye(8)[np.searchsorted([0, 1, 2, 7], LABELS)]
    return (directions + rng.normal(0.0, 0.3, size=(100, 8))) * rng.uniform(0.1, 9, size=(100, 1))


def test_planted_clusters_have_neighbours_of_their_class_and_random_vectors_are_at_chance():
    assert same_label(clustered(1), LABELS, k=5).tolist() == [1.0] * 100
    every = np.array([np.mean(np.delete(LABELS, i) == LABELS[i]) for i in range(100)])
    random = np.random.default_rng(2).normal(size=(100, 16))
    assert same_label(random, LABELS, k=99) == pytest.approx(every)


def test_neighbours_are_those_of_scipys_cosine_distance():
    k = 3
    vectors = np.random.default_rng(4).normal(size=(100, 6)).astype(np.float32)
    distances = cdist(vectors, vectors, "cosine") + np.diag(np.full(100, np.inf))
    nearest = np.argsort(distances, axis=1)[:, :k]
    theirs = [np.mean(LABELS[row] == LABELS[i]) for i, row in enumerate(nearest)]
    assert same_label(vectors, LABELS, k=k) == pytest.approx(theirs)


GOOD = {"class": 0.8, "class_added": 0.4, "frequency": 0.5, "gender": 0.7, "gender_added": 0.2}


def frame(changes=None, sides=("source",), n=900):
    """Shares of the arms none and additive, plus and minus 5 points; ``changes`` are additive's."""
    rows = []
    for arm in ("none", "additive"):
        shares = GOOD | (changes or {} if arm == "additive" else {})
        for side in sides:
            for measure, control, value in (
                ("same_class", "", shares["class"]),
                ("same_class", "frequency", shares["frequency"]),
                ("same_class_added", "", shares["class_added"]),
                ("same_gender", "", shares["gender"]),
                ("same_gender_added", "", shares["gender_added"]),
            ):
                rows.append(row_of(arm, measure, value, 0.05, control=control, n=n, part=side))
    return table_of(rows)


@pytest.mark.parametrize(
    ("table", "verdict", "part"),
    [
        (frame(), "held", "none: 80 % [75, 85] of the neighbours of 900 words"),
        (frame({"class_added": 0.2501}), "held", "40 points [35, 45] more than untrained"),
        (frame({"class_added": 0.2499}), "not held", ""),  # the lower end is under 20 %
        (frame({"frequency": 0.701}), "not held", ""),  # the words next in frequency do as well
        (frame({"gender_added": 0.049}), "partly", ""),
        (frame(sides=("target",)), "not measured", "no arm has embeddings of enough words"),
    ],
)
def test_the_numbers_decide(table, verdict, part):
    (result,) = QUESTION.verdict(table)
    assert (result.claim, result.verdict, result.rule) == ("C13", verdict, QUESTION.rules["C13"][0])
    assert part in result.because


def probed(tmp_path, seed, trained):
    """30 nouns and 10 verbs with these shares of their class."""
    columns = {"word": [f"w{place}" for place in range(40)], "class": ["noun"] * 30 + ["verb"] * 10}
    for control in ("trained", "untrained", "frequency"):
        columns[f"class_{control}"] = [trained if control == "trained" else 0.25] * 40
        columns[f"gender_{control}"] = [0.5] * 30 + [np.nan] * 10
    settings = resolve("smoke", [f"training.seed={seed}"])
    return read_back(QUESTION, tmp_path / str(seed), settings, columns)


def test_shares_are_means_over_words_and_seeds(tmp_path):
    rows = QUESTION.summarise([probed(tmp_path, 1, 0.6), probed(tmp_path, 2, 0.8)])
    both = one_row(rows, "same_class", part="source")
    assert (both["value"], both["low"], both["high"]) == pytest.approx((0.7, 0.7, 0.7))
    for measure, seed, control, value, n in (
        ("same_class", None, "untrained", 0.25, 40),
        ("same_class_added", None, "", 0.45, 40),
        ("same_class_added", 2, "", 0.55, 40),
        ("same_gender", None, "untrained", 0.5, 30),
    ):
        row = one_row(rows, measure, seed, part="source", control=control)
        assert (row["value"], row["n"]) == (pytest.approx(value), n)


def test_a_real_runs_words_have_their_neighbours(subject):
    found = probe(subject)
    columns = {name: np.array(column) for name, column in found.items()}
    words = subject.vocabularies[0].words
    assert list(columns["word"]) == list(words)
    embeddings = np.asarray(subject.weights["encoder"]["embedding"][...])[4:]
    kinds = np.array([WORD_CLASS[word] for word in words])
    nouns = kinds == "noun"
    genders = np.array([NOUN_GENDER[word] for word in columns["word"][nouns]])
    for label, names, inside in (("class", kinds, nouns | True), ("gender", genders, nouns)):
        ids = np.unique(names, return_inverse=True)[1]
        shares = columns[f"{label}_trained"]
        np.testing.assert_allclose(shares[inside], same_label(embeddings[inside], ids, k=5))
        assert np.isnan(shares[~inside]).all()
