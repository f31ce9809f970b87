"""C13: does training place similar words near each other?

Similar is what the grammar knows: the word class, and the gender that a noun has in French. Gender
is no property of an English noun: the encoder's embedding can show it only by what translating into
French asks for. The embedding that is judged is the encoder's; the decoder's is reported.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..claims.verdict import FAMILY, needs_learned
from ..corpus.grammar import CONTENT, noun_gender, word_class
from ..corpus.pair import SentencePair
from ..corpus.vocabulary import UNK, tokenize
from ..scoring.bootstrap import ratio_of_sums
from .arms import Arm, Estimate, Estimates, Row, by_arm
from .question import Axes, Column, Columns, Grid, Judgement, Question, Tell

if TYPE_CHECKING:
    from .subject import Subject

NEAREST = 5
CONTROLS = {
    "trained": "trained",
    "untrained": "untrained",
    "frequency": "next in frequency",
}
"""``frequency``: neighbours are the words next in the training text's order of frequency."""
SIDES = {"source": "encoder", "target": "decoder"}
Labels = dict[str, tuple[str, str]]
"""Of words: class and gender, the latter empty where there is none."""
LEAST_ADDED = 0.2
"""Share of a word's neighbours."""
RULE = (
    "The rule reads, among the encoder's embeddings, the share of each word's nearest neighbours "
    "(by cosine) that have its word class, and of each noun's nearest nouns whose French has its "
    "gender. Held if in every arm training adds to the class's share, compared with the same "
    f"network untrained, at least {LEAST_ADDED:.0%} of the neighbours, and adds to the gender's "
    f"share (lower ends of the 95 % intervals over words at or above {LEAST_ADDED:.0%} and above "
    "0), and if the class's interval is above that of words next in frequency, which would be near "
    "each other if embeddings only said how often words occur; partly if the class's conditions "
    f"hold in every arm; otherwise not held. {FAMILY} {needs_learned('no arm')}"
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """A row for each labelled word of either vocabulary: by control, what share is like it.

    Vocabularies are in order of frequency. The vectors of the control ``frequency`` lie on a
    quarter of a circle, where the cosine falls with the distance in that order.
    """
    subject.require_words()
    tell("labelling words")
    english = {word: english_label(word) for word in subject.vocabularies[0].words}
    french = french_labels(subject.corpus.train)
    parts = []
    for side, vocabulary, labels in zip(
        SIDES, subject.vocabularies, (english, french), strict=True
    ):
        tell(f"neighbours, {side}")
        ids = [row for row in range(UNK + 1, len(vocabulary)) if vocabulary.tokens[row] in labels]
        words = [vocabulary.tokens[row] for row in ids]
        kinds, genders = (np.array(column) for column in zip(*map(labels.get, words), strict=True))
        angles = np.linspace(0, np.pi / 2, len(ids))
        vectors = {"frequency": np.stack([np.cos(angles), np.sin(angles)], axis=1)}
        for control, weights in (("trained", subject.weights), ("untrained", subject.untrained)):
            table = weights[SIDES[side]]["embedding"][...]
            vectors[control] = np.asarray(table, dtype=np.float64)[ids]
        columns: dict[str, Any] = {"word": words, "class": kinds.tolist()}
        for control, (label, names, inside) in product(
            CONTROLS, (("class", kinds, kinds != ""), ("gender", genders, genders != ""))
        ):
            share = np.full(len(words), np.nan)
            numbers = np.unique(names[inside], return_inverse=True)[1].astype(np.int64)
            if len(numbers) > NEAREST:
                share[inside] = same_label(vectors[control][inside], numbers, k=NEAREST)
            columns[f"{label}_{control}"] = share
        parts.append(pd.DataFrame(columns).assign(side=side))
    return pd.concat(parts, ignore_index=True).to_dict("list")


def english_label(word: str) -> tuple[str, str]:
    """Class and gender of an English word; only a noun has a gender."""
    kind = word_class(word)
    return kind, noun_gender(word) if kind == "noun" else ""


def french_labels(pairs: Iterable[SentencePair]) -> Labels:
    """Class and gender of the English that gold links give each French word most often.

    Where a French word has a content word in English ("will read", "lira"), that one alone counts;
    ties are in string order.
    """
    kinds, genders = defaultdict(Counter), defaultdict(Counter)
    for pair in pairs:
        english, french = tokenize(pair.source), tokenize(pair.target)
        sources: dict[int, list[str]] = defaultdict(list)
        for source, target in pair.links:
            sources[target].append(english[source])
        for target, words in sources.items():
            content = [word for word in words if word_class(word) in CONTENT]
            for kind, gender in map(english_label, content or words):
                kinds[french[target]][kind] += 1
                genders[french[target], kind][gender] += 1

    def most_common(counts: Counter) -> str:
        return min(counts, key=lambda name: (-counts[name], name))

    chosen = {word: most_common(counts) for word, counts in kinds.items()}
    return {word: (kind, most_common(genders[word, kind])) for word, kind in chosen.items()}


def same_label(
    embeddings: Float[ndarray, "words size"], labels: Int[ndarray, "words"], *, k: int
) -> Float[ndarray, "words"]:
    """Share of each word's k nearest by cosine, itself left out, that have its label.

    Of neighbours equally near the earlier words count; a vector of zeros has cosine 0 with all.
    """
    vectors = embeddings.astype(np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = vectors / np.where(norms > 0, norms, 1.0)
    cosines = directions @ directions.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
    return (labels[nearest] == labels[:, None]).mean(axis=1)


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Shares of like neighbours, and what training adds, of each side."""
    first = arm.runs[0].found
    for (place, side), label in product(enumerate(SIDES), ("class", "gender")):
        known = (first["side"] == side) & ~np.isnan(first[f"{label}_trained"])
        if not known.any():
            continue
        shares = {
            control: np.stack([run.found[f"{label}_{control}"][known] for run in arm.runs])
            for control in CONTROLS
        }
        shares["added"] = shares["trained"] - shares["untrained"]
        for control, share in shares.items():
            measure = f"same_{label}_added" if control == "added" else f"same_{label}"
            keys = {"control": "" if control in ("trained", "added") else control}
            sums = np.stack([share, np.ones_like(share)], axis=-1)
            yield from arm.rows(measure, ratio_of_sums, sums, part=side, place=place, **keys)


def decide(estimates: Estimates) -> Judgement | str:
    """C13: similar words are near each other, and training placed them so."""

    def get(arm: str, measure: str, control: str = "", side: str = "source") -> Estimate:
        return estimates.get(measure, arm, control=control, part=side).scaled(100.0)

    def percent(*keys: str) -> str:
        return get(*keys).text("{:z.0f}", " %")

    def points(arm: str, measure: str) -> str:
        more, less = "{} more than untrained", "{} less than untrained"
        return get(arm, measure).change(more, less, "{:z.0f}", " points")

    added = ("same_class_added", "same_gender_added")
    keys = list(product(added, SIDES))
    arms = [
        arm
        for arm in estimates.arms()
        if all(estimates.get(measure, arm, part=side) for measure, side in keys)
    ]
    if not arms:
        return "no arm has embeddings of enough words"
    clauses = [
        f"{arm}: {percent(arm, 'same_class')} of the neighbours of "
        f"{estimates.get('same_class', arm, part='source').n:,} words are of the word's own class, "
        f"{points(arm, added[0])} (of the words next in frequency "
        f"{percent(arm, 'same_class', 'frequency')}), and {percent(arm, 'same_gender')} of nouns' "
        f"neighbours of the noun's own gender, {points(arm, added[1])}"
        for arm in arms
    ]
    listed = [
        f"{arm} own class {percent(arm, 'same_class', '', 'target')}, own gender "
        f"{percent(arm, 'same_gender', '', 'target')}"
        for arm in arms
    ]
    clauses.append(f"of the decoder's embeddings: {', '.join(listed)}")
    by_class = all(
        get(arm, added[0]).low >= 100 * LEAST_ADDED
        and get(arm, "same_class").low > get(arm, "same_class", "frequency").high
        for arm in arms
    )
    held = by_class and all(get(arm, added[1]).low > 0 for arm in arms)
    least = min(arms, key=lambda arm: get(arm, added[0]).value)
    measure = f"points, same-class neighbours added by training, {least}"
    return Judgement(held, by_class, clauses, measure, get(least, added[0]))


PERCENT = {"scale": 100.0, "form": "{:z.0f}"}
LABELS = {"class": "Word class", "gender": "Gender of nouns"}

QUESTION = Question(
    name="embeddings",
    ids=("C13",),
    question="Does training place words of a class, and nouns of a gender, near each other?",
    title="Neighbours among the embeddings (C13)",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen" and settings.corpus.has_classes,
    rule=RULE,
    decide=decide,
    notes=[
        "Untrained: the same network's embedding before training. Next in freq.: neighbours are "
        "the words next in order of frequency. French words have the class and the gender of the "
        "English that the gold alignment links them to most often.",
    ],
    intervals=(
        "Ranges are 95 % over words (bootstrap), the same resamples for every seed; they say "
        "nothing of other seeds."
    ),
    measures=("same_class", "same_class_added", "same_gender", "same_gender_added"),
    grids=[
        Grid(
            f"{name} (C13), % of the nearest five that have the word's own",
            heads=("embedding", "arm"),
            lines=lambda estimates: [
                ((network, arm), {"arm": arm, "part": side})
                for (side, network), arm in product(SIDES.items(), estimates.arms())
            ],
            columns=[
                Column("trained", f"same_{label}", **PERCENT),
                Column("un-\ntrained", f"same_{label}", control="untrained", **PERCENT),
                Column("next in\nfreq.", f"same_{label}", control="frequency", **PERCENT),
                Column("training\nadds", f"same_{label}_added", scale=100.0, form="{:+z.0f}"),
            ],
        )
        for label, name in LABELS.items()
    ],
    figure="Are neighbours among the embeddings alike?",
    counted="words",
    axes=[
        Axes(
            f"{name}, {network}", f"same_{label}", "% of nearest five", scale=100.0, x="like",
            x_label="", names={"": "trained"} | CONTROLS, counted="words", joined=False,
            limit=102.0, lines=None,
            select=lambda rows, side=side: rows[
                (rows["part"] == side) & rows["control"].isin(["", *CONTROLS])
            ].assign(like=rows["control"], control=""),
        )
        for label, name in LABELS.items()
        for side, network in SIDES.items()
    ],
)  # fmt: skip
