"""C7: is alignment learned for free, and can it be read off the attention weights?

The weights are teacher-forced on the references and compared with gold links. Free is what nobody
taught: the weights' links must beat those of the diagonal, which knows no words, and of IBM model
1, which was made to align and is trained on the run's own training pairs. The table also has the
network before training, and the least error that one link for each target word allows. Every
method links each target word to one source word (IBM model 1: or to none); gold links may be more,
or none.

Links are (source, target) positions, 0-based. End tokens are neither linked nor counted. All
measures are ratios of per-sentence counts, so that a bootstrap can draw sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Real
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, marked, needs_learned
from ..corpus.pair import Link, SentencePair
from ..corpus.subwords import by_word, links_from_weights, shares_of
from ..corpus.vocabulary import WORDS
from ..figures.plot import chosen, shared
from ..scoring.bootstrap import Score, ratio_of_sums
from ..settings.run import RunSettings
from .arms import arms_of, in_buckets
from .estimates import Estimates
from .ibm1 import IBM1, nearest_to_diagonal, train
from .question import Axes, Column, Columns, Grid, Judgement, Probed, Question, Row, Tell
from .word_survival import words_of

if TYPE_CHECKING:
    from ..model.translator import Weights
    from .subject import Subject

Links = frozenset[Link]
Matrix = Float[ndarray, "_ _"]
"""Weights of one sentence, target x source words, the end tokens last."""
METHODS = ("trained", "untrained", "diagonal", "ibm1", "best")
"""How links are made; the first two are networks. They begin the names of the probe's columns."""
COUNTS = ("sure_found", "possible_found", "links", "sure")
"""Of links A against gold S, P: |A & S|, |A & P|, |A|, |S|."""
ALL = "all"
"""The name of the row of all lengths."""
BASELINES = {"diagonal": "the diagonal", "ibm1": "IBM model 1"}
RULE = (
    "Each target word is linked to the source word with its largest weight, teacher-forced on the "
    "references. Compared is the alignment error rate (AER) against the gold links, over all "
    "lengths, with that of a baseline, paired by sentence. Held if in every arm whose weights "
    "select the 95 % intervals of the baseline's AER minus the weights' lie above 0 for the "
    "diagonal and for IBM model 1, which is trained on the run's own training pairs; partly if for "
    "the diagonal alone, or not in every arm; otherwise not held. Equal weights (uniform) have no "
    f"largest and are not judged. {FAMILY} {needs_learned('none with attention')}"
)


class LinkedPair(NamedTuple):
    """A sentence pair, the words that its gold links are between, and the links.

    Possible links have the sure ones among them.
    """

    pair: SentencePair
    source: list[str]
    target: list[str]
    sure: Links
    possible: Links


def probe(subject: "Subject", tell: Tell) -> Columns:
    """Count the links and weights of every test sentence that has gold links."""
    pairs = [
        LinkedPair(pair, *words_of(pair), frozenset(pair.links), frozenset(pair.links))
        for pair in subject.corpus.test
        if pair.links
    ]
    return measure(subject, pairs, train_ibm1(subject, tell), tell)


def train_ibm1(subject: "Subject", tell: Tell) -> IBM1:
    """IBM model 1 of the word tokens of the run's training pairs, whatever the run reads."""
    tell("training IBM model 1")
    return train([words_of(pair) for pair in subject.corpus.train])[0]


def measure(subject: "Subject", pairs: Sequence[LinkedPair], model: IBM1, tell: Tell) -> Columns:
    """The columns of the probe for these sentences."""
    tell("reading weights")
    networks = {"trained": subject.weights, "untrained": subject.untrained}
    matrices = {name: matrices_of(subject, weights, pairs) for name, weights in networks.items()}
    aligned = []
    for item in pairs:
        tokens = words_of(item.pair)  # a word is linked where any of its word tokens is
        source, target = (
            shares_of(side, words, WORDS).argmax(axis=1)
            for side, words in zip(tokens, (item.source, item.target), strict=True)
        )
        (links,) = model.align([tokens])
        aligned.append(frozenset((int(source[i]), int(target[j])) for i, j in links))
    return columns_of(pairs, matrices, aligned)


def matrices_of(
    subject: "Subject", weights: "Weights", pairs: Sequence[LinkedPair]
) -> list[Matrix]:
    """Weights on the references, in reading order and word by word."""
    from ..runs.translate import attention_matrices

    encoded = subject.encode([item.pair for item in pairs])
    reverse = subject.settings.model.reverse_source
    matrices = attention_matrices(subject.graph, weights, encoded, reverse, batch_size=128)
    ours, theirs = subject.vocabularies
    return [
        by_word(
            matrix,
            shares_of(ours.pieces(item.pair.source), item.source, ours.tokenizer),
            shares_of(theirs.pieces(item.pair.target), item.target, theirs.tokenizer),
        )
        for matrix, item in zip(matrices, pairs, strict=True)
    ]


