"""C3: which source words reach the output? By word class, position and sentence length.

A source word survives if the output has the words of the reference that it is linked to. If the
reference has a word m times and the output k times, each copy has the share min(m, k) / m, as in
BLEU's clipping. A source word with several target words has the mean of their shares.

Gist is nouns and verbs; detail is modifiers (adjectives, adverbs, numerals) and names. The text is
drawn from the grammar, which has the classes and the links of all words.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Int, Real
from numpy import ndarray

from ..claims.verdict import small_buckets
from ..corpus.grammar import WORD_CLASS
from ..corpus.pair import Link, SentencePair
from ..corpus.vocabulary import is_word, tokenize
from ..lecture.slides import SLIDES
from ..results.folders import read_texts
from ..scoring.bootstrap import ratio_of_sums
from ..settings.concerns import bucket_members, bucket_of
from .arms import Arm, Estimates, Row, by_arm
from .question import PERCENT, Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

CLASSES = ("noun", "verb", "adjective", "adverb, numeral", "name", "function word")
"""Adverbs and numerals are one class: in parts of some buckets, one of the two is missing."""
DETAILS = ("modifiers", "names")
FIFTHS = [f"fifth {number}" for number in range(1, 6)]
SURVIVES, LEARNED = 0.5, 0.1
"""Recall beyond chance, 0 to 1."""


def found_shares(reference: Sequence[str], output: Sequence[str]) -> Float[ndarray, "target"]:
    """Share of each reference token that the output has: min(m, k) / m."""
    expected, actual = Counter(reference), Counter(output)
    return np.array([min(actual[word] / expected[word], 1.0) for word in reference], np.float64)


def survival(
    pairs: Sequence[SentencePair], outputs: Sequence[Sequence[str]],
    groups: Int[ndarray, "sentences"], seed: int,
) -> Float[ndarray, "words 2"]:  # fmt: skip
    """Share of each source token that survived (0 to 1), and by chance; nan without a link.

    Chance is a mean over ten rounds: in each, every sentence of a group takes the output of the
    next one in a random cycle (PCG64 of seed, group + 1). It is nan for the only sentence of a
    group.
    """
    others = np.full((10, len(pairs)), -1, np.int64)
    for group in np.unique(groups):
        ids = np.flatnonzero(groups == group)
        stream = np.random.Generator(np.random.PCG64([seed, int(group) + 1]))
        for row in others if len(ids) > 1 else ():
            cycle = stream.permutation(ids)
            row[cycle] = np.roll(cycle, 1)
    survived = []
    for sentence, pair in enumerate(pairs):
        target = tokenize(pair.target)
        links = np.zeros((len(tokenize(pair.source)), len(target)))
        for i, j in pair.links:
            links[i, j] = 1.0
        rows = sentence, *others[:, sentence]
        shares = np.stack([links @ found_shares(target, outputs[row]) for row in rows])
        if others[0, sentence] < 0:
            shares[1:] = np.nan
        with np.errstate(invalid="ignore"):
            columns = np.stack([shares[0], shares[1:].mean(axis=0)], axis=1)
            survived.append(columns / links.sum(axis=1, keepdims=True))
    return np.concatenate(survived)


def source_words(subject: Subject, groups: Int[ndarray, "sentences"]) -> pd.DataFrame:
    """One row per token of the test set's sources, with its `survival`; punctuation has none."""
    pairs, seed = subject.corpus.test, subject.settings.scoring.seed
    outputs = [tokenize(text) for text in read_texts(subject.folder)["hypothesis"]]
    sources = [tokenize(pair.source) for pair in pairs]
    rows = [(row, i, token) for row, source in enumerate(sources) for i, token in enumerate(source)]
    words = pd.DataFrame(rows, columns=["sentence", "position", "token"])
    words[["survived", "by_chance"]] = survival(pairs, outputs, groups, seed)
    words.loc[~words["token"].map(is_word), "survived"] = np.nan
    return words


class WordReport(NamedTuple):
    """A source word, its fate, its words in the reference, and those of them in the output."""

    word: str
    fate: str
    targets: tuple[str, ...]
    translated: tuple[str, ...]


