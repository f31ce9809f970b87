"""C3: which source words reach the output? By word class, frequency, place and sentence length.

The slide's list for its long sentence: the topic, the main fact and who does what are kept;
adjectives, names and what describes the nouns are lost. In word classes: gist is nouns and verbs;
detail is modifiers (adjectives, adverbs, numerals) and names. Exact wording has no class of its
own: every word here counts by its exact form.

`word_survival` says when a word survives. The links are gold on the grammar and the copying corpus;
on real text they are those of IBM model 1, trained on the run's own training pairs. Chance is the
same outputs against other sources of their length bucket, the same other sources for every arm and
seed of a corpus. A token without a letter or a digit is no word here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, Verdict, marked, numbers
from ..corpus.pair import Link
from ..corpus.tokens import is_word, tokenize
from ..figures.plot import longest
from ..lecture.slides import SLIDES
from ..results.folders import read_texts
from ..scoring.bootstrap import Score
from ..settings.buckets import Buckets
from .estimates import Estimate, Estimates
from .question import (
    Axes,
    Column,
    Columns,
    Grid,
    Line,
    Probed,
    Question,
    Row,
    Tell,
    grade,
)
from .survival_sums import (
    CELL,
    MEASURES,
    Layout,
    matched_score,
    matching,
    normalised,
    overall_score,
    regrouped,
    relative_bands,
    standardised_score,
    survival_sums,
)
from .word_survival import (
    CLASSES,
    FUNCTION_WORD,
    LEXICON_PAIRS,
    LinkedReference,
    chance_survivals,
    class_of,
    lexicon,
    partners,
    survivals,
    words_of,
)

if TYPE_CHECKING:
    from .subject import Subject

SHUFFLES = 10
"""Other sentences whose outputs show how much of a sentence is there by chance."""
KINDS: dict[str, tuple[str, ...]] = {
    "gist": ("noun", "verb"),
    "modifiers": ("adjective", "adverb, numeral"),
    "names": ("name",),
    "rest": (FUNCTION_WORD,),
}
"""What the claim compares: who does what to what, and what is said of it or only names it."""
COMPARED = ("gist", "modifiers", "names")
DETAILS = COMPARED[1:]
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
FREQUENCIES = Buckets((0, 1, 10, 100, 1000))
"""Bands of a word's count in the training text."""
FREQUENCY_NAMES = ("unseen", *FREQUENCIES.names[1:])
DOUBLINGS = Buckets((0, *(2**power for power in range(4, 16))))
"""Finer bands of the same: doublings; all words below them, and all above, are one band."""
THIRDS, FIFTHS = 3, 5
"""Parts of a sentence, for positions."""
LAYOUTS = {
    "frequency": Layout(FREQUENCY_NAMES, THIRDS),
    "position": Layout(("word",), FIFTHS),
    "class": Layout(CLASSES, THIRDS),
    "kind": Layout(COMPARED, THIRDS * len(DOUBLINGS.edges)),
}
"""Groups are compared at equal thirds of the sentence: in fifths, rare ones leave cells empty.

Kinds are compared in thirds and, by doublings, in training frequency at once as well.
"""
SURVIVES = 0.5
LEARNED = 0.1
"""Recall beyond chance, 0 to 1."""
RULE = (
    "The rule reads recall beyond chance, (recall - chance) / (1 - chance) at equal positions, "
    "without attention, in the two longest filled buckets. It compares the gist (nouns and verbs) "
    "with modifiers (adjectives, adverbs, numerals) and with names. The gist survives better than "
    "one of these if the 95 % interval of the difference lies above 0 in both buckets. Held if it "
    f"survives better than both, and itself by at least {SURVIVES:.0%} in both buckets; partly if "
    "it survives better than at least one of them; otherwise not held. Not measured without word "
    "classes, without two filled buckets, with too few words of a class for an interval, or if "
    f"recall beyond chance of all words is under {LEARNED:.0%} in the shortest bucket: what was "
    "not learned cannot be lost. Differences among words as common (in the same third of the "
    f"sentence, seen about as often in training) and arms with attention do not count. {FAMILY}"
)


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Sums of every test sentence: words found, found by chance, words, by group and place."""
    pairs = subject.corpus.test
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    links: Sequence[Iterable[Link]] = [pair.links for pair in pairs]
    if not subject.settings.corpus.is_drawn:
        tell("IBM model 1")
        links = lexicon(subject.corpus.train).align(list(map(words_of, pairs)))
    tell("counting")
    words = np.array([pair.words for pair in pairs], np.int64)
    references = list(map(LinkedReference.of, pairs, links))
    others = partners(subject.buckets.assign(words), SHUFFLES, seed=subject.settings.scoring.seed)
    found = survivals(references, outputs)
    expected = chance_survivals(references, outputs, others)
    columns: dict[str, Any] = {"source_words": words}
    for by, sentences in _grouped(subject).items():
        groups, bands = ([sentence[place] for sentence in sentences] for place in (0, 1))
        sums = survival_sums(LAYOUTS[by], found, expected, groups, bands)
        columns |= dict(zip(_names(by), sums.T, strict=True))
    return columns


def _grouped(
    subject: "Subject",
) -> dict[str, list[tuple[Int[ndarray, "_"], Int[ndarray, "_"]]]]:
    """Groups and bands of each test sentence's words, by each layout that the corpus allows.

    Both are places in the layout; -1 is no group.
    """
    seen = Counter(word for pair in subject.corpus.train for word in tokenize(pair.source))
    grouped = defaultdict(list)
    for pair in subject.corpus.test:
        tokens = tokenize(pair.source)
        words = np.array([is_word(token) for token in tokens], bool)
        counts = np.array([seen[token] for token in tokens], np.int64)
        thirds, fifths = (relative_bands(len(tokens), parts) for parts in (THIRDS, FIFTHS))
        grouped["frequency"].append((np.where(words, FREQUENCIES.assign(counts), -1), thirds))
        grouped["position"].append((np.where(words, 0, -1), fifths))
        if subject.settings.corpus.has_classes:
            classes = list(map(class_of, tokens))
            kinds = [KIND_OF.get(name, "") for name in classes]
            grouped["class"].append((_places(classes, CLASSES), thirds))
            alike = DOUBLINGS.assign(counts) * THIRDS + thirds
            grouped["kind"].append((_places(kinds, COMPARED), alike))
    return grouped


def _places(names: Sequence[str], groups: Sequence[str]) -> Int[ndarray, "words"]:
    """The place of each name in ``groups``; -1 for another name."""
    return np.array([groups.index(name) if name in groups else -1 for name in names], np.int64)


def _names(by: str) -> list[str]:
    """The columns of a layout's sums, such as ``class noun 1 found``."""
    layout = LAYOUTS[by]
    return [
        f"{by} {group} {place} {name}"
        for group in layout.groups
        for place in range(1, layout.bands + 1)
        for name in CELL
    ]


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of all words, of each fifth, class and frequency, and gist less detail.

    ``part`` is blank for all words, else ``fifth 1``, a class, ``frequency 10-99``, or one of
    `COMPARED`. n counts words, of all words sentences.
    """
    from .arms import arms_of, in_buckets

    rows: list[Row] = []
    for arm in arms_of(probed):
        found = arm.runs[0].found
        sums = {
            by: np.stack(
                [np.stack([run.found[name] for name in _names(by)], 1) for run in arm.runs]
            )
            for by in LAYOUTS
            if _names(by)[0] in found
        }
        for place, bucket, inside in in_buckets(arm.runs[0], found["source_words"]):
            subset = {by: statistics[:, inside] for by, statistics in sums.items()}
            for part, measure, score, statistics, n in _scores(subset):
                keys = {"place": place, "bucket": bucket, "part": part, "n": n}
                rows += arm.rows(measure, score, statistics, **keys)
    return rows


def _scores(
    sums: dict[str, Float[ndarray, "..."]],
) -> Iterator[tuple[str, str, Score, ndarray, int]]:
    """Each number of a bucket: its part and measure, the score, the sums that it is of, and n."""
    single = Layout(("word",), 1)
    cells = LAYOUTS["position"].cells(sums["position"])[..., 0, :, :]
    whole = cells.sum(axis=-2)
    for name, measure in MEASURES.items():
        yield "", name, overall_score(single, measure), whole, whole.shape[1]
    for fifth in range(FIFTHS):
        subset = cells[..., fifth, :]
        for name, measure in MEASURES.items():
            score = overall_score(single, measure)
            yield f"fifth {fifth + 1}", name, score, subset, _words(subset)
    for by in ("class", "frequency"):
        groups = LAYOUTS[by].groups if by in sums else ()
        for group in groups:
            rest = tuple(other for other in groups if other != group)
            layout, subset = regrouped(LAYOUTS[by], sums[by], {group: (group,), "rest": rest})
            part = group if by == "class" else f"{by} {group}"
            n = _words(layout.cells(subset)[..., 0, :, :])
            for name, measure in MEASURES.items():
                yield part, name, standardised_score(layout, group, measure), subset, n
    if "class" in sums:
        yield from _kinds(sums)


def _kinds(
    sums: dict[str, Float[ndarray, "..."]],
) -> Iterator[tuple[str, str, Score, ndarray, int]]:
    """Gist, modifiers and names, and how much more of the gist survives than of the other two.

    ``gist_more`` is at equal positions, ``gist_more_alike`` at equal positions and frequencies: n
    is there the words of the other kind in a third and a frequency that has gist too.
    """
    layout, subset = regrouped(LAYOUTS["class"], sums["class"], KINDS)
    gist = standardised_score(layout, "gist", normalised)
    for place, kind in enumerate(COMPARED):
        score = standardised_score(layout, kind, normalised)
        n = _words(layout.cells(subset)[..., place, :, :])
        yield kind, "corrected", score, subset, n
        if kind in DETAILS:
            yield kind, "gist_more", lambda x, other=score: gist(x) - other(x), subset, n
    layout, subset = LAYOUTS["kind"], sums["kind"]
    for kind in DETAILS:
        pair = layout.cells(subset)[0].sum(axis=0)[[0, COMPARED.index(kind)]]
        n = int(pair[1, matching(pair) > 0, 2].sum())
        yield kind, "gist_more_alike", matched_score(layout, "gist", kind, normalised), subset, n


def _words(cells: Float[ndarray, "seeds *rows 3"]) -> int:
    """How many words were counted, the same for every seed."""
    return int(cells[0, ..., 2].sum())


def decide(estimates: Estimates | None) -> Sequence[Verdict]:
    """C3: the gist of a sentence survives the fixed context, and its detail is lost."""

    def unmeasured(reason: str) -> Sequence[Verdict]:
        return [Verdict("C3", "not measured", RULE, reason)]

    if estimates is None:
        return unmeasured("no word's survival was measured: run `bottleneck study survival`")
    if not any(part == "gist" for *_, part in estimates.keys("corrected")):
        return unmeasured("the corpus has no word classes; the grammar has")
    arms = [arm for arm in estimates.arms() if estimates.attention(arm) == "none"]
    if not arms:
        return unmeasured("there is no arm without attention")
    filled = _filled(estimates, arms[0])
    if len(filled) < 2:
        return unmeasured("fewer than two buckets are filled")
    words = estimates.get("corrected", arms[0], filled[0]).value
    if not words >= LEARNED:
        return unmeasured(f"recall beyond chance is {words:.0%} in {filled[0]}: not learned")
    judged = filled[-2:]
    more = {
        (bucket, kind): estimates.get("gist_more", arms[0], bucket, part=kind)
        for bucket in judged
        for kind in DETAILS
    }
    if not all(map(has_interval, more.values())):
        return unmeasured("a class has too few words in the two longest buckets")
    return [_judge(estimates, arms[0], judged, more)]


def _filled(estimates: Estimates, arm: str) -> list[str]:
    """The buckets in which an arm has sentences, shortest first."""
    whole = {bucket: estimates.get("corrected", arm, bucket) for bucket in estimates.buckets()}
    return [bucket for bucket, estimate in whole.items() if estimate and estimate.n]


def has_interval(estimate: Estimate | None) -> bool:
    """Whether a number has an interval: no resample was without words of a kind."""
    return estimate is not None and estimate.low <= estimate.high


def _judge(
    estimates: Estimates, none: str, buckets: Sequence[str], more: dict[tuple[str, str], Estimate]
) -> Verdict:
    last = buckets[-1]
    clear = [kind for kind in DETAILS if all(more[bucket, kind].low > 0 for bucket in buckets)]
    gist = [estimates.get("corrected", none, bucket, part="gist").value for bucket in buckets]
    clauses = [_clause(estimates, none, "without attention", bucket) for bucket in buckets]
    clauses += [
        _clause(estimates, arm, f"arm {arm}", filled[-1])
        for arm in estimates.arms()
        if estimates.attention(arm) != "none" and (filled := _filled(estimates, arm))
    ]
    sentences = {bucket: estimates.get("corrected", none, bucket).n for bucket in buckets}
    if small := [f"{bucket} (n = {n})" for bucket, n in sentences.items() if marked(n)]:
        clauses.append(f"under {MARKED_BELOW} sentences: {', '.join(small)}")
    least = min(DETAILS, key=lambda kind: more[last, kind].value)
    points = more[last, least].scaled(100.0)
    name = f"points, gist less {least}, recall beyond chance, none, {last}"
    word = grade(len(clear) == len(DETAILS) and min(gist) >= SURVIVES, bool(clear))
    number = numbers(name, points.value, points.low, points.high)
    return Verdict("C3", word, RULE, "; ".join(clauses), **number)


def _clause(estimates: Estimates, arm: str, name: str, bucket: str) -> str:
    """``without attention, 41+: 40 % [38, 42] of the gist survives, 4 [1, 7] points more ...``."""
    gist = estimates.get("corrected", arm, bucket, part="gist").scaled(100.0)
    clause = f"{name}, {bucket}: {gist.text('{:z.0f}', ' %')} of the gist survives"
    forms = {"gist_more": ", {}", "gist_more_alike": " (among words as common {})"}
    for measure, form in forms.items():
        more = {kind: estimates.get(measure, arm, bucket, part=kind) for kind in DETAILS}
        points = [
            estimate.scaled(100.0).change(
                f"{{}} points more than of {kind}", f"{{}} points less than of {kind}", "{:z.0f}"
            )
            for kind, estimate in more.items()
            if has_interval(estimate)
        ]
        clause += form.format(" and ".join(points)) if points else ""
    return clause


NOTES = [
    "All numbers but n are %. A source word survives if the output has the reference's words that "
    "it is linked to, as many times as the reference has them. By chance: the same outputs against "
    "other sources of their length. Beyond chance: (recall - chance) / (1 - chance), 0 for chance "
    "and 100 for a perfect output. Classes and frequencies (how often the training text has a "
    "word) are compared at equal positions (thirds of the sentence, in the proportions of all "
    "words): blank if some third has none of a class's words. n: source words; by length, "
    "sentences.",
    "Gist in the verdict: nouns and verbs. Modifiers: adjectives, adverbs, numerals. Classes "
    "differ in more than meaning, above all in how often training has their words: compare with "
    "the rows by frequency.",
]
ALIKE = (
    "As common: gist less those words if both are in the same third of a sentence and were seen "
    "about as often (under 16 times, 16-31, 32-63, and so on), weighted by how many there are of "
    "both (Mantel-Haenszel). n: the words that have such gist. They still differ in more than "
    "meaning, for example in how many forms a translation has."
)
UNRANGED = (
    "A value without a range: some resample has none of these words in some third of the sentence. "
    "Trust it no more than a small count."
)
ALIGNED = (
    f"Links are those of IBM model 1, trained on the run's own training pairs ({LEXICON_PAIRS:,} "
    "at most): if it links wrongly, a word counts as kept or lost because of another."
)
LOST = (
    "Slide (L-LOST), of one sentence: its topic, main fact, frame and tone come through; "
    f"{', '.join(SLIDES['L-LOST']['lost'])} and the exact name are lost. `bottleneck diagnose` "
    "puts that sentence through the trained arms."
)


def notes(frame: pd.DataFrame) -> list[str]:
    """What the columns are, and what is particular about these runs."""
    means = frame[frame["seed"].isna()]
    lines = {
        ALIKE: (means["measure"] == "gist_more_alike").any(),
        UNRANGED: (means["value"].notna() & means["low"].isna()).any(),
        ALIGNED: not set(frame["corpus"]) <= {"grammar", "copy"},
    }
    return [*NOTES, *(line for line, applies in lines.items() if applies), LOST]


def parts_with_words(rows: pd.DataFrame, by: str) -> list[str]:
    """The parts of classes or of frequencies that have words."""
    parts = CLASSES if by == "class" else [f"frequency {name}" for name in FREQUENCY_NAMES]
    counted = set(rows.loc[rows["n"] > 0, "part"])
    return [part for part in parts if part in counted]


def by_group(estimates: Estimates) -> Iterator[Line]:
    """A row for each class and arm; without classes, for each frequency and arm."""
    parts = [parts_with_words(estimates.means, by) for by in ("class", "frequency")]
    for part, arm in product(parts[0] or parts[1], estimates.arms()):
        name = part.replace("frequency", "seen").replace(" ", "\n")
        yield (name, arm), {"arm": arm, "measure": "corrected", "part": part}


def in_longest(estimates: Estimates) -> Iterator[Line]:
    """A row for each class, frequency and arm in the longest bucket."""
    bucket = longest(estimates.means)
    yield (f"{bucket} words", ""), {}
    rows = estimates.means[estimates.means["bucket"] == bucket]
    parts = [part for by in ("class", "frequency") for part in parts_with_words(rows, by)]
    for part, arm in product(parts, estimates.arms()):
        name = part.replace("frequency", "seen")
        yield (name, arm), {"arm": arm, "bucket": bucket, "part": part}


def gist_less(estimates: Estimates) -> Iterator[Line]:
    """A row for each kind, comparison and arm."""
    comparisons = {"gist_more": "{}", "gist_more_alike": "{},\nas common"}
    for part, measure, arm in product(DETAILS, comparisons, estimates.arms()):
        keys = {"arm": arm, "measure": measure, "part": part}
        yield (comparisons[measure].format(part), arm), keys


PERCENT = {"scale": 100.0, "form": "{:z.0f}", "ends": "{:z.0f}"}
ALL_MEASURES = [
    Column("recall", "recall", **PERCENT),
    Column("by\nchance", "chance", **PERCENT),
    Column("recall -\nchance", "less_chance", **PERCENT),
    Column("beyond\nchance", "corrected", **PERCENT),
]


def bucket_columns(estimates: Estimates) -> list[Column]:
    """A column for each bucket."""
    return [Column(bucket, bucket=bucket, **PERCENT) for bucket in estimates.buckets()]


def in_panel(by: str) -> dict[str, Any]:
    """The panel of the longest bucket's parts of a kind; of frequencies if there are no classes."""
    names = {f"fifth {place}": str(place) for place in range(1, FIFTHS + 1)}
    if by != "position":
        names = {name: name.replace(" ", "\n") for name in CLASSES} | {"adjective": "adjec-\ntive"}
    if by == "frequency":
        names = {f"frequency {name}": name for name in FREQUENCY_NAMES}

    def select(rows: pd.DataFrame) -> pd.DataFrame:
        instead = by == "frequency" and bool(parts_with_words(rows, "class"))
        return rows[(rows["bucket"] == longest(rows)) & rows["part"].isin(names) & (not instead)]

    return {"measure": "corrected", "y": "% of source words that survive\n(0: chance)",
            "scale": 100.0, "x": "part", "names": names, "select": select, "counted": "words",
            "limit": 102.0}  # fmt: skip


