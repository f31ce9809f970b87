"""C14: is the state the "understanding so far", word by word?

After each word a linear probe is asked for the words so far, by distance back: a lower bound of
what the state holds, and of words alone. A state may well have understood a sentence whose words
it no longer holds; what the rule can show is whether the state is a record of the words. The same
is asked of the untrained encoder's states, and of the word just read: what comes before it can
partly be guessed from the language. The baseline answers with the training set's most frequent
word at each distance, and needs no state.
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..claims.verdict import FAMILY, needs_learned
from ..corpus.pair import SentencePair
from ..figures.plot import shared
from ..scoring.bootstrap import Estimate as Resampled
from ..scoring.bootstrap import difference, draw, estimate, ratio_of_sums
from ..settings.buckets import bucket_labels
from .arms import Arm, Row, by_arm
from .estimates import Estimate, Estimates
from .question import Axes, Column, Columns, Grid, Judgement, Line, Question, Tell

if TYPE_CHECKING:
    from .subject import Subject

DISTANCES = 20
"""Words asked for: the one just read, which is 0 back, to that 19 back."""
SENTENCES, STEPS = 6_000, 200
"""Training sentences whose states the probe is fitted to, and steps of fitting."""
SEED = 1
"""Of the batches that probes are fitted to: the same for all runs and controls."""
NO_ANSWER = -1
"""Stands behind the words of a state that has read fewer."""
CONTROLS = {"trained": "", "untrained": "untrained", "last_word": "last_word"}
"""By the names of the probe's columns."""
RIGHT, WRONG = "y", "n"
ENOUGH = 0.5
"""Share of the words that are to be read."""
RULE = (
    "The rule reads, without attention and by how many words the state has read, how many of the "
    "last words (20, or as many as every state of the bucket has read) a linear probe names from "
    "the state beyond always answering the most frequent word. Held if in every bucket these are "
    f"at least {ENOUGH:.0%} of the words that the most frequent word leaves, and more than from an "
    "untrained encoder's states and than from the word just read alone (95 % intervals over test "
    f"sentences: the lower end at or above {ENOUGH:.0%}, the paired difference from the untrained "
    "above 0, the interval above that of the word just read); partly if they are more than both in "
    "every bucket; otherwise not held. Arms with attention are reported and do not count. "
    f"{FAMILY} "
    f"{needs_learned('none without attention')}"
)


def probe(
    subject: "Subject", tell: Tell, sentences: int = SENTENCES, steps: int = STEPS
) -> Columns:
    """A row for each state of a test sentence: which words back were right, nearest first ("yyn").

    The probe is fitted to the states of so many training sentences in so many steps.
    """
    from .linear_reader import fit_reader

    subject.require_words()
    train, test = subject.corpus.train[:sentences], subject.corpus.test
    _, _, known = words_asked(subject, train)
    sentence, step, words = words_asked(subject, test)
    columns: dict[str, ndarray | list[str]] = {"sentence": sentence, "step": step}
    for control, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        tell(f"{control} states, fitting")
        vectors = np.concatenate(subject.states(weights, train))
        classes = len(subject.vocabularies[0])
        reader = fit_reader(vectors, known, classes=classes, seed=SEED, steps=steps)
        tell(f"{control} states, reading")
        columns[control] = _letters(
            reader.read(np.concatenate(subject.states(weights, test))), words
        )
    columns["last_word"] = _letters(from_last_word(known, words), words)
    columns["baseline"] = _letters(np.broadcast_to(most_frequent(known), words.shape), words)
    return columns


def words_asked(
    subject: "Subject", pairs: Sequence[SentencePair]
) -> tuple[
    Int[ndarray, "states"], Int[ndarray, "states"], Int[ndarray, "states distances"]
]:  # fmt: skip
    """Of each state of these sentences: its sentence, how many words it has read, and which."""
    ids = [np.array(row[:-1], dtype=np.int64) for row in subject.encode(list(pairs)).source]
    sentence = np.repeat(np.arange(len(ids)), [len(row) for row in ids])
    step = np.concatenate([np.arange(1, len(row) + 1) for row in ids])
    return sentence, step, np.concatenate([words_back(row) for row in ids])


