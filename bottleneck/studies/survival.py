"""C3: which source words reach the output? By word class, frequency, place and sentence length.

A word survives by the reference's words that it is linked to (`probes.survival`): gold links on the
grammar and the copying corpus; on real text those of IBM model 1, trained on the run's own
training pairs. Chance is the same outputs against other sources of their length bucket, the same
other sources for every arm and seed of a corpus. A token without a letter or a digit is no word
here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..corpus.pair import Link, SentencePair
from ..corpus.tokens import is_word, tokenize
from ..probes.ibm1 import IBM1, train
from ..probes.survival import LinkedReference, chance_survivals, partners, survivals
from ..probes.survival_sums import (
    CELL,
    Layout,
    Measure,
    chance,
    less_chance,
    matched_score,
    matching,
    normalised,
    overall_score,
    recall,
    standardised_score,
    survival_sums,
)
from ..probes.word_groups import (
    DOUBLINGS,
    FREQUENCY_NAMES,
    class_places,
    frequency_bands,
    relative_bands,
)
from ..questions.arms import Arm, arms_of, in_buckets
from ..questions.question import Columns, Probed, Row, Study, Tell
from ..questions.subject import Subject, source_words
from ..results.outputs import read_texts
from ..scoring.bootstrap import Score

SHUFFLES = 10
"""Other sentences whose outputs tell what of a sentence is there by chance."""
LEXICON_PAIRS = 50_000
"""Training pairs at most that teach IBM model 1, spread evenly over the text."""
FUNCTION_WORD = "function word"
CLASSES = ("noun", "verb", "adjective", "adverb, numeral", "name", FUNCTION_WORD)
"""Adverbs and numerals together: either is missing in parts of some bucket's sentences."""
JOINED = {"adverb": "adverb, numeral", "numeral": "adverb, numeral"}
KINDS: dict[str, tuple[str, ...]] = {
    "gist": ("noun", "verb"),
    "modifiers": ("adjective", "adverb, numeral"),
    "names": ("name",),
    "rest": (FUNCTION_WORD,),
}
"""What the claim compares: who does what to what, and what is said of it or only names it."""
COMPARED = ("gist", "modifiers", "names")
_KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
THIRDS, FIFTHS = 3, 5
"""Parts of a sentence that places are told in."""
LAYOUTS = {
    "class": Layout(CLASSES, THIRDS),
    "frequency": Layout(FREQUENCY_NAMES, THIRDS),
    "position": Layout(("word",), FIFTHS),
    "kind": Layout(COMPARED, THIRDS * len(DOUBLINGS.edges)),
}
"""Groups are compared at equal thirds of the sentence: in fifths, rare ones leave cells empty.

Kinds are compared in thirds and, by doublings, in training frequency at once as well.
"""
MEASURES: dict[str, Measure] = {
    "recall": recall,
    "chance": chance,
    "less_chance": less_chance,
    "corrected": normalised,
}
"""``corrected``: (recall - chance) / (1 - chance), which is 1 for a perfect output in any class."""
Places = Sequence[Int[ndarray, "_"]]
"""A number for every word, an array a sentence."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """Sums of every test sentence: words found, found by chance, words, by group and place."""
    pairs = subject.corpus.test
    outputs = [tokenize(text) for text in read_texts(subject.folder).hypotheses]
    links = _links(subject, tell)
    tell("counting")
    words = source_words(pairs)
    references = [
        LinkedReference(len(tokenize(pair.source)), tuple(tokenize(pair.target)), tuple(own))
        for pair, own in zip(pairs, links, strict=True)
    ]
    others = partners(subject.buckets.assign(words), SHUFFLES, seed=subject.settings.scoring.seed)
    found = survivals(references, outputs)
    expected = chance_survivals(references, outputs, others)
    columns: dict[str, Any] = {"source_words": words}
    for by, (groups, bands) in _grouped(subject).items():
        sums = survival_sums(LAYOUTS[by], found, expected, groups, bands)
        columns |= dict(zip(_names(by), sums.T, strict=True))
    return columns


def _links(subject: Subject, tell: Tell) -> list[Sequence[Link]]:
    """Gold links where the corpus knows them, else those of IBM model 1."""
    if subject.settings.corpus.is_drawn:
        return [pair.links for pair in subject.corpus.test]
    tell("IBM model 1")
    model = lexicon(subject.corpus.train)
    return [tuple(own) for own in model.align([_tokens(pair) for pair in subject.corpus.test])]


def lexicon(pairs: Sequence[SentencePair]) -> IBM1:
    """IBM model 1 of a training text, of `LEXICON_PAIRS` at most."""
    step = -(-len(pairs) // LEXICON_PAIRS)
    return train([_tokens(pair) for pair in pairs[::step]])[0]


def _tokens(pair: SentencePair) -> tuple[list[str], list[str]]:
    return tokenize(pair.source), tokenize(pair.target)


def _grouped(subject: Subject) -> dict[str, tuple[Places, Places]]:
    """Group and band of every word of the test set, by each layout that the corpus allows."""
    counts = Counter(word for pair in subject.corpus.train for word in tokenize(pair.source))
    sentences = [tokenize(pair.source) for pair in subject.corpus.test]
    groups = {
        "frequency": [_words_alone(own, frequency_bands(own, counts)) for own in sentences],
        "position": [_words_alone(own, np.zeros(len(own), np.int64)) for own in sentences],
    }
    alike = {}
    if subject.settings.corpus.has_classes:
        classes = [list(map(class_of, own)) for own in sentences]
        groups["class"] = [class_places(own, CLASSES) for own in classes]
        alike["kind"] = list(map(_kind_places, classes)), _thirds_alike(sentences, counts)
    return {by: (own, _parts(by, sentences)) for by, own in groups.items()} | alike


def _parts(by: str, sentences: Sequence[Sequence[str]]) -> Places:
    """The part of its sentence that each word stands in, of as many as the layout has."""
    return [relative_bands(len(own), LAYOUTS[by].bands) for own in sentences]


def _kind_places(classes: Sequence[str]) -> Int[ndarray, "words"]:
    """The place of each word's kind in `COMPARED`."""
    return class_places([_KIND_OF.get(name, "") for name in classes], COMPARED)


