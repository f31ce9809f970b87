"""Reading of runs: planted answers through the summing up, and a real run read."""

import numpy as np
import pytest

from seq2seq_bottleneck.questions import state_reading as reading
from seq2seq_bottleneck.questions.encoding import states
from seq2seq_bottleneck.questions.probing import keep, read_kept
from seq2seq_bottleneck.scoring.bootstrap import draw
from seq2seq_bottleneck.settings.run import resolve

QUESTION, NO_ANSWER = reading.QUESTION, reading.NO_ANSWER


@pytest.fixture(scope="module")
def found(subject):
    """What the probe finds on it, fitted to a few sentences."""
    return reading.probe(subject, lambda _: None, 60, 10)


def test_words_back_begin_with_the_word_itself():
    held = reading.words_back(np.array([7, 8, 9]))
    assert held.shape == (3, reading.DISTANCES)
    assert held[:, :4].tolist() == [[7, -1, -1, -1], [8, 7, -1, -1], [9, 8, 7, -1]]
    assert (held[:, 4:] == NO_ANSWER).all()


def test_the_baseline_is_the_most_frequent_word_of_each_distance():
    words = np.array([[5, -1], [5, 6], [4, 7], [4, 7], [4, 4]])
    assert reading.most_frequent(words).tolist() == [4, 7]
    assert reading.most_frequent(words[:1]).tolist() == [5, NO_ANSWER]


def test_the_last_word_tells_what_mostly_stands_before_it():
    known = np.array([[5, 6], [5, 6], [5, 7], [4, 9], [8, -1], [4, 9], [4, 9]])
    asked = np.array([[5, 7], [4, 9], [8, 6], [3, 3]])
    answers = reading.from_last_word(known, asked)
    assert answers.tolist() == [
        [5, 6],
        [4, 9],
        [8, 9],  # never seen with a word before it: the most frequent
        [4, 9],  # never seen at all
    ]


def _probed(tmp_path, seed, right):
    """60 sentences of 12 words; the trained state knows so many words back, others the last."""
    rows = [(sentence, step) for sentence in range(60) for step in range(1, 13)]
    letters = {
        "trained": right, "untrained": 1, "last_word": 1, "baseline": 0,
    }  # fmt: skip
    columns = {
        "sentence": [sentence for sentence, _ in rows],
        "step": [step for _, step in rows],
    }
    for name, known in letters.items():
        columns[name] = ["y" * min(known, step) + "n" * (step - min(known, step))
                         for _, step in rows]  # fmt: skip
    folder = tmp_path / str(seed)
    keep(folder, QUESTION, columns)
    settings = resolve("smoke", [f"training.seed={seed}"])
    return read_kept(folder, settings, QUESTION)


def _by_key(rows):
    held = {(r["measure"], r["bucket"], r.get("control", ""), r.get("part", ""), r.get("seed")): r
            for r in rows}  # fmt: skip
    assert len(held) == len(rows)
    return held


def test_words_read_are_those_that_were_right(tmp_path):
    rows = _by_key(reading.summarise([_probed(tmp_path, 1, 3), _probed(tmp_path, 2, 4)]))
    assert {bucket for _, bucket, *_ in rows} == {"5-10", "11-20"}
    short = rows["words_read", "5-10", "", "", None]
    assert (short["value"], short["low"], short["high"]) == (3.5, 3.5, 3.5)
    assert short["n"] == 2 * 60 * 6  # two seeds, steps 5 to 10
    assert rows["words_asked", "5-10", "", "", None]["value"] == 5
    assert rows["words_asked", "11-20", "", "", None]["value"] == 11
    assert rows["words_read", "11-20", "untrained", "", None]["value"] == 1
    assert rows["words_read_added", "11-20", "", "", None]["value"] == 2.5
    assert [rows["words_read", "11-20", "", "", seed]["value"] for seed in (1, 2)] == [3, 4]
    accuracy = [rows["accuracy", "11-20", "", str(d), None]["value"] for d in range(11)]
    assert accuracy == [1, 1, 1, 0.5] + [0] * 7
    assert rows["words_readable", "5-10", "", "", None]["value"] == 5


@pytest.mark.exhaustive(sample="session")
def test_a_real_runs_states_are_read(subject, found):
    test = subject.corpus.test
    lengths = [len(one) for one in states(subject, subject.weights, test)]
    assert len(found["step"]) == sum(lengths)
    counts = [len(letters) for letters in found["trained"]]
    assert counts == [min(step, reading.DISTANCES) for step in found["step"]]
    # An untrained recurrent state of so little text still knows the word just read.
    just_read = np.mean([letters[0] == "y" for letters in found["untrained"]])
    guessed = np.mean([letters[0] == "y" for letters in found["baseline"]])
    assert just_read > guessed + 0.2


@pytest.mark.exhaustive(sample="session")
def test_what_is_kept_is_read_back_and_summed_up(subject, found, tmp_path):
    keep(tmp_path, QUESTION, found)
    kept = read_kept(tmp_path, subject.settings, QUESTION)
    rows = _by_key(reading.summarise([kept]))
    scoring = subject.settings.scoring
    weights = draw(len(subject.corpus.test), scoring.resamples, seed=scoring.seed, bucket=5)
    sums = reading.answer_sums(kept.found, "untrained", (11, 21), len(subject.corpus.test))
    expected = reading.reading_curve(sums[None, :, :11], weights).words_read
    ours = rows["words_read", "11-20", "untrained", "", None]
    assert ours["value"] == pytest.approx(expected.value)
    assert ours["low"] == pytest.approx(expected.interval.low)
    row = rows["accuracy", "21-30", "most_frequent", "0", None]
    in_bucket = [letters[0] == "y" for letters, step in zip(found["baseline"], found["step"],
                 strict=True) if 21 <= step <= 30]  # fmt: skip
    assert row["value"] == pytest.approx(np.mean(in_bucket))


def test_a_model_of_the_language_alone_is_not_asked():
    settings = resolve("smoke")
    assert QUESTION.suits(settings)
    assert not QUESTION.suits(settings.changed(model={"source": "hidden"}))
