"""C14: planted answers through the summing up, the rule, the tables, and a real run read."""

import numpy as np
import pytest
from planted_pages import frame as table_of
from planted_pages import printed

from seq2seq_bottleneck.questions import state_reading as reading
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.questions.state_reading import QUESTION, RULE, answer_sums, reading_curve
from seq2seq_bottleneck.scoring.bootstrap import draw
from seq2seq_bottleneck.settings.run import resolve

SENTENCES, LENGTH = 200, 8
WEIGHTS = draw(SENTENCES, 300, seed=1, bucket=0)


def planted(chance_at, *, seed, frequent=0.2):
    """Every word so far after every step, right with a probability by distance."""
    rng = np.random.default_rng(seed)
    found = {"sentence": [], "step": [], "trained": [], "baseline": []}
    for sentence in range(SENTENCES):
        for step in range(1, LENGTH + 1):
            right = rng.random(step) < chance_at(np.arange(step))
            frequently = rng.random(step) < frequent
            columns = (sentence, step, *map(letters, (right, frequently)))
            for name, value in zip(found, columns, strict=True):
                found[name].append(value)
    return {name: np.array(column) for name, column in found.items()}


def letters(right):
    return "".join(np.where(right, "y", "n"))


def curve_of(*seeds, steps=(1, LENGTH + 1), distances=LENGTH):
    sums = [answer_sums(found, "trained", steps, SENTENCES)[:, :distances] for found in seeds]
    return reading_curve(np.stack(sums), WEIGHTS)


def test_a_probe_that_knows_four_words_reads_them_beyond_the_baseline():
    found = planted(lambda d: d < 4, seed=1, frequent=0.0)
    curve = curve_of(found)
    assert [item.value for item in curve.accuracy] == [1.0] * 4 + [0.0] * 4
    assert [item.value for item in curve.baseline] == [0.0] * 8
    assert curve.words_read.value == 4.0
    assert curve.answers == SENTENCES * LENGTH
    assert curve_of(found, steps=(2, 3), distances=2).words_read.value == 2.0
    assert curve_of(found, steps=(6, 8), distances=7).answers == 2 * SENTENCES
    with pytest.raises(ValueError, match="distance 8"):
        curve_of(found, distances=10)


def test_accuracy_and_baseline_by_distance_are_plain_means():
    seeds = [planted(lambda d: 0.9 ** (d + 1), seed=seed) for seed in (2, 3)]
    curve = curve_of(*seeds, distances=6)
    beyond = []
    for distance in range(6):
        means = [
            [np.mean([row[distance] == "y" for row in found[name] if len(row) > distance])
             for found in seeds]
            for name in ("trained", "baseline")
        ]  # fmt: skip
        right, base = np.mean(means, axis=1)
        assert curve.accuracy[distance].value == pytest.approx(right)
        assert curve.baseline[distance].value == pytest.approx(base)
        interval = curve.accuracy[distance].interval
        assert interval.low < 0.9 ** (distance + 1) < interval.high
        beyond.append(right - base)
    assert curve.words_read.value == pytest.approx(sum(beyond))
    draws = [a.draws - b.draws for a, b in zip(curve.accuracy, curve.baseline, strict=True)]
    assert curve.words_read.draws == pytest.approx(sum(draws))


def test_a_probe_as_good_as_the_baseline_reads_no_word():
    curve = curve_of(planted(lambda d: 0.2 + 0 * d, seed=4))
    assert curve.words_read.interval.low < 0 < curve.words_read.interval.high


def test_words_back_begin_with_the_word_itself():
    words = reading.words_back(np.array([7, 8, 9]))
    assert words.shape == (3, reading.DISTANCES)
    assert words[:, :4].tolist() == [[7, -1, -1, -1], [8, 7, -1, -1], [9, 8, 7, -1]]
    assert (words[:, 4:] == reading.NO_ANSWER).all()


def test_the_baseline_is_the_most_frequent_word_of_each_distance():
    words = np.array([[5, -1], [5, 6], [4, 7], [4, 7], [4, 4]])
    assert reading.most_frequent(words).tolist() == [4, 7]
    assert reading.most_frequent(words[:1]).tolist() == [5, reading.NO_ANSWER]