def _thirds_alike(sentences: Sequence[Sequence[str]], counts: Mapping[str, int]) -> Places:
    """Third and doubling of the training frequency of each word, as one number."""
    return [
        frequency_bands(own, counts, DOUBLINGS) * THIRDS + relative_bands(len(own), THIRDS)
        for own in sentences
    ]


def class_of(token: str) -> str:
    """The class, of `CLASSES`, of a word of the grammar; "" of punctuation and other text."""
    # Imported here, so that other corpora do not pay for building the grammar.
    from ..corpus.grammar import CONTENT, word_class

    if not is_word(token):
        return ""
    try:
        kind = word_class(token)
    except KeyError:
        return ""
    return JOINED.get(kind, kind) if kind in CONTENT else FUNCTION_WORD


def _words_alone(tokens: Sequence[str], groups: Int[ndarray, "words"]) -> Int[ndarray, "words"]:
    return np.where([is_word(token) for token in tokens], groups, -1).astype(np.int64)


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
    """Every measure of all words, of each place, class and frequency, and gist less detail.

    ``part`` is blank for all words, else ``fifth 1``, a class, ``frequency 10-99``, or one of
    `KINDS`. Of classes, frequencies and kinds all measures are at equal positions, and of
    ``gist_more_alike`` at equal positions and frequencies (`_alike`); n counts words.
    """
    return [row for arm in arms_of(probed) for row in _arm_rows(arm)]


def _arm_rows(arm: Arm) -> Iterator[Row]:
    found = arm.runs[0].found
    held = {by: _sums(arm, by) for by in LAYOUTS if _names(by)[0] in found}
    for place, bucket, inside in in_buckets(arm.runs[0], found["source_words"]):
        keys = {"place": place, "bucket": bucket}
        own = {by: sums[:, inside] for by, sums in held.items()}
        yield from _positions(arm, own["position"], keys)
        for by in ("class", "frequency"):
            if by in own:
                yield from _groups_rows(arm, by, own[by], keys)
        if "class" in own:
            yield from _kinds(arm, own["class"], keys)
            yield from _alike(arm, own["kind"], keys)


def _sums(arm: Arm, by: str) -> Float[ndarray, "seeds sentences columns"]:
    return np.stack([np.stack([run.found[name] for name in _names(by)], 1) for run in arm.runs])


