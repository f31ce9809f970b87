"""C3: which source words reach the output? By word class, place and sentence length.

Gist is nouns and verbs; detail is modifiers (adjectives, adverbs, numerals) and names. Links are
gold or, on real text, those of IBM model 1. Chance is the same outputs against other sources.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray

from ..claims.verdict import FAMILY, small_buckets
from ..corpus.pair import Link
from ..corpus.vocabulary import is_word, tokenize
from ..figures.plot import longest
from ..lecture.slides import SLIDES
from ..results.folders import read_texts
from ..settings.concerns import bucket_of
from . import word_survival as words
from .arms import Arm, Estimates, by_arm, in_buckets
from .question import Axes, Columns, Judgement, Line, Question, Row, StudyColumn, StudyTable, Tell
from .word_survival import CLASSES, MEASURES, LinkedReference

if TYPE_CHECKING:
    from .subject import Subject

KINDS = {
    "gist": ("noun", "verb"),
    "modifiers": ("adjective", "adverb, numeral"),
    "names": ("name",),
    "rest": (words.FUNCTION_WORD,),
}
DETAILS = ("modifiers", "names")
LEXICON_PAIRS = 50_000
"""Training pairs at most that teach IBM model 1, spread evenly over the text."""
DOUBLINGS = (0, *(2**power for power in range(4, 16)))
"""Bands of a word's count in the training text."""
FIFTHS = [f"fifth {place}" for place in range(1, 6)]
SURVIVES, LEARNED = 0.5, 0.1
"""Recall beyond chance, 0 to 1."""
RULE = (
    "The rule reads recall beyond chance, (recall - chance) / (1 - chance) at equal positions, "
    "without attention, in the two longest filled buckets. The gist (nouns and verbs) survives "
    "better than modifiers (adjectives, adverbs, numerals) or than names if the 95 % interval of "
    "the difference lies above 0 in both buckets. Held if it survives better than both, and itself "
    f"by at least {SURVIVES:.0%} in both buckets; partly if it survives better than at least one "
    "of them; otherwise not held. Not measured without word classes, without two filled buckets, "
    "with too few words of a class for an interval, or if recall beyond chance of all words is "
    f"under {LEARNED:.0%} in the shortest bucket. {FAMILY}"
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """A row for each token of the test set's sources: how far it survived, and what it is."""
    corpus, settings = subject.corpus, subject.settings
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    links: Iterable[Iterable[Link]] = [pair.links for pair in corpus.test]
    if not settings.corpus.is_drawn:
        tell("IBM model 1")
        pairs = corpus.train[:: -(-len(corpus.train) // LEXICON_PAIRS)]
        model = words.train(list(map(words.words_of, pairs)))
        links = model.align(map(words.words_of, corpus.test))
    tell("counting")
    linked = list(map(LinkedReference.of, corpus.test, links))
    lengths = np.array([pair.words for pair in corpus.test], np.int64)
    buckets = bucket_of(lengths, subject.edges)
    others = words.partners(buckets, words.SHUFFLES, seed=settings.scoring.seed)
    sizes = [pair.words for pair in linked]
    tokens = [token for pair in corpus.test for token in tokenize(pair.source)]
    seen = Counter(token for pair in corpus.train for token in tokenize(pair.source))
    columns = {
        "sentence": np.repeat(np.arange(len(sizes)), sizes),
        "source_words": np.repeat(lengths, sizes),
        "place": np.concatenate(list(map(np.arange, sizes))),
        "tokens": np.repeat(sizes, sizes),
        "seen": [seen[token] for token in tokens],
        "survived": np.where(list(map(is_word, tokens)), words.survival(linked, outputs), np.nan),
        "by_chance": words.chance_survival(linked, outputs, others),
    }
    if settings.corpus.has_classes:
        columns["class"] = list(map(words.class_of, tokens))
    return columns


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Every measure of all words, of each fifth, class and kind, and gist less detail."""
    columns, known = arm.runs[0].found, _cells(arm)
    lengths = columns["source_words"][columns["place"] == 0]
    for place, bucket, inside in in_buckets(arm.runs[0], lengths):
        cells = {by: counts[:, inside] for by, counts in known.items()}
        whole = cells["position"]
        parts = [("", 0, whole.sum(axis=-2, keepdims=True))]
        parts += [(name, 0, whole[..., [band], :]) for band, name in enumerate(FIFTHS)]
        for by, names in (("class", CLASSES), ("kind", ("gist", *DETAILS))):
            parts += [(name, i, cells[by]) for i, name in enumerate(names) if by in cells]
        for part, group, subset in parts:
            # The words are the same for every seed.
            n = int(subset[0, :, group, :, 2].sum()) if part else subset.shape[1]
            numbers = [(name, n, words.group_score(name, subset, group)) for name in MEASURES]
            if part in DETAILS:
                numbers.append(("gist_more", n, words.group_score("corrected", subset, 0, group)))
                both = cells["alike"][..., [0, group], :, :]
                pair = both[0].sum(axis=0)
                n = int(pair[1, words.band_weights(pair, matched=True) > 0, 2].sum())
                alike = words.group_score("corrected", both, 0, 1, matched=True)
                numbers.append(("gist_more_alike", n, alike))
            for measure, count, score in numbers:
                yield from arm.rows(measure, *score, place=place, bucket=bucket, part=part, n=count)


def _cells(arm: Arm) -> dict[str, Float[ndarray, "seeds sentences groups bands 3"]]:
    """Sums of each sentence by group and band, of each way to group words."""
    columns = arm.runs[0].found
    sentence, seen = (columns[name].astype(np.int64) for name in ("sentence", "seen"))
    thirds, fifths = (
        ((2 * columns["place"] + 1) * bands // (2 * columns["tokens"])).astype(np.int64)
        for bands in (3, 5)
    )
    layouts = {"position": (np.zeros_like(sentence), fifths, 1, 5)}
    if "class" in columns:
        classes = np.select([columns["class"] == name for name in CLASSES], range(len(CLASSES)), -1)
        kinds = [np.isin(columns["class"], names) for names in KINDS.values()]
        kind = np.select(kinds, range(len(KINDS)), -1)
        alike = bucket_of(seen, DOUBLINGS) * 3 + thirds
        layouts["class"] = classes, thirds, len(CLASSES), 3
        layouts["kind"] = kind, thirds, len(KINDS), 3
        layouts["alike"] = kind, alike, len(KINDS), 3 * len(DOUBLINGS)
    cells, sentences = {}, int(sentence[-1]) + 1
    for by, (group, band, *shape) in layouts.items():
        sums = np.zeros((len(arm.runs), sentences, *shape, 3))
        for run, counts in zip(arm.runs, sums, strict=True):
            survived, by_chance = run.found["survived"], run.found["by_chance"]
            kept = ~np.isnan(survived) & (group >= 0)  # with a link, and of a group
            numbers = np.stack([survived, by_chance, np.ones(len(group))], axis=-1)
            np.add.at(counts, (sentence[kept], group[kept], band[kept]), numbers[kept])
        cells[by] = sums
    return cells


def filled_buckets(estimates: Estimates, arm: str) -> list[str]:
    """The length buckets in which an arm's words were counted."""
    whole = {name: estimates.get("corrected", arm, name) for name in estimates.buckets()}
    return [name for name, estimate in whole.items() if estimate and estimate.n]


def decide(estimates: Estimates) -> Judgement | str:
    """C3: the gist of a sentence survives the fixed context, and its detail is lost."""
    if not any(part == "gist" for *_, part in estimates.keys("corrected")):
        return "the corpus has no word classes; the grammar has"
    none = estimates.without_attention()
    filled = filled_buckets(estimates, none)
    if not none:
        return "there is no arm without attention"
    if len(filled) < 2:
        return "fewer than two buckets are filled"
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
    gist = [estimates.get("corrected", none, bucket, part="gist").value for bucket in buckets]
    clauses = [_clause(estimates, none, "without attention", bucket) for bucket in buckets]
    for arm in estimates.arms():
        if estimates.attention(arm) != "none" and (known := filled_buckets(estimates, arm)):
            clauses.append(_clause(estimates, arm, f"arm {arm}", known[-1]))
    few = {bucket: estimates.get("corrected", none, bucket).n for bucket in buckets}
    least = min(DETAILS, key=lambda kind: more[last, kind].value)
    return Judgement(
        held=len(clear) == len(DETAILS) and min(gist) >= SURVIVES,
        partly=bool(clear),
        because=[*clauses, small_buckets(few)],
        measure=f"points, gist less {least}, recall beyond chance, none, {last}",
        number=more[last, least].scaled(100.0),
    )


def _clause(estimates: Estimates, arm: str, name: str, bucket: str) -> str:
    """``without attention, 41+: 40 % [38, 42] of the gist survives, 4 [1, 7] points more ...``."""
    gist = estimates.get("corrected", arm, bucket, part="gist").scaled(100.0)
    clause = f"{name}, {bucket}: {gist.text('{:z.0f}', ' %')} of the gist survives"
    forms = {"gist_more": ", {}", "gist_more_alike": " (among words as common {})"}
    for measure, form in forms.items():
        points = []
        for kind in DETAILS:
            more = estimates.get(measure, arm, bucket, part=kind)
            if more and more.low <= more.high:
                phrases = (f"{{}} points {change} than of {kind}" for change in ("more", "less"))
                points.append(more.scaled(100.0).change(*phrases, "{:z.0f}"))
        clause += form.format(" and ".join(points)) if points else ""
    return clause


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

    label = "% of source words that survive\n(0: chance)"
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
MORE = [
    StudyColumn("gist\nless these", "gist_more", **PERCENT),
    StudyColumn("words as\ncommon", "gist_more_alike", **PERCENT),
]

QUESTION = Question(
    name="survival",
    ids=("C3", "L-LOST"),
    question="Which source words reach the output: does gist survive, and detail get lost?",
    title="Which source words reach the output (C3)",
    version=3,
    probe=probe,
    summarise=summarise,
    rules={"C3": (RULE, decide)},
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
        StudyTable("Gist less other words, beyond chance, points (C3)", MORE,
             ("words", "source\nwords", "arm"), by_part(DETAILS, False)),
    ],
    figure="Which words survive in sentences of {longest} words?",
    axes=[
        panel("By place in the source", "fifth of the source",
              {name: name[-1] for name in FIFTHS}, True),
        panel("By word class", "", {name: name.replace(" ", "\n") for name in CLASSES}
              | {"adjective": "adjec-\ntive"}, False),
    ],
)  # fmt: skip
