"""C7: is alignment learned for free, and can it be read off the attention weights?

The weights are teacher-forced on the references and compared with gold links. Free is what nobody
taught: the weights' links must beat those of the diagonal, which knows no words, and of IBM model
1, which was made to align and is trained on the run's own training pairs. The table also has the
network before training. Every method links each target word to one source word (IBM model 1: or to
none); gold links may be more, or none.

Links are (source, target) positions, 0-based. End tokens are neither linked nor counted. All
measures are ratios of per-sentence counts, so that a bootstrap can draw sentences.

The same is asked of the user's own gold set, sentences that people linked word by word. Its words
are those between the spaces of the files. A gold set often stands in tokens (``l' homme ,``): its
sentences are put back into running text, which a run reads as any other text. Where the run's
tokens are finer than the words, their weights are put together word by word (`corpus.subwords`).
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float, Real
from numpy import ndarray

from ..claims.verdict import FAMILY, MARKED_BELOW, marked, needs_learned
from ..corpus.files import read_lines
from ..corpus.pair import Link, SentencePair
from ..corpus.subwords import by_word, links_from_weights, shares_of
from ..corpus.vocabulary import JOINER, WORDS, detokenize, tokenize
from ..figures.plot import shared
from ..results.schema import GOLD
from ..scoring.bootstrap import ratio_of_sums
from ..settings.concerns import OUTSIDE
from ..settings.errors import UserError, counted
from ..settings.run import RunSettings
from .arms import Estimates, arms_of, in_buckets
from .question import Axes, Column, Columns, Grid, Judgement, Probed, Question, Row, Tell
from .word_survival import IBM1, nearest_to_diagonal, train, words_of

if TYPE_CHECKING:
    from ..model.translator import Weights
    from .subject import Subject

Links = frozenset[Link]
GoldSentence = tuple[list[str], list[str], Links, Links]
"""The words of both sides, and their links: sure ones, and possible ones with those."""
Matrix = Float[ndarray, "_ _"]
"""Weights of one sentence, target x source words, the end tokens last."""
METHODS = ("trained", "untrained", "diagonal", "ibm1")
"""How links are made; the first two are networks. They begin the names of the probe's columns."""
COUNTS = ("agreements", "links")
"""Of links A against gold S, P: |A & S| + |A & P|, and |A| + |S|."""
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
    return train([words_of(pair) for pair in subject.corpus.train])


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
    """Counts of each sentence's links, for each method."""
    rows = []
    for place, (item, ibm1) in enumerate(zip(pairs, aligned, strict=True)):
        source, target = len(item.source), len(item.target)
        weights = {name: of_pairs[place] for name, of_pairs in matrices.items()}
        methods = {name: links_from_weights(w, source, target) for name, w in weights.items()} | {
            "diagonal": nearest_to_diagonal(np.ones((target, source), bool)),
            "ibm1": ibm1,
        }
        row: dict[str, float] = {"source_words": item.pair.words}
        for method, links in methods.items():
            row[f"{method}_agreements"] = len(links & item.sure) + len(links & item.possible)
            row[f"{method}_links"] = len(links) + len(item.sure)
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def read_gold(gold: Path, source: Path, target: Path, base: int) -> list[GoldSentence]:
    """Read the three files, line by line; what does not fit together is a UserError.

    ``base`` is the number of the first word, 0 or 1.
    """
    files = {"--gold": gold, "--source": source, "--target": target}
    texts = {option: read_lines(str(path), option) for option, path in files.items()}
    if len(set(map(len, texts.values()))) > 1:
        counts = ", ".join(
            f"{name} has {counted(len(text), 'line')}" for name, text in texts.items()
        )
        raise UserError(f"{counts}: give files of as many lines, one for each sentence")
    sentences = []
    for number, (line, *both) in enumerate(zip(*texts.values(), strict=True), 1):
        words = [text.split() for text in both]
        where = f"--gold {str(gold)!r} line {number}"
        sentences.append((*words, *parse_links(line, where, *map(len, words), base)))
    return sentences


def parse_links(
    line: str, where: str, source_words: int, target_words: int, base: int
) -> tuple[Links, Links]:
    """The sure and the possible links of a line: ``0-0 1?2``, source first, ``-`` sure.

    UserError, which starts with ``where``, for what is no link of the sentence.
    """
    sure, possible = set(), set()
    for entry in line.split():
        match = re.fullmatch(r"(\d{1,9})([-?])(\d{1,9})", entry, re.ASCII)
        if match is None:
            raise UserError(f"{where}: {entry!r} is no link; write i-j (sure) or i?j (possible)")
        i, j = int(match[1]) - base, int(match[3]) - base
        if not (0 <= i < source_words and 0 <= j < target_words):
            raise UserError(
                f"{where}: {entry!r} is outside a sentence of {source_words} source and "
                f"{target_words} target words, counted from {base}; check the tokens, which side "
                "is first, and --first-word"
            )
        possible.add((i, j))
        sure |= {(i, j)} if match[2] == "-" else set()
    return frozenset(sure), frozenset(possible)


