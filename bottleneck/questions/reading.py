"""C14: is the state the "understanding so far", word by word?

After each word a linear probe is asked for the words so far, by distance back: a lower bound of
what the state holds. The baseline answers with the most frequent word at each distance.

The probe is softmax regression on whitened inputs, one for each distance. It starts at the linear
discriminant (Fisher 1936; Rao 1948), which knows rare words from few examples, and goes on by Adam.
"""

from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..claims.verdict import FAMILY, needs_learned
from ..figures.plot import shared
from ..scoring.bootstrap import Estimate, draw, estimate, ratio_of_sums
from ..settings.concerns import bucket_labels
from .arms import Arm, Estimates, Row, by_arm
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Tell

if TYPE_CHECKING:
    from jaxtyping import Array

    from .subject import Subject

DISTANCES = 20
"""Words asked for: the one just read, which is 0 back, to that 19 back."""
NO_ANSWER = -1
"""Stands behind the words of a state that has read fewer."""
NAMES = ("trained", "untrained", "last_word", "baseline")
"""The probe's columns of answers."""
LEAST_VARIANCE = 1e-6
"""Of the mean variance: less counts as noise of rounding, and is not blown up."""
BATCH, RATE = 512, 1e-2
"""Rows of each step of Adam, and its first rate, which falls to 0 in a line."""
Inputs = Float[ndarray, "rows size"]
ENOUGH, FORM = 0.5, "{:z.1f}"
"""Share of the words that are to be read; and how words are printed in a reason."""
RULE = (
    "The rule reads, without attention and by how many words the state has read, how many of the "
    "last words (20, or as many as every state of the bucket has read) a linear probe names from "
    "the state beyond always answering the most frequent word. Held if in every bucket these are "
    f"at least {ENOUGH:.0%} of the words that the most frequent word leaves, and more than from an "
    "untrained encoder's states and than from the word just read alone (95 % intervals over test "
    f"sentences: the lower end at or above {ENOUGH:.0%}, the paired difference from the untrained "
    "above 0, the interval above that of the word just read); partly if they are more than both in "
    f"every bucket; otherwise not held. {FAMILY} {needs_learned('none without attention')}"
)


def probe(subject: "Subject", tell: Tell, sentences: int = 6_000, steps: int = 200) -> Columns:
    """A row for each state of a test sentence: which words back were right, nearest first."""
    subject.require_words()
    texts = subject.corpus.train[:sentences], subject.corpus.test
    # The end token is left out.
    ids = [[np.array(row[:-1], np.int64) for row in subject.encode(pairs).source]
           for pairs in texts]  # fmt: skip
    # For each word itself, the one before it, and so on.
    before, window = np.full(DISTANCES - 1, NO_ANSWER), np.lib.stride_tricks.sliding_window_view
    known, words = (
        np.concatenate([window(np.r_[before, row], DISTANCES)[:, ::-1] for row in rows])
        for rows in ids
    )
    frequent = np.broadcast_to(most_frequent(known), words.shape)
    answers = {"last_word": from_last_word(known, words), "baseline": frequent}
    for name, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        tell(f"{name} states")
        fitted, asked = (
            np.concatenate([states for states, _ in subject.read(weights, pairs)])
            for pairs in texts
        )
        read = fit_reader(fitted, known, classes=len(subject.vocabularies[0]), seed=1, steps=steps)
        answers[name] = read(asked)
    lengths, counts = [*map(len, ids[1])], (words != NO_ANSWER).sum(axis=1)
    columns = {
        "sentence": np.repeat(np.arange(len(lengths)), lengths),
        "step": np.concatenate([np.arange(1, length + 1) for length in lengths]),
    }
    for name in NAMES:
        letters = np.where(answers[name] == words, "y", "n")
        columns[name] = ["".join(row[:n]) for row, n in zip(letters, counts, strict=True)]
    return columns


def most_frequent(words: Int[ndarray, "states distances"]) -> Int[ndarray, "distances"]:
    """The word that stands most often at each distance; the least id of equals."""
    # Ids are counted from NO_ANSWER, whose count is put away.
    counts = [np.bincount(column - NO_ANSWER)[1:] for column in words.T]
    return np.array([count.argmax() if count.size else NO_ANSWER for count in counts], np.int64)


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


