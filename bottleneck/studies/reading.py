"""C14: is the state the "understanding so far", word by word?

After each word a linear probe is asked for the words so far, by distance back: a lower bound of
what the state holds, and of words alone. The same is asked of the untrained encoder's states, and
of the word just read: what comes before it can partly be guessed from the language.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Int
from numpy import ndarray

from ..corpus.pair import SentencePair
from ..probes.reading import ReadingCurve, Readings, reading_curve
from ..questions.arms import Arm, arms_of, interval_of
from ..questions.encoding import states
from ..questions.question import Columns, Probed, Row, Study, Tell
from ..questions.subject import Subject
from ..scoring.bootstrap import difference as paired
from ..scoring.bootstrap import draw
from ..settings.buckets import bucket_labels
from .linear_reader import NO_ANSWER, STEPS, fit_reader

DISTANCES = 20
"""Words asked for: the one just read, which is 0 back, to that 19 back."""
SENTENCES = 6_000
"""Training sentences whose states the probe is fitted to."""
SEED = 1
"""Of the batches that probes are fitted to: the same for all runs and controls."""
CONTROLS = ("trained", "untrained", "last_word")
RIGHT, WRONG = "y", "n"
Questions = tuple[Int[ndarray, "states"], Int[ndarray, "states"], Int[ndarray, "states distances"]]
"""Of each state: its sentence, the words read so far, and the words back, `NO_ANSWER` behind."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """A row a state of a test sentence: which words back were right, nearest first (``yyn``)."""
    return measure(subject, tell, SENTENCES, STEPS)


def measure(subject: Subject, tell: Tell, sentences: int, steps: int) -> Columns:
    """With so many training sentences, and so many steps of fitting to them."""
    subject.require_words()
    train, test = subject.corpus.train[:sentences], subject.corpus.test
    known, asked = questions(subject, train), questions(subject, test)
    sentence, step, words = asked
    columns: dict[str, ndarray | list[str]] = {"sentence": sentence, "step": step}
    for control, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        tell(f"{control} states, fitting")
        found = np.concatenate(states(subject, weights, train))
        classes = len(subject.vocabularies[0])
        reader = fit_reader(found, known[2], classes=classes, seed=SEED, steps=steps)
        tell(f"{control} states, reading")
        read = reader.read(np.concatenate(states(subject, weights, test)))
        columns[control] = _letters(read, words)
    columns["last_word"] = _letters(from_last_word(known[2], words), words)
    columns["baseline"] = _letters(np.broadcast_to(most_frequent(known[2]), words.shape), words)
    return columns


def questions(subject: Subject, pairs: Sequence[SentencePair]) -> Questions:
    """The states of these sentences in their order, and the words to be read from each."""
    held = [np.array(ids[:-1], dtype=np.int64) for ids in subject.encode(list(pairs)).source]
    sentence = np.repeat(np.arange(len(held)), [len(ids) for ids in held])
    step = np.concatenate([np.arange(1, len(ids) + 1) for ids in held])
    return sentence, step, np.concatenate([words_back(ids) for ids in held])


def words_back(ids: Int[ndarray, "words"]) -> Int[ndarray, "words distances"]:
    """For each word itself, the one before it, and so on."""
    padded = np.concatenate([np.full(DISTANCES - 1, NO_ANSWER), ids])
    return np.lib.stride_tricks.sliding_window_view(padded, DISTANCES)[:, ::-1]


def most_frequent(words: Int[ndarray, "states distances"]) -> Int[ndarray, "distances"]:
    """The word that stands most often at each distance; the least id of equals."""
    return np.array([_mode(column[column != NO_ANSWER]) for column in words.T], dtype=np.int64)


def _mode(ids: Int[ndarray, "words"]) -> int:
    return int(np.bincount(ids).argmax()) if len(ids) else NO_ANSWER


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
    read: Int[ndarray, "states distances"], words: Int[ndarray, "states distances"]
) -> list[str]:
    """Right and wrong answers of each state as letters, for as many words as there were."""
    right = np.where(read == words, RIGHT, WRONG)
    counts = (words != NO_ANSWER).sum(axis=1)
    return ["".join(row[:count]) for row, count in zip(right, counts, strict=True)]


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Words read and accuracy by distance, by how many words had been read."""
    return [row for arm in arms_of(probed) for row in _rows(arm)]


