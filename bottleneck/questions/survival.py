"""C3: which source words reach the output? By word class, place and sentence length.

Gist is nouns and verbs; detail is modifiers (adjectives, adverbs, numerals) and names: asked is the
grammar, which knows both classes and links. Chance is the same outputs against other sources.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, Real
from numpy import ndarray

from ..claims.verdict import small_buckets
from ..corpus.vocabulary import is_word, tokenize
from ..figures.plot import longest
from ..lecture.slides import SLIDES
from ..results.folders import read_texts
from ..scoring.bootstrap import Score, ratio_of_sums
from ..settings.concerns import bucket_of
from .arms import Arm, Estimates, by_arm, in_buckets
from .question import Axes, Columns, Judgement, Line, Question, Row, StudyColumn, StudyTable, Tell
from .word_survival import CLASSES, LinkedReference, chance_survival, class_of, survival

if TYPE_CHECKING:
    from .subject import Subject

DETAILS = ("modifiers", "names")
DOUBLINGS = (0, *(2**power for power in range(4, 16)))
"""Bands of a word's count in the training text."""
FIFTHS = [f"fifth {place}" for place in range(1, 6)]
MEASURES = ("recall", "chance", "corrected")
SURVIVES, LEARNED = 0.5, 0.1
"""Recall beyond chance, 0 to 1."""
RULE = (
    "The rule reads recall beyond chance, (recall - chance) / (1 - chance) at equal positions, "
    "without attention, in the two longest filled buckets. The gist (nouns and verbs) survives "
    "better than modifiers (adjectives, adverbs, numerals) or than names if the 95 % interval of "
    "the difference lies above 0 in both buckets. Held if it survives better than both, and itself "
    f"by at least {SURVIVES:.0%} in both buckets; partly if it survives better than at least one "
    "of them; otherwise not held. Not measured without two filled buckets, with too few words of a "
    "class for an interval, or if recall beyond chance of all words is under "
    f"{LEARNED:.0%} in the shortest bucket."
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """A row for each token of the test set's sources: how far it survived, and what it is."""
    tell("counting")
    pairs, seed = subject.corpus.test, subject.settings.scoring.seed
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    linked = [LinkedReference.of(pair, pair.links) for pair in pairs]
    lengths = np.array([pair.words for pair in pairs], np.int64)
    buckets = bucket_of(lengths, subject.edges)
    sizes = [pair.words for pair in linked]
    tokens = [token for pair in pairs for token in tokenize(pair.source)]
    seen = Counter(token for pair in subject.corpus.train for token in tokenize(pair.source))
    return {
        "sentence": np.repeat(np.arange(len(sizes)), sizes),
        "source_words": np.repeat(lengths, sizes),
        "place": np.concatenate(list(map(np.arange, sizes))),
        "tokens": np.repeat(sizes, sizes),
        "seen": [seen[token] for token in tokens],
        "survived": np.where(list(map(is_word, tokens)), survival(linked, outputs), np.nan),
        "by_chance": chance_survival(linked, outputs, buckets, seed=seed),
        "class": list(map(class_of, tokens)),
    }


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Every measure of all words, of each fifth, class and kind, and gist less detail."""
    columns = arm.runs[0].found
    thirds, fifths = (
        ((2 * columns["place"] + 1) * bands // (2 * columns["tokens"])).astype(np.int64)
        for bands in (3, 5)
    )
    classes = pd.Index(CLASSES).get_indexer(columns["class"])
    doublings = bucket_of(columns["seen"], DOUBLINGS)
    bands = (doublings, len(DOUBLINGS)), (thirds, 3)
    by_place, by_class = _sums(arm, (fifths, 5)), _sums(arm, (classes, len(CLASSES)), *bands)
    lengths = columns["source_words"][columns["place"] == 0]
    for place, bucket, inside in in_buckets(arm.runs[0], lengths):
        keys = {"place": place, "bucket": bucket}
        whole = by_place[:, inside][:, :, None]
        parts = [("", 0, whole.sum(axis=3, keepdims=True))]
        parts += [(name, 0, whole[..., [band], :]) for band, name in enumerate(FIFTHS)]
        counts = by_class[:, inside]
        alike = np.add.reduceat(counts, (0, 2, 4, 5), axis=2)  # gist, modifiers, names, the rest
        of_classes, kinds = counts.sum(axis=3), alike.sum(axis=3)
        parts += [(name, group, of_classes) for group, name in enumerate(CLASSES)]
        parts += [(name, group, kinds) for group, name in enumerate(("gist", *DETAILS))]
        for part, group, cells in parts:
            # The words are the same for every seed.
            n = int(cells[0, :, group, :, 2].sum() if part else inside.sum())
            for measure in MEASURES:
                rate = _rate(measure, cells, group)
                yield from arm.rows(measure, *rate, part=part, n=n, **keys)
            if part in DETAILS:
                rate = _rate("corrected", kinds, 0, group)
                yield from arm.rows("gist_more", *rate, part=part, n=n, **keys)
                both = alike[:, :, [0, group]].reshape(*kinds.shape[:2], 2, -1, 3)
                gist, detail = both[0, ..., 2].sum(axis=0)
                rate = _rate("corrected", both, 0, 1, matched=True)
                n = int(detail[gist > 0].sum())
                yield from arm.rows("gist_more_alike", *rate, part=part, n=n, **keys)


def _sums(
    arm: Arm, *places: tuple[Int[ndarray, "words"], int]
) -> Float[ndarray, "seeds sentences *places 3"]:
    """Words that survived, that do by chance, and all: by sentence and by places, of so many each.

    Words without a link and of a place under 0 are left out.
    """
    indices = arm.runs[0].found["sentence"].astype(np.int64), *(index for index, _ in places)
    shape = 1 + int(indices[0][-1]), *(count for _, count in places)
    sums = np.zeros((len(arm.runs), *shape, 3))
    for run, counts in zip(arm.runs, sums, strict=True):
        survived = run.found["survived"]
        numbers = np.stack([survived, run.found["by_chance"], np.ones_like(survived)], axis=-1)
        kept = ~np.isnan(survived) & (np.min(indices, axis=0) >= 0)
        np.add.at(counts, tuple(index[kept] for index in indices), numbers[kept])
    return sums


def rates(
    cells: Real[ndarray, "*rows groups bands 3"], matched: bool = False
) -> dict[str, Float[ndarray, "*rows groups"]]:
    """`MEASURES` of each group: averages over bands; (r - c) / (1 - c) takes chance away.

    A band weighs as many words as all groups have in it (direct standardisation); with ``matched``,
    for two groups of which either may lack some bands, w_gb w_hb / (w_gb + w_hb), as in Mantel and
    Haenszel's estimate of a difference between two rates (1959). A rate is nan for a group without
    words in a band that weighs something.
    """
    words = cells[..., 2]
    weights = words.sum(axis=-2)
    if matched:
        weights = words.prod(axis=-2) / np.maximum(weights, 1)
    whole = weights.sum(axis=-1)[..., None]
    share = (weights / np.where(whole > 0, whole, 1))[..., None, :]
    recall, chance = (
        np.where(whole > 0, (share * np.where(share > 0, rate, 0.0)).sum(axis=-1), np.nan)
        for rate in (ratio_of_sums(cells[..., [column, 2]]) for column in (0, 1))
    )
    corrected = ratio_of_sums(np.stack([recall - chance, 1 - chance], axis=-1))
    return dict(zip(MEASURES, (recall, chance, corrected), strict=True))


def _rate(
    measure: str, cells: Real[ndarray, "seeds sentences groups bands 3"], group: int = 0,
    minus: int | None = None, *, matched: bool = False,
) -> tuple[Score, Real[ndarray, "seeds sentences columns"]]:  # fmt: skip
    """A measure of a group, less that of another, and the sums of which it is the score."""

    def score(sums: Real[ndarray, "*rows columns"]) -> Float[ndarray, "*rows"]:
        numbers = rates(sums.reshape(*sums.shape[:-1], *cells.shape[2:]), matched)[measure]
        return numbers[..., group] - (0.0 if minus is None else numbers[..., minus])

    return score, cells.reshape(*cells.shape[:2], -1)


def filled_buckets(estimates: Estimates, arm: str) -> list[str]:
    """The length buckets in which an arm's words were counted."""
    whole = {name: estimates.get("corrected", arm, name) for name in estimates.buckets()}
    return [name for name, estimate in whole.items() if estimate and estimate.n]


def judge(estimates: Estimates) -> Judgement | str:
    """C3: the gist of a sentence survives the fixed context, and its detail is lost."""
    none = estimates.without_attention()
    filled = filled_buckets(estimates, none)
    if len(filled) < 2:
        return "fewer than two buckets of an arm without attention are filled"
    learned = estimates.get("corrected", none, filled[0]).value
    if not learned >= LEARNED:
        return f"recall beyond chance is {learned:.0%} in {filled[0]}: not learned"
    buckets, last = filled[-2:], filled[-1]
    more = {
        (bucket, kind): estimates.get("gist_more", none, bucket, part=kind)
        for bucket, kind in product(buckets, DETAILS)
    }
    if not all(item and item.low <= item.high for item in more.values()):
        return "a class has too few words in the two longest buckets"
    clear = [kind for kind in DETAILS if all(more[bucket, kind].low > 0 for bucket in buckets)]
    survives = [estimates.get("corrected", none, bucket, part="gist").value for bucket in buckets]
    clauses = []
    for arm, bucket in product(estimates.arms(), buckets):
        if gist := estimates.get("corrected", arm, bucket, part="gist"):
            share = gist.scaled(100.0).text("{:z.0f}", " %")
            clause = f"{arm}, {bucket}: {share} of the gist survives"
            for kind in DETAILS:
                points = estimates.get("gist_more", arm, bucket, part=kind).scaled(100.0)
                phrases = (f", {{}} points {word} than of {kind}" for word in ("more", "less"))
                clause += points.change(*phrases, "{:z.0f}")
            clauses.append(clause)
    few = {bucket: estimates.get("corrected", none, bucket).n for bucket in buckets}
    least = min(DETAILS, key=lambda kind: more[last, kind].value)
    return Judgement(
        fully=len(clear) == len(DETAILS) and min(survives) >= SURVIVES,
        partly=bool(clear),
        because=[*clauses, small_buckets(few)],
        measure=f"points, gist less {least}, recall beyond chance, none, {last}",
        number=more[last, least].scaled(100.0),
    )


def by_part(parts: Sequence[str], longest_alone: bool) -> Callable[[Estimates], Iterator[Line]]:
    """Rows for each part, bucket (or the longest alone) and arm."""

    def lines(estimates: Estimates) -> Iterator[Line]:
        for part, arm in product(parts, estimates.arms()):
            for bucket in filled_buckets(estimates, arm)[-1 if longest_alone else 0 :]:
                yield (part, bucket, arm), {"arm": arm, "bucket": bucket, "part": part}

    return lines


def panel(title: str, x_label: str, names: Mapping[str, str], joined: bool) -> Axes:
    """What survives in the longest bucket, by part."""

    def select(rows: pd.DataFrame) -> pd.DataFrame:
        return rows[(rows["bucket"] == longest(rows)) & rows["part"].isin(list(names))]

    label = "% that survive in the longest\nsentences (0: chance)"
    return Axes(
        title, "corrected", label, 100.0, "part", x_label, names, select, counted="words",
        joined=joined,
    )  # fmt: skip


PERCENT = {"scale": 100.0, "form": "{:z.0f}"}
RATES = [
    StudyColumn("recall", "recall", **PERCENT),
    StudyColumn("by\nchance", "chance", **PERCENT),
    StudyColumn("beyond\nchance", "corrected", **PERCENT),
]

QUESTION = Question(
    name="survival",
    ids=("C3", "L-LOST"),
    question="Which source words reach the output: does gist survive, and detail get lost?",
    title="Which source words reach the output (C3)",
    version=3,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.has_classes,
    rules={"C3": (RULE, judge)},
    notes=[
        "All numbers but n are %. By chance: the same outputs against other sources of their "
        "length. Classes are compared at equal positions. As common: of words in the same third of "
        "the sentence that were seen about as often in training (under 16 times, 16-31, 32-63, and "
        "so on; Mantel-Haenszel weights). n: source words; by length, sentences.",
        f"Slide (L-LOST), of one sentence that `bottleneck translate --diagnose` shows: "
        f"{', '.join(SLIDES['L-LOST']['lost'])} are lost.",
    ],
    measures=(*MEASURES, "gist_more", "gist_more_alike"),
    tables=[
        StudyTable("Survival of all words by sentence length, % (C3)", RATES),
        StudyTable("Survival in the longest sentences by place and class, % (C3)", RATES,
             ("words", "source\nwords", "arm"), by_part((*FIFTHS, *CLASSES), True)),
        StudyTable("Gist less other words, beyond chance, points (C3)", [
            StudyColumn("gist\nless these", "gist_more", **PERCENT),
            StudyColumn("words as\ncommon", "gist_more_alike", **PERCENT),
        ], ("words", "source\nwords", "arm"), by_part(DETAILS, False)),
    ],
    axes=[
        panel("By place in the source", "fifth of the source",
              {name: name[-1] for name in FIFTHS}, True),
        panel("By word class", "", {name: name.replace(" ", "\n") for name in CLASSES}
              | {"adjective": "adjec-\ntive"}, False),
    ],
)  # fmt: skip
