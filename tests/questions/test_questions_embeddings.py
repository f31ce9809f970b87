"""C13: neighbours of planted clusters against scipy's distances, the rule, and a real run."""

import numpy as np
import pytest
from planted_pages import frame as table_of
from planted_pages import printed
from scipy.spatial.distance import cdist

from seq2seq_bottleneck.corpus.grammar import noun_gender, word_class
from seq2seq_bottleneck.corpus.pair import SentencePair
from seq2seq_bottleneck.questions.embeddings import (
    CONTROLS,
    QUESTION,
    RULE,
    chance,
    french_labels,
    probe,
    same_label,
)
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.settings.run import resolve

LABELS = np.repeat([0, 1, 2, 7], [40, 30, 20, 10])


def clustered(seed):
    """Vectors of any length in about the direction of their class."""
    rng = np.random.default_rng(seed)
    directions = 5.0 * np.eye(8)[np.searchsorted([0, 1, 2, 7], LABELS)]
    return (directions + rng.normal(0.0, 0.3, size=(100, 8))) * rng.uniform(0.1, 9, size=(100, 1))


def test_planted_clusters_have_all_neighbours_of_their_class():
    assert same_label(clustered(1), LABELS, k=5).tolist() == [1.0] * 100


def test_random_vectors_are_at_chance_the_mean_over_all_other_words():
    every = np.array([np.mean(np.delete(LABELS, i) == LABELS[i]) for i in range(100)])
    assert chance(LABELS) == pytest.approx(every)
    random = np.random.default_rng(2).normal(size=(8, 100, 16))
    assert same_label(random[0], LABELS, k=99) == pytest.approx(every)
    shares = [same_label(seed, LABELS, k=5).mean() for seed in random]
    assert np.mean(shares) == pytest.approx(every.mean(), abs=0.05)


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
    return table_of(rows)


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


def test_a_row_for_each_class_and_arm():
    page = QUESTION.page(frame(n=90))
    lines = [line.split() for line in printed(page)]
    first = lines.index(["class", "none", "90*", "80", "50", "28", "+40"])
    assert lines[first - 1] == ["encoder"]
    assert lines[first + 1] == ["75..85", "45..55", "35..45"]
    assert lines[first + 4][:4] == ["gender,", "nouns", "none", "90*"]
    assert ["noun", "additive", "90*"] in [line[:3] for line in lines]
    assert sum(line[:2] == ["class", "none"] for line in lines) == 2
    assert any("* behind a count: under 100" in line for line in page.caption)
    row = page.frame.loc[lambda rows: (rows["part"] == "source") & (rows["control"] == "")].iloc[0]
    assert (row["same_class"], row["same_gender_added_high"]) == (0.8, 0.25)


