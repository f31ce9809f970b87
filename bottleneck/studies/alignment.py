"""C7: is alignment learned for free, and can it be read off the attention weights?

Weights are teacher-forced on the references, held against the corpus' own links, and beside the
same of the diagonal, of IBM model 1 trained on the run's own training pairs, of the network before
training, and of what one link a target word can reach at best. Every method here links each target
word to one source word (IBM 1: or to none), while gold links may be more or none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ..corpus.pair import SentencePair
from ..corpus.pieces import by_word
from ..corpus.tokens import tokenize
from ..model.translator import Weights
from ..probes import ibm1
from ..probes.alignment import (
    GoldLinks,
    Links,
    alignment_error_rate,
    alignment_precision,
    alignment_recall,
    alignment_statistics,
    diagonal_links,
    equal_weight_on_gold,
    gold_weight_statistics,
    links_from_weights,
    weight_on_gold,
)
from ..questions.arms import Arm, arms_of, in_buckets
from ..questions.question import Columns, Probed, Row, Study, Tell
from ..questions.subject import Subject, source_words
from ..runs.attention import attention_matrices
from ..settings.concerns import UNSELECTIVE
from ..settings.run import RunSettings

METHODS = ("trained", "untrained", "diagonal", "ibm1", "best")
COUNTS = ("sure_found", "possible_found", "links", "sure")
NETWORKS = ("trained", "untrained")
WEIGHTS = ("on_gold", "equal", "words")
RATES = {
    "aer": alignment_error_rate,
    "precision": alignment_precision,
    "recall": alignment_recall,
}
EVERYWHERE = ""
"""The bucket of all lengths together."""
ITERATIONS, BATCH = 5, 128
"""Of EM for IBM model 1; and sentences whose weights are read at once."""
Matrix = Float[ndarray, "_ _"]
"""Weights of one sentence, target x source words, the end tokens last."""
Tokens = list[str]


@dataclass(frozen=True, eq=False)
class Attended:
    """Sentences with what was read off a network: weights (end tokens included), and their gold.

    ``lengths`` are the source and target words, ``words`` what decides a sentence's bucket.
    """

    words: Int[ndarray, "sentences"]
    lengths: Sequence[tuple[int, int]]
    matrices: dict[str, list[Matrix]]
    gold: Sequence[GoldLinks]


def probe(subject: Subject, tell: Tell) -> Columns:
    """The counts of every test sentence that has gold links, a method's with its name before."""
    pairs = tuple(pair for pair in subject.corpus.test if pair.links)
    tell("reading weights")
    held = Attended(
        source_words(pairs),
        [(len(tokenize(pair.source)), len(tokenize(pair.target))) for pair in pairs],
        {name: matrices_of(subject, weights, pairs) for name, weights in networks(subject)},
        [GoldLinks.all_sure(pair.links) for pair in pairs],
    )
    tell("training IBM model 1")
    model = train_ibm1(subject.corpus.train)
    return columns_of(held, model.align([tokens_of(pair) for pair in pairs]))


def networks(subject: Subject) -> list[tuple[str, Weights]]:
    """The run's network after and before training, by name."""
    return list(zip(NETWORKS, (subject.weights, subject.untrained), strict=True))


def matrices_of(
    subject: Subject, weights: Weights, pairs: tuple[SentencePair, ...]
) -> list[Matrix]:
    """Weights on the references, in reading order and word by word."""
    reverse = subject.settings.model.reverse_source
    found = attention_matrices(subject.graph, weights, subject.encode(pairs), reverse, BATCH)
    return [
        by_word(matrix, *subject.shares(pair)) for matrix, pair in zip(found, pairs, strict=True)
    ]


def tokens_of(pair: SentencePair) -> tuple[Tokens, Tokens]:
    """Word tokens of both sides."""
    return tokenize(pair.source), tokenize(pair.target)


def train_ibm1(pairs: Sequence[SentencePair]) -> ibm1.IBM1:
    """IBM model 1 of these pairs."""
    return ibm1.train([tokens_of(pair) for pair in pairs], iterations=ITERATIONS)[0]


def columns_of(held: Attended, aligned: Sequence[Links]) -> Columns:
    """What is kept of a run; ``aligned`` are IBM model 1's links."""
    columns: dict[str, ndarray] = {"source_words": held.words}
    for method in METHODS:
        links = aligned if method == "ibm1" else _links(held, method)
        counts = alignment_statistics(links, held.gold).T
        columns |= {_at(method, name): each for name, each in zip(COUNTS, counts, strict=True)}
    possible = [gold.possible for gold in held.gold]
    for network in NETWORKS:
        sums = gold_weight_statistics(held.matrices[network], possible).T
        columns |= {_at(network, name): each for name, each in zip(WEIGHTS, sums, strict=True)}
    after = [_after(matrix, links) for matrix, links in
             zip(held.matrices["trained"], possible, strict=True)]  # fmt: skip
    return columns | {"trained_after_gold": np.array(after)}


