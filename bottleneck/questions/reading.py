"""C14: is the state the "understanding so far", word by word?

After each word, a linear probe names the words so far, by their distance back. What it reads is a
lower bound on what the state holds. The baseline names the most frequent word at each distance.

The probe is a softmax regression on whitened inputs, one per distance. It starts at the linear
discriminant (Fisher 1936; Rao 1948), which knows rare words from few examples; Adam trains it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..figures.plot import shared
from ..scoring.bootstrap import ratio_of_sums
from ..settings.concerns import bucket_labels, bucket_of
from .arms import Arm, Estimates, Row, by_arm
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

DISTANCES = 20
"""How many words the probe names: from the word just read (distance 0) to distance 19."""
NO_ANSWER = -1
"""Marks distances beyond the first word of the sentence."""
ENOUGH = 0.5
"""The share of the words that must be read."""


def probe(subject: Subject, sentences: int = 6_000, steps: int = 200) -> Columns:
    """One row per test sentence and bucket of words so far: its states, and right answers.

    The probe names the nearest words that every state of the bucket has read, at most `DISTANCES`.
    """
    subject.require_words()
    texts = subject.corpus.train[:sentences], subject.corpus.test
    # The end token is left out.
    ids = [[np.array(row[:-1], np.int64) for row in subject.encode(pairs).source]
           for pairs in texts]  # fmt: skip
    # For each position its word, the word before it, and so on.
    before, window = np.full(DISTANCES - 1, NO_ANSWER), np.lib.stride_tricks.sliding_window_view
    training, words = (
        np.concatenate([window(np.r_[before, row], DISTANCES)[:, ::-1] for row in rows])
        for rows in ids
    )
    # The most frequent word at each distance: of all, and of those with the same last word. It has
    # the lowest id if several are equal. Counts begin with that of NO_ANSWER, which is dropped.
    last, best = training[:, 0], {}
    for word in (None, *np.unique(last)):
        columns = training.T if word is None else training[last == word].T
        counts = [np.bincount(column - NO_ANSWER)[1:] for column in columns]
        best[word] = np.array([count.argmax() if count.size else NO_ANSWER for count in counts])
    frequent = best.pop(None)
    answers = {name: np.tile(frequent, (len(words), 1)) for name in ("last_word", "baseline")}
    for word, after in best.items():
        answers["last_word"][words[:, 0] == word] = np.where(after == NO_ANSWER, frequent, after)
    for name, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        subject.tell(f"{name} states")
        fitted, asked = (
            np.concatenate([states for states, _ in subject.read(weights, pairs)])
            for pairs in texts
        )
        classes = len(subject.vocabularies[0])
        answers[name] = read_words(fitted, training, asked, classes=classes, steps=steps)
    lengths, edges = [*map(len, ids[1])], subject.edges
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    bucket = bucket_of(np.concatenate([np.arange(1, n + 1) for n in lengths]), edges)
    parts = []
    for place, first in enumerate(edges):
        inside = bucket == place
        counts = {"states": inside}
        for name, guesses in answers.items():
            counts[name] = (guesses == words)[:, : min(first, DISTANCES)].sum(axis=1) * inside
        sums = {key: np.bincount(sentence, count) for key, count in counts.items()}
        parts.append(pd.DataFrame({"words": first} | sums))
    return pd.concat(parts).to_dict("list")


def read_words(
    inputs: Float[ndarray, "rows size"], answers: Int[ndarray, "rows distances"],
    others: Float[ndarray, "others size"], *, classes: int, steps: int,
) -> Int[ndarray, "others distances"]:  # fmt: skip
    """Fit the probe to inputs and answers (0 to ``classes`` - 1); return its answers for others."""
    import jax
    import jax.numpy as jnp
    import optax

    from ..model.parts import on_host

    # Whiten: means of 0 and variances of 1. A variance under a millionth of the mean variance is
    # rounding noise, which must not be amplified.
    mean = inputs.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(inputs - mean, rowvar=False)))
    least = max(1e-6 * float(variances.mean()), np.finfo(np.float32).tiny)
    turn = axes / np.sqrt(np.maximum(variances, 0.0) + least)
    inputs, others = (((rows - mean) @ turn).astype(np.float32) for rows in (inputs, others))
    starts = [_discriminant(inputs, column, classes) for column in answers.T]
    maps = tuple(np.stack(part) for part in zip(*starts, strict=True))

    def logits(maps: tuple, inputs: Any) -> Any:
        matrix, bias = maps
        return jnp.einsum("bs,psc->pbc", inputs, matrix) + bias[:, None, :]

    optimizer = optax.adam(optax.linear_schedule(1e-2, 0.0, steps))

    @jax.jit
    def step(maps: tuple, moments: tuple, inputs: Any, answers: Any) -> tuple[tuple, tuple]:
        """One update by the mean cross-entropy, without `NO_ANSWER`."""
        asked, right = (answers != NO_ANSWER).astype(jnp.float32), jnp.maximum(answers, 0)
        losses = optax.softmax_cross_entropy_with_integer_labels
        gradient = jax.grad(
            lambda maps: (
                jnp.sum(losses(logits(maps, inputs), right.T) * asked.T)
                / jnp.maximum(jnp.sum(asked), 1.0)
            )
        )
        change, moments = optimizer.update(gradient(maps), moments)
        return optax.apply_updates(maps, change), moments

    moments, random = optimizer.init(maps), np.random.Generator(np.random.PCG64(1))
    for rows in random.integers(len(inputs), size=(steps, 512)):
        maps, moments = step(maps, moments, inputs[rows], answers[rows].astype(np.int32))
    likeliest = jax.jit(lambda *given: jnp.argmax(logits(*given), axis=2).T)
    batches = np.split(others, range(512, len(others), 512))
    return np.concatenate([on_host(likeliest(maps, batch)) for batch in batches])


def _discriminant(
    inputs: Float[ndarray, "rows size"], answers: Int[ndarray, "rows"], classes: int
) -> tuple[Float[ndarray, "size classes"], Float[ndarray, "classes"]]:
    """The linear discriminant of one distance; without answers, only a bias."""
    asked = answers != NO_ANSWER
    rows, labels = inputs[asked], answers[asked]
    counts = np.bincount(labels, minlength=classes).astype(np.float64)
    smoothed = counts + 0.01  # so that a class without examples has a probability
    bias = np.log(smoothed / smoothed.sum())
    by_class = pd.DataFrame(rows.astype(np.float64)).groupby(labels).sum()
    sums = by_class.reindex(range(classes), fill_value=0.0).to_numpy()
    centre = sums.sum(axis=0) / max(1.0, counts.sum())
    # A class's mean is shrunk towards the overall mean, as if 20 more examples were there.
    shrunken = (sums + 20.0 * centre) / (counts + 20.0)[:, None]
    means = sums / np.maximum(counts, 1.0)[:, None]
    within = (rows.T @ rows).astype(np.float64) - means.T @ (means * counts[:, None])
    within = within / max(1.0, counts.sum()) + 1e-6 * np.eye(rows.shape[1])
    matrix = np.linalg.solve(within, shrunken.T)
    bias -= 0.5 * (matrix * shrunken.T).sum(axis=0)
    return matrix.astype(np.float32), bias.astype(np.float32)


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Words that the probe names, by the number of words so far."""
    edges, found = arm.settings.scoring.lower_edges, arm.runs[0].found
    for bucket, first in zip(bucket_labels(edges), edges, strict=True):
        inside = found["words"] == first
        counts = {
            name: arm.statistics([name])[:, inside, 0]
            for name in ("states", "trained", "untrained", "last_word", "baseline")
        }
        n = int(counts["states"][0].sum())
        if n == 0:
            continue
        asked, total = min(first, DISTANCES), n * len(arm.runs)
        yield arm.row("words_asked", float(asked), bucket=bucket, n=total)
        readable = float(asked - counts["baseline"].sum() / total)
        yield arm.row("words_readable", readable, bucket=bucket, n=total)
        for measure, control, name, other in (
            ("words_read", "", "trained", "baseline"),
            ("words_read", "untrained", "untrained", "baseline"),
            ("words_read", "last_word", "last_word", "baseline"),
            ("words_read_added", "", "trained", "untrained"),
        ):
            sums = np.stack([counts[name] - counts[other], counts["states"]], axis=-1)
            keys = {"bucket": bucket, "control": control, "n": n, "stream": len(edges)}
            mean, *seeds = arm.rows(measure, ratio_of_sums, sums, **keys)
            yield from (mean | {"n": total}, *seeds)


