"""C7: is alignment learned for free, and can it be read off the attention weights?

The weights must beat the diagonal, which ignores words, and IBM model 1, which was made to align.
Links are (source, target) positions, 0-based. `alignment_gold` does it with the user's gold links.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Real
from numpy import ndarray

from ..corpus.pair import Link, SentencePair
from ..corpus.subwords import by_word, shares_of
from ..corpus.vocabulary import WORDS
from ..figures.plot import shared
from ..scoring.bootstrap import ratio_of_sums
from ..settings.concerns import UNSELECTIVE
from .arms import Estimates, Probed, Row, rows_by_bucket
from .ibm1 import IBM1, nearest_to_diagonal, train, words_of
from .question import Axes, Columns, Judgement, Question, StudyColumn, StudyTable, Subject

BASELINES = {"diagonal": "diagonal", "ibm1": "IBM model 1"}


class LinkedPair(NamedTuple):
    """A pair, the words of both sides, and the gold links; possible links include the sure ones."""

    pair: SentencePair
    words: tuple[list[str], list[str]]
    sure: frozenset[Link]
    possible: frozenset[Link]


def probe(subject: Subject) -> Columns:
    """Count the links of every test sentence."""
    subject.tell("training IBM model 1, reading weights")
    pairs = []
    for pair in subject.corpus.test:
        links = frozenset(pair.links)
        pairs.append(LinkedPair(pair, words_of(pair), links, links))
    return measure(subject, pairs, train(map(words_of, subject.corpus.train)))


def measure(subject: Subject, pairs: Sequence[LinkedPair], model: IBM1) -> Columns:
    """Count the links of every method in these sentences, word by word."""
    encoded = subject.encode([item.pair for item in pairs])
    trained, untrained = (
        replace(subject.trained, weights=weights).attention(encoded, batch_size=128)
        for weights in (subject.weights, subject.untrained)
    )
    rows = []
    for item, *matrices in zip(pairs, trained, untrained, strict=True):
        tokens, pieces, places = words_of(item.pair), [], []
        for side, text in enumerate((item.pair.source, item.pair.target)):
            words, tokenizer = item.words[side], subject.vocabularies[side].tokenizer
            pieces.append(shares_of(tokenizer.pieces(text), words, tokenizer))
            # A word is linked if any of its word tokens is.
            places.append(shares_of(tokens[side], words, WORDS).argmax(axis=1).tolist())
        aligned = frozenset((places[0][i], places[1][j]) for i, j in model.align(*tokens))
        rows.append(count_links(item, *(by_word(matrix, *pieces) for matrix in matrices), aligned))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def count_links(
    item: LinkedPair, trained: ndarray, untrained: ndarray, ibm1: frozenset[Link]
) -> dict[str, int]:
    """|A & S| + |A & P| (agreements) and |A| + |S| (links) of links A against gold S, P."""
    source_words, target_words = map(len, item.words)
    links_of = {}
    for method, weights in (("trained", trained), ("untrained", untrained)):
        # A target word is linked to the source word with the largest weight, an end token to none.
        best = weights[:target_words, :source_words].argmax(axis=1) if source_words else ()
        links_of[method] = frozenset((int(i), j) for j, i in enumerate(best))
    links_of["diagonal"] = nearest_to_diagonal(np.ones((target_words, source_words), bool))
    links_of["ibm1"] = ibm1
    row = {"source_words": item.pair.words}
    for method, links in links_of.items():
        row[f"{method}_agreements"] = len(links & item.sure) + len(links & item.possible)
        row[f"{method}_links"] = len(links) + len(item.sure)
    return row


def error_rate(sums: Real[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003); nan without any links."""
    return np.asarray(1 - ratio_of_sums(sums))


def summarise(probed: Sequence[Probed]) -> list[Row]:
    """Every method's AER, and the gaps to the baselines: by bucket, then of all sentences."""
    columns = {
        control: [f"{control or 'trained'}_{counted}" for counted in ("agreements", "links")]
        for control in ("", "untrained", *BASELINES)
    }
    scores = [("aer", control, error_rate, names) for control, names in columns.items()]
    scores += [
        (
            "aer_gap",
            control,
            lambda sums: error_rate(sums[..., :2]) - error_rate(sums[..., 2:]),
            columns[control] + columns[""],
        )
        for control in BASELINES
    ]
    return rows_by_bucket(probed, scores, whole=True)


def judge(estimates: Estimates) -> Judgement | str:
    """C7: the weights align better than the diagonal, and than IBM model 1."""
    errors = {arm: error for arm in estimates.arms if (error := estimates.get("aer", arm))}
    if not errors:
        return "no arm with weights that select was measured"
    beaten, clauses = [], []
    for arm, error in errors.items():
        clause = f"{arm}: the AER of the weights is {error.text('{:z.3f}')}"
        for name, words in BASELINES.items():
            gap = estimates.get("aer_gap", arm, control=name)
            theirs = estimates.get("aer", arm, control=name).text("{:z.3f}")
            by = gap.change("higher by {}", "lower by {}", "{:z.3f}")
            clause += f", against {theirs} ({words}, {by})"
            beaten += [name] if gap.low > 0 else []
        clauses.append(clause)
    worst = max(errors, key=lambda arm: errors[arm].value)
    fully, partly = len(beaten) == len(errors) * len(BASELINES), "diagonal" in beaten
    return Judgement(fully, partly, clauses, f"AER of the weights, {worst}", errors[worst])


QUESTION = Question(
    name="alignment",
    question="Is alignment learned for free: can it be read off the attention weights? (C7)",
    title="Alignment (C7): attention weights against gold links",
    version=2,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: (
        settings.model.attention not in UNSELECTIVE and settings.corpus.is_drawn
    ),
    rules={"C7": (
        "Each target word is linked to the source word with its largest weight, teacher-forced on "
        "the references. The rule compares their alignment error rate (AER) against the gold "
        "links, over all lengths, with those of the diagonal and of IBM model 1, paired by "
        "sentence. An arm beats a baseline if the 95 % interval of the baseline's AER minus the "
        "arm's lies above 0. Held if every arm whose weights select beats both; partly if one of "
        "them beats the diagonal; otherwise not held. Equal weights (uniform) are not judged.",
        judge,
    )},
    notes=[
        "AER: alignment error rate in %, 0 is best. Untrained: the same network before training. "
        "Diagonal: target word j to the source word at the same share of the sentence. IBM 1: IBM "
        "model 1, 5 iterations on the run's training pairs."
    ],
    tables=[
        StudyTable("Alignment (C7): AER of the weights and of others, %", [
            StudyColumn(head, "aer", control=control, scale=100.0, ends=ends)
            for head, control, ends in (
                ("AER\nweights", "", "{:.0f}"),
                ("un-\ntrained", "untrained", ""),
                ("diag-\nonal", "diagonal", "{:.0f}"),
                ("IBM 1", "ibm1", "{:.0f}"),
            )
        ])
    ],
    axes=[
        Axes("Alignment error rate (0: as gold)", "AER, %", measure="aer", scale=100.0,
             select=lambda rows: shared(rows[rows["bucket"] != ""], BASELINES))
    ],
)  # fmt: skip