def fit_reader(
    inputs: Inputs, answers: Int[ndarray, "rows places"], *, classes: int, seed: int, steps: int
) -> Callable[[Inputs], Int[ndarray, "rows places"]]:
    """Fit to rows of answers from 0 to ``classes`` - 1; what is returned reads the likeliest."""
    import jax
    import jax.numpy as jnp
    import optax

    from ..model.parts import on_host

    whiten = whitening(inputs)
    white = whiten(inputs)
    starts = [_discriminant(white, column, classes) for column in answers.T]
    maps = tuple(np.stack(part) for part in zip(*starts, strict=True))

    def logits(maps: tuple, inputs: "Array") -> "Array":
        matrix, bias = maps
        return jnp.einsum("bs,psc->pbc", inputs, matrix) + bias[:, None, :]

    @jax.jit
    def train(start: tuple, inputs: "Array", answers: "Array", batches: "Array") -> tuple:
        """Adam over the batches, on the mean cross-entropy of the answers that there are."""
        optimizer = optax.adam(optax.linear_schedule(RATE, 0.0, batches.shape[0]))

        def loss(maps: tuple, rows: "Array") -> "Array":
            asked = (answers[rows] != NO_ANSWER).astype(jnp.float32)
            right, scores = jnp.maximum(answers[rows], 0).T, logits(maps, inputs[rows])
            losses = optax.softmax_cross_entropy_with_integer_labels(scores, right)
            return jnp.sum(losses * asked.T) / jnp.maximum(jnp.sum(asked), 1.0)

        def step(state: tuple, rows: "Array") -> tuple[tuple, None]:
            maps, moments = state
            change, moments = optimizer.update(jax.grad(loss)(maps, rows), moments)
            return (optax.apply_updates(maps, change), moments), None

        return jax.lax.scan(step, (start, optimizer.init(start)), batches)[0][0]

    @jax.jit
    def likeliest(maps: tuple, inputs: "Array") -> "Array":
        return jnp.argmax(logits(maps, inputs), axis=2).T

    if steps:
        random = np.random.Generator(np.random.PCG64(seed))
        rows = random.integers(len(inputs), size=(steps, BATCH)).astype(np.int32)
        maps = train(maps, white, answers.astype(np.int32), rows)

    def read(others: Inputs) -> Int[ndarray, "rows places"]:
        batches = np.split(whiten(others), range(BATCH, len(others), BATCH))
        return np.concatenate([on_host(likeliest(maps, batch)) for batch in batches]).astype(int)

    return read


def whitening(inputs: Inputs) -> Callable[[Inputs], Inputs]:
    """The map that takes these inputs to means of 0 and variances of 1, in float32."""
    inputs = inputs.astype(np.float64)
    mean = inputs.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(inputs - mean, rowvar=False).reshape(len(mean), -1))
    least = max(LEAST_VARIANCE * float(variances.mean()), np.finfo(np.float32).tiny)
    turn = axes / np.sqrt(np.maximum(variances, 0.0) + least)
    return lambda others: ((others - mean) @ turn).astype(np.float32)