def probe_gold(subject: "Subject", sentences: Sequence[GoldSentence], tell: Tell) -> Columns:
    """The probe's columns for the sentences of the gold set that have links; else a UserError."""
    sentences = [sentence for sentence in sentences if sentence[3]]
    if not sentences:
        raise UserError("no sentence of --gold has links; write i-j (sure) or i?j (possible)")
    model = train_ibm1(subject, tell)
    corpus = subject.settings.corpus
    lower = corpus.lowercase or corpus.name == "grammar"
    pairs = []
    for *both, sure, possible in sentences:
        source, target = (
            [detokenize(tokenize(word.lower() if lower else word)) for word in words]
            for words in both
        )
        texts = running_text(source, model.source_ids), running_text(target, model.target_ids)
        pairs.append(LinkedPair(SentencePair(*texts), source, target, sure, possible))
    return measure(subject, pairs, model, tell)


def running_text(words: Sequence[str], known: Container[str]) -> str:
    """Words that may be tokens as running text.

    A sign is glued to its left unless it is known to stand alone, "(" and "l'" are glued to their
    right, "'s" to its left. ``known`` are the word tokens of the training text.
    """
    tokens = []
    for word in words:
        if word in ("(", "[", "{") or (len(word) > 1 and word.endswith(("'", "’"))):
            tokens.append(word + JOINER)
        elif word.startswith(("'", "’")) or not (word in known or any(map(str.isalnum, word))):
            tokens.append(JOINER + word)
        else:
            tokens.append(word)
    return detokenize(tokens)


def error_rate(sums: Real[ndarray, "*rows 2"]) -> Float[ndarray, "*rows"]:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), 0 to 1 (Och and Ney 2003); nan without any links."""
    return np.asarray(1 - ratio_of_sums(sums))


def error_gap(both: Real[ndarray, "*rows 4"]) -> Float[ndarray, "*rows"]:
    """How much higher the error rate of the first two counts is than that of the others."""
    return error_rate(both[..., :2]) - error_rate(both[..., 2:])


def summarise(probed: Sequence[Probed], least: int = 0) -> list[Row]:
    """The error of every method, and gaps: by bucket, then of sentences of bucket ``least`` on."""
    counts = {method: [f"{method}_{name}" for name in COUNTS] for method in METHODS}
    errors = [("aer", "", error_rate, counts["trained"])]
    errors += [("aer", method, error_rate, counts[method]) for method in METHODS[1:]]
    errors += [
        ("aer_gap", method, error_gap, counts[method] + counts["trained"]) for method in BASELINES
    ]
    rows: list[Row] = []
    for arm in arms_of(probed):
        lengths = arm.runs[0].found["source_words"]
        for place, bucket, inside in in_buckets(arm.runs[0], lengths, least):
            for measure, control, score, columns in errors:
                sums = arm.statistics(columns)[:, inside]
                keys = {"place": place, "bucket": bucket, "control": control}
                rows += arm.rows(measure, score, sums, **keys)
    return rows


def decide(estimates: Estimates) -> Judgement | str:
    """C7: the weights align better than what knows no words, and than what was made to align."""
    errors = {arm: error for arm in estimates.arms() if (error := estimates.get("aer", arm))}
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


def attends(settings: RunSettings) -> bool:
    """Whether a target word has a source word of largest weight."""
    return settings.model.points


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows by length of the methods above; a file may have others."""
    names = {"diagonal": "diagonal", "ibm1": "IBM model 1"}
    drawn = rows["control"].isin(["", "untrained", *names])
    return shared(rows[drawn & (rows["bucket"] != "")], names)


RANGED = {"scale": 100.0, "ends": "{:.0f}"}
QUESTION = Question(
    name="alignment",
    ids=("C7",),
    question="Is alignment learned for free: can it be read off the attention weights?",
    title="Alignment (C7): attention weights against gold links",
    version=2,
    probe=probe,
    summarise=summarise,
    suits=lambda settings: attends(settings) and settings.corpus.is_drawn,
    rule=RULE,
    decide=decide,
    notes=[
        "AER: alignment error rate in %, 0 is best. Untrained: the same network before training. "
        "Diagonal: target word j to the source word at the same share of the sentence. IBM 1: IBM "
        "model 1, 5 iterations on the run's own training pairs."
    ],
    measures=("aer", "aer_gap"),
    grids=[
        Grid(
            "Alignment (C7): AER of the weights and of others, %",
            lines=lambda estimates: [
                ((bucket or "all", arm), {"arm": arm, "bucket": bucket})
                for bucket, arm in product((*estimates.buckets(), ""), estimates.arms())
            ],
            columns=[
                Column("AER\nweights", "aer", **RANGED),
                Column("un-\ntrained", "aer", control="untrained", scale=100.0, ends=""),
                Column("diag-\nonal", "aer", control="diagonal", **RANGED),
                Column("IBM 1", "aer", control="ibm1", **RANGED),
            ],
        )
    ],
    figure="Do the attention weights align words?",
    axes=[
        Axes("Alignment error rate (0: as gold)", "aer", "AER, %", 100.0, lines=None, select=_drawn)
    ],
)  # fmt: skip

TITLE = "Alignment (C7): attention weights against the user's gold links"
GOLD_QUESTION = replace(
    QUESTION,
    name=GOLD,
    title=TITLE,
    summarise=partial(summarise, least=OUTSIDE),
    suits=attends,
    grids=[replace(QUESTION.grids[0], title=f"{TITLE}; AER, %")],
    figure="Do the attention weights align the words of the user's gold set?",
    counted="sentences of the gold set",
)
