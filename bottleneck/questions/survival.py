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

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
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
from ..settings.buckets import Buckets
from . import survival_sums as sums
from .estimates import Estimates
from .question import Axes, Column, Columns, Grid, Line, Probed, Question, Row, Tell, grade
from .word_survival import (
    CLASSES,
    FUNCTION_WORD,
    LEXICON_PAIRS,
    LinkedReference,
    chance_survivals,
    class_of,
    lexicon,
    partners,
    survival,
    words_of,
)

if TYPE_CHECKING:
    from .subject import Subject

Cells = Float[ndarray, "seeds sentences groups bands 3"]

SHUFFLES = 10
"""Other sentences whose outputs show how much of a sentence is there by chance."""
KINDS: dict[str, tuple[str, ...]] = {
    "gist": ("noun", "verb"),
    "modifiers": ("adjective", "adverb, numeral"),
    "names": ("name",),
    "rest": (FUNCTION_WORD,),
}
"""What the claim compares: who does what to what, and what is said of it or only names it."""
DETAILS = ("modifiers", "names")
COMPARED = ("gist", *DETAILS)
FREQUENCIES = Buckets((0, 1, 10, 100, 1000))
"""Bands of a word's count in the training text."""
FREQUENCY_NAMES = ("unseen", *FREQUENCIES.names[1:])
DOUBLINGS = Buckets((0, *(2**power for power in range(4, 16))))
"""Finer bands of the same: doublings; all words below them, and all above, are one band."""
THIRDS, FIFTHS = 3, 5
"""Parts of a sentence. Groups are compared in thirds: in fifths, rare ones leave cells empty."""
LAYOUTS: dict[str, tuple[tuple[str, ...], int]] = {
    "frequency": (FREQUENCY_NAMES, THIRDS),
    "position": (("word",), FIFTHS),
    "class": (CLASSES, THIRDS),
    "kind": (COMPARED, THIRDS * len(DOUBLINGS.edges)),
}
"""Groups and number of bands; those of kinds are thirds and doublings of the frequency at once."""
COLUMNS = {
    by: [
        f"{by} {group} {band} {name}"
        for group, band, name in product(groups, range(1, bands + 1), sums.CELL)
    ]
    for by, (groups, bands) in LAYOUTS.items()
}
"""The probe's columns of each layout, such as ``class noun 1 found``."""
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
        links = lexicon(subject.corpus.train).align(map(words_of, pairs))
    tell("counting")
    lengths = np.array([pair.words for pair in pairs], np.int64)
    references = list(map(LinkedReference.of, pairs, links))
    others = partners(subject.buckets.assign(lengths), SHUFFLES, seed=subject.settings.scoring.seed)
    survived = np.concatenate(list(map(survival, references, outputs)))
    by_chance = np.concatenate(chance_survivals(references, outputs, others))
    sentence = np.repeat(np.arange(len(pairs)), [reference.words for reference in references])
    columns: dict[str, Any] = {"source_words": lengths}
    for by, (group, band) in _grouped(subject).items():
        shape = (len(pairs), len(LAYOUTS[by][0]), LAYOUTS[by][1])
        cells = sums.survival_cells(sentence, survived, by_chance, group, band, shape=shape)
        columns |= dict(zip(COLUMNS[by], cells.reshape(len(pairs), -1).T, strict=True))
    return columns


