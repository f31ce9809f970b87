"""C13: does training place similar words near each other?

On the grammar, where the class of every English word is known and the gender of every noun's
French. Gender is no property of an English noun: the encoder's embedding can show it only by what
translating into French asks for. A French word takes the class, and a French noun the gender, of
the English words that the training pairs' gold alignment links it to most often, content words
before others.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..corpus.grammar import CONTENT, noun_gender, word_class
from ..corpus.pair import SentencePair
from ..corpus.tokens import tokenize
from ..corpus.vocabulary import UNK
from ..model.translator import Weights
from ..probes.neighbours import chance, same_label
from ..scoring.sums import ratio_of_sums
from .arms import Arm, arms_of
from .study import Columns, Probed, Row, Study, Tell
from .subject import Subject, has_classes

NEAREST = 5
SMALLEST_CLASS = 4 * NEAREST
"""Words of a class that has rows of its own: under `NEAREST` + 1 the share cannot be 1."""
CONTROLS = ("trained", "untrained", "frequency", "chance")
"""``frequency``: neighbours are the words next in the training text's order of frequency."""
SIDES = ("source", "target")
NO_GENDER = ""
Labels = dict[str, tuple[str, str]]
"""Of words: class and gender, the latter empty where there is none."""


def probe(subject: Subject, tell: Tell) -> Columns:
    """A row a word of either vocabulary: what share of its neighbours is like it."""
    subject.require_words()
    tell("labelling words")
    labels = (_english(subject), french_labels(subject.corpus.train))
    columns: dict[str, list] = defaultdict(list)
    for place, side in enumerate(SIDES):
        tell(f"neighbours, {side}")
        for name, column in _side(subject, place, labels[place]).items():
            columns[name] += list(column)
        columns["side"] += [side] * (len(columns["word"]) - len(columns["side"]))
    return columns


def _english(subject: Subject) -> Labels:
    words = subject.vocabularies[0].words
    return {word: (kind := word_class(word), _gender(word, kind)) for word in words}


def _gender(word: str, kind: str) -> str:
    return noun_gender(word) if kind == "noun" else NO_GENDER


def french_labels(pairs: Iterable[SentencePair]) -> Labels:
    """Class and gender of the English that each French word is linked to most often."""
    links = Counter(link for pair in pairs for link in _linked(pair))
    kinds: dict[str, Counter] = defaultdict(Counter)
    genders: dict[str, Counter] = defaultdict(Counter)
    for (english, french), times in links.items():
        kind = word_class(english)
        kinds[french][kind] += times
        if kind == "noun":
            genders[french][noun_gender(english)] += times
    return {word: _most_common(kinds[word], genders[word]) for word in kinds}


def _linked(pair: SentencePair) -> Iterator[tuple[str, str]]:
    """English and French words that are linked; where a French word has a content word in English
    ("will read", "lira"), that one alone."""
    english, french = tokenize(pair.source), tokenize(pair.target)
    held: dict[int, list[str]] = defaultdict(list)
    for ours, theirs in pair.links:
        held[theirs].append(english[ours])
    for theirs, words in held.items():
        content = [word for word in words if word_class(word) in CONTENT]
        yield from ((word, french[theirs]) for word in content or words)


def _most_common(kinds: Counter, genders: Counter) -> tuple[str, str]:
    """The most frequent class, and of a noun the most frequent gender; ties in string order."""
    kind = min(kinds, key=lambda name: (-kinds[name], name))
    if kind != "noun":
        return kind, NO_GENDER
    return kind, min(genders, key=lambda name: (-genders[name], name))