def columns_of(
    pairs: Sequence[LinkedPair], matrices: Mapping[str, Sequence[Matrix]], aligned: Sequence[Links]
) -> Columns:
    """Counts of each sentence: of links for each method, of weight for each network."""
    rows = []
    for place, (item, ibm1) in enumerate(zip(pairs, aligned, strict=True)):
        source, target = len(item.source), len(item.target)
        weights = {name: of_pairs[place] for name, of_pairs in matrices.items()}
        links = {name: links_from_weights(w, source, target) for name, w in weights.items()}
        links["diagonal"] = nearest_to_diagonal(np.ones((target, source), bool))
        links |= {"ibm1": ibm1, "best": best_links(item)}
        row: dict[str, float] = {"source_words": item.pair.words}
        for method, made in links.items():
            counts = (len(made & item.sure), len(made & item.possible), len(made), len(item.sure))
            row |= {f"{method}_{name}": n for name, n in zip(COUNTS, counts, strict=True)}
        for network, matrix in weights.items():
            sums = weight_sums(matrix, item.possible)
            row |= {f"{network}_{name}": value for name, value in sums.items()}
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def best_links(item: LinkedPair) -> Links:
    """The fewest errors that one link a target word allows: a sure one, else a possible, else any.

    Words without gold are linked all the same, as by the weights: to the first word.
    """
    by_target = dict.fromkeys(range(len(item.target)), 0)
    by_target |= {j: i for links in (item.possible, item.sure) for i, j in sorted(links)}
    return frozenset((i, j) for j, i in by_target.items())


def weight_sums(weights: Float[ndarray, "target source"], links: Links) -> dict[str, float]:
    """Weight on gold links, equal weights' share, target words with gold, weight right after gold.

    Of each target word that has gold links the weights on its gold sources are summed. The matrix
    has all columns that were read, the source's end token too: equal weights over all columns are
    what the ``uniform`` arm has, which therefore scores its own share exactly. Right after gold are
    the next places that are not gold, the end token among them: a one-way encoder has read a word
    for good only there.
    """
    columns = weights.shape[1]
    after = {(i + 1, j) for i, j in links if i + 1 < columns} - links
    on_gold, later = (
        sum((float(weights[j, i]) for i, j in sorted(places)), 0.0) for places in (links, after)
    )
    equal = len(links) / max(columns, 1)
    words = float(len({j for _, j in links}))
    return {"on_gold": on_gold, "equal": equal, "words": words, "after_gold": later}


def error_rate(sums: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003); nan without any links."""
    parts = np.stack([sums[..., :2].sum(-1), sums[..., 2:].sum(-1)], axis=-1)
    return np.asarray(1 - ratio_of_sums(parts))


RATES: dict[str, Score] = {
    "aer": error_rate,
    "precision": lambda sums: ratio_of_sums(sums[..., [1, 2]]),
    "recall": lambda sums: ratio_of_sums(sums[..., [0, 3]]),
}
"""Of link counts, nan without links: |A & P| / |A| that are at least possible, |A & S| / |S|."""


def scores_of(settings: RunSettings) -> Iterator[tuple[str, str, Score, list[str]]]:
    """Measure, control, score and the probe's columns of each number; rates if weights select."""
    counts = {method: [f"{method}_{name}" for name in COUNTS] for method in METHODS}
    if settings.model.points:
        for method, (rate, score) in product(METHODS, RATES.items()):
            yield rate, "" if method == "trained" else method, score, counts[method]
        for method in ("untrained", *BASELINES):
            both = [*counts[method], *counts["trained"]]
            yield "aer_gap", method, lambda s: error_rate(s[..., :4]) - error_rate(s[..., 4:]), both
    for measure, control, column in (
        ("weight", "", "trained_on_gold"),
        ("weight", "untrained", "untrained_on_gold"),
        ("weight", "equal", "untrained_equal"),
        ("weight_after", "", "trained_after_gold"),
    ):
        yield measure, control, ratio_of_sums, [column, "trained_words"]


def summarise(probed: Sequence[Probed], outside: bool = False) -> list[Row]:
    """Rates of every method and weight on gold, by bucket, then of all buckets.

    With ``outside`` sentences that are in no bucket, being too short, count among all.
    """
    rows: list[Row] = []
    for arm in arms_of(probed):
        words = arm.runs[0].found["source_words"].astype(np.float64)
        buckets = list(in_buckets(arm.runs[0], words))
        everywhere = np.logical_or.reduce([inside for _, _, inside in buckets]) | outside
        for place, bucket, inside in [*buckets, (len(buckets), "", everywhere)]:
            if not inside.any():
                continue
            for measure, control, score, columns in scores_of(arm.settings):
                counts = arm.statistics(columns)[:, inside]
                keys = {"place": place, "bucket": bucket, "control": control}
                rows += arm.rows(measure, score, counts, **keys)
    return rows