def _links(held: Attended, method: str) -> list[Links]:
    """Links of a method that needs no training text."""
    if method == "diagonal":
        return [diagonal_links(*lengths) for lengths in held.lengths]
    if method == "best":
        pairs = zip(held.gold, held.lengths, strict=True)
        return [best_links(gold, *lengths) for gold, lengths in pairs]
    matrices = zip(held.matrices[method], held.lengths, strict=True)
    return [links_from_weights(matrix, *lengths) for matrix, lengths in matrices]


def best_links(gold: GoldLinks, source: int, target: int) -> Links:
    """The fewest errors that one link a target word allows: a sure one, else a possible, else any.

    Words without gold are linked nonetheless, as the weights' argmax does it: to the first word.
    """
    found = dict.fromkeys(range(target), 0) if source else {}
    found |= {j: i for i, j in sorted(gold.possible)}
    found |= {j: i for i, j in sorted(gold.sure)}
    return frozenset((i, j) for j, i in found.items())


def _after(matrix: Matrix, links: Links) -> float:
    """Weight on the places right after gold sources which are not gold, the end token among them.

    A one-way encoder has read a word for good only there.
    """
    places = {(i + 1, j) for i, j in links} - links
    return float(sum(matrix[j, i] for i, j in places if i < matrix.shape[1]))


def _at(method: str, count: str) -> str:
    return f"{method}_{count}"


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Rates of every method and weight on gold, by bucket and over all of them."""
    return [row for arm in arms_of(probed) for row in arm_rows(arm)]


def arm_rows(arm: Arm, outside: bool = False) -> Iterator[Row]:
    """Rates and weights of each bucket that has sentences, then of all of them.

    With ``outside`` those count among all that are in no bucket, being too short.
    """
    words = arm.runs[0].found["source_words"].astype(np.float64)  # a gold set's were not kept
    inside = np.full(len(words), outside)
    place = -1
    for place, bucket, members in in_buckets(arm.runs[0], words):
        inside |= members
        if members.any():
            yield from _bucket_rows(arm, members, place, bucket)
    if inside.any():
        yield from _bucket_rows(arm, inside, place + 1, EVERYWHERE)


def _bucket_rows(arm: Arm, inside: ndarray, place: int, bucket: str) -> Iterator[Row]:
    """All numbers of these sentences."""
    keys = {"place": place, "bucket": bucket}
    if selects(arm.settings):
        for method in METHODS:
            counts = _columns(arm, method, COUNTS, inside)
            for measure, rate in RATES.items():
                yield from arm.rows(measure, rate, counts, control=_control(method), **keys)
        for method in METHODS[1:-1]:
            both = [_columns(arm, each, COUNTS, inside) for each in (method, "trained")]
            counts = np.concatenate(both, axis=-1)
            yield from arm.rows("aer_gap", _gap, counts, control=method, **keys)
    for network in NETWORKS:
        sums = _columns(arm, network, WEIGHTS, inside)
        yield from arm.rows("weight", weight_on_gold, sums, control=_control(network), **keys)
    yield from arm.rows("weight", equal_weight_on_gold, sums, control="equal", **keys)
    after = [_columns(arm, "trained", (name,), inside) for name in ("after_gold", "words", "words")]
    later = np.concatenate(after, axis=-1)
    yield from arm.rows("weight_after", weight_on_gold, later, **keys)


def selects(settings: RunSettings) -> bool:
    """Whether the weights choose among the words: equal ones have no largest."""
    return settings.model.attention not in UNSELECTIVE


def _columns(
    arm: Arm, method: str, names: Sequence[str], inside: ndarray
) -> Float[ndarray, "seeds sentences columns"]:
    held = [[run.found[_at(method, name)][inside] for name in names] for run in arm.runs]
    return np.moveaxis(np.array(held, np.float64), 1, 2)


def _gap(sums: Float[ndarray, "*rows 8"]) -> Float[ndarray, "*rows"]:
    """Error rate of the control, minus that of the weights."""
    return alignment_error_rate(sums[..., :4]) - alignment_error_rate(sums[..., 4:])


def _control(method: str) -> str:
    return "" if method == "trained" else method


def attends(settings: RunSettings) -> bool:
    """Whether there are weights on a source to be read."""
    return settings.model.attention != "none" and settings.model.source == "seen"


STUDY = Study(
    name="alignment",
    ids=("C7",),
    question="Is alignment learned for free: can it be read off the attention weights?",
    version=1,
    sweep="vindication",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: attends(settings) and settings.corpus.is_drawn,
)