def words_back(ids: Int[ndarray, "words"]) -> Int[ndarray, "words distances"]:
    """For each word itself, the one before it, and so on."""
    padded = np.concatenate([np.full(DISTANCES - 1, NO_ANSWER), ids])
    return np.lib.stride_tricks.sliding_window_view(padded, DISTANCES)[:, ::-1]


def most_frequent(words: Int[ndarray, "states distances"]) -> Int[ndarray, "distances"]:
    """The word that stands most often at each distance; the least id of equals."""
    answers = []
    for column in words.T:
        ids = column[column != NO_ANSWER]
        answers.append(np.bincount(ids).argmax() if len(ids) else NO_ANSWER)
    return np.array(answers, dtype=np.int64)


def from_last_word(
    known: Int[ndarray, "states distances"], asked: Int[ndarray, "others distances"]
) -> Int[ndarray, "others distances"]:
    """At each distance, what most often stands there before the same last word in ``known``."""
    answers = np.tile(most_frequent(known), (len(asked), 1))
    order = np.argsort(known[:, 0], kind="stable")
    last, starts = np.unique(known[order, 0], return_index=True)
    for word, group in zip(last, np.split(known[order], starts[1:]), strict=True):
        best = most_frequent(group)
        rows = np.flatnonzero(asked[:, 0] == word)
        answers[np.ix_(rows, best != NO_ANSWER)] = best[best != NO_ANSWER]
    return answers