def _rows(arm: Arm) -> Iterator[Row]:
    scoring = arm.settings.scoring
    names, edges = bucket_spans(scoring.lower_edges)
    sentences = int(max(run.found["sentence"].max() for run in arm.runs)) + 1
    weights = draw(sentences, scoring.resamples, seed=scoring.seed, bucket=len(names))
    held = {control: [readings(run, control) for run in arm.runs] for control in CONTROLS}
    for bucket, (first, last) in zip(names, edges, strict=True):
        inside = {
            control: [one.at_steps(first, last) for one in runs] for control, runs in held.items()
        }
        if all(len(one.sentence) for one in inside["trained"]):
            farthest = min(first, DISTANCES) - 1
            curves = {
                control: reading_curve(runs, weights, farthest=farthest)
                for control, runs in inside.items()
            }
            yield from _curves(arm, bucket, curves)
            yield from _seed_rows(arm, bucket, inside, farthest)


def bucket_spans(
    edges: tuple[int, ...],
) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """The buckets' names, and the first and last number of words read in each."""
    ends = [*(edge - 1 for edge in edges[1:]), np.iinfo(np.int64).max]
    return bucket_labels(edges), list(zip(edges, map(int, ends), strict=True))


def readings(run: Probed, control: str) -> Readings:
    """What was kept of a run, a record an answer."""
    answers, base = (run.found[name].tolist() for name in (control, "baseline"))
    counts = np.array([len(each) for each in answers])
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return Readings(
        sentence=np.repeat(run.found["sentence"].astype(np.int64), counts),
        step=np.repeat(run.found["step"].astype(np.int64), counts),
        distance=np.arange(counts.sum()) - starts,
        right=_is_right(answers),
        baseline_right=_is_right(base),
    )


def _is_right(answers: list[str]) -> ndarray:
    return np.array(list("".join(answers)), dtype="<U1") == RIGHT


def _curves(arm: Arm, bucket: str, curves: dict[str, ReadingCurve]) -> Iterator[Row]:
    """The means over seeds: words read, what can be read, accuracy and baseline by distance."""
    trained = curves["trained"]
    n, asked = int(trained.answers[0]), len(trained.answers)
    keys = {"bucket": bucket, "n": n}
    baseline = sum(each.value for each in trained.baseline)
    yield arm.row("words_asked", float(asked), **keys)
    yield arm.row("words_readable", asked - baseline, **keys)
    for control, curve in curves.items():
        shown = "" if control == "trained" else control
        read = curve.words_read
        yield arm.row("words_read", read.value, control=shown, **keys, **interval_of(read))
        for distance, found in enumerate(curve.accuracy):
            own = keys | {"control": shown, "part": str(distance)} | interval_of(found)
            yield arm.row("accuracy", found.value, **own)
    added = paired(trained.words_read, curves["untrained"].words_read)
    yield arm.row("words_read_added", added.value, **keys, **interval_of(added))
    for distance, found in enumerate(trained.baseline):
        own = keys | {"control": "most_frequent", "part": str(distance)} | interval_of(found)
        yield arm.row("accuracy", found.value, **own)


def _seed_rows(
    arm: Arm, bucket: str, inside: dict[str, list[Readings]], farthest: int
) -> Iterator[Row]:
    """Words read from each run's own states."""
    for control in ("trained", "untrained"):
        shown = "" if control == "trained" else control
        for run, one in zip(arm.runs, inside[control], strict=True):
            once = np.ones((1, int(one.sentence.max()) + 1))
            curve = reading_curve([one], once, farthest=farthest)
            keys = {"bucket": bucket, "n": int(curve.answers[0]), "control": shown}
            yield arm.seed_row(run, "words_read", curve.words_read.value, **keys)


STUDY = Study(
    name="reading",
    ids=("C14",),
    question="Is the state the understanding so far: which words so far can be read from it?",
    version=1,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen",
)