def judge(estimates: Estimates) -> Judgement | str:
    """C14: the words so far can be read from the state."""
    arm = estimates.without_attention
    asked, readable, read, added = (
        estimates.by_bucket(f"words_{name}", arm)
        for name in ("asked", "readable", "read", "read_added")
    )
    if not asked:
        return "no arm without attention was measured"
    clauses, more, enough, shares = [], [], [], {}
    for bucket in asked:
        untrained, last_word = (
            estimates.get("words_read", arm, bucket, name) for name in ("untrained", "last_word")
        )
        clauses.append(
            f"after {bucket} words {read[bucket].text()} of the last {asked[bucket].value:.0f} "
            f"({readable[bucket].value:.1f} could be read, {untrained.text()} from untrained "
            f"states, {last_word.text()} from the word just read alone)"
        )
        more.append(added[bucket].low > 0 and read[bucket].low > last_word.high)
        most = readable[bucket].value
        enough.append(read[bucket].low >= ENOUGH * most)
        shares[bucket] = read[bucket].value / most if most > 0 else 1.0
    clauses[0] = f"beyond the most frequent word the probe reads {clauses[0]}"
    least = min(asked, key=shares.get)
    measure = f"words read of the last {asked[least].value:.0f}, after {least} words"
    return Judgement(all(more) and all(enough), all(more), clauses, measure, read[least])