def _letters(
    answers: Int[ndarray, "states distances"], words: Int[ndarray, "states distances"]
) -> list[str]:
    """Right and wrong answers of each state as letters, for as many words as there were."""
    right = np.where(answers == words, RIGHT, WRONG)
    counts = (words != NO_ANSWER).sum(axis=1)
    return ["".join(row[:count]) for row, count in zip(right, counts, strict=True)]


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Words read and accuracy by distance, by how many words had been read."""
    scoring = arm.settings.scoring
    names, edges = bucket_labels(scoring.lower_edges), scoring.lower_edges
    sentences = int(max(run.found["sentence"].max() for run in arm.runs)) + 1
    weights = draw(sentences, scoring.resamples, seed=scoring.seed, bucket=len(names))
    for bucket, first, end in zip(names, edges, [*edges[1:], inf], strict=True):
        asked = min(first, DISTANCES)
        sums = {
            control: np.stack(
                [answer_sums(run.found, control, (first, end), sentences)[:, :asked]
                 for run in arm.runs]
            )
            for control in CONTROLS
        }  # fmt: skip
        if sums["trained"][..., 0, 2].any(axis=1).all():
            yield from _curves(arm, bucket, sums, weights)


def answer_sums(
    found: Columns, control: str, steps: tuple[int, int | float], sentences: int
) -> Float[ndarray, "sentences distances 3"]:
    """Of each sentence and distance: right answers, the baseline's right answers, and answers.

    Counted are the states after ``steps[0]`` words and more, up to under ``steps[1]``.
    """
    inside = (found["step"] >= steps[0]) & (found["step"] < steps[1])
    sums = np.zeros((sentences, DISTANCES, 3))
    for row in np.flatnonzero(inside):
        part = sums[int(found["sentence"][row]), : len(found[control][row])]
        part[:, 2] += 1
        for column, name in enumerate((control, "baseline")):
            part[:, column] += [letter == RIGHT for letter in found[name][row]]
    return sums


class Curve(NamedTuple):
    """Accuracy (0 to 1) by distance, 0 first, and words read.

    ``words_read`` is the sum over distances of accuracy minus baseline, as it is: distances at
    which the probe is worse count against it, since to drop them would make words out of noise.
    """

    answers: int
    accuracy: tuple[Resampled, ...]
    baseline: tuple[Resampled, ...]
    words_read: Resampled


def reading_curve(
    sums: Float[ndarray, "seeds sentences distances 3"],
    weights: Float[ndarray, "resamples sentences"],
) -> Curve:
    """The curve of these `answer_sums`; all distances have the same resamples.

    Raises ValueError for a distance without answers, which has no accuracy to add up.
    """
    empty = np.flatnonzero((sums[..., 2].sum(axis=1) == 0).any(axis=0))
    if len(empty):
        raise ValueError(f"nothing was asked at distance {empty[0]}")
    accuracy, baseline = (
        tuple(
            estimate(ratio_of_sums, sums[:, :, distance][..., [right, 2]], weights)
            for distance in range(sums.shape[2])
        )
        for right in (0, 1)
    )
    beyond = [difference(*pair) for pair in zip(accuracy, baseline, strict=True)]
    draws = np.stack([part.draws for part in beyond]).sum(axis=0)
    words_read = Resampled(float(sum(part.value for part in beyond)), draws)
    return Curve(int(sums[:, :, 0, 2].sum()), accuracy, baseline, words_read)


def _curves(
    arm: Arm, bucket: str, sums: dict[str, Float[ndarray, "..."]], weights: ndarray
) -> Iterator[Row]:
    """The means over seeds: words read, what can be read, accuracy and baseline by distance."""
    curves = {control: reading_curve(part, weights) for control, part in sums.items()}
    trained = curves["trained"]
    keys = {"bucket": bucket, "n": trained.answers}
    asked = len(trained.accuracy)
    yield arm.row("words_asked", float(asked), **keys)
    readable = asked - sum(part.value for part in trained.baseline)
    yield arm.row("words_readable", readable, **keys)
    for control, name in CONTROLS.items():
        yield arm.row("words_read", curves[control].words_read, control=name, **keys)
    accuracies = {name: curves[control].accuracy for control, name in CONTROLS.items()}
    for name, accuracy in {**accuracies, "most_frequent": trained.baseline}.items():
        for distance, share in enumerate(accuracy):
            yield arm.row("accuracy", share, control=name, part=str(distance), **keys)
    added = difference(trained.words_read, curves["untrained"].words_read)
    yield arm.row("words_read_added", added, **keys)
    once = np.ones((1, weights.shape[1]))
    for control in ("trained", "untrained"):
        for run, part in zip(arm.runs, sums[control], strict=True):
            curve = reading_curve(part[None], once)
            keys = {"bucket": bucket, "n": curve.answers, "control": CONTROLS[control]}
            yield arm.seed_row(run, "words_read", curve.words_read.value, **keys)


def decide(estimates: Estimates) -> Judgement | str:
    """C14: the words so far can be read from the state."""
    none, attending = [], []
    for arm, bucket, _, _ in estimates.keys("words_asked"):
        (none if estimates.attention(arm) == "none" else attending).append((arm, bucket))
    if not none:
        return "no arm without attention was measured"

    def get(key: tuple[str, str], control: str = "", measure: str = "words_read") -> Estimate:
        return estimates.get(measure, *key, control)

    def words(key: tuple[str, str], control: str = "") -> str:
        return get(key, control).text("{:z.1f}")

    asked, readable, added = (
        {key: get(key, measure=measure) for key in none}
        for measure in ("words_asked", "words_readable", "words_read_added")
    )
    clauses = [
        f"after {key[1]} words {words(key)} of the last {asked[key].value:.0f} "
        f"({readable[key].value:.1f} could be read; {words(key, 'untrained')} from untrained "
        f"states, {words(key, 'last_word')} from the word just read alone)"
        for key in none
    ]
    clauses[0] = f"beyond the most frequent word the probe reads {clauses[0]}"
    shares = {
        key: get(key).value / most.value if most.value > 0 else 1.0
        for key, most in readable.items()
    }
    least = min(none, key=shares.get)
    clauses += [
        f"with attention ({key[0]}), after {key[1]} words {words(key)}"
        for key in attending
        if key[1] == least[1]
    ]
    more = all(added[key].low > 0 and get(key).low > get(key, "last_word").high for key in none)
    enough = all(get(key).low >= ENOUGH * readable[key].value for key in none)
    measure = f"words read of the last {asked[least].value:.0f}, after {least[1]} words"
    return Judgement(more and enough, more, clauses, measure, get(least))


def farthest(rows: pd.DataFrame) -> str:
    """The first bucket with the most distances."""
    counts = rows[rows["measure"] == "accuracy"].groupby("bucket", sort=False)["part"].nunique()
    return "" if counts.empty else str(counts.idxmax())


def distances(estimates: Estimates) -> Iterator[Line]:
    """Rows of the second table: some distances in the first bucket that has all."""
    bucket = farthest(estimates.means)
    for distance in map(str, (0, 1, 2, 3, 4, 5, 7, 10, 15, 19)):
        yield (bucket, distance), {"measure": "accuracy", "bucket": bucket, "part": distance}


def by_arm_and_control(estimates: Estimates) -> list[Column]:
    """Columns of the second table: each arm trained and untrained, then what needs no state."""
    heads = {"": "trained", "untrained": "untr.", "last_word": "last\nword",
             "most_frequent": "most\nfrequent"}  # fmt: skip
    forms = {"scale": 100.0, "ends": "{:.0f}"}
    arms = estimates.arms()
    columns = [
        Column(f"{arm.replace(' ', chr(10))}\n{heads[name]}", arm=arm, control=name, **forms)
        for arm in arms
        for name in ("", "untrained")
    ]
    for control in SHARED:
        columns.append(Column(heads[control], arm=arms[0], control=control, **forms))
    return columns


SHARED = {"last_word": "from the last word alone", "most_frequent": "most frequent word"}
TWO = {"form": "{:.2f}"}

QUESTION = Question(
    name="reading",
    ids=("C14",),
    question="Is the state the understanding so far: which words so far can be read from it?",
    title="Words read from the state (C14)",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen",
    rule=RULE,
    decide=decide,
    notes=[
        "After each word of a test sentence a linear softmax probe names the word just read, the "
        "one before it, and so on to 20 back. Words read: right answers minus those of always "
        "naming the most frequent word of that distance, summed over the distances that every "
        "state of the row has (of: how many). n: states, over all seeds.",
        "Untrained: the states of the same network before training, with a probe of their own. "
        "Last word: what most often comes before the same last word. All are lower bounds. The "
        "state of a two-way encoder has also read the words to come.",
    ],
    measures=("words_asked", "words_readable", "words_read", "words_read_added", "accuracy"),
    grids=[
        Grid(
            "Words so far that a linear probe reads from h_t, beyond the most frequent (C14)",
            heads=("words\nso far", "arm"),
            columns=[
                Column("of", "words_asked", form="{:.0f}", ends=""),
                Column("trained", "words_read", **TWO),
                Column("un-\ntrained", "words_read", control="untrained", **TWO),
                Column("last\nword", "words_read", control="last_word", **TWO),
                Column("training\nadds", "words_read_added", form="{:+.2f}"),
            ],
        ),
        Grid(
            "Right answers by distance (0: the word just read), %",
            heads=("after\nwords", "words\nback"),
            lines=distances,
            columns=by_arm_and_control,
            counted=False,
        ),
    ],
    figure="Is the state the understanding so far?",
    axes=[
        Axes(
            "Words so far that are read", "words_read", "words, beyond the most frequent",
            x_label="source words so far", counted="states", lines=None,
            select=lambda rows: shared(rows, SHARED),
        ),
        Axes(
            "Right answers by distance", "accuracy", "% of answers", scale=100.0, x="part",
            x_label="words back, 0: just read", counted="states", numeric=True, limit=102.0,
            lines=None,
            select=lambda rows: shared(rows[rows["bucket"] == farthest(rows)], SHARED),
        ),
    ],
)  # fmt: skip
