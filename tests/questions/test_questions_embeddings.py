"""C13: neighbours of planted clusters against scipy's distances, the rule, and the table."""

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy.spatial.distance import cdist

from seq2seq_bottleneck.questions.embeddings import QUESTION, RULE, chance, same_label
from seq2seq_bottleneck.results.schema import PROBE_COLUMNS

LABELS = np.repeat([0, 1, 2, 7], [40, 30, 20, 10])


def clustered(seed):
    """Vectors of any length in about the direction of their class."""
    rng = np.random.default_rng(seed)
    directions = 5.0 * np.eye(8)[np.searchsorted([0, 1, 2, 7], LABELS)]
    return (directions + rng.normal(0.0, 0.3, size=(100, 8))) * rng.uniform(0.1, 9, size=(100, 1))


def test_planted_clusters_have_all_neighbours_of_their_class():
    assert same_label(clustered(1), LABELS, k=5).tolist() == [1.0] * 100
    at_random = (40 * 39 + 30 * 29 + 20 * 19 + 10 * 9) / 9_900
    assert chance(LABELS).mean() == pytest.approx(at_random)


def test_random_vectors_are_at_chance():
    random = np.random.default_rng(2).normal(size=(8, 100, 16))
    shares = [same_label(seed, LABELS, k=5).mean() for seed in random]
    assert np.mean(shares) == pytest.approx(chance(LABELS).mean(), abs=0.05)


def test_chance_is_the_mean_over_all_other_words():
    every = np.array([np.mean(np.delete(LABELS, i) == LABELS[i]) for i in range(100)])
    assert chance(LABELS) == pytest.approx(every)
    all_others = same_label(np.random.default_rng(3).normal(size=(100, 4)), LABELS, k=99)
    assert all_others == pytest.approx(every)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_neighbours_are_those_of_scipys_cosine_distance(k):
    vectors = np.random.default_rng(4).normal(size=(100, 6)).astype(np.float32)
    distances = cdist(vectors, vectors, "cosine") + np.diag(np.full(100, np.inf))
    nearest = np.argsort(distances, axis=1)[:, :k]
    theirs = [np.mean(LABELS[row] == LABELS[i]) for i, row in enumerate(nearest)]
    assert same_label(vectors, LABELS, k=k) == pytest.approx(theirs)


def test_scale_and_order_do_not_matter():
    vectors = np.random.default_rng(6).normal(size=(100, 8))
    assert same_label(3 * vectors, LABELS, k=5) == pytest.approx(same_label(vectors, LABELS, k=5))
    order = np.random.default_rng(7).permutation(100)
    moved = same_label(vectors[order], LABELS[order], k=5)
    assert moved == pytest.approx(same_label(vectors, LABELS, k=5)[order])


def test_a_vector_of_zeros_is_near_nothing_in_particular():
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]])
    found = same_label(vectors, np.array([0, 1, 1, 0]), k=1)
    assert found == pytest.approx([0.0, 1.0, 1.0, 1.0])  # of equals the first; 0 is above -1


def test_refuses_more_neighbours_than_there_are():
    for k in (0, 100):
        with pytest.raises(ValueError, match=f"{k} neighbours"):
            same_label(np.ones((100, 2)), LABELS, k=k)


GOOD = {"class": 0.8, "class_added": 0.4, "frequency": 0.5, "gender": 0.7, "gender_added": 0.2}


def frame(changes=None, sides=("source", "target"), n=900):
    """Shares of the arms none and additive, 5 points to either side; ``changes`` are additive's."""
    rows = []
    for arm in ("none", "additive"):
        for side in sides:
            shares = GOOD | (changes or {} if arm == "additive" else {})
            for measure, control, value in (
                ("same_class", "", shares["class"]),
                ("same_class", "frequency", shares["frequency"]),
                ("same_class", "chance", 0.279),
                ("same_class_added", "", shares["class_added"]),
                ("same_gender", "", shares["gender"]),
                ("same_gender_added", "", shares["gender_added"]),
            ):
                row = {"arm": arm, "attention": arm, "bucket": "", "part": side, "n": n}
                row |= {"corpus": "grammar", "context_size": 256, "updates": 2000}
                row |= {"measure": measure, "control": control, "value": value}
                row |= {"low": value - 0.05, "high": value + 0.05}
                rows += [row, row | {"seed": 1, "value": 0.0}, row | {"part": f"{side} noun"}]
    return pd.DataFrame(rows, columns=list(PROBE_COLUMNS))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "held"),
        ({"class_added": 0.2501}, "held"),
        ({"class_added": 0.2499}, "not held"),  # the lower end is under 20 %
        ({"frequency": 0.699}, "held"),
        ({"frequency": 0.701}, "not held"),  # the words next in frequency do as well
        ({"gender_added": 0.051}, "held"),
        ({"gender_added": 0.049}, "partly"),
    ],
)
def test_the_numbers_decide(changes, expected):
    (judged,) = QUESTION.verdict(frame(changes))
    assert (judged.claim, judged.verdict, judged.rule) == ("C13", expected, RULE)
    assert judged.because.startswith("none: 80 % [75, 85] of the neighbours of 900 words")
    assert "40 points [35, 45] more than untrained" in judged.because
    assert "of the decoder's embeddings: none own class 80 % [75, 85]" in judged.because


def test_the_arm_with_the_least_added_is_the_verdicts_number():
    (judged,) = QUESTION.verdict(frame({"class_added": 0.3}))
    assert (judged.value, judged.low, judged.high) == pytest.approx((30.0, 25.0, 35.0))
    assert judged.measure.endswith("additive")


@pytest.mark.parametrize("table", [None, frame(sides=("target",))])
def test_what_was_not_measured_is_not_judged(table):
    (judged,) = QUESTION.verdict(table)
    assert (judged.verdict, judged.value) == ("not measured", None)
    assert judged.because


def test_a_row_for_each_class_and_arm_within_80_columns():
    page = QUESTION.page(frame(n=90))
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(page.table)
    assert max(map(len, capture.get().splitlines())) <= 80
    lines = [line.split() for line in capture.get().splitlines()]
    first = lines.index(["class", "none", "90*", "80", "50", "28", "+40"])
    assert lines[first - 1] == ["encoder"]
    assert lines[first + 1] == ["75..85", "45..55", "35..45"]
    assert lines[first + 4][:4] == ["gender,", "nouns", "none", "90*"]
    assert ["noun", "additive", "90*"] in [line[:3] for line in lines]
    assert sum(line[:2] == ["class", "none"] for line in lines) == 2
    assert any("* behind a count: under 100" in line for line in page.caption)
    row = page.frame.loc[lambda rows: (rows["part"] == "source") & (rows["control"] == "")].iloc[0]
    assert (row["same_class"], row["same_gender_added_high"]) == (0.8, 0.25)