def decide(estimates: Estimates) -> Judgement | str:
    """C7: the weights align better than what knows no words, and than what was made to align."""
    errors = {arm: estimates.get("aer", arm) for arm in estimates.arms()}
    errors = {arm: error for arm, error in errors.items() if error is not None}
    if not errors:
        return "no arm with weights that select was measured"
    beaten, clauses = [], []
    for arm, error in errors.items():
        gaps = {name: estimates.get("aer_gap", arm, control=name) for name in BASELINES}
        beaten.append({name for name, gap in gaps.items() if gap.low > 0})
        others = ", ".join(
            f"that of {BASELINES[name]} {estimates.get('aer', arm, control=name).text('{:z.3f}')} "
            f"({gap.change('higher by {}', 'lower by {}', '{:z.3f}')})"
            for name, gap in gaps.items()
        )
        clauses.append(f"{arm}: the AER of the weights is {error.text('{:z.3f}')}, {others}")
    fewest = min(error.n for error in errors.values())
    if marked(fewest):
        clauses.append(f"under {MARKED_BELOW} sentences (n = {fewest})")
    both = all(names == set(BASELINES) for names in beaten)
    partly = any("diagonal" in names for names in beaten)
    worst = max(errors, key=lambda arm: errors[arm].value)
    return Judgement(both, partly, clauses, f"AER of the weights, {worst}", errors[worst])


NOTES = (
    "Weight on gold: % of a target word's weight that lies on its gold source words; equal: what "
    "equal weights have there. AER: alignment error rate in %, 0 is best. Untrained: the same "
    "network before training. Diagonal: target word j to the source word at the same share of the "
    "sentence. IBM 1: IBM model 1, 5 iterations on the run's own training pairs. P, R: precision "
    "and recall of the weights' links, end tokens left out."
)
UNIFORM = "uniform: equal weights have no largest; their weight on gold is their equal share."


def notes(frame: pd.DataFrame) -> list[str]:
    """What the columns are, the least error that was possible, and sentences in no bucket."""
    means = frame[frame["seed"].isna()]
    lines = [NOTES, *[UNIFORM] * ("uniform" in set(frame["attention"]))]
    for text, form, measure, control in (
        ("AER of the best choice of one source word for each target word (gold has more, or none)",
         "{:.1f} %", "aer", "best"),
        ("Weight on the place right after the gold source words", "{:.0f} %", "weight_after", ""),
    ):  # fmt: skip
        rows = chosen(means, measure, bucket="", control=control)
        numbers = [form.format(100 * value) for value in rows["value"]]
        if len(set(numbers)) > 1:
            numbers = [f"{arm} {number}" for arm, number in zip(rows["arm"], numbers, strict=True)]
        if numbers:
            lines.append(f"{text}: {', '.join(dict.fromkeys(numbers))}.")
    counts = means.drop_duplicates("bucket").set_index("bucket")["n"]
    outside = int(counts.get("", 0) - counts.drop("", errors="ignore").sum())
    if outside > 0:
        lines.append(f"Sentences in no length bucket: {outside:,}, in the row {ALL} alone.")
    return lines


def attends(settings: RunSettings) -> bool:
    """Whether there are weights on a source to be read."""
    return settings.model.attention != "none" and settings.model.source == "seen"


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows by length, or of all where every sentence is too short for a bucket."""
    names = {"diagonal": "diagonal", "ibm1": "IBM model 1", "equal": "equal weights"}
    rows = rows[rows["control"] != "best"]
    by_length = rows[rows["bucket"] != ""]
    return shared(rows if by_length.empty else by_length, names)


WHOLE = {"scale": 100.0, "form": "{:.0f}", "ends": ""}
RANGED = {"scale": 100.0, "ends": "{:.0f}"}
DRAWN = {"scale": 100.0, "names": {"": ALL}, "lines": None, "select": _drawn}

QUESTION = Question(
    name="alignment",
    ids=("C7",),
    question="Is alignment learned for free: can it be read off the attention weights?",
    title="Alignment (C7): attention weights against gold links",
    probe=probe,
    summarise=summarise,
    suits=lambda settings: attends(settings) and settings.corpus.is_drawn,
    rule=RULE,
    decide=decide,
    notes=notes,
    measures=("aer", "precision", "recall", "aer_gap", "weight", "weight_after"),
    grids=[
        Grid(
            "Alignment (C7): weight on gold links; AER of the weights and of others, %",
            lines=lambda estimates: [
                ((bucket or ALL, arm), {"arm": arm, "bucket": bucket})
                for bucket, arm in product((*estimates.buckets(), ""), estimates.arms())
            ],
            columns=[
                Column("on\ngold", "weight", **WHOLE),
                Column("equal", "weight", control="equal", **WHOLE),
                Column("AER\nweights", "aer", **RANGED),
                Column("un-\ntrained", "aer", control="untrained", scale=100.0, ends=""),
                Column("diag-\nonal", "aer", control="diagonal", **RANGED),
                Column("IBM 1", "aer", control="ibm1", **RANGED),
                Column("P", "precision", **WHOLE),
                Column("R", "recall", **WHOLE),
            ],
        )
    ],
    figure="Do the attention weights align words?",
    axes=[
        Axes("Alignment error rate (0: as gold)", "aer", "AER, %", **DRAWN),
        Axes("Weight on the gold source words", "weight", "% of a target word's weight",
             limit=102.0, **DRAWN),
    ],
)  # fmt: skip