def _positions(
    arm: Arm, sums: Float[ndarray, "seeds sentences columns"], keys: Mapping[str, Any]
) -> Iterator[Row]:
    """All words, n their sentences; then those of each fifth."""
    one = Layout(("word",), 1)
    for name, measure in MEASURES.items():
        whole = LAYOUTS["position"].cells(sums).sum(axis=(-3, -2))
        yield from arm.rows(name, overall_score(one, measure), whole, **keys)
    for fifth in range(FIFTHS):
        own = LAYOUTS["position"].cells(sums)[..., 0, fifth, :]
        facts = dict(keys) | {"part": f"fifth {fifth + 1}", "n": _words(own)}
        for name, measure in MEASURES.items():
            yield from arm.rows(name, overall_score(one, measure), own, **facts)


def _groups_rows(
    arm: Arm, by: str, sums: Float[ndarray, "seeds sentences columns"], keys: Mapping[str, Any]
) -> Iterator[Row]:
    """Each class or frequency at the positions of all words."""
    for group in LAYOUTS[by].groups:
        rest = tuple(other for other in LAYOUTS[by].groups if other != group)
        layout, own = regrouped(LAYOUTS[by], sums, {group: (group,), "rest": rest})
        part = group if by == "class" else f"{by} {group}"
        facts = dict(keys) | {"part": part, "n": _words(layout.cells(own)[..., 0, :, :])}
        for name, measure in MEASURES.items():
            yield from arm.rows(name, standardised_score(layout, group, measure), own, **facts)


def _kinds(
    arm: Arm, sums: Float[ndarray, "seeds sentences columns"], keys: Mapping[str, Any]
) -> Iterator[Row]:
    """Gist, modifiers and names; and what of the gist survives more than of the other two."""
    layout, own = regrouped(LAYOUTS["class"], sums, KINDS)
    gist = standardised_score(layout, "gist", normalised)
    for place, kind in enumerate(COMPARED):
        score = standardised_score(layout, kind, normalised)
        n = _words(layout.cells(own)[..., place, :, :])
        facts = dict(keys) | {"part": kind, "n": n}
        yield from arm.rows("corrected", score, own, **facts)
        if kind != "gist":
            yield from arm.rows("gist_more", _less(gist, score), own, **facts)


def _alike(
    arm: Arm, sums: Float[ndarray, "seeds sentences columns"], keys: Mapping[str, Any]
) -> Iterator[Row]:
    """What of the gist survives more than of words of another kind that are as common as it is.

    ``n`` are those words: of the other kind, in a third and a frequency where there is gist.
    """
    layout = LAYOUTS["kind"]
    for kind in COMPARED[1:]:
        pair = layout.cells(sums)[0].sum(axis=0)[[0, COMPARED.index(kind)]]
        n = int(pair[1, matching(pair) > 0, 2].sum())
        facts = dict(keys) | {"part": kind, "n": n}
        score = matched_score(layout, "gist", kind, normalised)
        yield from arm.rows("gist_more_alike", score, sums, **facts)


def _less(minuend: Score, subtrahend: Score) -> Score:
    return lambda sums: minuend(sums) - subtrahend(sums)


def regrouped(
    layout: Layout,
    sums: Float[ndarray, "*rows columns"],
    kinds: Mapping[str, tuple[str, ...]],
) -> tuple[Layout, Float[ndarray, "*rows merged"]]:
    """Sums with some groups put together, and their layout; kinds together should be all groups."""
    cells = layout.cells(sums)
    merged = [
        cells[..., [layout.groups.index(group) for group in groups], :, :].sum(axis=-3)
        for groups in kinds.values()
    ]
    made = Layout(tuple(kinds), layout.bands)
    return made, np.stack(merged, axis=-3).reshape(*sums.shape[:-1], made.columns)


def _words(cells: Float[ndarray, "seeds *rows 3"]) -> int:
    """How many words were counted, the same for every seed."""
    return int(cells[0, ..., 2].sum())


STUDY = Study(
    name="survival",
    ids=("C3", "L-LOST"),
    question="Which source words reach the output: does gist survive, and detail get lost?",
    version=2,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen",
)