def probed(tmp_path, seed, trained):
    """30 nouns and 10 verbs a side, of which the class's shares are these."""
    nouns, verbs = 30, 10
    words = 2 * (nouns + verbs)
    columns = {
        "word": [f"w{place}" for place in range(words)],
        "class": (["noun"] * nouns + ["verb"] * verbs) * 2,
        "side": ["source"] * (words // 2) + ["target"] * (words // 2),
    }
    for control in CONTROLS:
        share = trained if control == "trained" else 0.25
        columns[f"class_{control}"] = [share] * words
        columns[f"gender_{control}"] = ([0.5] * nouns + [np.nan] * verbs) * 2
    folder = tmp_path / str(seed)
    keep(folder, QUESTION, columns)
    return read_kept(folder, resolve("smoke", [f"training.seed={seed}"]), QUESTION)


def test_shares_are_means_over_words_and_seeds(tmp_path):
    rows = QUESTION.summarise([probed(tmp_path, 1, 0.6), probed(tmp_path, 2, 0.8)])
    by_key = {(r["part"], r["measure"], r.get("control", ""), r.get("seed")): r for r in rows}
    assert len(by_key) == len(rows)
    both = by_key["source", "same_class", "", None]
    assert both["value"] == pytest.approx(0.7)
    assert (both["low"], both["high"], both["n"]) == (pytest.approx(0.7), pytest.approx(0.7), 40)
    assert by_key["source", "same_class_added", "", None]["value"] == pytest.approx(0.45)
    assert by_key["source", "same_class_added", "", 2]["value"] == pytest.approx(0.55)
    assert by_key["target", "same_class", "chance", None]["value"] == pytest.approx(0.25)
    assert by_key["source", "same_gender", "untrained", None]["n"] == 30
    assert by_key["source noun", "same_class", "", None]["n"] == 30
    parts = {part for part, *_ in by_key}
    assert parts == {"source", "target", "source noun", "target noun"}  # too few verbs


@pytest.fixture(scope="module")
def found(subject):
    """What the probe finds on a real run."""
    return probe(subject, lambda _: None)


def test_a_real_runs_words_have_their_neighbours(subject, found):
    vocabulary = subject.vocabularies[0]
    source = [place for place, side in enumerate(found["side"]) if side == "source"]
    assert [found["word"][place] for place in source] == list(vocabulary.words)
    embeddings = np.asarray(subject.weights["encoder"]["embedding"][...])[4:]
    kinds = [word_class(word) for word in vocabulary.words]
    expected = same_label(embeddings, np.unique(kinds, return_inverse=True)[1], k=5)
    np.testing.assert_allclose(np.array(found["class_trained"])[source], expected)
    nouns = [place for place in source if found["class"][place] == "noun"]
    genders = [noun_gender(found["word"][place]) for place in nouns]
    places = [place for place, kind in enumerate(kinds) if kind == "noun"]
    expected = same_label(embeddings[places], np.unique(genders, return_inverse=True)[1], k=5)
    np.testing.assert_allclose(np.array(found["gender_trained"])[nouns], expected)
    others = [place for place in source if found["class"][place] != "noun"]
    assert np.isnan(np.array(found["gender_trained"])[others]).all()


def test_untrained_embeddings_give_about_what_chance_gives(found):
    source = np.array(found["side"]) == "source"
    gap = (np.array(found["class_untrained"]) - np.array(found["class_chance"]))[source]
    assert abs(gap.mean()) < 0.04


def test_words_next_in_frequency_are_the_frequency_controls_neighbours(found):
    source = np.array(found["side"]) == "source"
    kinds = np.array(found["class"])[source]
    place = 100
    nearest = [98, 99, 101, 102]  # and 97 or 103
    share = np.array(found["class_frequency"])[source][place]
    like = (kinds[nearest] == kinds[place]).sum()
    assert like / 5 <= share + 1e-9 <= (like + 1) / 5 + 1e-6


def test_french_words_are_what_their_english_is():
    pairs = [
        SentencePair("the cat will love", "le chat aimera", ((0, 0), (1, 1), (2, 2), (3, 2))),
        SentencePair("the key of a cat", "la clé du chat", ((0, 0), (1, 1), (2, 2), (4, 3))),
        SentencePair("a cat", "un clé", ((0, 0), (1, 1))),
        SentencePair("the key", "la clé", ((0, 0), (1, 1))),
    ]
    assert french_labels(pairs) == {
        "le": ("determiner", ""), "la": ("determiner", ""), "un": ("determiner", ""),
        "chat": ("noun", "m"),
        "clé": ("noun", "f"),  # twice the key, once the cat
        "aimera": ("verb", ""),  # not the auxiliary
        "du": ("preposition", ""),
    }  # fmt: skip


def test_what_is_kept_is_read_back_and_summed_up(subject, found, tmp_path):
    keep(tmp_path, QUESTION, found)
    rows = QUESTION.summarise([read_kept(tmp_path, subject.settings, QUESTION)])
    row = next(r for r in rows if r["part"] == "source" and r["measure"] == "same_gender"
               and not r["control"] and "seed" not in r)  # fmt: skip
    ours = np.array(found["gender_trained"])[np.array(found["side"]) == "source"]
    assert row["value"] == pytest.approx(np.nanmean(ours))
    assert row["n"] == np.isfinite(ours).sum()
    assert row["low"] < row["value"] < row["high"]