def word_reports(
    source: Sequence[str], reference: Sequence[str], links: Sequence[Link], output: Sequence[str]
) -> list[WordReport]:
    """A report on every source token except punctuation, in order."""
    shares, reports = found_shares(reference, output), []
    for i, word in enumerate(source):
        linked = sorted({j for position, j in links if position == i})
        translated = tuple(reference[j] for j in linked if shares[j] > 0)
        fate = "not linked"
        if linked:
            whole = all(shares[j] == 1 for j in linked)
            fate = "survived" if whole else "in part" if translated else "lost"
        if is_word(word):
            reports.append(WordReport(word, fate, tuple(reference[j] for j in linked), translated))
    return reports


def probe(subject: Subject) -> Columns:
    """One row per token of the test set's sources: how far it survived, and what it is."""
    subject.tell("counting")
    lengths = np.array([pair.words for pair in subject.corpus.test], np.int64)
    words = source_words(subject, bucket_of(lengths, subject.edges))
    seen = Counter(token for pair in subject.corpus.train for token in tokenize(pair.source))
    groups = {kind: group for group in CLASSES for kind in group.split(", ")}
    words["source_words"] = lengths[words["sentence"]]
    words["tokens"] = words.groupby("sentence")["token"].transform("size")
    words["seen"] = words["token"].map(seen)
    words["class"] = [
        groups.get(WORD_CLASS[token], "function word") if is_word(token) else ""
        for token in words["token"]
    ]
    return words.drop(columns="token")