QUESTION = Question(
    name="survival",
    ids=("C3", "L-LOST"),
    question="Which source words reach the output: does gist survive, and detail get lost?",
    title="Which source words reach the output (C3)",
    version=2,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen",
    decide=decide,
    notes=notes,
    measures=(*MEASURES, "gist_more", "gist_more_alike"),
    grids=[
        Grid(
            "Survival beyond chance by sentence length, % (C3)",
            heads=("source\nword", "arm"), lines=by_group, columns=bucket_columns,
            counted=False, counts=True,
        ),
        Grid(
            "All measures in the longest sentences, % (C3)",
            heads=("source\nword", "arm"), lines=in_longest, columns=ALL_MEASURES,
        ),
        Grid(
            "Gist less other words, beyond chance, points (C3)",
            heads=("gist\nless", "arm"), lines=gist_less, columns=bucket_columns,
            counted=False, counts=True,
        ),
        Grid(
            "Survival beyond chance by place in the source, % (C3)",
            counted=False, counts=True,
            columns=[
                Column(f"fifth\n{place}", "corrected", part=f"fifth {place}", **PERCENT)
                for place in range(1, FIFTHS + 1)
            ],
        ),
        Grid("Survival of all words by sentence length, % (C3)", ALL_MEASURES),
    ],
    figure="Which words survive in sentences of {longest} words?",
    axes=[
        Axes("By place in the source", x_label="fifth of the source", **in_panel("position")),
        Axes("By word class", x_label="", joined=False, **in_panel("class")),
        Axes("By times seen in training", x_label="", joined=False, **in_panel("frequency")),
    ],
)  # fmt: skip