QUESTION = Question(
    name="reading",
    question="Is the state the understanding so far: which words so far can be read from it? (C14)",
    title="Words read from the state (C14)",
    version=2,
    probe=probe,
    summarise=summarise,
    rules={"C14": (
        "The rule counts how many of the last words a linear probe names from the state without "
        "attention, beyond always naming the most frequent word. Buckets are by the number of "
        "words read so far; the last words are 20, or as many as every state of the bucket has "
        f"read. Held if in every bucket these are at least {ENOUGH:.0%} as many as the words that "
        "the most frequent word misses (lower end of the 95 % interval over test sentences), more "
        "than from an untrained encoder's states (interval of the paired difference above 0), and "
        "more than can be guessed from the word just read (interval above that of the guess); "
        "partly if the last two conditions hold in every bucket; otherwise not held.",
        judge,
    )},
    notes=[
        "After each word of a test sentence a linear softmax probe names the last 20 words. Words "
        "read: right answers minus those of always naming the most frequent word of the distance, "
        "over the distances that every state of the row has (of: how many). n: states, over all "
        "seeds. Last word: what most often comes before the same last word.",
    ],
    tables=[
        StudyTable(
            "Words so far that a linear probe reads from h_t, beyond the most frequent (C14)", [
            StudyColumn("of", "words_asked", form="{:.0f}", ends=""),
            StudyColumn("trained", "words_read", form="{:.2f}"),
            StudyColumn("un-\ntrained", "words_read", control="untrained", form="{:.2f}"),
            StudyColumn("last\nword", "words_read", control="last_word", form="{:.2f}"),
            StudyColumn("training\nadds", "words_read_added", form="{:+.2f}"),
        ], heads=("words\nso far", "arm"))
    ],
    axes=[
        Axes("Words so far that are read", "words, beyond the most frequent",
             "source words so far", "states", measure="words_read",
             select=lambda rows: shared(rows, {"last_word": "from the last word alone"}))
    ],
)  # fmt: skip