@by_arm
def summarise(arm: Arm) -> Iterator[Row]:
    """Every measure of all words, of each fifth, class and kind, and gist minus detail."""
    columns = arm.runs[0].found
    thirds, fifths = (
        ((2 * columns["position"] + 1) * bands // (2 * columns["tokens"])).astype(np.int64)
        for bands in (3, 5)
    )
    classes = pd.Index(CLASSES).get_indexer(columns["class"])
    # Bands of a word's count in the training text: 0 to 15, to 31, and so on.
    edges = (0, *(2**power for power in range(4, 16)))
    bands = (bucket_of(columns["seen"], edges), len(edges)), (thirds, 3)
    by_fifth, by_class = _sums(arm, (fifths, 5)), _sums(arm, (classes, len(CLASSES)), *bands)
    lengths = columns["source_words"][columns["position"] == 0]
    buckets = bucket_members(lengths, arm.settings.scoring.lower_edges)
    for stream, (bucket, inside) in enumerate(buckets.items()):
        if not len(inside):
            continue
        keys = {"stream": stream, "bucket": bucket}
        whole = by_fifth[:, inside][:, :, None]
        parts = [("", 0, whole.sum(axis=3, keepdims=True))]
        parts += [(name, 0, whole[..., [band], :]) for band, name in enumerate(FIFTHS)]
        counts = by_class[:, inside]
        alike = np.add.reduceat(counts, (0, 2, 4, 5), axis=2)  # gist, modifiers, names, the rest
        of_classes, kinds = counts.sum(axis=3), alike.sum(axis=3)
        parts += [(name, group, of_classes) for group, name in enumerate(CLASSES)]
        parts += [(name, group, kinds) for group, name in enumerate(("gist", *DETAILS))]
        for part, group, cells in parts:
            # The words are the same for every seed.
            n = int(cells[0, :, group, :, 2].sum() if part else len(inside))
            scores = [
                (name, n, cells, {"measure": name, "group": group})
                for name in ("recall", "chance", "corrected")
            ]
            if part in DETAILS:
                both = alike[:, :, [0, group]].reshape(*kinds.shape[:2], 2, -1, 3)
                gist, detail = both[0, ..., 2].sum(axis=0)
                shared = int(detail[gist > 0].sum())
                gist_less = {"measure": "corrected", "group": 0}
                scores += [
                    ("gist_more", n, kinds, gist_less | {"minus": group}),
                    ("gist_more_alike", shared, both, gist_less | {"minus": 1, "matched": True}),
                ]
            for name, n, cells, how in scores:
                score = partial(rate, shape=cells.shape[2:], **how)
                sums = cells.reshape(*cells.shape[:2], -1)
                yield from arm.rows(name, score, sums, part=part, n=n, **keys)


def _sums(
    arm: Arm, *groups: tuple[Int[ndarray, "words"], int]
) -> Float[ndarray, "seeds sentences *groups 3"]:
    """Words that survived, words that do by chance, and all words, by sentence and groups.

    ``groups`` are each word's group, and the number of groups. Words without a link or in a group
    under 0 are left out.
    """
    indices = arm.runs[0].found["sentence"].astype(np.int64), *(index for index, _ in groups)
    shape = 1 + int(indices[0][-1]), *(count for _, count in groups)
    sums = np.zeros((len(arm.runs), *shape, 3))
    for run, counts in zip(arm.runs, sums, strict=True):
        survived = run.found["survived"]
        numbers = np.stack([survived, run.found["by_chance"], np.ones_like(survived)], axis=-1)
        kept = ~np.isnan(survived) & (np.min(indices, axis=0) >= 0)
        np.add.at(counts, tuple(index[kept] for index in indices), numbers[kept])
    return sums


def rate(
    sums: Real[ndarray, "*rows columns"], shape: Sequence[int], measure: str, group: int,
    minus: int | None = None, matched: bool = False,
) -> Float[ndarray, "*rows"]:  # fmt: skip
    """Recall, chance or "corrected" of a group (minus another's), averaged over bands.

    The sums have the ``shape`` (groups, bands, 3). Corrected is (r - c) / (1 - c), recall beyond
    chance. A band's weight is the number of words that all groups have in it (direct
    standardisation). With ``matched``, for two groups that may each lack bands, it is
    w_gb w_hb / (w_gb + w_hb), as in Mantel and Haenszel's estimate of a difference between two
    rates (1959). A rate is nan if the group has no words in a band of positive weight.
    """
    cells = sums.reshape(*sums.shape[:-1], *shape)
    words = cells[..., 2]
    weights = words.sum(axis=-2)
    if matched:
        weights = words.prod(axis=-2) / np.maximum(weights, 1)
    whole = weights.sum(axis=-1)[..., None]
    share = (weights / np.where(whole > 0, whole, 1))[..., None, :]
    recall, chance = (
        np.where(whole > 0, (share * np.where(share > 0, ratio, 0.0)).sum(axis=-1), np.nan)
        for ratio in (ratio_of_sums(cells[..., [column, 2]]) for column in (0, 1))
    )
    corrected = ratio_of_sums(np.stack([recall - chance, 1 - chance], axis=-1))
    numbers = {"recall": recall, "chance": chance, "corrected": corrected}[measure]
    return numbers[..., group] - (0.0 if minus is None else numbers[..., minus])


def judge(estimates: Estimates) -> Judgement | str:
    """C3: the gist of a sentence survives the fixed context, and its detail is lost."""
    none = estimates.without_attention
    recall = estimates.by_bucket("corrected", none)
    if len(recall) < 2:
        return "fewer than two buckets of an arm without attention are filled"
    first, *_, last = recall
    if not recall[first].value >= LEARNED:
        return f"recall beyond chance is {recall[first].value:.0%} in {first}: not learned"
    buckets = [*recall][-2:]
    more = {
        (bucket, kind): estimates.get("gist_more", none, bucket, part=kind)
        for bucket, kind in product(buckets, DETAILS)
    }
    if not all(item and item.low <= item.high for item in more.values()):
        return "a class has too few words in the two longest buckets"
    clear = [kind for kind in DETAILS if all(more[bucket, kind].low > 0 for bucket in buckets)]
    survives = [estimates.get("corrected", none, bucket, part="gist").value for bucket in buckets]
    clauses = []
    for arm, bucket in product(estimates.arms, buckets):
        if gist := estimates.get("corrected", arm, bucket, part="gist"):
            share = gist.scaled(100.0).text("{:z.0f}", " %")
            clause = f"{arm}, {bucket}: {share} of the gist survives"
            for kind in DETAILS:
                points = estimates.get("gist_more", arm, bucket, part=kind).scaled(100.0)
                clause += points.change(", {} points more", ", {} points less", "{:z.0f}")
                clause += f" than of {kind}"
            clauses.append(clause)
    least = min(DETAILS, key=lambda kind: more[last, kind].value)
    return Judgement(
        fully=len(clear) == len(DETAILS) and min(survives) >= SURVIVES,
        partly=bool(clear),
        because=[*clauses, small_buckets({bucket: recall[bucket].n for bucket in buckets})],
        measure=f"points, gist less {least}, recall beyond chance, none, {last}",
        number=more[last, least].scaled(100.0),
    )


def by_part(parts: Sequence[str], first: int = 0) -> Callable[[Estimates], list]:
    """Rows for each part, arm and filled bucket, from the ``first`` bucket on."""
    return lambda estimates: [
        ((part, bucket, arm), {"arm": arm, "bucket": bucket, "part": part})
        for part, arm in product(parts, estimates.arms)
        for bucket in [*estimates.by_bucket("corrected", arm)][first:]
    ]


RATES = [
    StudyColumn("recall", "recall", **PERCENT),
    StudyColumn("by\nchance", "chance", **PERCENT),
    StudyColumn("beyond\nchance", "corrected", **PERCENT),
]

QUESTION = Question(
    name="survival",
    question="Which source words reach the output: does gist survive, is detail lost? (C3, L-LOST)",
    title="Which source words reach the output (C3)",
    version=4,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.corpus.name == "grammar",
    rules={"C3": (
        "The rule reads recall beyond chance, (recall - chance) / (1 - chance) at equal positions, "
        "without attention, in the two longest filled buckets. The gist (nouns and verbs) survives "
        "better than modifiers (adjectives, adverbs, numerals) or than names if the 95 % interval "
        "of the difference lies above 0 in both buckets. Held if it survives better than both, and "
        f"its recall beyond chance is at least {SURVIVES:.0%} in both buckets; partly if it "
        "survives better than at least one of them; otherwise not held. Not measured without two "
        "filled buckets, with too few words of a class for an interval, or if recall beyond chance "
        f"of all words is under {LEARNED:.0%} in the shortest bucket.",
        judge,
    )},
    notes=[
        "All numbers but n are %. By chance: the same outputs against other sources of their "
        "length. Classes are compared at equal positions. As common: of words in the same third of "
        "the sentence that were seen about as often in training. n: source words; by length, "
        "sentences.",
        f"Slide (L-LOST), of one sentence that `bottleneck translate --diagnose` shows: "
        f"{', '.join(SLIDES['L-LOST']['lost'])} are lost.",
    ],
    tables=[
        StudyTable("Survival of all words by sentence length, % (C3)", RATES),
        StudyTable("Survival in the longest sentences by position and class, % (C3)", RATES,
             ("words", "source\nwords", "arm"), by_part((*FIFTHS, *CLASSES), -1)),
        StudyTable("Gist less other words, beyond chance, points (C3)", [
            StudyColumn("gist\nless these", "gist_more", **PERCENT),
            StudyColumn("words as\ncommon", "gist_more_alike", **PERCENT),
        ], heads=("words", "source\nwords", "arm"), lines=by_part(DETAILS)),
    ],
    axes=[
        Axes(title, "% that survive in the longest\nsentences (0: chance)", x, "words", joined,
             measure="corrected", scale=100.0, by="part", names=names,
             select=lambda rows, parts=(*names,): rows[
                 rows["bucket"].isin(rows.dropna(subset="value")["bucket"].tail(1))
                 & rows["part"].isin(parts)
             ])
        for title, x, joined, names in (
            ("By position in the source", "fifth of the source", True,
             {name: name[-1] for name in FIFTHS}),
            ("By word class", "", False,
             {name: name.replace(" ", "\n") for name in CLASSES} | {"adjective": "adjec-\ntive"}),
        )
    ],
)  # fmt: skip