def _side(subject: Subject, place: int, labels: Labels) -> dict[str, Sequence[Any]]:
    """Of one side's labelled words: their labels, and the share of like neighbours by control."""
    vocabulary = subject.vocabularies[place]
    ids = [row for row in range(UNK + 1, len(vocabulary)) if vocabulary.tokens[row] in labels]
    words = [vocabulary.tokens[row] for row in ids]
    kinds, genders = ([labels[word][which] for word in words] for which in (0, 1))
    nouns = np.flatnonzero([gender != NO_GENDER for gender in genders])
    found: dict[str, Sequence[Any]] = {"word": words, "class": kinds}
    vectors = _vectors(subject, place, np.array(ids))
    for control in CONTROLS:
        found[f"class_{control}"] = _shares(vectors.get(control), _numbered(kinds))
        share = np.full(len(words), np.nan)
        own = vectors[control][nouns] if control in vectors else None
        share[nouns] = _shares(own, _numbered([genders[noun] for noun in nouns]))
        found[f"gender_{control}"] = share
    return found


def _vectors(
    subject: Subject, place: int, ids: Int[ndarray, "words"]
) -> dict[str, Float[ndarray, "words size"]]:
    """Vectors whose cosines say which words are near: embeddings, and order of frequency."""
    # Vocabularies are in order of frequency. On a quarter of a circle the cosine falls with the
    # distance.
    angles = np.linspace(0, np.pi / 2, len(ids))
    return {
        "trained": _embeddings(subject.weights, place)[ids],
        "untrained": _embeddings(subject.untrained, place)[ids],
        "frequency": np.stack([np.cos(angles), np.sin(angles)], axis=1),
    }


def _embeddings(weights: Weights, place: int) -> Float[ndarray, "words size"]:
    part = weights["decoder" if place else "encoder"]
    return np.asarray(part["embedding"][...], dtype=np.float64)


def _shares(
    vectors: Float[ndarray, "words size"] | None, labels: Int[ndarray, "words"]
) -> Float[ndarray, "words"]:
    """Share of each word's neighbours with its label; without vectors what chance gives."""
    if len(labels) <= NEAREST:
        return np.full(len(labels), np.nan)
    return chance(labels) if vectors is None else same_label(vectors, labels, k=NEAREST)


def _numbered(labels: Sequence[str]) -> Int[ndarray, "words"]:
    return np.unique(np.array(labels, dtype=np.str_), return_inverse=True)[1].astype(np.int64)


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Shares of like neighbours, and what training adds to them (``..._added``)."""
    return [row for arm in arms_of(probed) for row in _rows(arm)]


def _rows(arm: Arm) -> Iterator[Row]:
    for place, (part, inside) in enumerate(_parts(arm.runs[0])):
        for label in ("class", "gender"):
            shares = {
                control: np.stack([run.found[f"{label}_{control}"][inside] for run in arm.runs])
                for control in CONTROLS
            }
            known = ~np.isnan(shares["chance"][0])
            if known.any() and (label == "class" or " " not in part):
                held = {control: each[:, known] for control, each in shares.items()}
                yield from _numbers(arm, f"same_{label}", held, part, place)


def _parts(run: Probed) -> Iterator[tuple[str, ndarray]]:
    """Each side's words, then those of its classes that are large enough, largest first."""
    for side in SIDES:
        inside = run.found["side"] == side
        yield side, inside
        kinds = Counter(run.found["class"][inside].tolist())
        for kind, words in kinds.most_common():
            if words >= SMALLEST_CLASS:
                yield f"{side} {kind}", inside & (run.found["class"] == kind)


def _numbers(
    arm: Arm, measure: str, shares: dict[str, Float[ndarray, "seeds words"]], part: str, place: int
) -> Iterator[Row]:
    """The share for every control, and what training adds; resamples draw words."""
    keys = {"part": part, "place": place}
    for control, held in shares.items():
        shown = "" if control == "trained" else control
        yield from arm.rows(measure, ratio_of_sums, _counted(held), control=shown, **keys)
    added = _counted(shares["trained"] - shares["untrained"])
    yield from arm.rows(f"{measure}_added", ratio_of_sums, added, **keys)


def _counted(shares: Float[ndarray, "seeds words"]) -> Float[ndarray, "seeds words 2"]:
    return np.stack([shares, np.ones_like(shares)], axis=-1)


STUDY = Study(
    name="embeddings",
    ids=("C13",),
    question="Does training place words of a class, and nouns of a gender, near each other?",
    version=1,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: settings.model.source == "seen" and has_classes(settings.corpus),
)