def test_the_last_word_tells_what_mostly_stands_before_it():
    known = np.array([[5, 6], [5, 6], [5, 7], [4, 9], [8, -1], [4, 9], [4, 9]])
    asked = np.array([[5, 7], [4, 9], [8, 6], [3, 3]])
    # 8 was never seen with a word before it, 3 never at all: the most frequent.
    assert reading.from_last_word(known, asked).tolist() == [[5, 6], [4, 9], [8, 9], [4, 9]]


def probed(tmp_path, seed, right):
    """60 sentences of 12 words; the trained state knows so many words back, others the last."""
    rows = [(sentence, step) for sentence in range(60) for step in range(1, 13)]
    columns = dict(zip(("sentence", "step"), zip(*rows, strict=True), strict=True))
    known = {"trained": right, "untrained": 1, "last_word": 1, "baseline": 0}
    for name, count in known.items():
        columns[name] = [letters(np.arange(step) < count) for step in columns["step"]]
    keep(tmp_path / str(seed), QUESTION, columns)
    settings = resolve("smoke", [f"training.seed={seed}"])
    return read_kept(tmp_path / str(seed), settings, QUESTION)


def by_key(rows):
    keys = {(r["measure"], r["bucket"], r.get("control", ""), r.get("part", ""), r.get("seed")): r
            for r in rows}  # fmt: skip
    assert len(keys) == len(rows)
    return keys


def test_words_read_are_those_that_were_right(tmp_path):
    rows = by_key(QUESTION.summarise([probed(tmp_path, 1, 3), probed(tmp_path, 2, 4)]))
    assert {bucket for _, bucket, *_ in rows} == {"5-10", "11-20"}
    short = rows["words_read", "5-10", "", "", None]
    assert (short["value"], short["low"], short["high"]) == (3.5, 3.5, 3.5)
    assert short["n"] == 2 * 60 * 6  # two seeds, steps 5 to 10
    expected = {
        ("words_asked", "5-10", ""): 5,
        ("words_asked", "11-20", ""): 11,
        ("words_readable", "5-10", ""): 5,
        ("words_read", "11-20", "untrained"): 1,
        ("words_read_added", "11-20", ""): 2.5,
    }
    assert {key: rows[*key, "", None]["value"] for key in expected} == expected
    assert [rows["words_read", "11-20", "", "", seed]["value"] for seed in (1, 2)] == [3, 4]
    accuracy = [rows["accuracy", "11-20", "", str(d), None]["value"] for d in range(11)]
    assert accuracy == [1, 1, 1, 0.5] + [0] * 7


GOOD = {"5-10": (5, 4.0, 3.5, 1.5, 1.0, 2.0), "21-30": (20, 18.0, 12.0, 1.5, 1.0, 2.0)}


def frame(changes=None, arms=("none",)):
    """Words asked, readable, read, of untrained states, of the last word, added; .5 either way."""
    rows = []
    for arm in arms:
        for bucket, numbers in (GOOD | (changes or {})).items():
            keys = {"arm": arm, "attention": arm, "bucket": bucket, "part": "", "n": 700}
            keys |= {"corpus": "grammar", "context_size": 256, "updates": 2000}
            names = [("words_asked", ""), ("words_readable", ""), ("words_read", ""),
                     ("words_read", "untrained"), ("words_read", "last_word"),
                     ("words_read_added", "")]  # fmt: skip
            for (measure, control), value in zip(names, map(float, numbers), strict=True):
                row = keys | {"measure": measure, "control": control, "value": value}
                row |= {"low": value - 0.5, "high": value + 0.5}
                rows += [row, row | {"seed": 1, "value": 0.0}]
            for distance in range(int(numbers[0])):
                for control in ("", "untrained", "last_word", "most_frequent"):
                    row = keys | {"part": str(distance), "measure": "accuracy", "control": control}
                    rows.append(row | {"value": 0.71, "low": 0.7, "high": 0.72})
    return table_of(rows)