def _grouped(subject: "Subject") -> dict[str, tuple[Int[ndarray, "words"], Int[ndarray, "words"]]]:
    """Group and band of each word of the test set, by each layout that the corpus allows.

    Both are places in the layout; -1 is no group.
    """
    seen = Counter(word for pair in subject.corpus.train for word in tokenize(pair.source))
    sources = [tokenize(pair.source) for pair in subject.corpus.test]
    tokens = [token for source in sources for token in source]
    words = np.array(list(map(is_word, tokens)), bool)
    counts = np.array([seen[token] for token in tokens], np.int64)
    thirds, fifths = (
        np.concatenate([sums.relative_bands(len(source), parts) for source in sources])
        for parts in (THIRDS, FIFTHS)
    )
    grouped = {
        "frequency": (np.where(words, FREQUENCIES.assign(counts), -1), thirds),
        "position": (np.where(words, 0, -1), fifths),
    }
    if subject.settings.corpus.has_classes:
        classes = np.array(list(map(class_of, tokens)))
        kinds = np.select([np.isin(classes, names) for names in KINDS.values()], [*KINDS], "")
        alike = DOUBLINGS.assign(counts) * THIRDS + thirds
        for by, names, band in (("class", classes, thirds), ("kind", kinds, alike)):
            members = [names == group for group in LAYOUTS[by][0]]
            grouped[by] = np.select(members, np.arange(len(members)), -1), band
    return grouped


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every measure of all words, of each fifth, class and frequency, and gist less detail.

    ``part`` is blank for all words, else ``fifth 1``, a class, ``frequency 10-99``, or one of
    `COMPARED`. n counts words, of all words sentences.
    """
    from .arms import arms_of, in_buckets

    rows: list[Row] = []
    for arm in arms_of(probed):
        columns = arm.runs[0].found
        known = {
            by: arm.statistics(names).reshape(len(arm.runs), -1, len(groups), bands, len(sums.CELL))
            for by, (groups, bands) in LAYOUTS.items()
            if (names := COLUMNS[by])[0] in columns
        }
        for place, bucket, inside in in_buckets(arm.runs[0], columns["source_words"]):
            cells = {by: counts[:, inside] for by, counts in known.items()}
            for part, measure, score, subset, n in _numbers(cells):
                keys = {"place": place, "bucket": bucket, "part": part, "n": n}
                rows += arm.rows(measure, *sums.flat(score, subset), **keys)
    return rows


def _numbers(cells: Mapping[str, Cells]) -> Iterator[tuple[str, str, Callable, Cells, int]]:
    """Each number of a bucket: its part and measure, the score, the cells that it is of, and n."""
    whole = cells["position"]
    fifths = {f"fifth {place + 1}": whole[..., [place], :] for place in range(FIFTHS)}
    for part, subset in ({"": whole} | fifths).items():
        n = _words(subset) if part else subset.shape[1]
        for name, measure in sums.MEASURES.items():
            yield part, name, partial(sums.overall, measure), subset, n
    for by in ("class", "frequency"):
        for place, group in enumerate(LAYOUTS[by][0] if by in cells else ()):
            part = group if by == "class" else f"{by} {group}"
            n = _words(cells[by][..., place, :, :])
            for name, measure in sums.MEASURES.items():
                yield part, name, partial(sums.standardised, measure, place), cells[by], n
    if "class" not in cells:
        return
    members = [[CLASSES.index(name) for name in names] for names in KINDS.values()]
    kinds = np.stack([cells["class"][..., group, :, :].sum(-3) for group in members], axis=-3)
    for place, kind in enumerate(COMPARED):
        n = _words(kinds[..., place, :, :])
        yield kind, "corrected", partial(sums.standardised, sums.normalised, place), kinds, n
        if place:
            more = partial(sums.first_minus, sums.standardised_rates, place)
            yield kind, "gist_more", more, kinds, n
    for place, kind in enumerate(DETAILS, 1):
        both = cells["kind"][..., [0, place], :, :]
        pair = both[0].sum(axis=0)
        n = int(pair[1, sums.matching(pair) > 0, 2].sum())
        yield kind, "gist_more_alike", partial(sums.first_minus, sums.matched_rates, 1), both, n


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
    none = next((arm for arm in estimates.arms() if estimates.attention(arm) == "none"), "")
    if not none:
        return unmeasured("there is no arm without attention")
    filled = _filled(estimates, none)
    if len(filled) < 2:
        return unmeasured("fewer than two buckets are filled")
    words = estimates.get("corrected", none, filled[0]).value
    if not words >= LEARNED:
        return unmeasured(f"recall beyond chance is {words:.0%} in {filled[0]}: not learned")
    buckets, last = filled[-2:], filled[-1]
    more = {
        (bucket, kind): estimates.get("gist_more", none, bucket, part=kind)
        for bucket, kind in product(buckets, DETAILS)
    }
    if not all(item and item.low <= item.high for item in more.values()):
        return unmeasured("a class has too few words in the two longest buckets")
    clear = [kind for kind in DETAILS if all(more[bucket, kind].low > 0 for bucket in buckets)]
    gist = [estimates.get("corrected", none, bucket, part="gist").value for bucket in buckets]
    clauses = [_clause(estimates, none, "without attention", bucket) for bucket in buckets]
    clauses += [
        _clause(estimates, arm, f"arm {arm}", buckets_of[-1])
        for arm in estimates.arms()
        if estimates.attention(arm) != "none" and (buckets_of := _filled(estimates, arm))
    ]
    sentences = {bucket: estimates.get("corrected", none, bucket).n for bucket in buckets}
    if small := [f"{bucket} (n = {n})" for bucket, n in sentences.items() if marked(n)]:
        clauses.append(f"under {MARKED_BELOW} sentences: {', '.join(small)}")
    least = min(DETAILS, key=lambda kind: more[last, kind].value)
    points = more[last, least].scaled(100.0)
    name = f"points, gist less {least}, recall beyond chance, none, {last}"
    number = numbers(name, points.value, points.low, points.high)
    word = grade(len(clear) == len(DETAILS) and min(gist) >= SURVIVES, bool(clear))
    return [Verdict("C3", word, RULE, "; ".join(clauses), **number)]


def _filled(estimates: Estimates, arm: str) -> list[str]:
    """The buckets in which an arm has sentences, shortest first."""
    whole = {bucket: estimates.get("corrected", arm, bucket) for bucket in estimates.buckets()}
    return [bucket for bucket, estimate in whole.items() if estimate and estimate.n]


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


def notes(frame: pd.DataFrame) -> list[str]:
    """What the columns are, and what is particular about these runs."""
    lines = [
        "All numbers but n are %. By chance: the same outputs against other sources of their "
        "length. Beyond chance: 0 for chance, 100 for a perfect output. Classes and frequencies "
        "(how often the training text has a word) are compared at equal positions: blank if some "
        "third of the sentence has none of a class's words, and without a range if some resample "
        "has none there. Common words are easier. n: source words; by length, sentences."
    ]
    if "gist_more_alike" in set(frame["measure"]):
        lines.append(
            "As common: of words in the same third of a sentence that were seen about as often "
            "(under 16 times, 16-31, 32-63, and so on; Mantel-Haenszel weights)."
        )
    if not set(frame["corpus"]) <= {"grammar", "copy"}:
        lines.append(
            f"Links are those of IBM model 1, trained on {LEXICON_PAIRS:,} of the run's own "
            "training pairs at most; a wrong link counts a word as kept or lost by another."
        )
    lost = ", ".join(SLIDES["L-LOST"]["lost"])
    slide = f"Slide (L-LOST), of one sentence that `bottleneck diagnose` shows: {lost} are lost."
    return [*lines, slide]


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


def gist_less(estimates: Estimates) -> Iterator[Line]:
    """A row for each kind, comparison and arm."""
    comparisons = {"gist_more": "{}", "gist_more_alike": "{},\nas common"}
    for part, measure, arm in product(DETAILS, comparisons, estimates.arms()):
        keys = {"arm": arm, "measure": measure, "part": part}
        yield (comparisons[measure].format(part), arm), keys


PERCENT = {"scale": 100.0, "form": "{:z.0f}", "ends": "{:z.0f}"}
HEADS = {"recall": "recall", "chance": "by\nchance", "less_chance": "recall -\nchance",
         "corrected": "beyond\nchance"}  # fmt: skip
ALL_MEASURES = [Column(head, name, **PERCENT) for name, head in HEADS.items()]


def bucket_columns(estimates: Estimates) -> list[Column]:
    """A column for each bucket."""
    return [Column(bucket, bucket=bucket, **PERCENT) for bucket in estimates.buckets()]


def panel(title: str, x_label: str, by: str, names: Mapping[str, str]) -> Axes:
    """What survives in the longest bucket, by part; frequencies only where there are no classes."""

    def select(rows: pd.DataFrame) -> pd.DataFrame:
        instead = by == "frequency" and bool(parts_with_words(rows, "class"))
        return rows[(rows["bucket"] == longest(rows)) & rows["part"].isin(names) & (not instead)]

    return Axes(
        title, "corrected", "% of source words that survive\n(0: chance)", 100.0, "part", x_label,
        names, select, counted="words", joined=by == "position", limit=102.0,
    )  # fmt: skip


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
    measures=(*sums.MEASURES, "gist_more", "gist_more_alike"),
    grids=[
        Grid(
            "Survival beyond chance by sentence length, % (C3)",
            heads=("source\nword", "arm"), lines=by_group, columns=bucket_columns,
            counted=False, counts=True,
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
        panel("By place in the source", "fifth of the source", "position",
              {f"fifth {place}": str(place) for place in range(1, FIFTHS + 1)}),
        panel("By word class", "", "class",
              {name: name.replace(" ", "\n") for name in CLASSES} | {"adjective": "adjec-\ntive"}),
        panel("By times seen in training", "", "frequency",
              {f"frequency {name}": name for name in FREQUENCY_NAMES}),
    ],
)  # fmt: skip