def _discriminant(
    white: Inputs, answers: Int[ndarray, "rows"], classes: int
) -> tuple[Float[ndarray, "size classes"], Float[ndarray, "classes"]]:
    """The linear discriminant of one place; nothing but a bias where nothing was asked."""
    known = answers != NO_ANSWER
    rows, labels = white[known], answers[known]
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    met = counts + 0.01  # so that the unmet have a probability
    bias = np.log(met / met.sum())
    sums = np.zeros((classes, rows.shape[1]))
    if len(rows):
        order = np.argsort(labels, kind="stable")
        present, starts = np.unique(labels[order], return_index=True)
        sums[present] = np.add.reduceat(rows[order].astype(np.float64), starts, axis=0)
    centre = sums.sum(axis=0) / max(1.0, counts.sum())
    # A class's mean is drawn to that of all as if it had been met 20 times more there.
    shrunken = (sums + 20.0 * centre) / (counts + 20.0)[:, None]
    means = sums / np.maximum(counts, 1.0)[:, None]
    within = (rows.T @ rows).astype(np.float64) - means.T @ (means * counts[:, None])
    within = within / max(1.0, counts.sum()) + LEAST_VARIANCE * np.eye(white.shape[1])
    matrix = np.linalg.solve(within, shrunken.T)
    bias -= 0.5 * (matrix * shrunken.T).sum(axis=0)
    return matrix.astype(np.float32), bias.astype(np.float32)


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Words read, by how many words had been read."""
    scoring, found = arm.settings.scoring, arm.runs[0].found
    sentence, step = found["sentence"].astype(np.int64), found["step"]  # of every seed
    sentences = 1 + int(sentence.max())
    edges = scoring.lower_edges
    weights = draw(sentences, scoring.resamples, seed=scoring.seed, bucket=len(edges))
    letters = {
        name: np.stack([run.found[name].astype(f"U{DISTANCES}") for run in arm.runs])
        for name in NAMES
    }
    for bucket, first, end in zip(bucket_labels(edges), edges, [*edges[1:], inf], strict=True):
        asked, inside = min(first, DISTANCES), (step >= first) & (step < end)
        if not inside.any():
            continue
        answers = np.bincount(sentence[inside], minlength=sentences)
        read, alone = {}, {}
        for name, texts in letters.items():
            right = texts.view("U1").reshape(*texts.shape, DISTANCES)[:, inside, :asked] == "y"
            sums = np.zeros((len(arm.runs), sentences, asked))
            np.add.at(sums, (slice(None), sentence[inside]), right)
            rates = [
                estimate(ratio_of_sums, np.stack([part, part * 0 + answers], axis=-1), weights)
                for part in np.moveaxis(sums, -1, 0)
            ]
            read[name] = np.sum([np.append(rate.value, rate.draws) for rate in rates], axis=0)
            alone[name] = sums.sum(axis=(1, 2)) / answers.sum()
        n = int(inside.sum())
        total = {"n": n * len(arm.runs)}
        yield arm.row("words_asked", float(asked), bucket=bucket, **total)
        readable = float(asked - read["baseline"][0])
        yield arm.row("words_readable", readable, bucket=bucket, **total)
        for measure, control, name, other in (
            ("words_read", "", "trained", "baseline"),
            ("words_read", "untrained", "untrained", "baseline"),
            ("words_read", "last_word", "last_word", "baseline"),
            ("words_read_added", "", "trained", "untrained"),
        ):
            value, *draws = read[name] - read[other]
            interval = Estimate(float(value), np.array(draws)).interval
            mean, seeds = total | {"value": value, **vars(interval)}, alone[name] - alone[other]
            yield from arm.with_seeds(measure, mean, seeds, bucket=bucket, control=control, n=n)


def decide(estimates: Estimates) -> Judgement | str:
    """C14: the words so far can be read from the state."""
    none = [
        (arm, bucket)
        for arm, bucket, *_ in estimates.keys("words_asked")
        if arm == estimates.without_attention()
    ]
    if not none:
        return "no arm without attention was measured"
    clauses, more, enough, shares = [], [], [], {}
    for key in none:
        asked, readable, added = (
            estimates.get(f"words_{name}", *key) for name in ("asked", "readable", "read_added")
        )
        read, untrained, last_word = (
            estimates.get("words_read", *key, control) for control in ("", "untrained", "last_word")
        )
        clauses.append(
            f"after {key[1]} words {read.text(FORM)} of the last {asked.value:.0f} "
            f"({readable.value:.1f} could be read; {untrained.text(FORM)} from untrained states, "
            f"{last_word.text(FORM)} from the word just read alone)"
        )
        more.append(added.low > 0 and read.low > last_word.high)
        enough.append(read.low >= ENOUGH * readable.value)
        shares[key] = read.value / readable.value if readable.value > 0 else 1.0
    clauses[0] = f"beyond the most frequent word the probe reads {clauses[0]}"
    least = min(none, key=shares.get)
    asked, read = (estimates.get(name, *least) for name in ("words_asked", "words_read"))
    measure = f"words read of the last {asked.value:.0f}, after {least[1]} words"
    return Judgement(all(more) and all(enough), all(more), clauses, measure, read)


QUESTION = Question(
    name="reading",
    ids=("C14",),
    question="Is the state the understanding so far: which words so far can be read from it?",
    title="Words read from the state (C14)",
    probe=probe,
    summarise=summarise,
    rules={"C14": (RULE, decide)},
    notes=[
        "After each word of a test sentence a linear softmax probe names the word just read, the "
        "one before it, and so on to 20 back. Words read: right answers minus those of always "
        "naming the most frequent word of that distance, summed over the distances that every "
        "state of the row has (of: how many). n: states, over all seeds. Last word: what most "
        "often comes before the same last word.",
    ],
    measures=("words_asked", "words_readable", "words_read", "words_read_added"),
    tables=[
        StudyTable(
            "Words so far that a linear probe reads from h_t, beyond the most frequent (C14)",
            heads=("words\nso far", "arm"),
            columns=[
                StudyColumn("of", "words_asked", form="{:.0f}", ends=""),
                StudyColumn("trained", "words_read", form="{:.2f}"),
                StudyColumn("un-\ntrained", "words_read", control="untrained", form="{:.2f}"),
                StudyColumn("last\nword", "words_read", control="last_word", form="{:.2f}"),
                StudyColumn("training\nadds", "words_read_added", form="{:+.2f}"),
            ],
        ),
    ],
    axes=[
        Axes(
            "Words so far that are read", "words_read", "words, beyond the most frequent",
            x_label="source words so far", counted="states", lines=None,
            select=lambda rows: shared(rows, {"last_word": "from the last word alone"}),
        )
    ],
)  # fmt: skip