@pytest.mark.parametrize(
    ("long", "expected"),
    [
        (GOOD["21-30"], "held"),
        ((20, 18.0, 9.5, 1.5, 1.0, 2.0), "held"),
        ((20, 18.0, 9.49, 1.5, 1.0, 2.0), "partly"),  # the lower end is under 9 of 18
        ((20, 18.0, 12.0, 1.5, 1.0, 0.51), "held"),
        ((20, 18.0, 12.0, 1.5, 1.0, 0.49), "not held"),  # untrained states do as well
        ((20, 18.0, 12.0, 1.5, 10.99, 2.0), "held"),
        ((20, 18.0, 12.0, 1.5, 11.01, 2.0), "not held"),
    ],
)
def test_the_numbers_decide(long, expected):
    (judged,) = QUESTION.verdict(frame({"21-30": long}))
    assert (judged.claim, judged.verdict, judged.rule) == ("C14", expected, RULE)


def test_the_bucket_with_the_least_of_its_words_is_the_verdicts_number():
    (judged,) = QUESTION.verdict(frame(arms=("none", "additive")))
    assert (judged.value, judged.low, judged.high) == (12.0, 11.5, 12.5)
    assert judged.measure == "words read of the last 20, after 21-30 words"
    assert judged.because.count("with attention") == 1
    assert "with attention (additive), after 21-30 words 12.0 [11.5, 12.5]" in judged.because
    # Where the most frequent word answers all, nothing is lost.
    (judged,) = QUESTION.verdict(frame({"5-10": (5, 0.0, 0.0, 0.0, 0.0, 0.0)}))
    assert judged.value == 12.0


@pytest.mark.parametrize("table", [None, frame(arms=("additive",))])
def test_what_was_not_measured_is_not_judged(table):
    (judged,) = QUESTION.verdict(table)
    assert (judged.verdict, judged.value) == ("not measured", None)
    assert judged.because


def test_words_read_by_bucket_and_accuracy_of_the_first_bucket_that_has_all_distances():
    page = QUESTION.page(frame(arms=("none", "additive")))
    lines = [line.split() for line in printed(page)]
    at = lines.index(["21-30", "none", "700", "20", "12.00", "1.50", "1.00", "+2.00"])
    assert lines[at + 1] == ["11.50..12.50", "1.00..2.00", "0.50..1.50", "1.50..2.50"]
    at = lines.index(["21-30", "10", *["71.0"] * 6])
    assert lines[at + 1] == ["70..72"] * 6
    assert {"words_read", "words_read_added_low", "accuracy"} <= set(page.frame.columns)


@pytest.mark.exhaustive(sample="session")
def test_a_real_runs_states_are_read_kept_and_summed_up(subject, tmp_path):
    found = reading.probe(subject, lambda _: None, 60, 10)
    test = subject.corpus.test
    lengths = [len(states) for states in subject.states(subject.weights, test)]
    assert len(found["step"]) == sum(lengths)
    counts = [len(answers) for answers in found["trained"]]
    assert counts == [min(step, reading.DISTANCES) for step in found["step"]]
    # An untrained recurrent state of so little text still knows the word just read.
    just_read, guessed = (
        np.mean([answers[0] == "y" for answers in found[name]])
        for name in ("untrained", "baseline")
    )
    assert just_read > guessed + 0.2
    keep(tmp_path, QUESTION, found)
    kept = read_kept(tmp_path, subject.settings, QUESTION)
    rows, scoring = by_key(QUESTION.summarise([kept])), subject.settings.scoring
    weights = draw(len(test), scoring.resamples, seed=scoring.seed, bucket=5)
    sums = answer_sums(kept.found, "untrained", (11, 21), len(test))
    expected = reading_curve(sums[None, :, :11], weights).words_read
    ours = rows["words_read", "11-20", "untrained", "", None]
    assert ours["value"] == pytest.approx(expected.value)
    assert ours["low"] == pytest.approx(expected.interval.low)
    in_bucket = [answers[0] == "y" for answers, step in zip(found["baseline"], found["step"],
                 strict=True) if 21 <= step <= 30]  # fmt: skip
    row = rows["accuracy", "21-30", "most_frequent", "0", None]
    assert row["value"] == pytest.approx(np.mean(in_bucket))
