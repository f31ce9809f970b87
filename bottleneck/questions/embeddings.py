"""C13: does training place similar words near each other?

Words are similar if they have the same word class, or nouns if they have the same gender in French.
English nouns do not show this gender, so the encoder can learn it only from the translation.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ..corpus.grammar import NOUN_GENDER, WORD_CLASS
from ..corpus.vocabulary import UNK
from ..scoring.bootstrap import ratio_of_sums
from .arms import Arm, Estimates, Row, by_arm
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

LABELS = {"class": "Word class", "gender": "Gender of nouns"}
LEAST_ADDED = 0.2
"""The share of a word's neighbours that training must add."""


def probe(subject: Subject) -> Columns:
    """One row per word of the source vocabulary: the share of its neighbours that are like it."""
    subject.require_words()
    subject.tell("neighbours of words")
    words = list(subject.vocabularies[0].words)
    kinds = [WORD_CLASS[word] for word in words]
    genders = [NOUN_GENDER.get(word, "") for word in words]
    # Neighbours in order of frequency: on a quarter circle, cosines fall with the distance.
    angles = np.linspace(0, np.pi / 2, len(words))
    vectors = {"frequency": np.stack([np.cos(angles), np.sin(angles)], axis=1)}
    for control, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
        vectors[control] = np.asarray(weights["encoder"]["embedding"][...])[UNK + 1 :]
    columns = {"word": words, "class": kinds}
    for (label, names), control in product((("class", kinds), ("gender", genders)), vectors):
        inside, share = np.array(names) != "", np.full(len(words), np.nan)
        share[inside] = same_label(vectors[control][inside], np.array(names)[inside], k=5)
        columns[f"{label}_{control}"] = share
    return columns


def same_label(
    embeddings: Float[ndarray, "words size"], labels: ndarray, *, k: int
) -> Float[ndarray, "words"]:
    """Share of each word's k nearest by cosine, without itself, that have its label."""
    vectors = embeddings.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(norms > 0, norms, 1.0)
    cosines = directions @ directions.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return (labels[nearest] == labels[:, None]).mean(axis=1)


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Shares of like neighbours, and what training adds."""
    for label in LABELS:
        names = [f"{label}_{control}" for control in ("trained", "untrained", "frequency")]
        labelled = ~np.isnan(arm.runs[0].found[names[0]])
        trained, untrained, frequency = np.moveaxis(arm.statistics(names)[:, labelled], -1, 0)
        for measure, control, share in (
            (f"same_{label}", "", trained),
            (f"same_{label}", "untrained", untrained),
            (f"same_{label}", "frequency", frequency),
            (f"same_{label}_added", "", trained - untrained),
        ):
            sums = np.stack([share, np.ones_like(share)], axis=-1)
            keys = {"control": control, "part": "source"}
            yield from arm.rows(measure, ratio_of_sums, sums, stream=0, **keys)


def judge(estimates: Estimates) -> Judgement | str:
    """C13: similar words are near each other, and training put them there."""
    keys = [("same_class", ""), ("same_class", "frequency"), ("same_class_added", ""),
            ("same_gender", ""), ("same_gender_added", "")]  # fmt: skip
    clauses, by_class, by_gender, added = [], [], [], {}
    for arm in estimates.arms:
        numbers = [estimates.get(name, arm, control=key, part="source") for name, key in keys]
        if None in numbers:
            continue
        kind, frequency, class_added, gender, gender_added = (n.scaled(100.0) for n in numbers)
        shares = [item.text("{:z.0f}", " %") for item in (kind, frequency, gender)]
        words = ("{} more than untrained", "{} less than untrained", "{:z.0f}", " points")
        clauses.append(
            f"{arm}: {shares[0]} of the neighbours of {kind.n:,} words are of the word's class, "
            f"{class_added.change(*words)} (of the words next in frequency {shares[1]}), and "
            f"{shares[2]} of nouns' neighbours of the noun's gender, {gender_added.change(*words)}"
        )
        added[arm] = class_added
        by_class.append(class_added.low >= 100 * LEAST_ADDED and kind.low > frequency.high)
        by_gender.append(gender_added.low > 0)
    if not added:
        return "no arm has embeddings of enough words"
    least = min(added, key=lambda arm: added[arm].value)
    measure = f"points, same-class neighbours added by training, {least}"
    return Judgement(all(by_class + by_gender), all(by_class), clauses, measure, added[least])


QUESTION = Question(
    name="embeddings",
    question="Does training place words of a class, and nouns of a gender, near each other? (C13)",
    title="Neighbours among the embeddings (C13)",
    version=2,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.name == "grammar",
    rules={"C13": (
        "The rule reads the share of each word's nearest neighbours (by cosine, among the "
        "encoder's embeddings) that have its word class, and the share of each noun's nearest "
        "nouns that have its gender in French. Held if in every arm training adds to the class's "
        f"share, compared with the same network untrained, at least {LEAST_ADDED:.0%} of the "
        "neighbours (lower end of the 95 % interval over words), the class's interval lies above "
        "that of the words next in frequency, and training adds to the gender's share (lower end "
        "above 0); partly if the conditions on the class hold in every arm; otherwise not held.",
        judge,
    )},
    notes=["Embeddings are the encoder's. Next in freq.: the words next in order of frequency."],
    tables=[
        StudyTable(f"{name} (C13), % of the nearest five that share the word's", [
            StudyColumn(head, f"same_{label}{added}", control=control, part="source", scale=100.0,
                        form=form)
            for head, added, control, form in (
                ("trained", "", "", "{:z.0f}"),
                ("un-\ntrained", "", "untrained", "{:z.0f}"),
                ("next in\nfreq.", "", "frequency", "{:z.0f}"),
                ("training\nadds", "_added", "", "{:+z.0f}"),
            )
        ], heads=("arm",))
        for label, name in LABELS.items()
    ],
    over="words",
    axes=[
        Axes(name, "% of nearest five", "", "words", joined=False, measure=f"same_{label}",
             scale=100.0, by="like", names={"": "trained", "frequency": "next in frequency"},
             select=lambda rows: rows.assign(like=rows["control"], control=""))
        for label, name in LABELS.items()
    ],
)  # fmt: skip
